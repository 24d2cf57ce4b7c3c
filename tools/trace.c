#include "tools/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "run/emu_device.h"
#include "support/fail.h"

enum { OPTION_TRACE = 0x2000, OPTION_WORKGROUP, OPTION_WAVE, OPTION_WATCH };

static const struct argp_option argp_options[] = {
    {"profile", 'p', NULL, 0, "print what each launch executed", 0},
    {"trace", OPTION_TRACE, "FILE", OPTION_ARG_OPTIONAL,
     "print each instruction with the registers that it wrote (default: to standard error)", 0},
    {"trace-workgroup", OPTION_WORKGROUP, "X,Y,Z", 0, "trace and watch one workgroup", 0},
    {"trace-wave", OPTION_WAVE, "N", 0, "trace and watch one wave of each workgroup", 0},
    {"watch", OPTION_WATCH, "PC[:N]", 0,
     "stop where a wave comes to PC, bytes from the kernel's start, the Nth time (default: the first), and "
     "print "
     "its registers and LDS",
     0},
    {0}};

/* Decimal or 0x, up to `end`. */
static bool parse_number(const char *text, const char *end, uint64_t *out) {
    char *rest, copy[32];
    size_t length = (size_t)(end - text);
    bool hex = length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (length >= sizeof copy) return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (!hex) return cli_parse_u64(copy, out);
    if (strspn(copy + 2, "0123456789abcdefABCDEF") != length - 2) return false;
    errno = 0;
    *out = strtoull(copy + 2, &rest, 16);
    return !errno && !*rest;
}

static bool parse_watch(cli_trace *trace, const char *text) {
    const char *colon = strchrnul(text, ':');
    trace->watching = true;
    trace->watch_text = text;
    trace->watch_count = 1;
    if (!parse_number(text, colon, &trace->watch_pc)) return false;
    return !*colon ||
           (parse_number(colon + 1, text + strlen(text), &trace->watch_count) && trace->watch_count);
}

