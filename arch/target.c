#include "arch/target.h"

#include <stdio.h>
#include <string.h>

#include "support/fail.h"

/* No two features share a bit: then their sum is what they give together. */
#define SUM(NAME, bit, text, doc)  +(uint64_t)TW_ARCH_HAS_##NAME
#define BOTH(NAME, bit, text, doc) | (uint64_t)TW_ARCH_HAS_##NAME
_Static_assert((0 TW_ARCH_FEATURE_LIST(SUM)) == (0 TW_ARCH_FEATURE_LIST(BOTH)), "two features share a bit");
#undef SUM
#undef BOTH

#define HAS(feature) TW_ARCH_HAS_##feature
#define TARGET(NAME, text, isa, cache, wave, xnack, sramecc, lds, banks, group, vgprs, granule, addressable, \
               waves, sgprs, word3, base_bits, fp8, mach, llvm, features, product)                           \
    [TW_ARCH_##NAME] = {TW_ARCH_##NAME, text,         TW_ISA_##isa, TW_CACHE_##cache,                        \
                        wave,           xnack,        sramecc,      lds,                                     \
                        banks,          group,        vgprs,        granule,                                 \
                        addressable,    waves,        sgprs,        word3,                                   \
                        base_bits,      TW_FP8_##fp8, mach,         llvm,                                    \
                        features,       product},
static const tw_arch_info targets[TW_ARCH_COUNT] = {
#include "arch/targets.def"
};

/* The SIMDs that the waves of one workgroup are spread over: a compute unit of CDNA and a workgroup processor
 * of RDNA both have four. */
#define SIMDS 4u

const tw_arch_info *tw_arch_get(tw_arch arch) {
    if ((unsigned)arch >= TW_ARCH_COUNT || arch == TW_ARCH_NONE) return NULL;
    return &targets[arch];
}

const tw_arch_info *tw_arch_by_name(const char *name) {
    for (unsigned i = TW_ARCH_NONE + 1; name && i < TW_ARCH_COUNT; i++)
        if (!strcmp(targets[i].name, name)) return &targets[i];
    return NULL;
}

const tw_arch_info *tw_arch_by_elf_mach(uint32_t mach) {
    for (unsigned i = TW_ARCH_NONE + 1; i < TW_ARCH_COUNT; i++)
        if (targets[i].elf_mach == mach) return &targets[i];
    return NULL;
}

uint32_t tw_arch_vgpr_budget(tw_target target, uint32_t workgroup_size) {
    const tw_arch_info *info = tw_arch_get(target.arch);
    if (!info || !target.wave_size) return 0;
    if (!workgroup_size || workgroup_size > info->max_workgroup) workgroup_size = info->max_workgroup;
    /* The row counts registers in lanes of the default wave; a wave of twice the lanes shares half as many.
     */
    uint32_t scale = target.wave_size / info->wave_size;
    if (!scale) scale = 1;
    uint32_t waves = (workgroup_size + target.wave_size - 1) / target.wave_size;
    uint32_t waves_per_simd = (waves + SIMDS - 1) / SIMDS;
    uint32_t granule = info->vgpr_granule / scale;
    uint32_t share = info->vgprs_per_lane_total / scale / waves_per_simd / granule * granule;
    return share < info->max_vgprs ? share : info->max_vgprs;
}

/* ---- target IDs ---- */

/* What a diagnostic quotes of a text that may be of any length. */
#define QUOTED     64
#define QUOTE(len) ((int)((len) < QUOTED ? (len) : QUOTED))

static tw_status unknown_target(const char *text, tw_diag *diag) {
    char names[TW_ARCH_COUNT * TW_TARGET_NAME_MAX] = "";
    for (unsigned i = TW_ARCH_NONE + 1; i < TW_ARCH_COUNT; i++) {
        strcat(names, i > TW_ARCH_NONE + 1 ? ", " : "");
        strcat(names, targets[i].name);
    }
    return tw_fail(diag, TW_ERR_INVALID, "target must be one of %s (got %.*s)", names, QUOTED, text);
}

static bool same(const char *word, size_t length, const char *text) {
    return strlen(text) == length && !memcmp(word, text, length);
}

