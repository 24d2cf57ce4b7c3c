/* Reading the disassembler's text. It is LLVM's own, yet an unexpected form must end as "not known", never as
 * a wrong operand: everything that is not understood is refused. */
#include "run/emu/text.h"

#include <stdlib.h>
#include <string.h>

#include "run/emu/state.h"

typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_spaces(cursor *c) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
        c->at++;
}

static bool take(cursor *c, char wanted) {
    if (c->at < c->end && *c->at == wanted) {
        c->at++;
        return true;
    }
    return false;
}

static bool take_text(cursor *c, const char *wanted) {
    size_t length = strlen(wanted);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, wanted, length)) return false;
    c->at += length;
    return true;
}

static bool is_word(char ch) {
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') || ch == '_' ||
           ch == '.';
}

static bool is_digit(char ch) { return ch >= '0' && ch <= '9'; }

static bool take_word(cursor *c, char *out, size_t size) {
    size_t n = 0;
    while (c->at < c->end && is_word(*c->at) && n + 1 < size)
        out[n++] = *c->at++;
    out[n] = 0;
    return n > 0 && !(c->at < c->end && is_word(*c->at));
}

static bool take_number(cursor *c, int64_t *out, bool *hexadecimal) {
    bool negative = take(c, '-');
    uint64_t value = 0;
    *hexadecimal = false;
    if (take_text(c, "0x")) {
        *hexadecimal = true;
        const char *start = c->at;
        for (; c->at < c->end; c->at++) {
            char ch = *c->at;
            unsigned digit;
            if (is_digit(ch))
                digit = (unsigned)(ch - '0');
            else if (ch >= 'a' && ch <= 'f')
                digit = (unsigned)(ch - 'a') + 10;
            else if (ch >= 'A' && ch <= 'F')
                digit = (unsigned)(ch - 'A') + 10;
            else
                break;
            value = value << 4 | digit;
        }
        if (c->at == start) return false;
    } else {
        const char *start = c->at;
        for (; c->at < c->end && is_digit(*c->at); c->at++)
            value = value * 10 + (uint64_t)(*c->at - '0');
        if (c->at == start) return false;
    }
    *out = (int64_t)(negative ? 0 - value : value);
    return true;
}

typedef struct special {
    const char *name;
    uint16_t reg;
    uint8_t count;
} special;

static const special SPECIAL[] = {
    {"vcc", EMU_S_VCC, 2},
    {"vcc_lo", EMU_S_VCC, 1},
    {"vcc_hi", EMU_S_VCC + 1, 1},
    {"exec", EMU_S_EXEC, 2},
    {"exec_lo", EMU_S_EXEC, 1},
    {"exec_hi", EMU_S_EXEC + 1, 1},
    {"m0", EMU_S_M0, 1},
    {"null", EMU_S_NULL, 0}, /* no count: as wide as the instruction wants */
    {"flat_scratch", EMU_S_FLAT_SCRATCH, 2},
    {"flat_scratch_lo", EMU_S_FLAT_SCRATCH, 1},
    {"flat_scratch_hi", EMU_S_FLAT_SCRATCH + 1, 1},
    {"src_flat_scratch_base_lo", EMU_S_FLAT_SCRATCH, 0},
    {"src_flat_scratch_base_hi", EMU_S_FLAT_SCRATCH + 1, 1},
    {"xnack_mask", EMU_S_XNACK_MASK, 2},
    {"xnack_mask_lo", EMU_S_XNACK_MASK, 1},
    {"xnack_mask_hi", EMU_S_XNACK_MASK + 1, 1},
};

