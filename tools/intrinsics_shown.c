#include "tools/intrinsics_shown.h"

#include <string.h>

#include "support/fail.h"

void intrinsics_flavor_text(tw_flavor flavor, char *text, size_t size) {
    const char *version = tw_flavor_measured_with(flavor);
    snprintf(text, size, "%s%s", version ? "measured with " : "not measured", version ? version : "");
}

static bool in_flavor(const tw_intrinsic_row *row, tw_flavor flavor) {
    return (unsigned)flavor >= row->first && (unsigned)flavor <= row->last;
}

static bool uses(const tw_intrinsic_row *row, tw_flavor flavor, unsigned arch) {
    tw_target target = {(tw_arch)arch, tw_arch_get((tw_arch)arch)->wave_size, 0, 0};
    return in_flavor(row, flavor) && row->targets >> arch & 1 && !tw_flavor_serves(flavor, target, NULL);
}

static const char *cell(const tw_intrinsic_row *row, tw_flavor flavor, unsigned arch) {
    tw_measured status = tw_intrinsic_measured(row, flavor, (tw_arch)arch);
    if (status == TW_MEASURED_NOT_MEASURED && !uses(row, flavor, arch)) return "-";
    if (status == TW_MEASURED_OK && !uses(row, flavor, arch)) return "ok, not used";
    return tw_measured_word(status);
}

/* Rows of the flavor; the key's last row where the flavor has none. */
static bool shown(const tw_intrinsic_row *rows, size_t count, size_t i, tw_flavor flavor) {
    if (in_flavor(&rows[i], flavor)) return true;
    for (size_t j = 0; j < count; j++)
        if (rows[j].key == rows[i].key && (in_flavor(&rows[j], flavor) || j > i)) return false;
    return true;
}

json_t *intrinsics_rows(tw_flavor only) {
    size_t count;
    const tw_intrinsic_row *rows = tw_intrinsic_rows(&count);
    json_t *all = json_array();
    for (size_t f = 0; tw_flavor_at(f); f++) {
        tw_flavor flavor = tw_flavor_at(f);
        const char *version = tw_flavor_measured_with(flavor);
        for (size_t i = 0; i < count && (!only || only == flavor); i++) {
            if (!shown(rows, count, i, flavor)) continue;
            json_t *row = json_pack("{s:s, s:s, s:s, s:s}", "flavor", tw_flavor_name(flavor), "measured_with",
                                    version ? version : "not measured", "key",
                                    tw_intrinsic_key_name(rows[i].key), "name", rows[i].name);
            for (unsigned a = 1; a < TW_ARCH_COUNT; a++)
                json_object_set_new(row, tw_arch_get((tw_arch)a)->name,
                                    json_string(cell(&rows[i], flavor, a)));
            json_array_append_new(all, row);
        }
    }
    return all;
}

/* ---- docs/intrinsics.md ---- */

static void heading_row(tw_strbuf *text, const char *first) {
    tw_strbuf_printf(text, "| %s |", first);
    for (size_t f = 0; tw_flavor_at(f); f++)
        tw_strbuf_printf(text, " %s |", tw_flavor_name(tw_flavor_at(f)));
    tw_strbuf_append(text, "\n|---|");
    for (size_t f = 0; tw_flavor_at(f); f++)
        tw_strbuf_append(text, "---|");
    tw_strbuf_char(text, '\n');
}

static void versions(tw_strbuf *text) {
    tw_strbuf_append(text, "| flavor | |\n|---|---|\n");
    for (size_t f = 0; tw_flavor_at(f); f++) {
        char words[320];
        intrinsics_flavor_text(tw_flavor_at(f), words, sizeof words);
        tw_strbuf_printf(text, "| %s | %s |\n", tw_flavor_name(tw_flavor_at(f)), words);
    }
}

