/* A random kernel with what it runs on. */
#ifndef TW_TESTS_FUZZ_CASE_H
#define TW_TESTS_FUZZ_CASE_H

#include "ir/ir.h"
#include "support/random.h"

/* What a parameter of a generated kernel is. Buffers exist once for each role and element format. */
typedef enum fuzz_role {
    FUZZ_IN = 0, /* read by everyone, written by none */
    FUZZ_OUT,    /* each work-item writes and reads slots of its own */
    FUZZ_SUM,    /* atomic adds of small whole numbers, whose sum is exact in any order */
    FUZZ_NEAR,   /* results of the hardware's approximations: compared with the bound of docs/ir.md */
    FUZZ_SCALAR,
    FUZZ_ROLE_COUNT
} fuzz_role;

#define FUZZ_MAX_PARAMS 64
#define FUZZ_IN_COUNT   576 /* elements of a buffer of FUZZ_IN */

typedef struct fuzz_param {
    fuzz_role role;
    tw_scalar scalar;
    uint32_t count; /* elements; 0 for a scalar */
    uint64_t bits;  /* of a scalar */
} fuzz_param;

typedef struct fuzz_case {
    uint64_t seed;
    tw_context *ctx;
    tw_kernel *kernel;
    uint32_t grid[3];
    fuzz_param params[FUZZ_MAX_PARAMS]; /* in the kernel's order */
    uint32_t param_count;
    uint32_t items; /* of a workgroup */
} fuzz_case;

/* The kernel of `seed` for `target`: the same on every host. NULL when memory is out or the generator made a
 * kernel that breaks a rule, which is printed. */
fuzz_case *fuzz_case_new(uint64_t seed, tw_target target);
/* A copy with a kernel of its own, read back from the text; NULL where
 * the text is refused, with the reason on standard error. */
fuzz_case *fuzz_case_from_text(const fuzz_case *model, const char *text, size_t length);
void fuzz_case_free(fuzz_case *c);

/* The memory of a case: one block for each parameter that is a buffer. */
typedef struct fuzz_memory {
    uint8_t *bytes[FUZZ_MAX_PARAMS];
    size_t size[FUZZ_MAX_PARAMS];
} fuzz_memory;
bool fuzz_memory_new(const fuzz_case *c, fuzz_memory *out);
void fuzz_memory_free(fuzz_memory *m);

/* Which rows the generator has used, and how often. */
extern uint64_t fuzz_ops_made[TW_OPCODE_LIMIT];

#endif
