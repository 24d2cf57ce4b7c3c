/* What tests need of the lowerer beside lower/lower.h. */
#ifndef TW_LOWER_LOWER_INTERNAL_H
#define TW_LOWER_LOWER_INTERNAL_H

#include "lower/lower.h"

/* tw_lower with an allocator (NULL: malloc), which then owns the text. */
tw_status tw_lower_with(const tw_kernel *kernel, tw_flavor flavor, const tw_allocator *allocator, char **text,
                        size_t *length, tw_diag *diag);

#endif