/* "all", or the targets without their common "gfx". */
static void append_targets(tw_strbuf *text, uint32_t targets, tw_flavor flavor) {
    uint32_t all = 0;
    for (unsigned a = 1; a < TW_ARCH_COUNT; a++)
        all |=
            !tw_flavor_serves(flavor, (tw_target){(tw_arch)a, tw_arch_get((tw_arch)a)->wave_size, 0, 0}, NULL)
                ? 1u << a
                : 0;
    if (targets == all) {
        tw_strbuf_append(text, "all");
        return;
    }
    const char *space = "";
    for (unsigned a = 1; a < TW_ARCH_COUNT; a++) {
        if (!(targets >> a & 1)) continue;
        tw_strbuf_printf(text, "%s%s", space, tw_arch_get((tw_arch)a)->name + strlen("gfx"));
        space = " ";
    }
}

/* The targets for which the key is used; where there are none, what measuring its rows gave. */
static void key_cell(tw_strbuf *text, tw_intrinsic key, tw_flavor flavor) {
    size_t count;
    const tw_intrinsic_row *rows = tw_intrinsic_rows(&count);
    uint32_t used = 0;
    unsigned statuses = 0;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].key != key) continue;
        for (unsigned a = 1; a < TW_ARCH_COUNT; a++) {
            if (uses(&rows[i], flavor, a)) used |= 1u << a;
            statuses |= 1u << tw_intrinsic_measured(&rows[i], flavor, (tw_arch)a);
        }
    }
    if (!tw_flavor_measured_with(flavor)) {
        tw_strbuf_append(text, " not measured |");
        return;
    }
    tw_strbuf_char(text, ' ');
    if (used) append_targets(text, used, flavor);
    if (!used && statuses >> TW_MEASURED_OK & 1) tw_strbuf_append(text, "not used");
    const char *comma = "";
    for (unsigned s = TW_MEASURED_NAME_ABSENT;
         s < TW_MEASURED_COUNT && !used && !(statuses >> TW_MEASURED_OK & 1); s++) {
        if (!(statuses >> s & 1)) continue;
        tw_strbuf_printf(text, "%s%s", comma, tw_measured_word((tw_measured)s));
        comma = ", ";
    }
    tw_strbuf_append(text, " |");
}

static void reasons(tw_strbuf *text) {
    tw_strbuf_append(
        text, "| intrinsic | flavor | targets | why the lowerer does not use it |\n|---|---|---|---|\n");
    for (unsigned key = 0; key < TW_LL_COUNT; key++)
        for (size_t f = 0; tw_flavor_at(f); f++) {
            const char *reason = NULL;
            uint32_t targets = 0;
            tw_flavor flavor = tw_flavor_at(f);
            size_t count;
            const tw_intrinsic_row *rows = tw_intrinsic_rows(&count);
            for (size_t i = 0; i < count; i++)
                for (unsigned a = 1; a < TW_ARCH_COUNT; a++) {
                    if (rows[i].key != (tw_intrinsic)key) continue;
                    if (tw_intrinsic_measured(&rows[i], flavor, (tw_arch)a) != TW_MEASURED_OK) continue;
                    const char *found = tw_intrinsic_not_used((tw_intrinsic)key, flavor, (tw_arch)a);
                    if (!found) continue;
                    reason = found;
                    targets |= 1u << a;
                }
            if (!reason) continue;
            tw_strbuf_printf(text, "| `%s` | %s | ", tw_intrinsic_name((tw_intrinsic)key),
                             tw_flavor_name(flavor));
            append_targets(text, targets, flavor);
            tw_strbuf_printf(text, " | %s |\n", reason);
        }
}

/* "a: 90a 942; b: 1100", or the word alone where all targets that are served have it. */
static void fact_cell(tw_strbuf *text, const json_t *fact) {
    const char *target, *other, *separator = " ";
    json_t *word, *same;
    tw_strbuf done;
    tw_strbuf_init(&done, NULL);
    json_object_foreach((json_t *)fact, target, word) {
        char mark[80];
        snprintf(mark, sizeof mark, "|%s|", json_string_value(word));
        if (strstr(tw_strbuf_text(&done), mark) || !strcmp(json_string_value(word), "target_unsupported"))
            continue;
        tw_strbuf_append(&done, mark);
        tw_strbuf_printf(text, "%s%s:", separator, json_string_value(word));
        json_object_foreach((json_t *)fact, other, same) {
            if (!strncmp(other, "gfx", 3) && json_equal(same, word))
                tw_strbuf_printf(text, " %s", other + strlen("gfx"));
        }
        separator = "; ";
    }
    tw_strbuf_append(text, done.length ? " |" : " - |");
    text->failed |= done.failed;
    tw_strbuf_free(&done);
}

