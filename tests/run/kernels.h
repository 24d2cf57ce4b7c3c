/* Kernels that the suites of this folder launch, as LLVM IR text, and their compiler. */
#ifndef TW_TESTS_RUN_KERNELS_H
#define TW_TESTS_RUN_KERNELS_H

#include "jit/code_object.h"

/* y[i] = a * x[i] + y[i] for i < n, one work-item an element; workgroups of up to 64. No hidden arguments. */
extern const char *const kernel_axpy;
/* Two kernels: `add` adds x[i] to slab[i % 64] with atomics; `fold` writes out[i] = slab[i] for i < 64. */
extern const char *const kernel_slabs;
/* out[0..7] = block counts, group sizes, dimensions and the dynamic LDS size, from the hidden arguments;
 * written by the first work-item where blocks and the grid's z are 1 deep in y and z. */
extern const char *const kernel_hidden;
/* Decides by a hidden argument that no launch fills whether to write out[0]. */
extern const char *const kernel_unfilled;

/* The code object of `text` for `target` ("gfx1250"); the calling test fails where it does not compile. */
tw_code_object *compile_kernel(const char *text, const char *target);

#endif
