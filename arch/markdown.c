#include "arch/markdown.h"

#include <string.h>

#include "arch/matrix.h"
#include "arch/target.h"
#include "arch/transpose.h"

#define EACH_ARCH(a) (unsigned a = TW_ARCH_NONE + 1; a < TW_ARCH_COUNT; a++)

static const tw_arch_info *row(unsigned arch) { return tw_arch_get((tw_arch)arch); }

static tw_target with_wave(unsigned arch, unsigned wave_size) {
    return (tw_target){(tw_arch)arch, (uint8_t)wave_size, TW_FEATURE_ANY, TW_FEATURE_ANY};
}

static bool has_wave(const tw_arch_info *info, unsigned wave_size) {
    return wave_size == info->wave_size || (wave_size == 64 && info->features & TW_ARCH_HAS_WAVE64_CHOICE);
}

/* A heading, the titles between bars, and the line below them. */
static void begin_table(tw_strbuf *text, const char *heading, const char *titles) {
    if (heading) tw_strbuf_printf(text, "\n## %s\n", heading);
    tw_strbuf_printf(text, "\n%s\n|", titles);
    for (const char *bar = strchr(titles + 1, '|'); bar; bar = strchr(bar + 1, '|'))
        tw_strbuf_append(text, "---|");
    tw_strbuf_char(text, '\n');
}

static void target_tables(tw_strbuf *text) {
    static const char *const isas[] = {"gfx9", "gfx11", "gfx12", "gfx1250"};
    static const char *const fp8s[] = {"none", "OCP", "FNUZ"};
    begin_table(text, "Targets",
                "| target | product | ISA | wave | target ID | fp8 | ELF machine | first LLVM |");
    for
        EACH_ARCH(a) {
            const tw_arch_info *i = row(a);
            tw_strbuf_printf(text, "| %s | %s | %s | %u%s | %s | %s | 0x%x | %u |\n", i->name, i->product,
                             isas[i->isa], i->wave_size,
                             i->features & TW_ARCH_HAS_WAVE64_CHOICE ? " or 64" : "",
                             i->has_xnack ? "sramecc, xnack" : "", fp8s[i->fp8], (unsigned)i->elf_mach,
                             (unsigned)i->first_llvm);
        }
    begin_table(text, NULL,
                "| target | LDS bytes | LDS banks | workgroup | VGPRs of a SIMD | granule | of a wave | "
                "waves of a SIMD | "
                "SGPRs | buffer word 3 | buffer base |");
    for
        EACH_ARCH(a) {
            const tw_arch_info *i = row(a);
            tw_strbuf_printf(text, "| %s | %u | %u | %u | %u | %u | %u | %u | %u | 0x%08x | %u bits |\n",
                             i->name, (unsigned)i->lds_bytes, (unsigned)i->lds_banks,
                             (unsigned)i->max_workgroup, (unsigned)i->vgprs_per_lane_total,
                             (unsigned)i->vgpr_granule, (unsigned)i->max_vgprs, (unsigned)i->max_waves,
                             (unsigned)i->max_sgprs, (unsigned)i->buffer_word3,
                             (unsigned)i->buffer_address_bits);
        }
}

static void feature_table(tw_strbuf *text) {
    static const struct {
        uint32_t bit;
        const char *name, *doc;
    } features[] = {
#define FEATURE(NAME, bit, name, doc) {TW_ARCH_HAS_##NAME, name, doc},
        TW_ARCH_FEATURE_LIST(FEATURE)
#undef FEATURE
    };
    tw_strbuf titles;
    tw_strbuf_init(&titles, text->allocator);
    tw_strbuf_append(&titles, "| feature | means |");
    for
        EACH_ARCH(a)
    tw_strbuf_printf(&titles, " %s |", row(a)->name);
    begin_table(text, "Features", tw_strbuf_text(&titles));
    tw_strbuf_free(&titles);
    for (size_t f = 0; f < sizeof features / sizeof features[0]; f++) {
        tw_strbuf_printf(text, "| %s | %s |", features[f].name, features[f].doc);
        for
            EACH_ARCH(a)
        tw_strbuf_append(text, row(a)->features & features[f].bit ? " yes |" : " |");
        tw_strbuf_char(text, '\n');
    }
}

