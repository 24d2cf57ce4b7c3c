/* Conversions with a scale. What no public text settles has unknown bits: NaN in a format without NaN, a
 * result of 8 bits or fewer under the scale NaN, and a scale of gfx1250 that is no power of two. */
#include "run/emu/scaled.h"

#include <math.h>

#include "run/emu/lane_fp8.h"

enum { TWO = 1, RND = 2, E8 = 4 };
typedef enum scaled_format { F32 = 0, F16, BF16, FP8, BF8, FP6, BF6, FP4 } scaled_format;

typedef struct scaled_row {
    uint8_t elements, to, from, flags;
} scaled_row;
static const scaled_row SCALED_ROWS[EMU_SCALED_COUNT] = {
#define SCALED(mnemonic, elements, to, from, flags) {elements, to, from, flags},
#include "run/emu/scaled.def"
#undef SCALED
};

/* The formats of OCP MX that have neither infinity nor NaN. */
typedef struct mini_format {
    uint8_t bits, mantissa, bias;
} mini_format;
static const mini_format MINI[] = {[FP6] = {6, 3, 1}, [BF6] = {6, 2, 3}, [FP4] = {4, 1, 1}};

static unsigned format_bits(unsigned f) {
    static const uint8_t BITS[] = {32, 16, 16, 8, 8, 6, 6, 4};
    return BITS[f];
}

static bool is_mini(unsigned f) { return f >= FP6; }
static bool narrows(const scaled_row *r) { return r->to >= FP8; }
static unsigned words_of(unsigned format, unsigned elements) {
    return (format_bits(format) * elements + 31) / 32;
}

/* ---- decoding ---- */

void tw_emu_bind_scaled(emu_binding *b) {
    static const char *const KNOWN[] = {"op_sel", "scale_sel", NULL};
    emu_inst *i = b->out;
    const scaled_row *r = &SCALED_ROWS[b->row->lane];
    unsigned data = r->flags & TWO ? 2 : 1, next = 1;
    unsigned words = words_of(r->from, r->elements / data);
    tw_emu_bind_known_modifiers(b, KNOWN);
    tw_emu_bind_register(b, 0, words_of(r->to, r->elements), 3, &i->d);
    for (unsigned k = 0; k < data && !b->reason; k++, next++) {
        if (words == 1)
            tw_emu_bind_operand(b, next, r->from == F32 ? T_F32 : T_B32, k, &i->s[k]);
        else
            tw_emu_bind_register(b, next, words, k, &i->s[k]);
        if (i->s[k].kind == EMU_OPERAND_SGPR && words > 1) b->reason = "data that is no vector register";
    }
    if (r->flags & RND && !b->reason) tw_emu_bind_operand(b, next++, T_B32, 1, &i->s[2]);
    if (!b->reason) tw_emu_bind_operand(b, next, r->flags & E8 ? T_B32 : T_F32, next - 1, &i->s[3]);
    for (unsigned k = 0; k < 4; k++)
        if (i->s[k].mods) b->reason = "a modifier of a source, which is not known for it";
    const emu_text_modifier *sel = tw_emu_text_find(b->text, "scale_sel");
    i->imm = b->bytes[1] >> 3 & 15; /* op_sel */
    i->imm2 = sel && sel->count ? sel->value[0] : 0;
    if (i->imm2 > 3) b->reason = "a scale_sel above 3, of which nothing public says what it selects";
    i->fn.any = r;
    i->exec = b->row->exec;
}

/* ---- one element ---- */

static double mini_value(const mini_format *f, uint32_t code) {
    unsigned magnitude = code & ((1u << (f->bits - 1)) - 1), exponent = magnitude >> f->mantissa;
    double m = magnitude & ((1u << f->mantissa) - 1);
    if (exponent) m += 1u << f->mantissa;
    double v = ldexp(m, (int)(exponent ? exponent : 1) - f->bias - f->mantissa);
    return code >> (f->bits - 1) ? -v : v;
}

/* To nearest even, or (where `random` is there) up where the leading random bits carry. What is too large
 * becomes the largest. */
