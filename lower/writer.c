/* The writer of LLVM IR text: types, constants, names, lines. Integers alone are formatted, digit by digit,
 * so the text does not depend on the locale. */
#include <stdarg.h>
#include <string.h>

#include "lower/lowering.h"

/* ---- types ---- */

static const char *scalar_text(const tw_lowering *l, tw_scalar scalar) {
    switch (scalar) {
    case TW_I1: return "i1";
    case TW_I16: return "i16";
    case TW_I32: return "i32";
    case TW_I64: return "i64";
    case TW_F16: return "half";
    case TW_BF16: return l->flavor->bf16_type;
    case TW_F32: return "float";
    default: return "i8"; /* i8 and the fp8 formats, which are bytes to LLVM */
    }
}

static void write_vector_type(tw_lowering *l, const char *element, unsigned lanes) {
    if (lanes == 1) {
        tw_strbuf_append(&l->out, element);
        return;
    }
    tw_strbuf_char(&l->out, '<');
    tw_strbuf_u64(&l->out, lanes);
    tw_strbuf_append(&l->out, " x ");
    tw_strbuf_append(&l->out, element);
    tw_strbuf_char(&l->out, '>');
}

void tw_ll_type(tw_lowering *l, const tw_type *type) {
    switch (type->kind) {
    case TW_TYPE_POINTER:
        tw_strbuf_append(&l->out, type->space == TW_LDS ? "ptr addrspace(3)" : "ptr addrspace(1)");
        break;
    case TW_TYPE_RSRC:
        tw_strbuf_append(&l->out, l->flavor->rsrc_form == TW_RSRC_POINTER ? "ptr addrspace(8)" : "<4 x i32>");
        break;
    default: write_vector_type(l, scalar_text(l, type->scalar), type->lanes); break;
    }
}

void tw_ll_mangled(tw_strbuf *out, const tw_type *type) {
    static const char *const names[TW_SCALAR_COUNT] = {
        [TW_I1] = "i1",   [TW_I8] = "i8",   [TW_I16] = "i16", [TW_I32] = "i32",
        [TW_I64] = "i64", [TW_F16] = "f16", [TW_F32] = "f32", [TW_BF16] = "bf16",
    };
    if (type->lanes > 1) {
        tw_strbuf_char(out, 'v');
        tw_strbuf_u64(out, type->lanes);
    }
    tw_strbuf_append(out, names[type->scalar] ? names[type->scalar] : "i8");
}

/* ---- constants ---- */

/* The bits of the double that has the value of a float: what LLVM writes for floats. NaNs keep their payload.
 */
static uint64_t float_as_double(uint32_t bits) {
    uint64_t sign = (uint64_t)(bits >> 31) << 63;
    uint32_t exponent = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
    if (exponent == 0xff) return sign | 0x7ff0000000000000u | (uint64_t)fraction << 29;
    if (exponent == 0) {
        if (!fraction) return sign;
        exponent = 1;
        while (!(fraction & 0x800000)) { /* a denormal is a normal double */
            fraction <<= 1;
            exponent--;
        }
        fraction &= 0x7fffff;
    }
    return sign | (uint64_t)(exponent + 1023 - 127) << 52 | (uint64_t)fraction << 29;
}

static void write_element(tw_lowering *l, tw_scalar scalar, uint64_t bits) {
    tw_strbuf *out = &l->out;
    if (scalar == TW_F32) {
        tw_strbuf_append(out, "0x");
        tw_strbuf_hex(out, float_as_double((uint32_t)bits), 16);
    } else if (scalar == TW_F16) {
        tw_strbuf_append(out, "0xH");
        tw_strbuf_hex(out, bits, 4);
    } else if (scalar == TW_BF16 && tw_flavor_has_bfloat(l->flavor)) {
        tw_strbuf_append(out, "0xR");
        tw_strbuf_hex(out, bits, 4);
    } else if (scalar == TW_I1) {
        tw_strbuf_append(out, bits & 1 ? "true" : "false");
    } else {
        unsigned unused = 64 - tw_scalar_bits(scalar);
        tw_strbuf_i64(out, (int64_t)(bits << unused) >> unused);
    }
}

void tw_ll_constant(tw_lowering *l, const tw_type *type, uint64_t bits) {
    if (type->lanes == 1) {
        write_element(l, type->scalar, bits);
        return;
    }
    if (!bits) {
        tw_strbuf_append(&l->out, "zeroinitializer");
        return;
    }
    for (unsigned i = 0; i < type->lanes; i++) {
        tw_strbuf_append(&l->out, i ? ", " : "<");
        tw_strbuf_append(&l->out, scalar_text(l, type->scalar));
        tw_strbuf_char(&l->out, ' ');
        write_element(l, type->scalar, bits);
    }
    tw_strbuf_char(&l->out, '>');
}

/* ---- names ---- */