static void budget_table(tw_strbuf *text) {
    static const unsigned sizes[] = {64, 128, 192, 256, 320, 384, 512, 640, 768, 896, 1024};
    begin_table(text, "VGPR budgets by workgroup size",
                "| target | 64 | 128 | 192 | 256 | 320 | 384 | 512 | 640 | 768 | 896 | 1024 |");
    for
        EACH_ARCH(a)
    for (unsigned wave = 32; wave <= 64; wave += 32) {
        if (!has_wave(row(a), wave)) continue;
        char name[TW_TARGET_NAME_MAX];
        tw_target_format(with_wave(a, wave), name);
        tw_strbuf_printf(text, "| %s |", name);
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
            tw_strbuf_printf(text, " %u |", (unsigned)tw_arch_vgpr_budget(with_wave(a, wave), sizes[s]));
        tw_strbuf_char(text, '\n');
    }
}

/* ---- cache policies ---- */

static void spelled(tw_strbuf *text, tw_target target, tw_cache_op op, uint32_t value) {
    const char *spelling = tw_cache_policy_spelling(target, op, value);
    if (!spelling) {
        tw_strbuf_append(text, " refused |");
    } else if (*spelling) {
        tw_strbuf_printf(text, " `%s` |", spelling);
    } else {
        tw_strbuf_append(text, " default |");
    }
}

static void policy_table(tw_strbuf *text, tw_cache_model model) {
    unsigned first = TW_ARCH_NONE;
    tw_strbuf_append(text, "\nOn ");
    for
        EACH_ARCH(a) {
            if (row(a)->cache_model != model) continue;
            tw_strbuf_printf(text, "%s%s", first ? ", " : "", row(a)->name);
            if (!first) first = a;
        }
    tw_strbuf_append(text, ":\n");
    begin_table(text, NULL, "| value | load | store | atomic |");
    tw_target target = with_wave(first, row(first)->wave_size);
    for (uint32_t value = 0; value < 32; value++) {
        if (!tw_cache_policy_spelling(target, TW_CACHE_LOAD, value) &&
            !tw_cache_policy_spelling(target, TW_CACHE_STORE, value) &&
            !tw_cache_policy_spelling(target, TW_CACHE_ATOMIC, value))
            continue;
        tw_strbuf_printf(text, "| %u |", (unsigned)value);
        for (int op = TW_CACHE_LOAD; op <= TW_CACHE_ATOMIC; op++)
            spelled(text, target, (tw_cache_op)op, value);
        tw_strbuf_char(text, '\n');
    }
}

static void policy_tables(tw_strbuf *text) {
    static const char *const names[] = {"TW_CACHE_DEFAULT", "TW_CACHE_STREAM", "TW_ATOMIC_DEVICE",
                                        "TW_ATOMIC_CASCADE_DEVICE"};
    tw_strbuf_append(text, "\n## Cache policies\n\nValues that a table does not list are refused.\n");
    for (int model = 0; model < TW_CACHE_MODEL_COUNT; model++)
        policy_table(text, (tw_cache_model)model);
    tw_strbuf_append(text, "\nPolicies by name:\n");
    begin_table(text, NULL, "| name | gfx90a | gfx942, gfx950 | gfx11 | gfx12, gfx1250 |");
    static const tw_arch examples[] = {TW_ARCH_GFX90A, TW_ARCH_GFX942, TW_ARCH_GFX1100, TW_ARCH_GFX1250};
    for (unsigned name = 0; name < sizeof names / sizeof names[0]; name++) {
        tw_strbuf_printf(text, "| `%s` |", names[name]);
        for (int e = 0; e < 4; e++)
            tw_strbuf_printf(text, " %u |",
                             (unsigned)tw_cache_policy(with_wave(examples[e], row(examples[e])->wave_size),
                                                       (tw_cache_policy_name)name));
        tw_strbuf_char(text, '\n');
    }
}

