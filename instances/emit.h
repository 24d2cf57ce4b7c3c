/* Small words for the builders of the families: integer arithmetic with constants, one builder call a step.
 */
#ifndef TW_INSTANCES_EMIT_H
#define TW_INSTANCES_EMIT_H

#include "ir/build.h"

static inline tw_value tw_emit_add(tw_builder *b, tw_value x, int32_t k) {
    if (!k) return x;
    tw_value constant = tw_i32(b, k);
    return tw_add(b, x, constant);
}
static inline tw_value tw_emit_mul(tw_builder *b, tw_value x, int32_t k) {
    if (k == 1) return x;
    tw_value constant = tw_i32(b, k);
    return tw_mul(b, x, constant);
}
/* x / k for x >= 0. */
static inline tw_value tw_emit_udiv(tw_builder *b, tw_value x, int32_t k) {
    if (k == 1) return x;
    tw_value constant = tw_i32(b, k);
    return tw_udiv(b, x, constant);
}
static inline tw_value tw_emit_min(tw_builder *b, tw_value x, int32_t k) {
    tw_value constant = tw_i32(b, k);
    return tw_smin(b, x, constant);
}
static inline tw_value tw_emit_max(tw_builder *b, tw_value x, int32_t k) {
    tw_value constant = tw_i32(b, k);
    return tw_smax(b, x, constant);
}
/* x + y * z */
static inline tw_value tw_emit_mad(tw_builder *b, tw_value x, tw_value y, tw_value z) {
    tw_value product = tw_mul(b, y, z);
    return tw_add(b, x, product);
}
static inline tw_value tw_emit_compare(tw_builder *b, tw_icmp_predicate predicate, tw_value x, int32_t k) {
    tw_value constant = tw_i32(b, k);
    return tw_icmp(b, predicate, x, constant);
}
/* 0 <= x < count, for a count that is not negative */
static inline tw_value tw_emit_is_index(tw_builder *b, tw_value x, tw_value count) {
    return tw_icmp(b, TW_ULT, x, count);
}
/* x held to 0..count - 1; 0 where count is 0 */
static inline tw_value tw_emit_clamp_index(tw_builder *b, tw_value x, tw_value count) {
    tw_value last = tw_emit_add(b, count, -1);
    tw_value below = tw_smin(b, x, last);
    return tw_emit_max(b, below, 0);
}
/* The bits of zero in every lane of `type`. */
static inline tw_value tw_emit_zero(tw_builder *b, const tw_type *type) { return tw_constant(b, type, 0); }

#endif
