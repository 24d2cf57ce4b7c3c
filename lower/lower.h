/* Lowering: tile IR to LLVM IR text for one flavor. */
#ifndef TW_LOWER_LOWER_H
#define TW_LOWER_LOWER_H

#include "ir/kernel.h"
#include "lower/flavor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Verifies and lowers `kernel` for its own target. The text is the same bytes in every locale and on every
 * host; it is terminated and malloc'ed: free() it. `length` may be NULL. TW_ERR_UNSUPPORTED with a reason
 * where the flavor does not serve the target or the target lacks what an op needs. The kernel is only read:
 * several threads may lower it at once, each with its own `diag`. */
TW_API tw_status tw_lower(const tw_kernel *kernel, tw_flavor flavor, char **text, size_t *length,
                          tw_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