static bool parse_workgroup(cli_trace *trace, const char *text) {
    uint32_t *const to[] = {&trace->workgroup.x, &trace->workgroup.y, &trace->workgroup.z};
    trace->by_workgroup = true;
    for (unsigned i = 0; i < 3; i++) {
        const char *end = strchrnul(text, ',');
        uint64_t value;
        if (!parse_number(text, end, &value) || value > UINT32_MAX) return false;
        *to[i] = (uint32_t)value;
        if (!*end) return true;
        text = end + 1;
    }
    return false;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    cli_trace *trace = state->input;
    uint64_t number;
    switch (key) {
    case 'p': trace->profile = true; return 0;
    case OPTION_TRACE:
        trace->tracing = true;
        trace->path = argument;
        return 0;
    case OPTION_WORKGROUP:
        if (!parse_workgroup(trace, argument))
            argp_error(state, "--trace-workgroup takes the number of a workgroup, as in 3,0,0 (got %s)",
                       argument);
        return 0;
    case OPTION_WAVE:
        if (!cli_parse_u64(argument, &number) || number > UINT32_MAX)
            argp_error(state, "--trace-wave takes the number of a wave (got %s)", argument);
        trace->by_wave = true;
        trace->wave = (uint32_t)number;
        return 0;
    case OPTION_WATCH:
        if (!parse_watch(trace, argument))
            argp_error(state, "--watch takes PC or PC:N, decimal or 0x, N from 1 on (got %s)", argument);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp cli_trace_argp = {.options = argp_options, .parser = parse};

/* ---- printing ---- */

static bool selected(const cli_trace *trace, const tw_emu_trace_event *e) {
    const tw_dim3 *w = &trace->workgroup;
    bool group = w->x == e->workgroup.x && w->y == e->workgroup.y && w->z == e->workgroup.z;
    return (!trace->by_workgroup || group) && (!trace->by_wave || trace->wave == e->wave);
}

static void print_place(FILE *out, const tw_emu_trace_event *e) {
    fprintf(out, "workgroup %u,%u,%u wave %u %s+0x%04" PRIx64 " exec %0*" PRIx64 "  %s\n", e->workgroup.x,
            e->workgroup.y, e->workgroup.z, e->wave, e->function, e->offset,
            (int)tw_emu_wave_lanes(e->state) / 4, e->exec, e->text);
}

typedef struct lane_values {
    uint32_t value[64];
    bool unknown[64];
    unsigned lanes;
} lane_values;

enum { MAX_STEP = 4096 };

/* Lanes in which the value moves by the same small amount: "0-31:00000004+1". Unknown values make runs of
 * their own. */
static unsigned run_length(const lane_values *v, uint64_t mask, unsigned first, uint32_t *step) {
    unsigned n = 1;
    *step = 0;
    while (first + n < v->lanes && mask >> (first + n) & 1 && v->unknown[first + n] == v->unknown[first]) {
        uint32_t difference = v->value[first + n] - v->value[first + n - 1];
        if (n == 1) *step = difference;
        if (n == 1 && difference + MAX_STEP > 2 * MAX_STEP) *step = 0; /* floats, most likely */
        if (!v->unknown[first] && difference != *step) break;
        n++;
    }
    if (n == 2 && *step) n = 1; /* two different values are no progression */
    return n;
}

static void print_lanes(FILE *out, const lane_values *v, uint64_t mask) {
    for (unsigned first = 0, n; first < v->lanes; first += n) {
        uint32_t step;
        n = 1;
        if (!(mask >> first & 1)) continue;
        n = run_length(v, mask, first, &step);
        fprintf(out, n > 1 ? " %u-%u:" : " %u:", first, first + n - 1);
        if (v->unknown[first])
            fputs("????????", out);
        else
            fprintf(out, "%08" PRIx32, v->value[first]);
        if (n > 1 && step && !v->unknown[first]) fprintf(out, "%+" PRId32, (int32_t)step);
    }
    fputc('\n', out);
}

static void print_vector(FILE *out, const tw_emu_wave *wave, tw_emu_file file, unsigned index,
                         uint64_t mask) {
    lane_values v = {.lanes = tw_emu_wave_lanes(wave)};
    for (unsigned lane = 0; lane < v.lanes; lane++) {
        v.value[lane] =
            file == TW_EMU_VGPR ? tw_emu_wave_vgpr(wave, index, lane) : tw_emu_wave_agpr(wave, index, lane);
        v.unknown[lane] = tw_emu_wave_unknown(wave, file, index, lane) != 0;
    }
    fprintf(out, "    %c%u", file == TW_EMU_VGPR ? 'v' : 'a', index);
    print_lanes(out, &v, mask);
}

static void print_special(FILE *out, const tw_emu_wave *wave, const char *name) {
    bool mask = !strcmp(name, "vcc") || !strcmp(name, "exec");
    int digits = mask                   ? (int)tw_emu_wave_lanes(wave) / 4
                 : !strcmp(name, "scc") ? 1
                 : !strcmp(name, "m0")  ? 8
                                        : 16;
    if (tw_emu_wave_special_unknown(wave, name))
        fprintf(out, "    %s %.*s\n", name, digits, "????????????????");
    else
        fprintf(out, "    %s %0*" PRIx64 "\n", name, digits, tw_emu_wave_special(wave, name));
}

static void print_scalar(FILE *out, const tw_emu_wave *wave, unsigned index) {
    if (tw_emu_wave_unknown(wave, TW_EMU_SGPR, index, 0))
        fprintf(out, "    s%u ????????\n", index);
    else
        fprintf(out, "    s%u %08" PRIx32 "\n", index, tw_emu_wave_sgpr(wave, index));
}

static bool print_event(void *user, const tw_emu_trace_event *e) {
    cli_trace *trace = user;
    if (!selected(trace, e)) return true;
    print_place(trace->out, e);
    for (size_t i = 0; i < e->write_count; i++) {
        const tw_emu_written *w = &e->writes[i];
        switch (w->file) {
        case TW_EMU_SGPR: print_scalar(trace->out, e->state, w->index); break;
        case TW_EMU_VGPR:
        case TW_EMU_AGPR: print_vector(trace->out, e->state, w->file, w->index, e->exec); break;
        case TW_EMU_SPECIAL: print_special(trace->out, e->state, w->name); break;
        }
    }
    if (!ferror(trace->out)) return true;
    trace->stopped = trace->failed = true;
    return false;
}

/* Rows that repeat the row before are left out, as od does. */
static void print_lds(FILE *out, const tw_emu_wave *wave) {
    enum { ROW = 32 };
    uint32_t bytes;
    const uint8_t *lds = tw_emu_wave_lds(wave, &bytes);
    bool skipping = false;
    for (uint32_t at = 0; at < bytes; at += ROW) {
        uint32_t n = bytes - at < ROW ? bytes - at : ROW;
        bool same = at && n == ROW && at + n < bytes && !memcmp(lds + at, lds + at - ROW, ROW);
        if (same && !skipping) fputs("    *\n", out);
        skipping = same;
        if (same) continue;
        fprintf(out, "    lds %05" PRIx32, at);
        for (uint32_t i = 0; i < n; i++)
            fprintf(out, "%s%02x", i % 4 ? "" : " ", lds[at + i]);
        fputc('\n', out);
    }
}

/* Everything that the wave knows: registers that nobody wrote are left out. */
static void print_state(const tw_emu_trace_event *e) {
    static const char *const names[] = {"vcc", "m0", "scc", "flat_scratch"};
    static const tw_emu_file files[] = {TW_EMU_VGPR, TW_EMU_AGPR};
    const tw_emu_wave *wave = e->state;
    print_place(stdout, e);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        print_special(stdout, wave, names[i]);
    for (unsigned i = 0; i < tw_emu_wave_count(wave, TW_EMU_SGPR); i++)
        if (!tw_emu_wave_unknown(wave, TW_EMU_SGPR, i, 0)) print_scalar(stdout, wave, i);
    for (size_t f = 0; f < 2; f++) {
        for (unsigned i = 0; i < tw_emu_wave_count(wave, files[f]); i++) {
            bool known = false;
            for (unsigned lane = 0; lane < tw_emu_wave_lanes(wave); lane++)
                known |= e->exec >> lane & 1 && !tw_emu_wave_unknown(wave, files[f], i, lane);
            if (known) print_vector(stdout, wave, files[f], i, e->exec);
        }
    }
    print_lds(stdout, wave);
}

static bool watch_event(void *user, const tw_emu_trace_event *e) {
    cli_trace *trace = user;
    if (e->offset != trace->watch_pc || strcmp(e->function, e->kernel) != 0 || !selected(trace, e))
        return true;
    if (++trace->seen < trace->watch_count) return true;
    print_state(e);
    trace->stopped = true;
    return false;
}

/* ---- around launches ---- */

tw_status cli_trace_start(cli_trace *trace, tw_device *device, tw_diag *diag) {
    bool looking = trace->tracing || trace->watching;
    if (!looking && (trace->by_workgroup || trace->by_wave))
        return tw_fail(diag, TW_ERR_USAGE,
                       "--trace-workgroup and --trace-wave choose for --trace and --watch (got neither)");
    tw_emu_settings settings = {.disabled_checks = trace->disabled_checks,
                                .trace = trace->watching ? watch_event : NULL,
                                .traced = trace->tracing ? print_event : NULL,
                                .trace_user = trace};
    if (!looking) {
        if (trace->disabled_checks) tw_device_set_emu(device, &settings, NULL);
        return TW_OK;
    }
    trace->out = trace->path ? fopen(trace->path, "w") : stderr;
    if (!trace->out) return tw_fail(diag, TW_ERR_IO, "%s: %s", trace->path, strerror(errno));
    return tw_device_set_emu(device, &settings, diag);
}

tw_status cli_trace_finish(cli_trace *trace, tw_device *device, tw_status status, tw_diag *diag) {
    if (!trace->out) return status;
    bool bad = trace->failed;
    if (trace->path) bad |= fclose(trace->out) != 0;
    trace->out = NULL;
    tw_device_set_emu(device, &(tw_emu_settings){0}, NULL);
    if (bad)
        return tw_fail(diag, TW_ERR_IO, "the trace cannot be written (got %s)",
                       trace->path ? trace->path : "stderr");
    if (trace->stopped) {
        tw_diag_clear(diag); /* that the trace ended the launch was asked for */
        return TW_OK;
    }
    if (status || !trace->watching) return status;
    return tw_fail(diag, TW_ERR_NOT_FOUND, "no wave came to --watch %s (got there %" PRIu64 " times)",
                   trace->watch_text, trace->seen);
}
