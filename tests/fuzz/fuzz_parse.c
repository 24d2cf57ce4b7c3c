/* The parser of the tile IR's text, and what comes after it, on hostile bytes. */
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "tests/ir/check_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (check_text((const char *)data, size) == CHECK_FAILED) abort();
    return 0;
}

uint8_t *tw_fuzz_seed(size_t index, size_t *size) { return (uint8_t *)check_text_seed(index, size); }