static uint32_t mini_code(const mini_format *f, double v, const uint32_t *random) {
    uint32_t sign = signbit(v) ? 1u << (f->bits - 1) : 0, largest = (1u << (f->bits - 1)) - 1;
    double a = fabs(v);
    if (isinf(a)) return sign | largest;
    int exponent = a > 0 ? ilogb(a) : -200;
    if (exponent < 1 - f->bias) exponent = 1 - f->bias;
    if (exponent > 8) return sign | largest;
    double steps = ldexp(a, f->mantissa - exponent), whole = floor(steps), rest = steps - whole;
    bool up = random ? rest + ldexp(*random, -32) >= 1 : rest > 0.5 || (rest == 0.5 && (uint32_t)whole & 1);
    /* Codes count on from binade to binade. */
    uint32_t code = (uint32_t)whole + up + ((uint32_t)(exponent + f->bias - 1) << f->mantissa);
    return sign | (code > largest ? largest : code);
}

static double wide_value(unsigned format, uint32_t bits, uint32_t m) {
    switch ((scaled_format)format) {
    case F32: return as_f32(bits);
    case F16: return half_to_f32(bits & 0xffff);
    case BF16: return bf16_to_f32(bits & 0xffff);
    case FP8: return fp8_to_f32(bits, m);
    case BF8: return bf8_to_f32(bits, m);
    default: return mini_value(&MINI[format], bits);
    }
}

static uint32_t exact_bits(double v, tw_float_format to, uint32_t m) {
    tw_overflow_mode overflow = m & EMU_MODE_FP16_OVFL ? TW_OVERFLOW_SATURATE : TW_OVERFLOW_IEEE;
    if (to == TW_FLOAT_F32 || to == TW_FLOAT_BF16) overflow = TW_OVERFLOW_IEEE;
    return (uint32_t)tw_float_convert(TW_FLOAT_F64, f64_bits(v), to, TW_ROUND_NEAREST_EVEN, overflow);
}

static uint32_t element_bits(unsigned format, double v, const uint32_t *random, uint32_t m) {
    switch ((scaled_format)format) {
    case F32: return exact_bits(v, TW_FLOAT_F32, m);
    case F16: return exact_bits(v, TW_FLOAT_F16, m);
    case BF16: return exact_bits(v, TW_FLOAT_BF16, m);
    case FP8: return random ? f32_to_fp8_random((float)v, *random, m) : exact_bits(v, fp8_format(m), m);
    case BF8: return random ? f32_to_bf8_random((float)v, *random, m) : exact_bits(v, bf8_format(m), m);
    default: return mini_code(&MINI[format], v, random);
    }
}

/* ---- one lane ---- */

enum { MAX_WORDS = 32 };

static void read_words(const tw_emu_wave *w, const emu_operand *o, unsigned half, unsigned l, uint32_t *v,
                       uint32_t *unknown) {
    for (unsigned k = 0; k < o->words; k++) {
        if (o->kind == EMU_OPERAND_VGPR) {
            v[k] = emu_vgpr(w, o, half)[k * EMU_LANES + l];
            if (w->shadow) *unknown |= emu_vgpr_unknown(w, o, half)[k * EMU_LANES + l];
        } else if (o->kind == EMU_OPERAND_SGPR) {
            v[k] = w->s[o->reg + k];
            *unknown |= w->su[o->reg + k];
        } else {
            v[k] = o->bits[k & 1];
        }
    }
}

static uint32_t get_bits(const uint32_t *v, unsigned bit, unsigned bits) {
    uint64_t word = v[bit / 32];
    if (bit % 32 + bits > 32) word |= (uint64_t)v[bit / 32 + 1] << 32;
    return (uint32_t)(word >> bit % 32 & ((1ull << bits) - 1));
}

static void put_bits(uint32_t *v, unsigned bit, unsigned bits, uint32_t value) {
    v[bit / 32] |= value << bit % 32;
    if (bit % 32 + bits > 32) v[bit / 32 + 1] |= value >> (32 - bit % 32);
}

