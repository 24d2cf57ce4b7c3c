/* Matrix instructions. Shapes, formats and lane maps are those of arch/matrix.def; decoding turns them into
 * places, and execution widens the operands to floats, multiplies, and narrows the result. */
#include "run/emu/matrix.h"

#include <fenv.h>

#include "run/emu/bind.h"
#include "run/emu/lane_math.h"

enum { LANES = 1, SIGNS = 2, FORMATS = 4, SCALED = 8 };

typedef struct matrix_row {
    const char *atom;
    unsigned flags;
} matrix_row;
static const matrix_row MATRIX_ROWS[EMU_MATRIX_COUNT] = {
#define MATRIX(mnemonic, atom, flags) {atom, flags},
#define ALIAS(name, row)
#include "run/emu/matrix.def"
};

/* ---- decoding ---- */

static emu_matrix_format read_format(tw_target target, tw_matrix_format format) {
    const tw_arch_info *arch = tw_arch_get(target.arch);
    bool fnuz = arch->fp8 == TW_FP8_FNUZ;
    bool flushes =
        arch->features & TW_ARCH_HAS_MFMA_FLUSH && (format == TW_MATRIX_F16 || format == TW_MATRIX_BF16);
    emu_matrix_format f = {.bits = (uint8_t)tw_matrix_format_bits(format),
                           .infinity = 255,
                           .nan = 255,
                           .flush = flushes,
                           .mask = ~0u};
    switch (format) {
    case TW_MATRIX_F16: f.kind = EMU_MATRIX_HALF; break;
    case TW_MATRIX_BF16: f.kind = EMU_MATRIX_BFLOAT; break;
    case TW_MATRIX_XF32: f.mask = 0xffffe000u; break;
    case TW_MATRIX_F64: f.kind = EMU_MATRIX_DOUBLE; break;
    case TW_MATRIX_I8:
    case TW_MATRIX_I4: f.kind = EMU_MATRIX_INTEGER; break;
    case TW_MATRIX_FP8:
        f.kind = EMU_MATRIX_SMALL;
        f.mantissa = 3;
        f.scale = fnuz ? 0x1p119f : 0x1p120f;
        f.negative_nan = fnuz;
        f.nan = fnuz ? 255 : 0x7f;
        break;
    case TW_MATRIX_BF8:
        f.kind = EMU_MATRIX_SMALL;
        f.mantissa = 2;
        f.scale = fnuz ? 0x1p111f : 0x1p112f;
        f.negative_nan = fnuz;
        f.infinity = fnuz ? 255 : 0x7c;
        f.nan = fnuz ? 255 : 0x7d;
        break;
    case TW_MATRIX_FP6:
        f.kind = EMU_MATRIX_SMALL;
        f.mantissa = 3;
        f.scale = 0x1p126f;
        break;
    case TW_MATRIX_BF6:
        f.kind = EMU_MATRIX_SMALL;
        f.mantissa = 2;
        f.scale = 0x1p124f;
        break;
    case TW_MATRIX_FP4:
        f.kind = EMU_MATRIX_SMALL;
        f.mantissa = 1;
        f.scale = 0x1p126f;
        break;
    default: break;
    }
    return f;
}

static uint16_t place(const tw_matrix_atom *atom, tw_matrix_operand operand, unsigned block, unsigned row,
                      unsigned column, unsigned lanes) {
    unsigned lane = 0, slot = 0;
    tw_matrix_place(atom, operand, block, row, column, &lane, &slot);
    return (uint16_t)(slot * lanes + lane);
}

/* Rows in the order of the copies of A and B that their result's lane reads, places included. */
static void fill_rows(emu_matrix *x, const tw_matrix_atom *a, const tw_matrix_atom *b) {
    unsigned a_copies = tw_matrix_copies(a, TW_MATRIX_A), b_copies = tw_matrix_copies(b, TW_MATRIX_B),
             next = 0;
    for (unsigned copy = 0; copy < x->lanes; copy++) {
        if (copy & ~b_copies) continue;
        for (unsigned row = 0; row < x->m; row++) {
            unsigned d = place(a, TW_MATRIX_D, 0, row, 0, x->lanes), lane = d % x->lanes;
            if ((lane & b_copies) != copy) continue;
            x->row[next] = (uint8_t)row;
            x->a_row[next] = (uint16_t)(place(a, TW_MATRIX_A, 0, row, 0, x->lanes) + (lane & a_copies));
            x->d_row[next] = (uint16_t)d;
            x->b_copy[next] = (uint16_t)copy;
            next++;
        }
    }
}

