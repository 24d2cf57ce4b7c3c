#include "arch/target.h"
#include "support/fail.h"

#define OPS       3
#define VALUES    32
#define RETURN    1u /* of an atomic, in every model: asks for the old value */
#define SCOPE_DEV 16u

/* NULL: not a legal policy. */
#define FLAGS(model, a, a_text, b, b_text, c, c_text)                     \
    [TW_CACHE_##model] = {                                                \
        [TW_CACHE_LOAD] = FLAGS_MEMORY(a, a_text, b, b_text, c, c_text),  \
        [TW_CACHE_STORE] = FLAGS_MEMORY(a, a_text, b, b_text, c, c_text), \
        [TW_CACHE_ATOMIC] = {[0] = "", [b] = b_text, [c] = c_text, [(b) | (c)] = b_text " " c_text}},
#define FLAGS_MEMORY(a, a_text, b, b_text, c, c_text)                                        \
    {                                                                                        \
        [0] = "", [a] = a_text, [b] = b_text, [(a) | (b)] = a_text " " b_text, [c] = c_text, \
        [(a) | (c)] = a_text " " c_text, [(b) | (c)] = b_text " " c_text,                    \
        [(a) | (b) | (c)] = a_text " " b_text " " c_text                                     \
    }
#define TH0(op)                                                                                           \
    [TW_CACHE_TH_SCOPE][TW_CACHE_##op][0] = "", [TW_CACHE_TH_SCOPE][TW_CACHE_##op][8] = "scope:SCOPE_SE", \
    [TW_CACHE_TH_SCOPE][TW_CACHE_##op][16] = "scope:SCOPE_DEV",                                           \
    [TW_CACHE_TH_SCOPE][TW_CACHE_##op][24] = "scope:SCOPE_SYS",
#define TH_BELOW_DEV(op, hint, text)                 \
    [TW_CACHE_TH_SCOPE][TW_CACHE_##op][hint] = text, \
    [TW_CACHE_TH_SCOPE][TW_CACHE_##op][8 + (hint)] = text " scope:SCOPE_SE",
#define TH_FROM_DEV(op, hint, text, sys)                                                      \
    [TW_CACHE_TH_SCOPE][TW_CACHE_##op][16 + (hint)] = text " scope:SCOPE_DEV",                \
                                            [TW_CACHE_TH_SCOPE][TW_CACHE_##op][24 + (hint)] = \
                                                sys " scope:SCOPE_SYS",
#define TH(op, hint, text)          TH_SYS(op, hint, text, text)
#define TH_SYS(op, hint, text, sys) TH_BELOW_DEV(op, hint, text) TH_FROM_DEV(op, hint, text, sys)
#define TH_DEV(op, hint, text)      TH_FROM_DEV(op, hint, text, text)
static const char *const spellings[TW_CACHE_MODEL_COUNT][OPS][VALUES] = {
#include "arch/cache_policy.def"
};

/* What each named policy is in each model. */
static const uint8_t named[][TW_CACHE_MODEL_COUNT] = {
    /*                            GLC_SLC_SCC SC0_NT_SC1 GLC_SLC_DLC TH_SCOPE */
    [TW_CACHE_DEFAULT] = {0, 0, 0, 0},
    [TW_CACHE_STREAM] = {2, 2, 2, 1},
    [TW_ATOMIC_DEVICE] = {0, 0, 0, SCOPE_DEV},
    [TW_ATOMIC_CASCADE_DEVICE] = {0, 0, 0, SCOPE_DEV | 4},
};

uint32_t tw_cache_policy(tw_target target, tw_cache_policy_name name) {
    const tw_arch_info *info = tw_arch_get(target.arch);
    if (!info || (size_t)name >= sizeof named / sizeof named[0]) return 0;
    return named[name][info->cache_model];
}

const char *tw_cache_policy_spelling(tw_target target, tw_cache_op op, uint32_t value) {
    const tw_arch_info *info = tw_arch_get(target.arch);
    if (!info || (unsigned)op >= OPS || value >= VALUES) return NULL;
    return spellings[info->cache_model][op][value];
}

uint32_t tw_cache_policy_mask(tw_target target, tw_cache_op op) {
    uint32_t mask = 0;
    for (uint32_t value = 0; value < VALUES; value++)
        if (tw_cache_policy_spelling(target, op, value)) mask |= value;
    return mask;
}

tw_status tw_cache_policy_check(tw_target target, tw_cache_op op, int64_t value, tw_diag *diag) {
    static const char *const plurals[OPS] = {"loads", "stores", "atomics"};
    const tw_arch_info *info = tw_arch_get(target.arch);
    if (!info || (unsigned)op >= OPS)
        return tw_fail(diag, TW_ERR_USAGE, "tw_cache_policy_check: target and op must be valid (got %d, %d)",
                       (int)target.arch, (int)op);
    if (value < 0 || value >= VALUES)
        return tw_fail(diag, TW_ERR_INVALID, "cachepolicy must be an integer 0..31 (got %lld)",
                       (long long)value);
    unsigned bits = (unsigned)value;
    if (spellings[info->cache_model][op][bits]) return TW_OK;
    if (op == TW_CACHE_ATOMIC && bits & RETURN)
        return tw_fail(
            diag, TW_ERR_INVALID,
            "cachepolicy of an atomic must leave bit 0, which asks for the old value, clear (got %u)", bits);
    if (bits & ~tw_cache_policy_mask(target, op))
        return tw_fail(diag, TW_ERR_INVALID, "cachepolicy has a bit that %s does not define for %s (got %u)",
                       info->name, plurals[op], bits);
    if (op == TW_CACHE_ATOMIC)
        return tw_fail(diag, TW_ERR_INVALID,
                       "cachepolicy of a cascading atomic must have device or system scope on %s (got %u)",
                       info->name, bits);
    return tw_fail(diag, TW_ERR_INVALID, "cachepolicy has a temporal hint that %s reserves for %s (got %u)",
                   info->name, plurals[op], bits);
}
