#include "lower/flavor.h"

#include <string.h>

#include "support/fail.h"

static const struct {
    tw_flavor flavor;
    const char *name;
} flavors[] = {
    {TW_FLAVOR_LLVM15, "llvm15"}, {TW_FLAVOR_LLVM19, "llvm19"}, {TW_FLAVOR_LLVM20, "llvm20"},
    {TW_FLAVOR_LLVM21, "llvm21"}, {TW_FLAVOR_LLVM22, "llvm22"}, {TW_FLAVOR_LLVM23, "llvm23"},
    {TW_FLAVOR_LLVM24, "llvm24"},
};
#define FLAVORS (sizeof flavors / sizeof flavors[0])

const char *tw_flavor_name(tw_flavor flavor) {
    for (size_t i = 0; i < FLAVORS; i++)
        if (flavors[i].flavor == flavor) return flavors[i].name;
    return NULL;
}

tw_flavor tw_flavor_at(size_t index) { return index < FLAVORS ? flavors[index].flavor : TW_FLAVOR_NONE; }

tw_status tw_flavor_parse(const char *text, tw_flavor *out, tw_diag *diag) {
    if (out) *out = TW_FLAVOR_NONE;
    if (!text || !out) return tw_fail(diag, TW_ERR_USAGE, "tw_flavor_parse: text and out must not be NULL");
    for (size_t i = 0; i < FLAVORS; i++)
        if (!strcmp(text, flavors[i].name) || !strcmp(text, flavors[i].name + strlen("llvm"))) {
            *out = flavors[i].flavor;
            return TW_OK;
        }
    char names[FLAVORS * 8] = "";
    for (size_t i = 0; i < FLAVORS; i++) {
        strcat(names, i ? ", " : "");
        strcat(names, flavors[i].name);
    }
    return tw_fail(diag, TW_ERR_INVALID, "flavor must be one of %s (got %.64s)", names, text);
}

tw_status tw_flavor_serves(tw_flavor flavor, tw_target target, tw_diag *diag) {
    const tw_arch_info *info = tw_arch_get(target.arch);
    const char *name = tw_flavor_name(flavor);
    if (!info || !name)
        return tw_fail(diag, TW_ERR_USAGE, "tw_flavor_serves: flavor and target must be valid (got %d, %d)",
                       (int)flavor, (int)target.arch);
    if ((uint32_t)flavor >= info->first_llvm) return TW_OK;
    /* Name a flavor, not the release between two flavors that first had the target. */
    size_t first = 0;
    while (first < FLAVORS - 1 && (uint32_t)flavors[first].flavor < info->first_llvm)
        first++;
    return tw_fail(diag, TW_ERR_UNSUPPORTED, "%s needs %s or later (got %s)", info->name, flavors[first].name,
                   name);
}
