/* What the emulator's tests share: code objects that the build made, buffers, launches. */
#ifndef TW_TESTS_EMU_HARNESS_H
#define TW_TESTS_EMU_HARNESS_H

#include "tests/test.h"

#include "run/emu/emu.h"
#include "support/float_formats.h"

typedef struct harness {
    const char *target, *level;
    tw_diag *diag;
    tw_emu *emu;
    tw_code_object *object;
    tw_emu_module *module;
    unsigned threads;
    unsigned disabled_checks, strict_checks;
    int forget_arguments; /* from this explicit argument on none has a known value; 0: all have */
    uint64_t budget;
    tw_launch_counts counts;
    const void *bytes;
    size_t byte_count;
} harness;

/* Opens "NAME.TARGET.LEVEL.hsaco" of the build's kernels. */
void harness_open(harness *h, const char *name, const char *target, const char *level);
/* The same for an object that is at hand, which it takes over. */
void harness_open_object(harness *h, tw_code_object *object, const char *target);
void harness_close(harness *h);

/* A buffer with `bytes` bytes of `data`, or (NULL) uninitialised. */
uint64_t harness_buffer(harness *h, const char *name, const void *data, size_t bytes);
void harness_write(harness *h, uint64_t address, const void *data, size_t bytes);
void harness_read(harness *h, uint64_t address, void *to, size_t bytes);

/* One explicit argument: its bytes. */
typedef struct harness_arg {
    uint64_t bits;
    unsigned size;
} harness_arg;
#define PTR(address) ((harness_arg){(address), 8})
#define I32(value)   ((harness_arg){(uint32_t)(value), 4})
#define I64(value)   ((harness_arg){(uint64_t)(value), 8})
harness_arg harness_f32(float value);
/* A by-value struct: its bytes are what harness_bytes was given last. */
#define BYTES ((harness_arg){0, 0})
void harness_bytes(harness *h, const void *data, size_t bytes);

/* Launches with a workgroup of `block` work-items in x; the status is returned, h->diag holds what was said.
 */
tw_status harness_try(harness *h, const char *kernel, tw_dim3 grid, tw_dim3 block, uint32_t dynamic_lds,
                      const harness_arg *args, size_t count);
/* The same, and it must go well. */
void harness_run(harness *h, const char *kernel, unsigned grid, unsigned block, const harness_arg *args,
                 size_t count);
#define RUN(h, kernel, grid, block, ...)                                    \
    harness_run(h, kernel, grid, block, (const harness_arg[]){__VA_ARGS__}, \
                sizeof((const harness_arg[]){__VA_ARGS__}) / sizeof(harness_arg))
#define TRY(h, kernel, grid, block, ...)                                     \
    harness_try(h, kernel, (tw_dim3){grid, 1, 1}, (tw_dim3){block, 1, 1}, 0, \
                (const harness_arg[]){__VA_ARGS__},                          \
                sizeof((const harness_arg[]){__VA_ARGS__}) / sizeof(harness_arg))

/* A check that runs for every target at every optimisation level that the build compiled kernels for. */
typedef struct harness_case {
    const char *name;
    const char *file; /* of the kernels */
    void (*check)(harness *h);
} harness_case;
/* What the launch must say: TW_ERR_DEVICE and each of the texts (ended by NULL). */
void harness_expect(harness *h, tw_status status, const char *const *texts);
#define EXPECT(h, status, ...) harness_expect(h, status, (const char *const[]){__VA_ARGS__, NULL})
/* ... or nothing at all. */
void harness_silent(harness *h, tw_status status);

int harness_main(const harness_case *cases, size_t count);
/* The same for the targets whose names begin so. */
int harness_main_on(const char *targets, const harness_case *cases, size_t count);

/* `d`, a float, as stochastic rounding to `format` leaves it before overflows count. In steps of the result,
 * however small that is: the leading random bits stand below the point, as many as a float has below the
 * mantissa of the format, and what is below these is cut off. */
double harness_stochastic(tw_float_format format, double d, uint32_t random);

/* A stream of test data that is the same everywhere. */
uint32_t harness_random(uint32_t *state);

#endif
