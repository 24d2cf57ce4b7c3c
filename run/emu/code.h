/* Decoded code: one record an instruction, made once an address. */
#ifndef TW_RUN_EMU_CODE_H
#define TW_RUN_EMU_CODE_H

#include "run/emu/rows.h"

/* An executable segment, decoded function by function. */
typedef struct emu_code emu_code;

/* `bytes` stays with the caller and must not change; `address` is where it lies in device memory. */
emu_code *tw_emu_code_new(tw_target target, const emu_table *table, uint64_t address, const uint8_t *bytes,
                          size_t size, tw_diag *diag);
void tw_emu_code_free(emu_code *code);
/* Tells where a function begins and ends: its code is decoded as one piece. */
tw_status tw_emu_code_function(emu_code *code, const char *name, uint64_t address, uint64_t size);
/* The record of the instruction at `address`, decoding as needed; a record that reports itself when executed
 * where there is no code. NULL: no memory. Threads may call it at once. */
const emu_inst *tw_emu_code_at(emu_code *code, uint64_t address);
/* Whether a loop in what is decoded so far polls LDS (poll.h). */
bool tw_emu_code_polls(const emu_code *code);
/* The function that holds `address`: its name (or "") and the distance from its start. */
const char *tw_emu_code_where(const emu_code *code, uint64_t address, uint64_t *offset);

/* Why the encoding whose first 8 bytes these are must not be disassembled; NULL: it may. */
const char *tw_emu_unsafe_encoding(tw_isa isa, const uint8_t *bytes);

/* What binding needs: constants and DPP tables live as long as the code. */
typedef struct emu_binder {
    tw_target target;
    tw_isa isa;
    const emu_table *table;
    tw_arena arena;
    const uint32_t **constants; /* arrays of lanes, found again by value */
    size_t constant_count, constant_capacity;
    bool failed; /* memory ran out */
} emu_binder;

/* Fills `out` from the text and the encoding of the instruction at `out->pc`. A mnemonic, operand or modifier
 * that is not known gives a record that says so when it is executed. */
void tw_emu_bind(emu_binder *binder, const char *text, const uint8_t *bytes, emu_inst *out);
/* The lanes of a DPP control or DPP8; NULL where it is not known. */
const uint8_t *tw_emu_dpp_lanes(emu_binder *binder, const char *name, const int64_t *values, unsigned count);

#endif