/* The loops count on columns in the low bits of the lane, and rows by fours in one copy. */
static bool columns_in_lanes(const emu_matrix *x, const tw_matrix_atom *b) {
    for (unsigned column = 0; column < x->n; column++) {
        if (place(b, TW_MATRIX_B, 0, 0, column, x->lanes) != column) return false;
        if (place(b, TW_MATRIX_D, 0, 0, column, x->lanes) != column) return false;
    }
    for (unsigned i = 0; i < x->m; i++) {
        if (x->b_copy[i] != x->b_copy[i & ~3u]) return false;
    }
    return true;
}

static void fill_places(emu_matrix *x, const tw_matrix_atom *a, const tw_matrix_atom *b, unsigned cbsz,
                        unsigned abid) {
    fill_rows(x, a, b);
    for (unsigned k = 0; k < x->k; k++) {
        x->a_k[k] = place(a, TW_MATRIX_A, 0, 0, k, x->lanes);
        x->b_k[k] = place(b, TW_MATRIX_B, 0, k, 0, x->lanes);
    }
    for (unsigned block = 0; block < x->blocks; block++) {
        unsigned from = (block & ~((1u << cbsz) - 1)) + abid; /* broadcast to 2 ^ cbsz blocks */
        x->a_block[block] = place(a, TW_MATRIX_A, from % x->blocks, 0, 0, x->lanes);
        x->b_block[block] = place(b, TW_MATRIX_B, block, 0, 0, x->lanes);
        x->d_block[block] = place(a, TW_MATRIX_D, block, 0, 0, x->lanes);
    }
}

static unsigned modifier(const emu_binding *b, const char *name, unsigned index) {
    const emu_text_modifier *m = tw_emu_text_find(b->text, name);
    return m && index < m->count ? (unsigned)m->value[index] : 0;
}

/* The atom; of those whose formats stand in the instruction the one of format `which`. */
static const tw_matrix_atom *find_atom(emu_binding *b, const matrix_row *row, unsigned which) {
    static const char *const FORMAT[] = {"fp8", "bf8", "fp6", "bf6", "fp4"};
    char name[64];
    if (which >= sizeof FORMAT / sizeof FORMAT[0]) return NULL;
    strcpy(name, row->atom);
    if (row->flags & FORMATS) strcat(name, FORMAT[which]);
    return tw_matrix_unit_by_name(b->binder->target, name);
}

static void bind_signs(emu_binding *b, const matrix_row *row, emu_matrix *x) {
    bool f64 = x->a.format.kind == EMU_MATRIX_DOUBLE, halves = x->a.format.bits == 16;
    unsigned lo[3], hi[3];
    for (unsigned k = 0; k < 3; k++) {
        lo[k] = f64 ? modifier(b, "neg", k) : modifier(b, "neg_lo", k);
        hi[k] = modifier(b, "neg_hi", k);
    }
    if (row->flags & SIGNS) {
        x->a.format.is_signed = lo[0];
        x->b.format.is_signed = lo[1];
        return;
    }
    x->a.format.is_signed = x->b.format.is_signed = true;
    x->a.negate = (uint8_t)(lo[0] | (halves ? hi[0] : lo[0]) << 1);
    x->b.negate = (uint8_t)(lo[1] | (halves ? hi[1] : lo[1]) << 1);
    x->c.negate = (uint8_t)(lo[2] * 3);
    x->c.absolute = hi[2];
}

static uint8_t operand_words(const emu_matrix_operand *o) {
    return (uint8_t)(o->slots * o->format.bits / 32);
}