/* "v12", "v12.l", "v[4:7]", "s3", "ttmp9", "a[0:3]" and the special names. */
static bool take_register(cursor *c, emu_text_operand *o) {
    cursor start = *c;
    uint16_t base = 0;
    char file = 0;
    if (take_text(c, "ttmp")) {
        file = 's';
        base = EMU_S_TTMP;
    } else if (c->at < c->end && (*c->at == 'v' || *c->at == 's' || *c->at == 'a')) {
        file = *c->at++;
    }
    int64_t first, last;
    bool hexadecimal;
    if (file && c->at < c->end && is_digit(*c->at)) {
        if (!take_number(c, &first, &hexadecimal)) return false;
        last = first;
        if (take_text(c, ".l"))
            o->half = 0;
        else if (take_text(c, ".h"))
            o->half = 1;
    } else if (file && take(c, '[')) {
        if (!take_number(c, &first, &hexadecimal)) return false;
        last = first;
        if (take(c, ':') && !take_number(c, &last, &hexadecimal)) return false;
        if (!take(c, ']')) return false;
    } else {
        *c = start;
        char word[40];
        if (!take_word(c, word, sizeof word)) return false;
        for (size_t i = 0; i < sizeof SPECIAL / sizeof SPECIAL[0]; i++) {
            if (!strcmp(word, SPECIAL[i].name)) {
                o->kind = EMU_TEXT_REGISTER;
                o->file = 's';
                o->reg = SPECIAL[i].reg;
                o->count = SPECIAL[i].count;
                return true;
            }
        }
        *c = start;
        return false;
    }
    if ((c->at < c->end && is_word(*c->at)) || first < 0 || last < first || last > 1023) {
        *c = start;
        return false;
    }
    o->kind = EMU_TEXT_REGISTER;
    o->file = file;
    o->reg = (uint16_t)(first + base);
    o->count = (uint8_t)(last - first + 1);
    return true;
}

static bool take_value(cursor *c, emu_text_operand *o) {
    cursor start = *c;
    if (take_register(c, o)) return true;
    *c = start;
    if (c->at < c->end && (is_digit(*c->at) || *c->at == '-')) {
        if (!take_number(c, &o->integer, &o->literal)) return false;
        if (c->at < c->end && *c->at == '.') { /* a float: keep the text, its bits depend on the type */
            while (c->at < c->end && (is_digit(*c->at) || *c->at == '.'))
                c->at++;
            size_t length = (size_t)(c->at - start.at);
            if (length >= sizeof o->name) return false;
            memcpy(o->name, start.at, length);
            o->name[length] = 0;
            o->kind = EMU_TEXT_FLOAT;
            return true;
        }
        o->kind = EMU_TEXT_INTEGER;
        return true;
    }
    if (take_text(c, "lit64(") || take_text(c, "lit(")) {
        o->literal64 = c->at[-2] == '4';
        o->kind = EMU_TEXT_INTEGER;
        return take_number(c, &o->integer, &o->literal) && take(c, ')');
    }
    if (!take_word(c, o->name, sizeof o->name)) return false;
    o->kind = EMU_TEXT_NAME;
    if (take(c, '(')) {
        const char *open = c->at;
        while (c->at < c->end && *c->at != ')')
            c->at++;
        size_t length = (size_t)(c->at - open);
        if (length >= sizeof o->args || !take(c, ')')) return false;
        memcpy(o->args, open, length);
        o->args[length] = 0;
        o->kind = EMU_TEXT_CALL;
    }
    return true;
}

static bool take_operand(cursor *c, emu_text_operand *o) {
    *o = (emu_text_operand){.half = -1};
    if (take_text(c, "sext(")) {
        o->sext = true;
        return take_value(c, o) && take(c, ')');
    }
    bool parenthesis = take_text(c, "neg(");
    if (parenthesis) {
        o->neg = true;
    } else if (c->end - c->at > 1 && c->at[0] == '-' && !is_digit(c->at[1])) {
        o->neg = true;
        c->at++;
    }
    o->abs = take(c, '|');
    if (!take_value(c, o)) return false;
    if (o->abs && !take(c, '|')) return false;
    return !parenthesis || take(c, ')');
}