/* ---- lane maps ---- */

static void bits(tw_strbuf *text, const uint8_t *sources, unsigned count) {
    for (unsigned bit = 0; bit < count; bit++)
        tw_strbuf_printf(text, "%s%c%u", bit ? " " : "", sources[bit] < TW_SLOT_BIT0 ? 'L' : 'S',
                         (unsigned)(sources[bit] % TW_SLOT_BIT0));
}

static void map_columns(tw_strbuf *text, const tw_lane_map *map) {
    tw_strbuf_char(text, ' ');
    bits(text, map->row, map->row_bits);
    tw_strbuf_append(text, " | ");
    bits(text, map->column, map->column_bits);
    tw_strbuf_append(text, " |");
}

/* The atom's row, unless an earlier target has the same atom: then it stands there. */
static void atom_row(tw_strbuf *text, unsigned arch, unsigned wave, const tw_matrix_atom *atom) {
    tw_matrix_info info = tw_matrix_atom_info(atom);
    for (unsigned a = TW_ARCH_NONE + 1; a < arch; a++)
        if (tw_matrix_atom_by_name(with_wave(a, wave), info.name) == atom) return;
    tw_strbuf_printf(text, "| `%s` |", info.name);
    for (unsigned a = arch; a < TW_ARCH_COUNT; a++)
        if (tw_matrix_atom_by_name(with_wave(a, wave), info.name) == atom)
            tw_strbuf_printf(text, "%s %s", a == arch ? "" : ",", row(a)->name);
    tw_strbuf_printf(text, " | %u | %s, %s, %s | %u, %u, %u |", wave, tw_matrix_format_name(info.a),
                     tw_matrix_format_name(info.b), tw_matrix_format_name(info.d), info.slots[TW_MATRIX_A],
                     info.slots[TW_MATRIX_B], info.slots[TW_MATRIX_D]);
    tw_lane_map a = tw_matrix_lane_map(atom, TW_MATRIX_A), d = tw_matrix_lane_map(atom, TW_MATRIX_D);
    map_columns(text, &a);
    map_columns(text, &d);
    tw_strbuf_char(text, '\n');
}

static void transposed_row(tw_strbuf *text, tw_arch a, const tw_transposed_read *read) {
    if (!read) return;
    tw_strbuf_printf(text, "| `%s` | %s | %u |", read->name, row(a)->name, read->slots);
    map_columns(text, &read->memory);
    map_columns(text, &read->registers);
    tw_strbuf_char(text, '\n');
}

static void lane_map_tables(tw_strbuf *text) {
    begin_table(
        text, "Matrix atoms",
        "| intrinsic | targets | wave | A, B, D | slots of a lane | row of A (column of B) | k | row of D | "
        "column of D |");
    for (unsigned wave = 64; wave >= 32; wave -= 32)
        for
            EACH_ARCH(a) {
                const tw_matrix_atom *atom;
                for (size_t i = 0; (atom = tw_matrix_atom_at(with_wave(a, wave), i)); i++)
                    atom_row(text, a, wave, atom);
            }
    begin_table(
        text, "Transposed reads",
        "| intrinsic | target | slots of a lane | row in memory | column in memory | row in registers | "
        "column in registers |");
    for
        EACH_ARCH(a) {
            tw_target target = with_wave(a, row(a)->wave_size);
            transposed_row(text, a, tw_transposed_lds_read(target));
            transposed_row(text, a, tw_transposed_global_load(target));
        }
}

void tw_arch_markdown(tw_strbuf *text) {
    target_tables(text);
    feature_table(text);
    budget_table(text);
    policy_tables(text);
    lane_map_tables(text);
}
