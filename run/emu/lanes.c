/* Which of the lane functions this host can run. */
#include "run/emu/rows.h"

const emu_lane_fn *tw_emu_lanes(void) {
#if defined(__x86_64__) && defined(__GNUC__)
    /* F16C is older than both. */
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return tw_emu_lanes_v3;
#endif
    return tw_emu_lanes_base;
}
