/* The problem of the dense weight-gradient families: a convolution with groups, NHWC,
 *
 *     dW[k][r][s][c] = sum over n, ho, wo of dY[n][ho][wo][k] * X[n][ho * stride + r - pad_h][wo * stride + s
 * - pad_w][c of k's group]
 *
 * where taps outside X contribute nothing. X is [n][h][w][c], dY [n][ho][wo][k], dW [k][kh][kw][c / groups].
 */
#ifndef TW_INSTANCES_WGRAD_PROBLEM_H
#define TW_INSTANCES_WGRAD_PROBLEM_H

#include <stdint.h>

/* Fields, ranges and defaults: instances/wgrad_problem.def. */
typedef struct tw_wgrad_problem {
#define PROBLEM_INT(name, min, max, default_value, doc)  int32_t name;
#define PROBLEM_DTYPE(name, formats, default_value, doc) int32_t name; /* tw_scalar */
#include "instances/wgrad_problem.def"
} tw_wgrad_problem;

#endif