static void write_name(tw_lowering *l, tw_value value) {
    const tw_value_name *name = &l->names.names[value.id];
    if (name->text) {
        tw_strbuf_append_n(&l->out, name->text, name->length);
    } else {
        tw_strbuf_char(&l->out, '.');
        tw_strbuf_u64(&l->out, name->number);
    }
}

static void write_value(tw_lowering *l, tw_value value) {
    const tw_value_info *info = tw_value_get(l->kernel, value);
    uint64_t bits;
    if (tw_ll_known(l, value, &bits)) {
        tw_ll_constant(l, info->type, bits);
    } else {
        tw_strbuf_append(&l->out, info->op && info->op->opcode == TW_OP_LDS_ALLOC ? "@.lds." : "%");
        write_name(l, value);
    }
}

static void write_temp(tw_lowering *l, uint32_t number) {
    tw_strbuf_append_n(&l->out, "%.t", 3);
    tw_strbuf_u64(&l->out, number);
}

static void write_ref(tw_lowering *l, tw_ref ref) {
    switch (ref.kind) {
    case TW_REF_VALUE: write_value(l, (tw_value){ref.id}); break;
    case TW_REF_TEMP: write_temp(l, ref.id); break;
    case TW_REF_TEXT: tw_strbuf_append(&l->out, ref.text); break;
    }
}

static void write_label(tw_lowering *l, tw_label label) {
    tw_strbuf_append(&l->out, label.stem);
    if (label.number) tw_strbuf_u64(&l->out, label.number);
    tw_strbuf_append(&l->out, label.suffix);
}

/* ---- intrinsics ---- */

static const tw_intrinsic_row *use(tw_lowering *l, tw_intrinsic key) {
    const tw_intrinsic_row *row = l->rows[key];
    if (!row) {
        char reason[TW_INTRINSIC_REASON_MAX];
        const char *name = tw_intrinsic_why_not(key, l->flavor->flavor, l->arch->arch, reason);
        tw_ll_refuse(l, TW_ERR_UNSUPPORTED, "%s must exist for %s in the flavor (got %s)", name,
                     l->arch->name, reason);
    }
    l->used[key] = row != NULL;
    return row;
}

/* Writes a name or a list of types of a generic row for `type`. */
static void write_for_type(tw_lowering *l, const char *text, const tw_type *type) {
    for (; *text; text++) {
        if (*text == '$') {
            bool of_f32 = text[1] == 'f';
            tw_ll_mangled(&l->out, of_f32 ? tw_ll_like(type, TW_F32) : type);
            text += of_f32;
        } else if (*text == 'T') {
            tw_ll_type(l, type);
        } else if (*text == 'F') {
            tw_ll_type(l, tw_ll_like(type, TW_F32));
        } else {
            tw_strbuf_char(&l->out, *text);
        }
    }
}

static void write_intrinsic(tw_lowering *l, tw_intrinsic key) {
    const tw_intrinsic_row *row = use(l, key);
    tw_strbuf_char(&l->out, '@');
    if (row) tw_strbuf_append(&l->out, row->name);
}

static void write_generic(tw_lowering *l, tw_intrinsic key, const tw_type *type) {
    const tw_intrinsic_row *row = use(l, key);
    if (!row) return;
    if (!l->used_types[key])
        l->used_types[key] = TW_ARENA_NEW(&l->arena, uint64_t, TW_GENERIC_SLOTS / 64 + 1);
    if (!l->used_types[key]) {
        l->out.failed = true;
        return;
    }
    unsigned slot = (unsigned)type->scalar * (TW_MAX_LANES + 1) + type->lanes;
    l->used_types[key][slot / 64] |= (uint64_t)1 << slot % 64;
    tw_strbuf_char(&l->out, '@');
    write_for_type(l, row->name, type);
}

static void declare(tw_lowering *l, const tw_intrinsic_row *row, const tw_type *type) {
    tw_strbuf_append(&l->out, "declare ");
    type ? write_for_type(l, row->result, type) : tw_strbuf_append(&l->out, row->result);
    tw_strbuf_append(&l->out, " @");
    type ? write_for_type(l, row->name, type) : tw_strbuf_append(&l->out, row->name);
    tw_strbuf_char(&l->out, '(');
    type ? write_for_type(l, row->arguments, type) : tw_strbuf_append(&l->out, row->arguments);
    tw_strbuf_append(&l->out, ")\n");
}

static void declare_generic(tw_lowering *l, const tw_intrinsic_row *row, const uint64_t *types) {
    for (unsigned slot = 0; slot < TW_GENERIC_SLOTS; slot++) {
        if (!types[slot / 64]) slot |= 63; /* the loop goes on behind the word */
        if (slot < TW_GENERIC_SLOTS && (types[slot / 64] >> slot % 64 & 1))
            declare(l, row,
                    tw_type_vector((tw_scalar)(slot / (TW_MAX_LANES + 1)), slot % (TW_MAX_LANES + 1)));
    }
}

