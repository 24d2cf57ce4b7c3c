/* Decoding of matrix instructions: shapes, formats and lane maps of arch/matrix.def become places. */
#include "run/emu/bind.h"
#include "run/emu/matrix.h"

enum { LANES = 1, SIGNS = 2, FORMATS = 4, SCALED = 8, SPARSE = 16, SETS = 32, SCALED32 = 64, SCALED16 = 128 };

typedef struct matrix_row {
    const char *atom;
    unsigned flags;
} matrix_row;
static const matrix_row MATRIX_ROWS[EMU_MATRIX_COUNT] = {
#define MATRIX(mnemonic, atom, flags) {atom, flags},
#define ALIAS(name, row)
#include "run/emu/matrix.def"
};

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
    for (unsigned k = 0; k < x->k; k++)
        x->a_k[k] = place(a, TW_MATRIX_A, 0, 0, k, x->lanes);
    for (unsigned k = 0; k < tw_matrix_atom_info(b).k; k++)
        x->b_k[k] = place(b, TW_MATRIX_B, 0, k, 0, x->lanes);
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
    tw_emu_bind_register(b, 0, operand_words(x->sparse ? &x->c : &x->d), 3, &i->d);
    tw_emu_bind_register(b, 1, operand_words(&x->a), 0, &i->s[0]);
    tw_emu_bind_register(b, 2, operand_words(&x->b), 1, &i->s[1]);
    if (b->reason) return;
    if (x->sparse) {
        i->s[2] = i->d;
        i->d.words = operand_words(&x->d); /* of bf16f32 the lower half of C's */
    } else if (b->text->operands > 3 && b->text->operand[3].kind == EMU_TEXT_REGISTER) {
        tw_emu_bind_register(b, 3, operand_words(&x->c), 2, &i->s[2]);
    } else {
        tw_emu_bind_operand(b, 3, (emu_type)CONSTANT[c], 2, &i->s[2]);
    }
    if (i->s[0].kind != EMU_OPERAND_VGPR || i->s[1].kind != EMU_OPERAND_VGPR ||
        i->d.kind != EMU_OPERAND_VGPR || i->s[2].kind == EMU_OPERAND_SGPR)
        b->reason = "a matrix operand that is no vector register";
    i->sources = 3;
}

/* Which of `names` the word of a modifier ends with: 0 where there is none, `count` where it is none of them.
 */
static unsigned named(const emu_binding *b, const char *modifier, const char *const *names, unsigned count) {
    const emu_text_modifier *m = tw_emu_text_find(b->text, modifier);
    if (!m) return 0;
    const char *last = strrchr(m->word, '_');
    for (unsigned n = 0; last && n < count; n++)
        if (!strcmp(last + 1, names[n])) return n;
    return count;
}

static void bind_scales(emu_binding *b, const matrix_row *row, emu_matrix *x) {
    static const char *const FORMAT[] = {"matrix_a_scale_fmt", "matrix_b_scale_fmt"};
    static const char *const PLACE[] = {"matrix_a_scale", "matrix_b_scale"};
    static const char *const FORMATS_OF_SCALES[EMU_SCALE_FORMATS] = {"E8", "E5M3", "E4M3"};
    static const char *const ROWS[] = {"ROW0", "ROW1"};
    x->scaled = true;
    for (unsigned k = 0; k < 2; k++) {
        emu_matrix_scale *s = &x->scale[k];
        unsigned format = named(b, FORMAT[k], FORMATS_OF_SCALES, EMU_SCALE_FORMATS),
                 place = named(b, PLACE[k], ROWS, 2);
        tw_emu_bind_operand(b, 4 + k, row->flags & SCALED16 ? T_B64 : T_B32, 4,
                            &s->operand); /* no high bits: v0 to v255 */
        s->block = row->flags & SCALED16 ? 16 : 32;
        s->by_lane = row->flags & SCALED;
        s->byte = (uint8_t)(modifier(b, "op_sel", k) | modifier(b, "op_sel_hi", k) << 1);
        s->format = (uint8_t)format;
        s->lane = (uint8_t)((k ? x->n : x->m) == 16 ? 16 * place : 0); /* 32 rows take all lanes */
        if (format >= EMU_SCALE_FORMATS || place > 1) b->reason = "a modifier that is not known";
    }
}

/* C is what the result overwrites; the last source has an entry of two bits for each element of A. A register
 * may hold several sets of them: abid selects one of gfx942's where cbsz is 0, index_key of gfx12's. */
