/* Between text and instruction records: what the files that bind share. */
#ifndef TW_RUN_EMU_BIND_H
#define TW_RUN_EMU_BIND_H

#include "run/emu/code.h"
#include "run/emu/exec.h"
#include "run/emu/text.h"

/* One instruction (or one half of a VOPD pair) while it is bound. */
typedef struct emu_binding {
    emu_binder *binder;
    const emu_text *text;
    const emu_row *row;
    const uint8_t *bytes; /* the encoding */
    emu_inst *out;
    const char *reason; /* why it cannot be bound; NULL: it can */
} emu_binding;

/* Text operand `index` as `type`, with VGPR offset slot `slot`. Sets `reason` where it cannot be. */
void tw_emu_bind_operand(emu_binding *b, unsigned index, emu_type type, unsigned slot, emu_operand *out);
void tw_emu_bind_register(emu_binding *b, unsigned index, unsigned words, unsigned slot, emu_operand *out);
/* A value that the text does not show. */
void tw_emu_bind_sgpr(unsigned reg, emu_type type, unsigned words, emu_operand *out);
void tw_emu_bind_constant(emu_binding *b, uint64_t bits, unsigned words, emu_operand *out);
unsigned tw_emu_type_words(emu_type type, bool wave64);
/* The bits that a number in the text stands for; false where they do not fit. */
bool tw_emu_bind_number_bits(const emu_text_operand *t, emu_type type, uint64_t *bits);
/* Sign modifiers of a constant, by type. */
uint64_t tw_emu_bind_signed_bits(uint64_t bits, emu_type type, bool neg, bool abs);

static inline bool emu_is_half(emu_type type) { return type == T_B16 || type == T_F16 || type == T_BF16; }
static inline bool emu_is_packed(emu_type type) { return type == T_P16 || type == T_PF16 || type == T_PBF16; }
static inline bool emu_is_packed32(emu_type type) { return type == T_PF32 || type == T_P32; }
static inline bool emu_is_float(emu_type type) {
    return type == T_F16 || type == T_BF16 || type == T_F32 || type == T_F64 || type == T_PF16 ||
           type == T_PBF16 || type == T_PF32;
}

void tw_emu_bind_smem(emu_binding *b);
void tw_emu_bind_global(emu_binding *b);
void tw_emu_bind_buffer(emu_binding *b);
void tw_emu_bind_lds(emu_binding *b);
void tw_emu_bind_copy(emu_binding *b);
void tw_emu_bind_tensor(emu_binding *b);
void tw_emu_bind_wait(emu_binding *b);
void tw_emu_bind_special(emu_binding *b);
void tw_emu_bind_matrix(emu_binding *b);

/* Every modifier must be one of the names in `known` (ended by NULL) or say something about caches only. */
void tw_emu_bind_known_modifiers(emu_binding *b, const char *const *known);

#endif
