/* Which values are the same in which work-items. */
#ifndef TW_IR_UNIFORM_H
#define TW_IR_UNIFORM_H

#include "ir/ir.h"

/* Of the work-items that are active where the value is defined. Higher is more. */
typedef enum tw_uniformity {
    TW_DIVERGENT = 0,       /* may differ from lane to lane */
    TW_UNIFORM_IN_WAVE,     /* the same in all lanes of a wave */
    TW_UNIFORM_IN_WORKGROUP /* the same in all work-items of the workgroup */
} tw_uniformity;

/* Fills `levels` (value_count + 1 of them) with the tw_uniformity of each value. The kernel's structure and
 * its ops are already checked. False when memory is out. Never optimistic: what it calls uniform is uniform.
 */
bool tw_uniformity_compute(const tw_kernel *kernel, uint8_t *levels);

/* Operands that must be the same in all lanes; barriers and wave reductions where all work-items come by. */
tw_status tw_kernel_check_uniform(const tw_kernel *kernel, tw_diag *diag);

#endif
