/* A fuzz target is one file with the two functions below. Built with -fsanitize=fuzzer it runs under
 * libFuzzer; linked with tests/fuzz/driver.c it is a program of its own, which mutates the seeds by itself.
 */
#ifndef TW_TESTS_FUZZ_H
#define TW_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Input number `index` that the target accepts, malloc'ed, or NULL past the last. Used by the driver only. */
uint8_t *tw_fuzz_seed(size_t index, size_t *size);

#endif
