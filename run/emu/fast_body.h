/* The fast handlers of vector instructions. A file that defines FAST_HANDLERS (the name of the table) and
 * includes this gets them for whatever instruction set is in force there. */
#include "run/emu/fast.h"
#include "run/emu/lane_modify.h"
#include "run/emu/valu.h"

enum { BLOCK = 2 * EMU_LANES };

/* ---- what has to hold ---- */

static inline uint32_t operand_unknown(const tw_emu_wave *w, const emu_operand *o) {
    if (o->kind == EMU_OPERAND_VGPR) {
        const uint8_t *flag = emu_vgpr_flag(w, o);
        return o->words == 2 ? flag[0] | flag[1] : flag[0];
    }
    if (o->kind == EMU_OPERAND_SGPR) return o->words == 2 ? w->su[o->reg] | w->su[o->reg + 1] : w->su[o->reg];
    return 0;
}

/* Whether modes are at their defaults, and every source and the old result are known. */
LM bool is_simple(const tw_emu_wave *w, const emu_inst *i, unsigned sources, bool has_result) {
    uint32_t unknown = w->slow_float;
    for (unsigned k = 0; k < sources; k++)
        unknown |= operand_unknown(w, &i->s[k]);
    if (has_result) unknown |= operand_unknown(w, &i->d);
    if (i->mask_reg >= 0) unknown |= w->su[i->mask_reg] | (w->halves == 2 ? w->su[i->mask_reg + 1] : 0);
    return !unknown;
}

/* ---- sources ---- */

static inline void broadcast(uint32_t *out, uint32_t value) { EACH_LANE out[l] = value; }

LM const uint32_t *source(const tw_emu_wave *w, const emu_operand *o, unsigned half, bool modified,
                          uint32_t *tmp) {
    const uint32_t *in = o->lanes;
    if (o->kind == EMU_OPERAND_VGPR) {
        in = emu_vgpr(w, o, half);
    } else if (o->kind == EMU_OPERAND_SGPR) {
        broadcast(tmp, w->s[o->reg]);
        if (o->words == 2) broadcast(tmp + EMU_LANES, w->s[o->reg + 1]);
        in = tmp;
    }
    if (!modified || !o->mods || o->kind == EMU_OPERAND_CONST) return in;
    emu_modify(o, false, tmp, in);
    return tmp;
}

LM uint32_t mask_of(const tw_emu_wave *w, const emu_inst *i, unsigned half) {
    if (i->mask_reg >= 0) return w->s[i->mask_reg + half];
    if (i->mask_reg == -1) return w->lane_mode;
    return (uint32_t)(i->mask_reg == -2 ? (uint64_t)i->imm : (uint64_t)i->imm2 >> (32 * half));
}

LM void fetch(const tw_emu_wave *w, const emu_inst *i, unsigned sources, bool modified, unsigned half,
              uint32_t (*room)[BLOCK], emu_block_sources *src) {
    for (unsigned k = 0; k < sources; k++)
        src->s[k] = source(w, &i->s[k], half, modified, room[k]);
    for (unsigned k = sources; k < 3; k++)
        src->s[k] = NULL;
    src->mask = mask_of(w, i, half);
}

/* ---- results ---- */

static inline void blend(uint32_t *to, const uint32_t *from, uint32_t mask) {
    EACH_LANE {
        uint32_t m = 0u - (mask >> l & 1);
        to[l] = (from[l] & m) | (to[l] & ~m);
    }
}

/* A 16-bit result leaves the other half of its register alone. */
static inline void keep_half(const emu_inst *i, uint32_t *d, const uint32_t *old) {
    if (!(i->flags & EMU_I_KEEP_HALF)) return;
    if (i->flags & EMU_I_HIGH_HALF) {
        EACH_LANE d[l] = (old[l] & 0xffff) | d[l] << 16;
    } else {
        EACH_LANE d[l] = (old[l] & 0xffff0000u) | (d[l] & 0xffff);
    }
}

LM bool overlap(const uint32_t *d, const uint32_t *s) { return s < d + BLOCK && d < s + BLOCK; }

/* The NaN rule looks at the sources again: they must be there still. */
LM bool in_place(const uint32_t *d, const emu_block_sources *src, unsigned sources) {
    bool any = false;
    for (unsigned k = 0; k < sources; k++)
        any |= overlap(d, src->s[k]);
    return !any;
}

/* One block of 32 lanes; the mask result. */
LM uint32_t run_block(tw_emu_wave *w, const emu_inst *i, unsigned sources, bool nan, bool modified,
                      unsigned half, uint32_t active, const emu_block_sources *src) {
    uint32_t *d = emu_vgpr(w, &i->d, half), tmp[BLOCK], result;
    if (active == 0xffffffffu && !modified && !(nan && !in_place(d, src, sources))) {
        result = i->fn.lane(d, src->s[0], src->s[1], src->s[2], src->mask);
        if (nan && result) tw_emu_fix_nans(i, d, src);
        return result;
    }
    result = i->fn.lane(tmp, src->s[0], src->s[1], src->s[2], src->mask);
    if (nan && result) tw_emu_fix_nans(i, tmp, src);
    if (modified) keep_half(i, tmp, d);
    for (unsigned word = 0; word < i->d.words; word++) {
        if (active == 0xffffffffu)
            memcpy(d + word * EMU_LANES, tmp + word * EMU_LANES, EMU_LANES * sizeof *d);
        else
            blend(d + word * EMU_LANES, tmp + word * EMU_LANES, active);
    }
    return result & active;
}

