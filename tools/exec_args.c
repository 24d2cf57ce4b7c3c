#include "tools/exec_args.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/fail.h"
#include "support/number_text.h"
#include "tools/cli.h"

/* ---- words ---- */

/* Decimal or 0x, with a sign or without: what fits in `bits` bits as a signed or an unsigned number. */
static bool parse_integer(const char *text, unsigned bits, uint64_t *out) {
    bool minus = *text == '-';
    text += minus || *text == '+';
    unsigned base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
    if (base == 16) text += 2;
    uint64_t value = 0, limit = minus ? 1ull << (bits - 1) : bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    if (!*text) return false;
    for (; *text; text++) {
        unsigned digit = *text >= '0' && *text <= '9'   ? (unsigned)(*text - '0')
                         : *text >= 'a' && *text <= 'f' ? (unsigned)(*text - 'a') + 10
                         : *text >= 'A' && *text <= 'F' ? (unsigned)(*text - 'A') + 10
                                                        : 16;
        if (digit >= base || value > (limit - digit) / base || digit > limit) return false;
        value = value * base + digit;
    }
    *out = minus ? 0 - value : value;
    return true;
}

static tw_status parse_i32(cli_exec_arg *arg, char *text, tw_diag *diag) {
    uint64_t value;
    if (!parse_integer(text, 32, &value))
        return tw_fail(diag, TW_ERR_USAGE, "i32 takes -2147483648..4294967295, decimal or 0x (got %s)", text);
    arg->launch = (tw_launch_arg){.kind = TW_LAUNCH_I32, .as.i32 = (int32_t)(uint32_t)value};
    return TW_OK;
}

static tw_status parse_i64(cli_exec_arg *arg, char *text, tw_diag *diag) {
    uint64_t value;
    if (!parse_integer(text, 64, &value))
        return tw_fail(diag, TW_ERR_USAGE,
                       "i64 takes -9223372036854775808..18446744073709551615, decimal or 0x (got %s)", text);
    arg->launch = (tw_launch_arg){.kind = TW_LAUNCH_I64, .as.i64 = (int64_t)value};
    return TW_OK;
}

/* A number that overflows is refused; one that says inf or nan is taken at its word. */
static bool parse_real(const char *text, double *out) {
    if (!tw_parse_double(text, strlen(text), out)) return false;
    return !isinf(*out) || strpbrk(text, "iI");
}

static tw_status parse_f32(cli_exec_arg *arg, char *text, tw_diag *diag) {
    double value;
    if (!parse_real(text, &value) || (isinf((float)value) && !isinf(value)))
        return tw_fail(diag, TW_ERR_USAGE, "f32 takes a decimal number in its range, inf or nan (got %s)",
                       text);
    arg->launch = (tw_launch_arg){.kind = TW_LAUNCH_F32, .as.f32 = (float)value};
    return TW_OK;
}

static tw_status parse_f64(cli_exec_arg *arg, char *text, tw_diag *diag) {
    double value;
    if (!parse_real(text, &value))
        return tw_fail(diag, TW_ERR_USAGE, "f64 takes a decimal number in its range, inf or nan (got %s)",
                       text);
    arg->launch = (tw_launch_arg){.kind = TW_LAUNCH_F64, .as.f64 = value};
    return TW_OK;
}

static tw_status parse_hex(cli_exec_arg *arg, char *text, tw_diag *diag) {
    size_t digits = strlen(text);
    if (!digits || digits % 2 || strspn(text, "0123456789abcdefABCDEF") != digits)
        return tw_fail(diag, TW_ERR_USAGE, "hex takes bytes of two hexadecimal digits each (got %s)", text);
    arg->bytes = digits / 2;
    arg->data = malloc(digits / 2);
    if (!arg->data) return tw_fail_no_memory(diag);
    for (size_t i = 0; i < digits / 2; i++) {
        uint64_t value = 0;
        char pair[] = {'0', 'x', text[2 * i], text[2 * i + 1], 0};
        parse_integer(pair, 8, &value);
        arg->data[i] = (uint8_t)value;
    }
    arg->launch = (tw_launch_arg){.kind = TW_LAUNCH_BYTES, .as.bytes = {arg->data, digits / 2}};
    return TW_OK;
}

