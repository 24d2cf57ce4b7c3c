#include "ir/ir.h"

tw_status tw_kernel_optimize(tw_kernel *kernel, tw_diag *diag) {
    bool changed = true;
    tw_status status = TW_OK;
    while (changed && !status) {
        changed = false;
        status = tw_pass_simplify(kernel, &changed, diag);
        if (!status) status = tw_pass_dce(kernel, &changed, diag);
    }
    return status;
}