/* "offset:16", "glc", "op_sel:[0,1]", "th:TH_LOAD_NT", "offset:swizzle(SWAP,2)". */
static bool take_modifier(cursor *c, emu_text_modifier *m) {
    *m = (emu_text_modifier){.count = 0};
    bool hexadecimal;
    if (!take_word(c, m->name, sizeof m->name)) return false;
    if (!take(c, ':')) return true;
    if (take(c, '[')) {
        do {
            skip_spaces(c);
            if (m->count == 8) return false;
            if (c->at < c->end && !is_digit(*c->at) && *c->at != '-') {
                if (!take_word(c, m->word, sizeof m->word)) return false;
            } else if (!take_number(c, &m->value[m->count++], &hexadecimal)) {
                return false;
            }
        } while (take(c, ','));
        return take(c, ']');
    }
    if (c->at < c->end && (is_digit(*c->at) || *c->at == '-')) {
        m->count = 1;
        return take_number(c, &m->value[0], &hexadecimal);
    }
    size_t n = 0, depth = 0;
    while (c->at < c->end && (depth || (*c->at != ' ' && *c->at != '\t')) && n + 1 < sizeof m->word) {
        depth += *c->at == '(';
        depth -= *c->at == ')';
        m->word[n++] = *c->at++;
    }
    m->word[n] = 0;
    return n > 0;
}

static bool ends_with(const char *text, const char *suffix) {
    size_t a = strlen(text), b = strlen(suffix);
    return a > b && !strcmp(text + a - b, suffix);
}

static void cut(char *text, const char *suffix) { text[strlen(text) - strlen(suffix)] = 0; }

static void strip_suffix(emu_text *t) {
    if (ends_with(t->mnemonic, "_dpp")) {
        t->dpp = true;
        cut(t->mnemonic, "_dpp");
    } else if (ends_with(t->mnemonic, "_sdwa")) {
        t->sdwa = true;
        cut(t->mnemonic, "_sdwa");
    }
    if (ends_with(t->mnemonic, "_e32")) {
        cut(t->mnemonic, "_e32");
    } else if (ends_with(t->mnemonic, "_e64")) {
        t->vop3 = true;
        cut(t->mnemonic, "_e64");
    }
}

/* Instructions whose operands say nothing that execution needs. */
static bool is_raw(const char *mnemonic) {
    static const char *const RAW[] = {"s_delay_alu",      "s_waitcnt", "s_wait_alu",
                                      "s_waitcnt_depctr", "s_version", "s_clause"};
    for (size_t i = 0; i < sizeof RAW / sizeof RAW[0]; i++) {
        if (!strcmp(mnemonic, RAW[i])) return true;
    }
    return false;
}

bool tw_emu_text_parse(const char *text, size_t length, emu_text *out, const char **wrong) {
    cursor c = {text, text + length};
    memset(out, 0, sizeof *out);
    skip_spaces(&c);
    *wrong = c.at;
    if (!take_word(&c, out->mnemonic, sizeof out->mnemonic)) return false;
    strip_suffix(out);
    if (is_raw(out->mnemonic)) {
        out->raw = true;
        return true;
    }
    skip_spaces(&c);
    bool more = c.at < c.end;
    while (more) {
        *wrong = c.at;
        if (out->operands == EMU_TEXT_OPERANDS) return false;
        cursor before = c;
        emu_text_operand *o = &out->operand[out->operands];
        bool read = take_operand(&c, o);
        /* A first word with a colon is a modifier of an instruction without operands. */
        if (out->operands == 0 && read && c.at < c.end && *c.at == ':') {
            c = before;
            break;
        }
        if (!read) return false;
        out->operands++;
        skip_spaces(&c);
        more = take(&c, ',');
        skip_spaces(&c);
    }
    while (c.at < c.end) {
        *wrong = c.at;
        if (out->modifiers == EMU_TEXT_MODIFIERS || !take_modifier(&c, &out->modifier[out->modifiers]))
            return false;
        out->modifiers++;
        skip_spaces(&c);
    }
    return true;
}

const emu_text_modifier *tw_emu_text_find(const emu_text *text, const char *name) {
    for (unsigned i = 0; i < text->modifiers; i++) {
        if (!strcmp(text->modifier[i].name, name)) return &text->modifier[i];
    }
    return NULL;
}