static void bind_index(emu_binding *b, const matrix_row *row, const tw_matrix_atom *atom, emu_matrix *x) {
    unsigned last = place(atom, TW_MATRIX_INDEX, 0, x->m - 1u, x->k - 1u, x->lanes);
    unsigned bits = (last / x->lanes + 1) * 2, words = (bits + 31) / 32, sets = 32 * words / bits;
    unsigned set = modifier(b, "cbsz", 0) ? 0 : modifier(b, "abid", 0) | modifier(b, "index_key", 0);
    if (set >= (row->flags & SETS ? sets : 1)) {
        b->reason = "a set of indices that is not known";
        return;
    }
    tw_emu_bind_register(b, 3, words, 2, &x->index);
    if (!b->reason && x->index.kind != EMU_OPERAND_VGPR) b->reason = "an index that is no vector register";
    x->sparse = true;
    x->index_bit = (uint8_t)(set * bits);
    for (unsigned n = 0; n < x->m; n++)
        x->index_row[n] = place(atom, TW_MATRIX_INDEX, 0, x->row[n], 0, x->lanes);
    for (unsigned k = 0; k < x->k; k++)
        x->index_k[k] = place(atom, TW_MATRIX_INDEX, 0, 0, k, x->lanes);
}

void tw_emu_bind_matrix(emu_binding *b) {
    emu_inst *i = b->out;
    static const char *const KNOWN[] = {"cbsz",
                                        "abid",
                                        "blgp",
                                        "neg",
                                        "neg_lo",
                                        "neg_hi",
                                        "op_sel",
                                        "op_sel_hi",
                                        "matrix_a_reuse",
                                        "matrix_b_reuse",
                                        "clamp",
                                        "index_key",
                                        "matrix_a_fmt",
                                        "matrix_b_fmt",
                                        "matrix_a_scale",
                                        "matrix_b_scale",
                                        "matrix_a_scale_fmt",
                                        "matrix_b_scale_fmt",
                                        NULL};
    static const char *const WORDS[] = {"FP8", "BF8", "FP6", "BF6", "FP4"};
    const matrix_row *row = &MATRIX_ROWS[b->row->arg];
    unsigned cbsz = modifier(b, "cbsz", 0), abid = modifier(b, "abid", 0), blgp = modifier(b, "blgp", 0);
    unsigned a_format = cbsz | named(b, "matrix_a_fmt", WORDS, 5),
             b_format = blgp | named(b, "matrix_b_fmt", WORDS, 5);
    const tw_matrix_atom *a_atom = find_atom(b, row, row->flags & FORMATS ? a_format : 0);
    const tw_matrix_atom *b_atom = find_atom(b, row, row->flags & FORMATS ? b_format : 0);
    tw_emu_bind_known_modifiers(b, KNOWN);
    if (!a_atom || !b_atom) {
        b->reason = "no lane map of it is known";
        return;
    }
    if ((cbsz | abid | blgp) && !(row->flags & (LANES | FORMATS | SPARSE)))
        b->reason = "a modifier that is not known";
    emu_matrix *x = TW_ARENA_NEW(&b->binder->arena, emu_matrix, 1);
    if (!x) {
        b->binder->failed = true;
        return;
    }
    tw_target target = b->binder->target;
    tw_matrix_info info = tw_matrix_atom_info(a_atom), other = tw_matrix_atom_info(b_atom);
    *x = (emu_matrix){.lanes = info.wave_size, .blocks = (uint8_t)info.blocks, .m = (uint8_t)info.m};
    x->n = (uint8_t)info.n;
    x->k = (uint8_t)(info.sparse ? info.k / 2 : info.k);
    x->clamp = tw_emu_text_find(b->text, "clamp");
    x->a = (emu_matrix_operand){.format = read_format(target, info.a), .slots = info.slots[TW_MATRIX_A]};
    x->b = (emu_matrix_operand){.format = read_format(target, other.b), .slots = other.slots[TW_MATRIX_B]};
    x->c = (emu_matrix_operand){.format = read_format(target, info.c), .slots = info.slots[TW_MATRIX_D]};
    x->d = (emu_matrix_operand){.format = read_format(target, info.d), .slots = info.slots[TW_MATRIX_D]};
    x->c.format.flush = x->a.format.flush;
    if (row->flags & LANES) x->b_lanes = (uint8_t)blgp;
    fill_places(x, a_atom, b_atom, row->flags & LANES ? cbsz : 0, row->flags & LANES ? abid : 0);
    if (!columns_in_lanes(x, b_atom)) b->reason = "a lane map that the emulator does not serve";
    bind_signs(b, row, x);
    x->integer = info.d == TW_MATRIX_I32;
    x->staged = x->integer && x->clamp && b->binder->isa == TW_ISA_GFX12;
    x->half = info.slots[TW_MATRIX_D] * info.wave_size > info.m * info.n * info.blocks;
    if (x->half && modifier(b, "op_sel", 2)) {
        x->high = 1;
        for (unsigned row_index = 0; row_index < x->m; row_index++)
            x->d_row[row_index] = (uint16_t)(x->d_row[row_index] + x->lanes);
    }
    if (row->flags & SPARSE) bind_index(b, row, a_atom, x);
    bind_registers(b, x, info.c);
    if (row->flags & (SCALED | SCALED32 | SCALED16)) bind_scales(b, row, x);
    i->fn.any = b->reason ? NULL : x;
    i->exec = tw_emu_exec_matrix;
}