static void bind_registers(emu_binding *b, const emu_matrix *x, tw_matrix_format c) {
    emu_inst *i = b->out;
    static const uint8_t CONSTANT[TW_MATRIX_FORMAT_COUNT] = {T_F16, T_BF16, T_F32, 0, 0, 0, T_B32, T_F64};
    tw_emu_bind_register(b, 0, operand_words(&x->d), 3, &i->d);
    tw_emu_bind_register(b, 1, operand_words(&x->a), 0, &i->s[0]);
    tw_emu_bind_register(b, 2, operand_words(&x->b), 1, &i->s[1]);
    if (b->reason) return;
    if (b->text->operands > 3 && b->text->operand[3].kind == EMU_TEXT_REGISTER) {
        tw_emu_bind_register(b, 3, operand_words(&x->c), 2, &i->s[2]);
    } else {
        tw_emu_bind_operand(b, 3, (emu_type)CONSTANT[c], 2, &i->s[2]);
    }
    if (i->s[0].kind != EMU_OPERAND_VGPR || i->s[1].kind != EMU_OPERAND_VGPR ||
        i->d.kind != EMU_OPERAND_VGPR || i->s[2].kind == EMU_OPERAND_SGPR)
        b->reason = "a matrix operand that is no vector register";
    i->sources = 3;
}

static void bind_scales(emu_binding *b, emu_matrix *x) {
    tw_emu_bind_operand(b, 4, T_B32, 0, &b->out->s[3]);
    tw_emu_bind_operand(b, 5, T_B32, 1, &x->b_scale);
    for (unsigned k = 0; k < 2; k++)
        x->scale_byte[k] = (uint8_t)(modifier(b, "op_sel", k) | modifier(b, "op_sel_hi", k) << 1);
}

void tw_emu_bind_matrix(emu_binding *b) {
    emu_inst *i = b->out;
    static const char *const KNOWN[] = {"cbsz",           "abid",           "blgp",   "neg",
                                        "neg_lo",         "neg_hi",         "op_sel", "op_sel_hi",
                                        "matrix_a_reuse", "matrix_b_reuse", "clamp",  NULL};
    const matrix_row *row = &MATRIX_ROWS[b->row->arg];
    unsigned cbsz = modifier(b, "cbsz", 0), abid = modifier(b, "abid", 0), blgp = modifier(b, "blgp", 0);
    const tw_matrix_atom *a_atom = find_atom(b, row, cbsz * !!(row->flags & FORMATS));
    const tw_matrix_atom *b_atom = find_atom(b, row, blgp * !!(row->flags & FORMATS));
    tw_emu_bind_known_modifiers(b, KNOWN);
    if (!a_atom || !b_atom) {
        b->reason = "no lane map of it is known";
        return;
    }
    if ((cbsz | abid | blgp) && !(row->flags & (LANES | FORMATS))) b->reason = "a modifier that is not known";
    emu_matrix *x = TW_ARENA_NEW(&b->binder->arena, emu_matrix, 1);
    if (!x) {
        b->binder->failed = true;
        return;
    }
    tw_target target = b->binder->target;
    tw_matrix_info info = tw_matrix_atom_info(a_atom), other = tw_matrix_atom_info(b_atom);
    *x = (emu_matrix){.lanes = info.wave_size, .blocks = (uint8_t)info.blocks, .m = (uint8_t)info.m};
    x->n = (uint8_t)info.n;
    x->k = (uint8_t)info.k;
    x->clamp = tw_emu_text_find(b->text, "clamp");
    x->a = (emu_matrix_operand){.format = read_format(target, info.a), .slots = info.slots[TW_MATRIX_A]};
    x->b = (emu_matrix_operand){.format = read_format(target, other.b), .slots = other.slots[TW_MATRIX_B]};
    x->c = (emu_matrix_operand){.format = read_format(target, info.c), .slots = info.slots[TW_MATRIX_D]};
    x->d = (emu_matrix_operand){.format = read_format(target, info.d), .slots = info.slots[TW_MATRIX_D]};
    x->c.format.flush = x->a.format.flush;
    x->scaled = row->flags & SCALED;
    if (row->flags & LANES) x->b_lanes = (uint8_t)blgp;
    fill_places(x, a_atom, b_atom, row->flags & LANES ? cbsz : 0, row->flags & LANES ? abid : 0);
    if (!columns_in_lanes(x, b_atom)) b->reason = "a lane map that the emulator does not serve";
    bind_signs(b, row, x);
    x->integer = info.d == TW_MATRIX_I32;
    x->half = info.slots[TW_MATRIX_D] * info.wave_size > info.m * info.n * info.blocks;
    if (x->half && modifier(b, "op_sel", 2)) {
        x->high = 1;
        for (unsigned row_index = 0; row_index < x->m; row_index++)
            x->d_row[row_index] = (uint16_t)(x->d_row[row_index] + x->lanes);
    }
    bind_registers(b, x, info.c);
    if (x->scaled) bind_scales(b, x);
    i->fn.any = b->reason ? NULL : x;
    i->exec = tw_emu_exec_matrix;
}