static tw_status parse_wave(const char *word, size_t length, const tw_arch_info *info, tw_target *target,
                            tw_diag *diag) {
    unsigned wave = same(word, length, "wave32") ? 32 : same(word, length, "wave64") ? 64 : 0;
    if (!wave || (wave != info->wave_size && !(info->features & TW_ARCH_HAS_WAVE64_CHOICE)))
        return tw_fail(diag, TW_ERR_INVALID, "wave size of %s must be %s (got %.*s)", info->name,
                       info->features & TW_ARCH_HAS_WAVE64_CHOICE ? "wave32 or wave64"
                       : info->wave_size == 64                    ? "wave64"
                                                                  : "wave32",
                       QUOTE(length), word);
    target->wave_size = (uint8_t)wave;
    return TW_OK;
}

/* One part between colons: "xnack+", "sramecc-", "wave64". `seen` has a bit for each kind met so far. */
static tw_status parse_feature(const char *word, size_t length, const tw_arch_info *info, tw_target *target,
                               unsigned *seen, tw_diag *diag) {
    static const char *const kinds[] = {"xnack", "sramecc", "wave"};
    bool has[] = {info->has_xnack, info->has_sramecc, true};
    uint8_t *modes[] = {&target->xnack, &target->sramecc};
    unsigned kind = 0;
    while (kind < 3 && (length < strlen(kinds[kind]) || memcmp(word, kinds[kind], strlen(kinds[kind]))))
        kind++;
    if (kind == 3 || !has[kind])
        return tw_fail(diag, TW_ERR_INVALID, "target feature must be one that %s has (got %.*s)", info->name,
                       QUOTE(length), word);
    if (*seen & 1u << kind)
        return tw_fail(diag, TW_ERR_INVALID, "target feature must be given once (got another %.*s)",
                       QUOTE(length), word);
    *seen |= 1u << kind;
    if (kind == 2) return parse_wave(word, length, info, target, diag);
    size_t name = strlen(kinds[kind]);
    if (length != name + 1 || (word[name] != '+' && word[name] != '-'))
        return tw_fail(diag, TW_ERR_INVALID, "target feature must end in + or - (got %.*s)", QUOTE(length),
                       word);
    *modes[kind] = word[name] == '+' ? TW_FEATURE_ON : TW_FEATURE_OFF;
    return TW_OK;
}

tw_status tw_target_parse(const char *text, tw_target *out, tw_diag *diag) {
    if (out) *out = (tw_target){0};
    if (!text || !out) return tw_fail(diag, TW_ERR_USAGE, "tw_target_parse: text and out must not be NULL");
    size_t length = strcspn(text, ":");
    const tw_arch_info *info = NULL;
    for (unsigned i = TW_ARCH_NONE + 1; i < TW_ARCH_COUNT && !info; i++)
        if (same(text, length, targets[i].name)) info = &targets[i];
    if (!info) return unknown_target(text, diag);
    tw_target target = {.arch = info->arch, .wave_size = info->wave_size};
    unsigned seen = 0;
    for (const char *word = text + length; *word == ':';) {
        word++;
        length = strcspn(word, ":");
        tw_status status = parse_feature(word, length, info, &target, &seen, diag);
        if (status != TW_OK) return status;
        word += length;
    }
    *out = target;
    return TW_OK;
}

void tw_target_format(tw_target target, char buffer[TW_TARGET_NAME_MAX]) {
    static const char *const signs[] = {"", "-", "+"};
    const tw_arch_info *info = tw_arch_get(target.arch);
    if (!info) {
        snprintf(buffer, TW_TARGET_NAME_MAX, "none");
        return;
    }
    const char *xnack = signs[target.xnack % 3], *sramecc = signs[target.sramecc % 3];
    snprintf(buffer, TW_TARGET_NAME_MAX, "%s%s%s%s%s%s", info->name, *sramecc ? ":sramecc" : "", sramecc,
             *xnack ? ":xnack" : "", xnack,
             target.wave_size == info->wave_size ? ""
             : target.wave_size == 64            ? ":wave64"
                                                 : ":wave32");
}

bool tw_target_equal(tw_target a, tw_target b) {
    return a.arch == b.arch && a.wave_size == b.wave_size && a.xnack == b.xnack && a.sramecc == b.sramecc;
}
