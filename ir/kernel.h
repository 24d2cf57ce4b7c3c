/* Kernels of the tile IR: made by the builder (ir/build.h) or read from text; printed, verified, optimised
 * here. */
#ifndef TW_IR_KERNEL_H
#define TW_IR_KERNEL_H

#include "arch/target.h"
#include "ir/context.h"
#include "ir/type.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_kernel tw_kernel;

/* A value of one kernel. The zero value is poison: what a failed builder call returns. */
typedef struct tw_value {
    uint32_t id;
} tw_value;

/* Stable numbers: see ir/opcodes.def, docs/ops.md. */
typedef enum tw_opcode {
    TW_OP_INVALID = 0,
#define OP(number, ENUM, ident, name, in, out, attrs, effect, rule, doc) TW_OP_##ENUM = (number),
#include "ir/opcodes.def"
#undef OP
} tw_opcode;

typedef struct tw_kernel_options {
    uint32_t workgroup_size;   /* work-items in x; required: 1..the target's limit for x * y * z */
    uint32_t workgroup_size_y; /* 0 is 1 */
    uint32_t workgroup_size_z; /* 0 is 1 */
    uint32_t min_waves_per_eu; /* 0: LLVM's choice */
    uint32_t max_waves_per_eu; /* 0: no upper bound; else >= min_waves_per_eu >= 1 */
    bool flush_f32_denormals;  /* f32 denormals count as zero, in and out */
} tw_kernel_options;

typedef enum tw_param_flags {
    TW_PARAM_READONLY = 1, /* never written through this pointer by any kernel while this one runs */
    TW_PARAM_NOALIAS = 2,  /* no other parameter reaches the same memory */
} tw_param_flags;

/* Frees a kernel before its context is; NULL is fine. */
TW_API void tw_kernel_free(tw_kernel *kernel);
TW_API const char *tw_kernel_name(const tw_kernel *kernel); /* lives as long as the kernel */
TW_API tw_target tw_kernel_target(const tw_kernel *kernel);
TW_API tw_kernel_options tw_kernel_get_options(const tw_kernel *kernel);
TW_API const tw_type *tw_kernel_value_type(const tw_kernel *kernel,
                                           tw_value value); /* NULL for a foreign value */

/* All rules of the IR, on any kernel (parsed ones are untrusted). TW_ERR_INVALID, or TW_ERR_UNSUPPORTED where
 * the target lacks what an op needs, with one diagnostic a broken rule (at most 20). The kernel is only read:
 * any thread. */
TW_API tw_status tw_kernel_verify(const tw_kernel *kernel, tw_diag *diag);

/* The canonical text: what goldens hash. Terminated; malloc'ed: free() it. `length` may be NULL. */
TW_API tw_status tw_kernel_to_text(const tw_kernel *kernel, char **text, size_t *length, tw_diag *diag);

typedef struct tw_parse_options {
    const char *source;      /* a file's name, for diagnostics; may be NULL */
    const tw_target *target; /* takes the place of the text's target; may be NULL */
} tw_parse_options;

/* Reads one kernel (untrusted text) and verifies it. Diagnostics, with line and column, go to the context. */
TW_API tw_status tw_kernel_parse(tw_context *ctx, const char *text, size_t length,
                                 const tw_parse_options *options, tw_kernel **out);

/* Constant folding, common subexpressions, dead code, until nothing changes. The kernel must verify. */
TW_API tw_status tw_kernel_optimize(tw_kernel *kernel, tw_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