void tw_ll_declare_intrinsics(tw_lowering *l) {
    for (unsigned key = 0; key < TW_LL_COUNT; key++) {
        if (!l->used[key]) continue;
        if (l->rows[key]->overload == TW_OVERLOAD_NONE) {
            declare(l, l->rows[key], NULL);
        } else if (l->used_types[key]) {
            declare_generic(l, l->rows[key], l->used_types[key]);
        }
    }
}

/* ---- lines ---- */

static void write_metadata(tw_lowering *l, tw_metadata kind) {
    if (!l->metadata[kind]) l->metadata[kind] = l->next_metadata++;
    tw_strbuf_char(&l->out, '!');
    tw_strbuf_u64(&l->out, l->metadata[kind]);
}

static void write_directive(tw_lowering *l, char directive, va_list *arguments) {
    switch (directive) {
    case 'v': write_value(l, va_arg(*arguments, tw_value)); break;
    case 'r': write_ref(l, va_arg(*arguments, tw_ref)); break;
    case 't': tw_ll_type(l, va_arg(*arguments, const tw_type *)); break;
    case 'm': tw_ll_mangled(&l->out, va_arg(*arguments, const tw_type *)); break;
    case 'n': {
        const char *element = va_arg(*arguments, const char *);
        write_vector_type(l, element, va_arg(*arguments, unsigned));
        break;
    }
    case 'c': {
        const tw_type *type = va_arg(*arguments, const tw_type *);
        tw_ll_constant(l, type, va_arg(*arguments, uint64_t));
        break;
    }
    case 'I': write_intrinsic(l, va_arg(*arguments, tw_intrinsic)); break;
    case 'G': {
        tw_intrinsic key = va_arg(*arguments, tw_intrinsic);
        write_generic(l, key, va_arg(*arguments, const tw_type *));
        break;
    }
    case 'l': write_label(l, va_arg(*arguments, tw_label)); break;
    case 'M': write_metadata(l, va_arg(*arguments, tw_metadata)); break;
    case 's': tw_strbuf_append(&l->out, va_arg(*arguments, const char *)); break;
    case 'd': tw_strbuf_i64(&l->out, va_arg(*arguments, int)); break;
    default: l->out.failed = true; break; /* a format of ours that is wrong */
    }
}

/* Copies up to the next '%' or the end and returns where that is. Pieces are a few bytes long, so a loop
 * beats a call. */
static const char *write_piece(tw_strbuf *out, const char *piece) {
    const char *end = piece;
    while (*end && *end != '%')
        end++;
    size_t length = (size_t)(end - piece);
    if (length >= out->capacity - out->length && !tw_strbuf_reserve(out, length)) return end;
    char *to = out->text + out->length;
    while (piece < end)
        *to++ = *piece++;
    *to = '\0';
    out->length += length;
    return end;
}

static void write_format(tw_lowering *l, const char *format, va_list *arguments) {
    for (;;) {
        format = write_piece(&l->out, format);
        if (!*format) return;
        if (format[1] == '%') { /* a name that the format spells out */
            tw_strbuf_char(&l->out, '%');
        } else {
            write_directive(l, format[1], arguments);
        }
        format += 2;
    }
}

void tw_ll_text(tw_lowering *l, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_format(l, format, &arguments);
    va_end(arguments);
}

void tw_ll_line(tw_lowering *l, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    tw_strbuf_append_n(&l->out, "  ", 2);
    write_format(l, format, &arguments);
    tw_strbuf_char(&l->out, '\n');
    va_end(arguments);
}

tw_ref tw_ll_begin_let(tw_lowering *l) {
    uint32_t number = ++l->last_temp;
    tw_strbuf_append_n(&l->out, "  ", 2);
    write_temp(l, number);
    tw_strbuf_append_n(&l->out, " = ", 3);
    return (tw_ref){TW_REF_TEMP, number, NULL};
}

void tw_ll_begin_set(tw_lowering *l, tw_value result) {
    tw_strbuf_append_n(&l->out, "  %", 3);
    write_name(l, result);
    tw_strbuf_append_n(&l->out, " = ", 3);
}

tw_ref tw_ll_let(tw_lowering *l, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    tw_ref temp = tw_ll_begin_let(l);
    write_format(l, format, &arguments);
    tw_strbuf_char(&l->out, '\n');
    va_end(arguments);
    return temp;
}

tw_ref tw_ll_hide(tw_lowering *l, tw_ref word) {
    return tw_ll_let(l, "call i32 asm \"\", \"=v,0\"(i32 %r)", word);
}

void tw_ll_set(tw_lowering *l, tw_value result, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    tw_ll_begin_set(l, result);
    write_format(l, format, &arguments);
    tw_strbuf_char(&l->out, '\n');
    va_end(arguments);
}

void tw_ll_block(tw_lowering *l, tw_label label) {
    tw_ll_text(l, "%l:\n", label);
    l->block = label;
}
