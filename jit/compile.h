/* Kernel to code object: verify, lower, look into the cache, compile, store. */
#ifndef TW_JIT_COMPILE_H
#define TW_JIT_COMPILE_H

#include "ir/kernel.h"
#include "jit/cache.h"
#include "jit/compiler.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `options` may be NULL: -O3 and no cache. The kernel is only read. *out belongs to the caller. */
TW_API tw_status tw_compile(tw_compiler *compiler, const tw_kernel *kernel, const tw_compile_options *options,
                            tw_code_object **out, tw_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
