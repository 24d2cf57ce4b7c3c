/* Between text and instruction records: what bind.c and bind_mem.c share. */
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
