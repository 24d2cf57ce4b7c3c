/* The operands of an instruction: registers, constants and names. */
#include <stdlib.h>

#include "run/emu/bind.h"
#include "run/emu/lane_math.h"

unsigned tw_emu_type_words(emu_type type, bool wave64) {
    static const uint8_t WORDS[T_COUNT] = {
        [T_B16] = 1,  [T_F16] = 1,   [T_BF16] = 1, [T_B32] = 1, [T_F32] = 1,  [T_P16] = 1,
        [T_PF16] = 1, [T_PBF16] = 1, [T_B64] = 2,  [T_F64] = 2, [T_PF32] = 2, [T_P32] = 2,
        [T_B96] = 3,  [T_B128] = 4,  [T_MIX] = 1,  [T_MIXB] = 1};
    return type == T_MASK ? (wave64 ? 2 : 1) : WORDS[type];
}

/* ---- constants ---- */

/* Doubles the hash table of constants. */
static bool grow_constants(emu_binder *binder) {
    size_t capacity = binder->constant_capacity ? 2 * binder->constant_capacity : 256;
    const uint32_t **table = calloc(capacity, sizeof *table);
    if (!table) return false;
    for (size_t i = 0; i < binder->constant_capacity; i++) {
        const uint32_t *c = binder->constants[i];
        if (!c) continue;
        size_t at = (c[0] * 2654435761u ^ c[EMU_LANES] * 40503u) & (capacity - 1);
        while (table[at])
            at = (at + 1) & (capacity - 1);
        table[at] = c;
    }
    free(binder->constants);
    binder->constants = table;
    binder->constant_capacity = capacity;
    return true;
}

/* 32 lanes of the low word, then 32 of the high word; one array a value. */
static const uint32_t *constant_lanes(emu_binder *binder, uint64_t bits) {
    uint32_t low = (uint32_t)bits, high = (uint32_t)(bits >> 32);
    if (2 * binder->constant_count >= binder->constant_capacity && !grow_constants(binder)) {
        binder->failed = true;
        return NULL;
    }
    size_t mask = binder->constant_capacity - 1;
    size_t at = (low * 2654435761u ^ high * 40503u) & mask;
    for (; binder->constants[at]; at = (at + 1) & mask) {
        if (binder->constants[at][0] == low && binder->constants[at][EMU_LANES] == high)
            return binder->constants[at];
    }
    uint32_t *lanes = TW_ARENA_NEW(&binder->arena, uint32_t, 2 * EMU_LANES);
    if (!lanes) {
        binder->failed = true;
        return NULL;
    }
    for (unsigned l = 0; l < EMU_LANES; l++) {
        lanes[l] = low;
        lanes[l + EMU_LANES] = high;
    }
    binder->constants[at] = lanes;
    binder->constant_count++;
    return lanes;
}

void tw_emu_bind_constant(emu_binding *b, uint64_t bits, unsigned words, emu_operand *out) {
    *out =
        (emu_operand){.kind = EMU_OPERAND_CONST, .words = (uint8_t)words, .type = words == 2 ? T_B64 : T_B32};
    out->bits[0] = (uint32_t)bits;
    out->bits[1] = (uint32_t)(bits >> 32);
    out->lanes = constant_lanes(b->binder, bits);
}

void tw_emu_bind_sgpr(unsigned reg, emu_type type, unsigned words, emu_operand *out) {
    *out = (emu_operand){
        .kind = EMU_OPERAND_SGPR, .type = (uint8_t)type, .words = (uint8_t)words, .reg = (uint16_t)reg};
}

typedef struct inline_float {
    const char *text;
    double value;
} inline_float;

/* The inline float constants; 1/(2 pi) has its own bits in each format. */
static bool float_bits(const char *text, emu_type type, uint64_t *bits) {
    static const inline_float INLINE[] = {{"0.5", 0.5},   {"-0.5", -0.5}, {"1.0", 1.0},
                                          {"-1.0", -1.0}, {"2.0", 2.0},   {"-2.0", -2.0},
                                          {"4.0", 4.0},   {"-4.0", -4.0}, {"0.0", 0.0}};
    bool bf16 = type == T_BF16 || type == T_PBF16 || type == T_MIXB;
    bool half = emu_is_half(type) || emu_is_packed(type);
    bool wide = type == T_F64 || type == T_B64;
    if (!strncmp(text, "0.15915494", 10)) {
        *bits = wide ? 0x3fc45f306dc9c882u : !half ? 0x3e22f983u : bf16 ? 0x3e23u : 0x3118u;
        return true;
    }
    for (size_t i = 0; i < sizeof INLINE / sizeof INLINE[0]; i++) {
        if (strcmp(text, INLINE[i].text)) continue;
        float f = (float)INLINE[i].value;
        *bits = wide    ? f64_bits(INLINE[i].value)
                : !half ? f32_bits(f)
                : bf16  ? f32_bits(f) >> 16
                        : f32_to_half_nearest(f);
        return true;
    }
    return false;
}

