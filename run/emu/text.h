/* The text of one instruction, as LLVM's disassembler prints it, taken apart. */
#ifndef TW_RUN_EMU_TEXT_H
#define TW_RUN_EMU_TEXT_H

#include "support/status.h"

typedef enum emu_text_kind {
    EMU_TEXT_REGISTER, /* file 'v', 'a' or 's'; special scalar registers have their emu_wave.s numbers */
    EMU_TEXT_INTEGER,
    EMU_TEXT_FLOAT, /* one of the inline float constants */
    EMU_TEXT_NAME,  /* off, src_scc, ... */
    EMU_TEXT_CALL   /* hwreg(...), sendmsg(...): `name`, and the text between the parentheses in `args` */
} emu_text_kind;

typedef struct emu_text_operand {
    emu_text_kind kind;
    char file;
    uint16_t reg;
    uint8_t count;
    int8_t half; /* -1: the whole register; 0: ".l"; 1: ".h" */
    bool neg, abs, sext;
    bool literal; /* printed in hexadecimal: encoded as a literal */
    bool literal64;
    int64_t integer;
    char name[40]; /* of names and calls; of floats the text */
    char args[80];
} emu_text_operand;

typedef struct emu_text_modifier {
    char name[32];
    char word[48]; /* a value that is no number */
    int64_t value[8];
    uint8_t count; /* of values; 0 for a flag or a word */
} emu_text_modifier;

#define EMU_TEXT_OPERANDS  8
#define EMU_TEXT_MODIFIERS 12

typedef struct emu_text {
    char mnemonic[64]; /* without an encoding suffix */
    bool dpp, sdwa, vop3;
    bool raw; /* the rest is not operands: s_waitcnt, s_delay_alu, ... */
    uint8_t operands, modifiers;
    emu_text_operand operand[EMU_TEXT_OPERANDS];
    emu_text_modifier modifier[EMU_TEXT_MODIFIERS];
} emu_text;

/* Takes `length` characters apart. On failure `wrong` points at what it could not read. */
bool tw_emu_text_parse(const char *text, size_t length, emu_text *out, const char **wrong);
const emu_text_modifier *tw_emu_text_find(const emu_text *text, const char *name); /* or NULL */

#endif