/* ---- execution ---- */

static const emu_matrix_loops *loops(void) {
    return tw_emu_lanes() == tw_emu_lanes_base ? &tw_emu_matrix_base : &tw_emu_matrix_v3;
}

static void apply_signs(const emu_matrix *x, const emu_matrix_operand *o, float *v) {
    if (!o->negate && !o->absolute) return;
    for (unsigned slot = 0; slot < o->slots; slot++) {
        uint32_t flip = o->negate >> (slot & 1) & 1 ? 0x80000000u : 0, keep = o->absolute ? 0x7fffffffu : ~0u;
        for (unsigned l = 0; l < x->lanes; l++) {
            float *f = v + slot * x->lanes + l;
            *f = as_f32((f32_bits(*f) & keep) ^ flip);
        }
    }
}

static void read_operand(const tw_emu_wave *w, const emu_matrix *x, const emu_operand *o,
                         const emu_matrix_operand *as, const emu_matrix_loops *run, float *out) {
    if (o->kind == EMU_OPERAND_CONST) {
        uint32_t words[EMU_LANES];
        float block[EMU_LANES];
        for (unsigned l = 0; l < EMU_LANES; l++)
            words[l] = o->bits[0];
        run->widen(&as->format, words, 1, 0, block);
        for (unsigned n = 0; n < as->slots * x->lanes; n++)
            out[n] = block[0];
    } else {
        for (unsigned half = 0; half < w->halves; half++) {
            run->widen(&as->format, emu_vgpr(w, o, half), as->slots, x->lanes, out + half * EMU_LANES);
        }
    }
    apply_signs(x, as, out);
}

/* Where lane `lane` of B comes from (CDNA3 ISA, BLGP). */
static unsigned exchanged_lane(unsigned how, unsigned lane) {
    switch (how) {
    case 1: return lane % 32;
    case 2: return lane % 32 + 32;
    case 3: return (lane + 16) % 64;
    case 4:
    case 5:
    case 6:
    case 7: return lane % 16 + 16 * (how - 4);
    default: return lane;
    }
}

static void exchange_lanes(const emu_matrix *x, float *b) {
    for (unsigned slot = 0; slot < x->b.slots; slot++) {
        float *to = b + slot * x->lanes, from[64];
        memcpy(from, to, sizeof from);
        for (unsigned l = 0; l < 64; l++)
            to[l] = from[exchanged_lane(x->b_lanes, l)];
    }
}

static float quiet_f32(float f) { return as_f32(f32_bits(f) | 0x400000u); }

/* The rule of the vector units, in the order of the sum: a NaN source comes out quiet, an invalid operation
 * is +NaN. */
static float sum_with_nan(const emu_matrix *x, const float *a, const float *b, float sum) {
    for (unsigned k = 0; k < x->k; k++) {
        float l = a[x->a_k[k]], r = b[x->b_k[k]];
        if (sum != sum) return quiet_f32(sum);
        sum = __builtin_fmaf(l, r, sum);
        if (l != l) return quiet_f32(l);
        if (r != r) return quiet_f32(r);
        if (sum != sum) return as_f32(0x7fc00000u);
    }
    return sum != sum ? quiet_f32(sum) : sum;
}

static void fix_nans(const emu_matrix *x, const float *a, const float *b, const float *c, float *d) {
    for (unsigned block = 0; block < x->blocks; block++) {
        for (unsigned i = 0; i < x->m; i++) {
            unsigned to = x->d_block[block] + x->d_row[i];
            for (unsigned j = 0; j < x->n; j++) {
                if (d[to + j] == d[to + j]) continue;
                d[to + j] = sum_with_nan(x, a + x->a_block[block] + x->a_row[i],
                                         b + x->b_block[block] + x->b_copy[i] + j, c[to + j]);
            }
        }
    }
}

/* ---- what is unknown: a row of A or a column of B that has an unknown bit, and what it touches ---- */

typedef struct unknown_places {
    uint8_t a[EMU_MATRIX_ELEMENTS], b[EMU_MATRIX_ELEMENTS], d[EMU_MATRIX_ELEMENTS];
} unknown_places;