/* Where a part of a register is read or written: its first bit. */
static unsigned source_bit(const scaled_row *r, const emu_inst *i) {
    unsigned bits = format_bits(r->from) * r->elements;
    if (narrows(r) || bits > 16) return 0;
    return bits == 16 ? 16u * (i->imm & 1) : 8u * (i->imm & 3);
}

static unsigned result_bit(const scaled_row *r, const emu_inst *i) {
    unsigned bits = format_bits(r->to) * r->elements;
    if (bits >= 32) return 0;
    return bits == 16 ? 16u * (i->imm >> 3 & 1) : 8u * (i->imm >> 2 & 3);
}

typedef struct lane_result {
    uint32_t v[MAX_WORDS], unknown; /* whether all of it is */
} lane_result;

static void convert_lane(const tw_emu_wave *w, const emu_inst *i, unsigned half, unsigned l,
                         lane_result *out) {
    const scaled_row *r = i->fn.any;
    uint32_t data[2][MAX_WORDS] = {{0}}, random[1] = {0}, scale[1] = {0};
    memset(out, 0, sizeof *out);
    for (unsigned k = 0; k < (r->flags & TWO ? 2u : 1u); k++)
        read_words(w, &i->s[k], half, l, data[k], &out->unknown);
    if (r->flags & RND) read_words(w, &i->s[2], half, l, random, &out->unknown);
    read_words(w, &i->s[3], half, l, scale, &out->unknown);
    unsigned exponent = r->flags & E8 ? scale[0] >> 8 * i->imm2 & 255 : scale[0] >> 23 & 255;
    if (w->launch->isa == TW_ISA_GFX1250 && !(r->flags & E8) && scale[0] & 0x7fffff) out->unknown = 1;
    unsigned from_bits = format_bits(r->from), to_bits = format_bits(r->to);
    for (unsigned n = 0; n < r->elements; n++) {
        unsigned which = r->flags & TWO ? n & 1 : 0, index = r->flags & TWO ? n / 2 : n;
        uint32_t raw = get_bits(data[which], source_bit(r, i) + index * from_bits, from_bits);
        double v = wide_value(r->from, raw, w->lane_mode);
        v = exponent == 255 ? NAN : ldexp(v, narrows(r) ? 127 - (int)exponent : (int)exponent - 127);
        if (v != v && (is_mini(r->to) || (narrows(r) && exponent == 255))) {
            out->unknown = 1;
            v = 0;
        }
        if (v != v) v = NAN;
        uint32_t bits = element_bits(r->to, v, r->flags & RND ? random : NULL, w->lane_mode);
        put_bits(out->v, result_bit(r, i) + n * to_bits, to_bits, bits);
        random[0] = next_random(random[0]);
    }
}

void tw_emu_exec_scaled(tw_emu_wave *w, const emu_inst *i) {
    const scaled_row *r = i->fn.any;
    unsigned bits = format_bits(r->to) * r->elements, words = i->d.words;
    uint32_t mask = bits >= 32 ? ~0u : ((1u << bits) - 1) << result_bit(r, i);
    for (unsigned half = 0; half < w->halves; half++) {
        uint32_t value[MAX_WORDS * EMU_LANES], unknown[MAX_WORDS * EMU_LANES],
            active = emu_exec_half(w, half);
        for (uint32_t rest = active; rest; rest &= rest - 1) {
            unsigned l = (unsigned)__builtin_ctz(rest);
            lane_result result;
            convert_lane(w, i, half, l, &result);
            for (unsigned k = 0; k < words; k++) {
                uint32_t old = emu_vgpr(w, &i->d, half)[k * EMU_LANES + l];
                uint32_t was = w->shadow ? emu_vgpr_unknown(w, &i->d, half)[k * EMU_LANES + l] : 0;
                value[k * EMU_LANES + l] = (result.v[k] & mask) | (old & ~mask);
                unknown[k * EMU_LANES + l] = (result.unknown ? mask : 0) | (was & ~mask);
            }
        }
        for (unsigned k = 0; k < words; k++)
            tw_emu_vector_store(w, &i->d, k, half, active, value + k * EMU_LANES,
                                w->shadow ? unknown + k * EMU_LANES : NULL);
    }
}