bool tw_emu_bind_number_bits(const emu_text_operand *t, emu_type type, uint64_t *bits) {
    if (t->kind == EMU_TEXT_FLOAT) return float_bits(t->name, type, bits);
    uint64_t v = (uint64_t)t->integer;
    if (t->literal && !t->literal64) {
        bool fits = t->integer >= INT32_MIN && t->integer <= (int64_t)UINT32_MAX;
        if (type == T_F64 && fits)
            v <<= 32;
        else if (!fits && type != T_B64 && type != T_F64)
            return false;
    }
    if (emu_is_half(type)) v &= 0xffff;
    if (type != T_B64 && type != T_F64) v &= 0xffffffffu;
    *bits = v;
    return true;
}

uint64_t tw_emu_bind_signed_bits(uint64_t bits, emu_type type, bool neg, bool abs) {
    uint64_t sign = type == T_F64 || type == T_B64 ? 1ull << 63 : emu_is_half(type) ? 0x8000u : 0x80000000u;
    if (abs) bits &= ~sign;
    if (neg) bits ^= sign;
    return bits;
}

static void bind_number(emu_binding *b, const emu_text_operand *t, emu_type type, unsigned words,
                        emu_operand *out) {
    uint64_t bits;
    if (!tw_emu_bind_number_bits(t, type, &bits)) {
        b->reason = "a constant that does not fit its operand";
        return;
    }
    tw_emu_bind_constant(b, tw_emu_bind_signed_bits(bits, type, t->neg, t->abs), words, out);
    out->type = (uint8_t)type;
}

/* ---- registers and names ---- */

/* The apertures of flat addresses: what src_shared_base and src_private_base read as. */
static bool bind_name(emu_binding *b, const emu_text_operand *t, unsigned words, emu_operand *out) {
    static const struct {
        const char *name;
        uint64_t bits;
    } APERTURE[] = {
        {"src_shared_base", EMU_SHARED_APERTURE},
        {"src_shared_limit", EMU_SHARED_APERTURE | 0xffffffffu},
        {"src_private_base", EMU_PRIVATE_APERTURE},
        {"src_private_limit", EMU_PRIVATE_APERTURE | 0xffffffffu},
        {"src_shared_base_lo", EMU_SHARED_APERTURE},
        {"src_private_base_lo", EMU_PRIVATE_APERTURE},
    };
    static const struct {
        const char *name;
        emu_operand_kind kind;
    } STATUS[] = {{"scc", EMU_OPERAND_SCC},
                  {"src_scc", EMU_OPERAND_SCC},
                  {"src_vccz", EMU_OPERAND_VCCZ},
                  {"src_execz", EMU_OPERAND_EXECZ}};
    for (size_t i = 0; i < sizeof APERTURE / sizeof APERTURE[0]; i++) {
        if (strcmp(t->name, APERTURE[i].name)) continue;
        tw_emu_bind_constant(b, APERTURE[i].bits, words, out);
        return true;
    }
    for (size_t i = 0; i < sizeof STATUS / sizeof STATUS[0]; i++) {
        if (strcmp(t->name, STATUS[i].name)) continue;
        *out = (emu_operand){.kind = (uint8_t)STATUS[i].kind, .words = (uint8_t)words};
        return true;
    }
    return false;
}

static void place_register(emu_binding *b, const emu_text_operand *t, unsigned words, unsigned slot,
                           emu_operand *out) {
    *out = (emu_operand){.words = (uint8_t)words, .slot = (uint8_t)slot, .reg = t->reg};
    out->kind = t->file == 's' ? EMU_OPERAND_SGPR : EMU_OPERAND_VGPR;
    if (t->file == 'a') out->reg = (uint16_t)(t->reg + EMU_AGPR_BASE);
    if (t->count && t->count != words) b->reason = "an operand with an unexpected number of registers";
    if (t->file == 's' && t->reg + words > EMU_S_COUNT) b->reason = "an operand past the scalar registers";
}

void tw_emu_bind_register(emu_binding *b, unsigned index, unsigned words, unsigned slot, emu_operand *out) {
    if (index >= b->text->operands || b->text->operand[index].kind != EMU_TEXT_REGISTER) {
        b->reason = "an operand that should be a register";
        return;
    }
    place_register(b, &b->text->operand[index], words, slot, out);
}

void tw_emu_bind_operand(emu_binding *b, unsigned index, emu_type type, unsigned slot, emu_operand *out) {
    if (index >= b->text->operands) {
        b->reason = "fewer operands than expected";
        return;
    }
    const emu_text_operand *t = &b->text->operand[index];
    bool wave64 = b->binder->target.wave_size == 64;
    unsigned words = tw_emu_type_words(type, wave64);
    switch (t->kind) {
    case EMU_TEXT_REGISTER:
        place_register(b, t, words, slot, out);
        /* A 16-bit register where the table says 32: shift amounts of gfx11 and later. */
        if (t->half >= 0 && type == T_B32) type = T_B16;
        out->type = (uint8_t)type;
        if (t->half == 1) out->mods |= EMU_HALF;
        break;
    case EMU_TEXT_INTEGER:
    case EMU_TEXT_FLOAT: bind_number(b, t, type, words, out); return;
    case EMU_TEXT_NAME:
        if (bind_name(b, t, words, out)) {
            out->type = (uint8_t)type;
            return;
        }
        b->reason = "an operand that is not known";
        return;
    case EMU_TEXT_CALL: b->reason = "an operand that is not known"; return;
    }
    if (t->neg) out->mods |= EMU_NEG;
    if (t->abs) out->mods |= EMU_ABS;
    if (t->sext) out->mods |= EMU_SEXT;
}