static tw_status facts(const char *directory, tw_strbuf *text, tw_diag *diag) {
    json_t *files[TW_MEASURED_FLAVORS_MAX] = {NULL};
    const json_t *first = NULL;
    tw_status status = TW_OK;
    for (size_t f = 0; tw_flavor_at(f) && !status; f++) {
        if (!tw_flavor_measured_with(tw_flavor_at(f))) continue;
        char path[512];
        json_error_t error;
        snprintf(path, sizeof path, "%s/intrinsics.%s.json", directory, tw_flavor_name(tw_flavor_at(f)));
        files[f] = json_load_file(path, 0, &error);
        first = json_object_get(files[f], "facts");
        if (!files[f]) status = tw_fail_at(diag, TW_ERR_NOT_FOUND, path, 0, 0, "%s", error.text);
    }
    const char *key;
    json_t *like;
    heading_row(text, "fact");
    json_object_foreach((json_t *)(status ? NULL : first), key, like) {
        if (!json_is_object(like) || !strcmp(key, "flush")) continue;
        tw_strbuf_printf(text, "| %s |", key);
        for (size_t f = 0; tw_flavor_at(f); f++) {
            if (files[f]) {
                fact_cell(text, json_object_get(json_object_get(files[f], "facts"), key));
            } else {
                tw_strbuf_append(text, " not measured |");
            }
        }
        tw_strbuf_char(text, '\n');
    }
    for (size_t f = 0; f < TW_MEASURED_FLAVORS_MAX; f++)
        json_decref(files[f]);
    return status;
}

tw_status intrinsics_markdown(const char *directory, tw_strbuf *text, tw_diag *diag) {
    tw_strbuf_append(
        text,
        "# Intrinsics: what was measured\n\n"
        "Generated by `tilewright intrinsics --markdown`; the statuses of every form of every intrinsic "
        "stand in `arch/intrinsics.<flavor>.json`, and\n`tilewright intrinsics` prints them. How they are "
        "measured stands in [lowering.md](lowering.md).\n\n");
    versions(text);
    tw_strbuf_append(
        text,
        "\n## Where the lowerer uses which intrinsic\n\n"
        "Targets without their \"gfx\"; all: all targets that the release serves. Every one of them was "
        "measured `ok`. Where an intrinsic is not used,\nthe cell says what measuring it gave.\n\n");
    heading_row(text, "intrinsic");
    for (unsigned key = 0; key < TW_LL_COUNT; key++) {
        tw_strbuf_printf(text, "| `%s` |", tw_intrinsic_name((tw_intrinsic)key));
        for (size_t f = 0; tw_flavor_at(f); f++)
            key_cell(text, (tw_intrinsic)key, tw_flavor_at(f));
        tw_strbuf_char(text, '\n');
    }
    tw_strbuf_append(text, "\n## What works and is not used\n\n");
    reasons(text);
    tw_strbuf_append(
        text,
        "\n## What is no intrinsic\n\n"
        "`bfloat`: arithmetic on it compiles. `atomic_fadd`: the hints with which `atomicrmw fadd` on global "
        "memory becomes an instruction (none, the\nattribute `amdgpu-unsafe-fp-atomics`, the metadata "
        "`amdgpu.no.fine.grained.memory`, both). `attribute`: whether it takes a hidden argument, a\n"
        "register or an instruction away from a kernel that calls something unknown.\n\n");
    tw_status status = facts(directory, text, diag);
    return !status && text->failed ? tw_fail_no_memory(diag) : status;
}
