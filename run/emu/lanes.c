/* Which of the lane functions and handlers this host can run. With TW_EMU_BASE_ONLY (tests) the base ones. */
#include "run/emu/block_copy.h"
#include "run/emu/fast.h"

static bool has_v3(void) {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(TW_EMU_BASE_ONLY)
    /* F16C is older than both. */
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

#if defined(__x86_64__) && defined(__GNUC__)
#define V3(table) table
#else
#define V3(table) NULL
#endif

const emu_lane_fn *tw_emu_lanes(void) { return has_v3() ? V3(tw_emu_lanes_v3) : tw_emu_lanes_base; }

const emu_fast_handlers *tw_emu_fast_handlers(void) {
    return has_v3() ? V3(&tw_emu_fast_v3) : &tw_emu_fast_base;
}

const emu_block_loops *tw_emu_block_loops(void) {
    return has_v3() ? V3(&tw_emu_block_v3) : &tw_emu_block_base;
}