static bool may_be_unknown(const tw_emu_wave *w, const emu_inst *i) {
    bool any = false;
    for (unsigned k = 0; k < i->sources; k++)
        any |= i->s[k].kind == EMU_OPERAND_VGPR && tw_emu_vector_unknown(w, &i->s[k]);
    return any;
}

static void unknown_operand(const tw_emu_wave *w, const emu_matrix *x, const emu_operand *o, unsigned bits,
                            unsigned slots, uint8_t *out) {
    uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
    for (unsigned half = 0; half < w->halves; half++) {
        const uint32_t *u = o->kind == EMU_OPERAND_VGPR ? emu_vgpr_unknown(w, o, half) : NULL;
        for (unsigned slot = 0; slot < slots; slot++) {
            unsigned word = slot * bits / 32, shift = slot * bits % 32;
            for (unsigned l = 0; l < EMU_LANES; l++) {
                uint64_t v = u ? u[word * EMU_LANES + l] : 0;
                if (u && shift + bits > 32) v |= (uint64_t)u[(word + 1) * EMU_LANES + l] << 32;
                out[slot * x->lanes + half * EMU_LANES + l] = (v >> shift & mask) != 0;
            }
        }
    }
}

static void find_unknown(const tw_emu_wave *w, const emu_inst *i, const emu_matrix *x, unknown_places *u) {
    unknown_operand(w, x, &i->s[0], x->a.format.bits, x->a.slots, u->a);
    unknown_operand(w, x, &i->s[1], x->b.format.bits, x->b.slots, u->b);
    unknown_operand(w, x, &i->s[2], x->c.format.bits, x->c.slots, u->d);
    for (unsigned slot = 0; x->b_lanes && slot < x->b.slots; slot++) {
        uint8_t *to = u->b + slot * x->lanes, from[64];
        memcpy(from, to, sizeof from);
        for (unsigned l = 0; l < 64; l++)
            to[l] = from[exchanged_lane(x->b_lanes, l)];
    }
    for (unsigned block = 0; block < x->blocks; block++) {
        for (unsigned row = 0; row < x->m; row++) {
            const uint8_t *a = u->a + x->a_block[block] + x->a_row[row];
            const uint8_t *b = u->b + x->b_block[block] + x->b_copy[row];
            uint8_t *d = u->d + x->d_block[block] + x->d_row[row], bad = 0;
            for (unsigned k = 0; k < x->k; k++)
                bad |= a[x->a_k[k]];
            for (unsigned j = 0; j < x->n; j++) {
                d[j] |= bad;
                for (unsigned k = 0; k < x->k; k++)
                    d[j] |= b[x->b_k[k] + j];
            }
        }
    }
}

/* ---- the result ---- */

static uint32_t narrow_half(const tw_emu_wave *w, float f, bool bfloat) {
    uint32_t r = bfloat ? f32_to_bf16_nearest(f) : f32_to_half_nearest(f);
    uint32_t infinity = bfloat ? 0x7f80u : 0x7c00u;
    return w->lane_mode & EMU_MODE_FP16_OVFL && (r & 0x7fff) == infinity ? r - 1 : r;
}

static uint32_t add_integer(const emu_matrix *x, uint32_t c, float sum) {
    int64_t r = (int64_t)(int32_t)c + (int64_t)sum;
    if (x->clamp) r = r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : r;
    return (uint32_t)r;
}

/* One word of one block of lanes: its bits, and for each which element they are of. */
static void result_word(const tw_emu_wave *w, const emu_inst *i, const emu_matrix *x, const float *d,
                        unsigned word, unsigned half, uint32_t *out) {
    const uint32_t *c = i->s[2].kind == EMU_OPERAND_VGPR ? emu_vgpr(w, &i->s[2], half) : NULL;
    if (x->d.format.bits == 16) {
        const float *low = d + 2 * word * x->lanes + half * EMU_LANES, *high = low + x->lanes;
        bool bfloat = x->d.format.kind == EMU_MATRIX_BFLOAT;
        const uint32_t *old = emu_vgpr(w, &i->d, half) + word * EMU_LANES;
        for (unsigned l = 0; l < EMU_LANES; l++) {
            uint32_t lo = x->half && x->high ? old[l] & 0xffff : narrow_half(w, low[l], bfloat);
            uint32_t hi = x->half && !x->high ? old[l] >> 16 : narrow_half(w, high[l], bfloat);
            out[l] = lo | hi << 16;
        }
        return;
    }
    const float *from = d + word * x->lanes + half * EMU_LANES;
    for (unsigned l = 0; l < EMU_LANES; l++) {
        uint32_t bits = f32_bits(from[l]);
        if (x->integer)
            bits = add_integer(x, c ? c[word * EMU_LANES + l] : i->s[2].bits[0], from[l]);
        else if (x->a.format.flush && !(bits & 0x7f800000u))
            bits &= 0x80000000u;
        out[l] = bits;
    }
}