static tw_status parse_buf(cli_exec_arg *arg, char *text, tw_diag *diag) {
    if (!*text) return tw_fail(diag, TW_ERR_USAGE, "buf takes a file (got nothing)");
    arg->launch.kind = TW_LAUNCH_BUFFER;
    arg->read_from = arg->write_to = text;
    return TW_OK;
}

static tw_status parse_zero(cli_exec_arg *arg, char *text, tw_diag *diag) {
    char *colon = strchr(text, ':');
    if (colon) *colon = '\0';
    bool good = cli_parse_size(text, &arg->bytes);
    if (colon) *colon = ':';
    if (!good || (colon && !colon[1]))
        return tw_fail(diag, TW_ERR_USAGE, "zero takes BYTES or BYTES:FILE (got %s)", text);
    arg->launch.kind = TW_LAUNCH_BUFFER;
    if (colon) arg->write_to = colon + 1;
    return TW_OK;
}

static tw_status parse_word(cli_exec_arg *arg, char *word, tw_diag *diag) {
    static const struct {
        const char *prefix;
        tw_status (*parse)(cli_exec_arg *arg, char *text, tw_diag *diag);
    } kinds[] = {{"buf:", parse_buf}, {"zero:", parse_zero}, {"i32:", parse_i32}, {"i64:", parse_i64},
                 {"f32:", parse_f32}, {"f64:", parse_f64},   {"hex:", parse_hex}};
    if (!strcmp(word, "null")) {
        arg->launch.kind = TW_LAUNCH_NULL;
        return TW_OK;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t length = strlen(kinds[i].prefix);
        if (!strncmp(word, kinds[i].prefix, length)) return kinds[i].parse(arg, word + length, diag);
    }
    return tw_fail(
        diag, TW_ERR_USAGE,
        "an argument must be buf:FILE, zero:BYTES[:FILE], i32:N, i64:N, f32:X, f64:X, hex:BYTES or null "
        "(got %s)",
        word);
}

/* Two arguments that name one file share a buffer, so that a kernel may work in place. */
static size_t find_shared(const cli_exec_args *args, size_t index) {
    const cli_exec_arg *arg = &args->items[index];
    for (size_t i = 0; arg->read_from && i < index; i++)
        if (args->items[i].read_from && !strcmp(args->items[i].read_from, arg->read_from)) return i;
    return index;
}

tw_status cli_exec_args_parse(char *const *words, size_t count, cli_exec_args *out, tw_diag *diag) {
    *out = (cli_exec_args){.items = calloc(count ? count : 1, sizeof *out->items)};
    if (!out->items) return tw_fail_no_memory(diag);
    for (size_t i = 0; i < count; i++) {
        out->count = i + 1;
        tw_status status = parse_word(&out->items[i], words[i], diag);
        if (status) return status;
        out->items[i].same_as = find_shared(out, i);
    }
    return TW_OK;
}

void cli_exec_args_free(cli_exec_args *args) {
    for (size_t i = 0; i < args->count; i++)
        free(args->items[i].data);
    free(args->items);
    *args = (cli_exec_args){0};
}

/* ---- buffers ---- */

static tw_status fill(cli_exec_arg *arg, tw_buffer *buffer, tw_diag *diag) {
    if (!arg->read_from) return tw_buffer_fill(buffer, 0, 0, (size_t)arg->bytes, diag);
    return tw_buffer_write(buffer, 0, arg->data, (size_t)arg->bytes, diag);
}

