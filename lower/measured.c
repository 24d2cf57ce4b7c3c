#include "lower/measured.h"

static const tw_flavor order[] = {
#define FLAVOR(NAME, ...) TW_FLAVOR_##NAME,
#include "lower/flavors.def"
};
#define FLAVORS (sizeof order / sizeof order[0])

static size_t index_of(tw_flavor flavor) {
    size_t i = 0;
    while (i < FLAVORS && order[i] != flavor)
        i++;
    return i;
}

const char *tw_measured_word(tw_measured status) {
    static const char *const words[] = {
#define WORD(NAME, word, meaning) word,
        TW_MEASURED_LIST(WORD)
#undef WORD
    };
    return words[status];
}

const char *tw_measured_meaning(tw_measured status) {
    static const char *const meanings[] = {
#define MEANING(NAME, word, meaning) meaning,
        TW_MEASURED_LIST(MEANING)
#undef MEANING
    };
    return meanings[status];
}

const char *tw_flavor_measured_with(tw_flavor flavor) {
    size_t i = index_of(flavor);
    return i < FLAVORS ? tw_measured_versions[i] : NULL;
}

tw_measured tw_intrinsic_measured(const tw_intrinsic_row *row, tw_flavor flavor, tw_arch arch) {
    size_t i = index_of(flavor), count;
    size_t number = (size_t)(row - tw_intrinsic_rows(&count));
    if (i == FLAVORS || !tw_measured_versions[i] || number >= count) return TW_MEASURED_NOT_MEASURED;
    return (tw_measured)tw_measured_tables[i][number * TW_ARCH_COUNT + (size_t)arch];
}

const char *tw_intrinsic_not_used(tw_intrinsic key, tw_flavor flavor, tw_arch arch) {
    static const struct {
        tw_intrinsic key;
        unsigned first, last;
        uint32_t targets;
        const char *reason;
    } reasons[] = {
#define NOT_USED(KEY, first, last, targets, reason) {TW_LL_##KEY, first, last, targets, reason},
#include "lower/not_used.def"
    };
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].key == key && (unsigned)flavor >= reasons[i].first &&
            (unsigned)flavor <= reasons[i].last && reasons[i].targets >> arch & 1)
            return reasons[i].reason;
    return NULL;
}