static void unknown_word(const tw_emu_wave *w, const emu_inst *i, const emu_matrix *x, const uint8_t *d,
                         unsigned word, unsigned half, uint32_t *out) {
    const uint32_t *old = emu_vgpr_unknown(w, &i->d, half) + word * EMU_LANES;
    for (unsigned l = 0; l < EMU_LANES; l++) {
        unsigned lane = half * EMU_LANES + l;
        if (x->d.format.bits == 16) {
            const uint8_t *low = d + 2 * word * x->lanes + lane, *high = low + x->lanes;
            uint32_t lo = x->half && x->high ? old[l] & 0xffff : *low ? 0xffffu : 0;
            uint32_t hi = x->half && !x->high ? old[l] & 0xffff0000u : *high ? 0xffff0000u : 0;
            out[l] = lo | hi;
        } else {
            out[l] = d[word * 32 / x->d.format.bits * x->lanes + lane] ? ~0u : 0;
        }
    }
}

static bool old_half_unknown(const tw_emu_wave *w, const emu_inst *i, const emu_matrix *x) {
    return x->half && tw_emu_vector_unknown(w, &i->d);
}

static void store_result(tw_emu_wave *w, const emu_inst *i, const emu_matrix *x, const float *d,
                         const double *wide) {
    unknown_places u;
    bool any = w->shadow && (may_be_unknown(w, i) || old_half_unknown(w, i, x));
    if (any) find_unknown(w, i, x, &u);
    bool plain = !wide && x->d.format.bits == 32 && !x->integer && !x->a.format.flush;
    for (unsigned word = 0; word < i->d.words; word++) {
        for (unsigned half = 0; half < w->halves; half++) {
            uint32_t bits[EMU_LANES], unknown[EMU_LANES];
            if (plain) {
                memcpy(bits, d + word * x->lanes + half * EMU_LANES, sizeof bits);
            } else if (wide) {
                const double *from = wide + word / 2 * x->lanes + half * EMU_LANES;
                for (unsigned l = 0; l < EMU_LANES; l++)
                    bits[l] = (uint32_t)(f64_bits(from[l]) >> (word % 2 * 32));
            } else {
                result_word(w, i, x, d, word, half, bits);
            }
            if (any) unknown_word(w, i, x, u.d, word, half, unknown);
            tw_emu_vector_store(w, &i->d, word, half, ~0u, bits, any ? unknown : NULL);
        }
    }
}

/* ---- f64 ---- */

static void read_double(const tw_emu_wave *w, const emu_matrix *x, const emu_operand *o,
                        const emu_matrix_operand *as, double *out) {
    uint64_t flip = as->negate ? 1ull << 63 : 0, keep = as->absolute ? ~0ull >> 1 : ~0ull;
    for (unsigned half = 0; half < w->halves; half++) {
        const uint32_t *v = o->kind == EMU_OPERAND_VGPR ? emu_vgpr(w, o, half) : NULL;
        for (unsigned slot = 0; slot < as->slots; slot++) {
            for (unsigned l = 0; l < EMU_LANES; l++) {
                const uint32_t *low = v ? v + 2 * slot * EMU_LANES + l : NULL;
                uint64_t bits =
                    low ? low[0] | (uint64_t)low[EMU_LANES] << 32 : o->bits[0] | (uint64_t)o->bits[1] << 32;
                out[slot * x->lanes + half * EMU_LANES + l] = as_f64((bits & keep) ^ flip);
            }
        }
    }
}

static double step_double(double a, double b, double sum) {
    double r = __builtin_fma(a, b, sum);
    if (r == r) return r;
    double source = sum != sum ? sum : a != a ? a : b;
    return source != source ? as_f64(f64_bits(source) | 1ull << 51) : as_f64(0x7ff8000000000000u);
}