/* ---- the handlers ---- */

LM void run(tw_emu_wave *w, const emu_inst *i, unsigned sources, bool nan, bool modified) {
    if (!is_simple(w, i, sources, true)) {
        (modified ? tw_emu_exec_vector_full : tw_emu_exec_vector)(w, i);
        return;
    }
    uint32_t mask[2] = {0, 0};
    for (unsigned half = 0; half < w->halves; half++) {
        uint32_t room[3][BLOCK], active = emu_exec_half(w, half);
        emu_block_sources src;
        if (!active) continue;
        fetch(w, i, sources, modified, half, room, &src);
        mask[half] = run_block(w, i, sources, nan, modified, half, active, &src);
    }
    if (i->flags & EMU_I_CARRY_OUT && i->d2.reg != EMU_S_NULL) {
        for (unsigned half = 0; half < w->halves; half++) {
            w->s[i->d2.reg + half] = mask[half];
            w->su[i->d2.reg + half] = 0;
        }
    }
}

#define HANDLER(name, sources, nan, modified) \
    static void name(tw_emu_wave *w, const emu_inst *i) { run(w, i, sources, nan, modified); }
HANDLER(plain_1, 1, false, false)
HANDLER(plain_2, 2, false, false)
HANDLER(plain_3, 3, false, false)
HANDLER(plain_1_nan, 1, true, false)
HANDLER(plain_2_nan, 2, true, false)
HANDLER(plain_3_nan, 3, true, false)
HANDLER(modified_1, 1, false, true)
HANDLER(modified_2, 2, false, true)
HANDLER(modified_3, 3, false, true)
HANDLER(modified_1_nan, 1, true, true)
HANDLER(modified_2_nan, 2, true, true)
HANDLER(modified_3_nan, 3, true, true)

LM void compare(tw_emu_wave *w, const emu_inst *i, bool modified) {
    if (!is_simple(w, i, i->sources, false)) {
        tw_emu_exec_compare(w, i);
        return;
    }
    uint32_t mask[2] = {0, 0};
    for (unsigned half = 0; half < w->halves; half++) {
        uint32_t room[3][BLOCK], d[BLOCK];
        emu_block_sources src;
        fetch(w, i, i->sources, modified, half, room, &src);
        mask[half] = i->fn.lane(d, src.s[0], src.s[1], src.s[2], src.mask) & emu_exec_half(w, half);
    }
    if (i->d.kind == EMU_OPERAND_SGPR && i->d.reg != EMU_S_NULL) {
        for (unsigned half = 0; half < w->halves; half++) {
            w->s[i->d.reg + half] = mask[half];
            w->su[i->d.reg + half] = 0;
        }
    }
    if (i->flags & EMU_I_TO_EXEC) tw_emu_write_exec(w, mask[0] | (uint64_t)mask[1] << 32, 0);
}

static void compare_plain(tw_emu_wave *w, const emu_inst *i) { compare(w, i, false); }
static void compare_modified(tw_emu_wave *w, const emu_inst *i) { compare(w, i, true); }

/* Both halves read before either writes: they run one after the other where the first leaves the sources of
 * the second alone. */
static void dual(tw_emu_wave *w, const emu_inst *x) {
    const emu_inst *y = x->dual;
    uint32_t active = emu_exec_half(w, 0), room[2][3][BLOCK];
    emu_block_sources xs, ys;
    if (w->halves == 2 || !active || !is_simple(w, x, x->sources, true) ||
        !is_simple(w, y, y->sources, true)) {
        tw_emu_exec_dual(w, x);
        return;
    }
    fetch(w, x, x->sources, false, 0, room[0], &xs);
    fetch(w, y, y->sources, false, 0, room[1], &ys);
    if (in_place(emu_vgpr(w, &x->d, 0), &ys, y->sources)) {
        run_block(w, x, x->sources, x->row->flags & EMU_ROW_FLOAT, false, 0, active, &xs);
        run_block(w, y, y->sources, y->row->flags & EMU_ROW_FLOAT, false, 0, active, &ys);
    } else if (in_place(emu_vgpr(w, &y->d, 0), &xs, x->sources)) {
        run_block(w, y, y->sources, y->row->flags & EMU_ROW_FLOAT, false, 0, active, &ys);
        run_block(w, x, x->sources, x->row->flags & EMU_ROW_FLOAT, false, 0, active, &xs);
    } else {
        tw_emu_exec_dual(w, x);
    }
}

const emu_fast_handlers FAST_HANDLERS = {
    .plain = {{plain_1, plain_1_nan}, {plain_2, plain_2_nan}, {plain_3, plain_3_nan}},
    .modified = {{modified_1, modified_1_nan}, {modified_2, modified_2_nan}, {modified_3, modified_3_nan}},
    .compare = {compare_plain, compare_modified},
    .dual = dual,
};
