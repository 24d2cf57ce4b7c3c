/* Kernels in which every op of ir/opcodes.def stands with many types, fed from memory and with every result
 * stored, so that LLVM has to select an instruction for all of them. */
#ifndef TW_TESTS_LOWER_OP_KERNELS_H
#define TW_TESTS_LOWER_OP_KERNELS_H

#include "ir/build.h"
#include "lower/flavor.h"

size_t op_kernels_count(void);
const char *op_kernels_name(size_t index);
/* How the kernels are built. */
typedef enum op_kernels_how {
    OP_KERNELS_WIDE = 1,    /* more lanes and alignments */
    OP_KERNELS_UNIFORM = 2, /* operands that are the same in all lanes: other instructions */
} op_kernels_how;

/* Interpreter and emulator must agree on every bit: all but divisions by 0. */
bool op_kernels_settled(size_t index);
/* False where the lowerer refuses an op of the kernel for the release and target. */
bool op_kernels_served(size_t index, tw_flavor flavor, tw_arch arch);
/* The kernel at `index` for `target`: what the target lacks is left out. `how`: bits of op_kernels_how.
 * `*elements` (may be NULL): what each buffer must hold. NULL on error. */
tw_kernel *op_kernels_build(tw_context *ctx, tw_target target, size_t index, unsigned how,
                            uint32_t *elements);

#endif