static void run_double(tw_emu_wave *w, const emu_inst *i, const emu_matrix *x) {
    double a[256], b[256], d[256];
    read_double(w, x, &i->s[0], &x->a, a);
    read_double(w, x, &i->s[1], &x->b, b);
    read_double(w, x, &i->s[2], &x->c, d);
    for (unsigned block = 0; block < x->blocks; block++) {
        for (unsigned row = 0; row < x->m; row++) {
            const double *l = a + x->a_block[block] + x->a_row[row], *r = b + x->b_block[block];
            double *to = d + x->d_block[block] + x->d_row[row];
            for (unsigned k = 0; k < x->k; k++) {
                for (unsigned j = 0; j < x->n; j++)
                    to[j] = step_double(l[x->a_k[k]], r[x->b_k[k] + j], to[j]);
            }
        }
    }
    store_result(w, i, x, NULL, d);
}

/* ---- scaled forms ---- */

/* The exponents of a block of 32 k: lane (k / 32) * rows + row of the scale operand, one of its bytes. 255 is
 * NaN. */
static void read_scales(const tw_emu_wave *w, const emu_matrix *x, const emu_operand *o, unsigned which,
                        uint8_t *out) {
    for (unsigned l = 0; l < x->lanes; l++) {
        uint32_t v = o->kind == EMU_OPERAND_CONST  ? o->bits[0]
                     : o->kind == EMU_OPERAND_SGPR ? w->s[o->reg]
                                                   : emu_vgpr(w, o, l / EMU_LANES)[l % EMU_LANES];
        out[l] = (uint8_t)(v >> 8 * x->scale_byte[which]);
    }
}

static float step_scaled(float l, float r, unsigned left, unsigned right, float sum) {
    if (sum != sum) return quiet_f32(sum);
    if (left == 255 || right == 255) return as_f32(0x7fc00000u);
    double product = (double)l * r * as_f64((uint64_t)(left + right - 254 + 1023) << 52);
    float f = (float)((double)sum + product);
    return f != f ? as_f32(0x7fc00000u) : f;
}

static void multiply_scaled(const tw_emu_wave *w, const emu_inst *i, const emu_matrix *x, const float *a,
                            const float *b, float *d) {
    uint8_t left[64], right[64];
    read_scales(w, x, &i->s[3], 0, left);
    read_scales(w, x, &x->b_scale, 1, right);
    for (unsigned row = 0; row < x->m; row++) {
        for (unsigned j = 0; j < x->n; j++) {
            float *to = d + x->d_row[row] + j;
            for (unsigned k = 0; k < x->k; k++)
                *to = step_scaled(a[x->a_row[row] + x->a_k[k]], b[x->b_k[k] + j],
                                  left[k / 32 * x->m + x->row[row]], right[k / 32 * x->n + j], *to);
        }
    }
}

static void run_single(tw_emu_wave *w, const emu_inst *i, const emu_matrix *x) {
    const emu_matrix_loops *run = loops();
    float a[EMU_MATRIX_ELEMENTS], b[EMU_MATRIX_ELEMENTS], c[EMU_MATRIX_ELEMENTS], d[EMU_MATRIX_ELEMENTS];
    read_operand(w, x, &i->s[0], &x->a, run, a);
    read_operand(w, x, &i->s[1], &x->b, run, b);
    if (x->b_lanes) exchange_lanes(x, b);
    if (x->integer)
        memset(d, 0, sizeof *d * x->d.slots * x->lanes);
    else
        read_operand(w, x, &i->s[2], &x->c, run, d);
    if (x->scaled) {
        multiply_scaled(w, i, x, a, b, d);
    } else if (run->multiply(x, a, b, d)) {
        if (x->integer)
            memset(c, 0, sizeof *c * x->d.slots * x->lanes);
        else
            read_operand(w, x, &i->s[2], &x->c, run, c);
        fix_nans(x, a, b, c, d);
    }
    store_result(w, i, x, d, NULL);
}

/* EXEC and MODE have no say: all lanes take part, sums round to nearest even. */
void tw_emu_exec_matrix(tw_emu_wave *w, const emu_inst *i) {
    const emu_matrix *x = i->fn.any;
    int direction = fegetround();
    if (direction != FE_TONEAREST) fesetround(FE_TONEAREST);
    if (x->a.format.kind == EMU_MATRIX_DOUBLE)
        run_double(w, i, x);
    else
        run_single(w, i, x);
    if (direction != FE_TONEAREST) fesetround(direction);
}