tw_status cli_exec_args_upload(cli_exec_args *args, tw_device *device, const tw_kernel_info *kernel,
                               tw_diag *diag) {
    for (size_t i = 0; i < args->count; i++) {
        cli_exec_arg *arg = &args->items[i];
        if (arg->launch.kind != TW_LAUNCH_BUFFER) continue;
        if (arg->same_as != i) {
            arg->launch.as.buffer.buffer = args->items[arg->same_as].launch.as.buffer.buffer;
            continue;
        }
        if (arg->read_from) {
            char *text = NULL;
            size_t length = 0;
            tw_status status = cli_read_file(arg->read_from, &text, &length, diag);
            if (status) return status;
            arg->data = (uint8_t *)text;
            arg->bytes = length;
        }
        const tw_arg_info *info = tw_kernarg_explicit_at(kernel, i);
        const char *name = info && info->name[0] ? info->name : arg->write_to ? arg->write_to : "zero";
        tw_buffer *buffer;
        tw_status status = tw_buffer_new_named(device, (size_t)arg->bytes, name, &buffer, diag);
        if (!status) status = fill(arg, buffer, diag);
        if (status) return status;
        arg->launch.as.buffer.buffer = buffer;
    }
    return TW_OK;
}

tw_status cli_exec_args_download(cli_exec_args *args, tw_diag *diag) {
    for (size_t i = 0; i < args->count; i++) {
        cli_exec_arg *arg = &args->items[i];
        if (arg->launch.kind != TW_LAUNCH_BUFFER || arg->same_as != i || !arg->write_to) continue;
        if (!arg->data) arg->data = malloc(arg->bytes ? (size_t)arg->bytes : 1);
        if (!arg->data) return tw_fail_no_memory(diag);
        tw_status status =
            tw_buffer_read(arg->launch.as.buffer.buffer, 0, arg->data, (size_t)arg->bytes, diag);
        if (!status) status = cli_write_file(arg->write_to, arg->data, (size_t)arg->bytes, diag);
        if (status) return status;
    }
    return TW_OK;
}

/* ---- the launch ---- */

static tw_status launch_all(const cli_exec_args *args, tw_launch_arg *all, size_t wanted, tw_module *module,
                            const tw_kernel_info *kernel, const tw_launch_shape *shape, uint8_t *kernarg,
                            tw_kernarg_pointer *pointers, tw_diag *diag) {
    size_t pointer_count = 0, size = tw_kernarg_explicit_size(kernel);
    static const uint8_t zeros[4096];
    for (size_t i = 0; i < wanted; i++) {
        const tw_arg_info *info = tw_kernarg_explicit_at(kernel, i);
        if (i < args->count) {
            all[i] = args->items[i].launch;
        } else if (info->kind == TW_ARG_GLOBAL_BUFFER) {
            all[i].kind = TW_LAUNCH_NULL;
        } else if (info->size > sizeof zeros) {
            return tw_fail(diag, TW_ERR_USAGE, "argument %zu has to be given (got none of its %u bytes)", i,
                           info->size);
        } else {
            all[i] = (tw_launch_arg){.kind = TW_LAUNCH_BYTES, .as.bytes = {zeros, info->size}};
        }
        if (all[i].kind == TW_LAUNCH_BUFFER)
            pointers[pointer_count++] = (tw_kernarg_pointer){info->offset, all[i].as.buffer.buffer, 0};
    }
    tw_status status = tw_kernarg_pack(kernel, all, wanted, kernarg, diag);
    if (status) return status;
    return tw_launch_raw(module, kernel->name, shape->grid, shape->block, shape->dynamic_lds, kernarg, size,
                         pointers, pointer_count, diag);
}

tw_status cli_exec_args_launch(const cli_exec_args *args, tw_module *module, const tw_kernel_info *kernel,
                               const tw_launch_shape *shape, tw_diag *diag) {
    size_t wanted = tw_kernarg_explicit_count(kernel), size = tw_kernarg_explicit_size(kernel);
    if (args->count > wanted)
        return tw_fail_at(diag, TW_ERR_USAGE, kernel->name, 0, 0,
                          "this kernel takes at most %zu arguments (got %zu)", wanted, args->count);
    uint8_t *kernarg = calloc(size + 1, 1);
    tw_kernarg_pointer *pointers = calloc(wanted + 1, sizeof *pointers);
    tw_launch_arg *all = calloc(wanted + 1, sizeof *all);
    tw_status status = kernarg && pointers && all
                           ? launch_all(args, all, wanted, module, kernel, shape, kernarg, pointers, diag)
                           : tw_fail_no_memory(diag);
    free(all);
    free(pointers);
    free(kernarg);
    return status;
}
