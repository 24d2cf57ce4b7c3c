/* Where DPP controls take source 0 from. */
#include "run/emu/code.h"

enum { NOWHERE = 255 };

/* Source lane of `lane` for a control that stays inside rows of 16 lanes, or in the whole wave of `size`. */
static unsigned source_lane(const char *name, const int64_t *v, unsigned lane, unsigned size, bool *known) {
    unsigned row = lane & ~15u, in = lane & 15u, n = (unsigned)v[0];
    *known = true;
    if (!strcmp(name, "quad_perm")) return (lane & ~3u) | ((unsigned)v[lane & 3] & 3);
    if (!strcmp(name, "dpp8")) return (lane & ~7u) | ((unsigned)v[lane & 7] & 7);
    if (!strcmp(name, "row_shl")) return in + n < 16 ? lane + n : NOWHERE;
    if (!strcmp(name, "row_shr")) return in >= n ? lane - n : NOWHERE;
    if (!strcmp(name, "row_ror")) return row | ((in - n) & 15);
    if (!strcmp(name, "row_mirror")) return row | (15 - in);
    if (!strcmp(name, "row_half_mirror")) return (lane & ~7u) | (7 - (lane & 7));
    if (!strcmp(name, "row_share") || !strcmp(name, "row_newbcast")) return row | (n & 15);
    if (!strcmp(name, "row_xmask")) return row | (in ^ (n & 15));
    if (!strcmp(name, "wave_shl")) return lane + 1 < size ? lane + 1 : NOWHERE;
    if (!strcmp(name, "wave_shr")) return lane >= 1 ? lane - 1 : NOWHERE;
    if (!strcmp(name, "wave_rol")) return (lane + 1) % size;
    if (!strcmp(name, "wave_ror")) return (lane + size - 1) % size;
    if (!strcmp(name, "row_bcast") && n == 15) return row >= 16 ? row - 1 : NOWHERE;
    if (!strcmp(name, "row_bcast") && n == 31) return lane >= 32 ? 31 : NOWHERE;
    *known = false;
    return NOWHERE;
}

const uint8_t *tw_emu_dpp_lanes(emu_binder *binder, const char *name, const int64_t *values, unsigned count) {
    static const int64_t NO_VALUES[8];
    unsigned needed = !strcmp(name, "quad_perm") ? 4 : !strcmp(name, "dpp8") ? 8 : 0;
    bool known;
    if (needed && count != needed) return NULL;
    const int64_t *v = count ? values : NO_VALUES;
    source_lane(name, v, 0, binder->target.wave_size, &known);
    if (!known) return NULL;
    uint8_t *lanes = TW_ARENA_NEW(&binder->arena, uint8_t, 64);
    if (!lanes) {
        binder->failed = true;
        return NULL;
    }
    for (unsigned lane = 0; lane < 64; lane++)
        lanes[lane] = (uint8_t)source_lane(name, v, lane, binder->target.wave_size, &known);
    return lanes;
}
