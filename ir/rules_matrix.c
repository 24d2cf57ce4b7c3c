/* The extra rules of ops that work on matrix tiles. */
#include <inttypes.h>
#include <stdio.h>

#include "ir/matrix.h"
#include "ir/rules.h"
#include "support/strbuf.h"

tw_status tw_check_whole_waves(const tw_check *check) {
    const tw_kernel_options *options = &check->kernel->options;
    uint64_t size = (uint64_t)options->workgroup_size *
                    (options->workgroup_size_y ? options->workgroup_size_y : 1) *
                    (options->workgroup_size_z ? options->workgroup_size_z : 1);
    unsigned wave_size = check->kernel->target.wave_size;
    if (size % wave_size == 0) return TW_OK;
    return tw_refuse(check, TW_ERR_INVALID,
                     "the workgroup must be whole waves of %u, so that all lanes are active (got %" PRIu64
                     ")",
                     wave_size, size);
}

tw_status tw_refuse_target(const tw_check *check, const char *what, uint32_t targets) {
    if (!check->diag) return TW_ERR_UNSUPPORTED;
    tw_strbuf names;
    tw_strbuf_init(&names, check->kernel->ctx->allocator);
    for (unsigned arch = 1; arch < TW_ARCH_COUNT; arch++) {
        if (!(targets >> arch & 1)) continue;
        targets &= ~(1u << arch);
        tw_strbuf_printf(&names, "%s%s", names.length ? targets ? ", " : " or " : "",
                         tw_arch_get((tw_arch)arch)->name);
    }
    tw_refuse(check, TW_ERR_UNSUPPORTED, "%s needs %s (got %s)", what, tw_strbuf_text(&names),
              tw_arch_get(check->kernel->target.arch)->name);
    tw_strbuf_free(&names);
    return TW_ERR_UNSUPPORTED;
}

static tw_status refuse_atom(const tw_check *check, const char *name) {
    uint32_t targets = tw_matrix_atom_targets(name);
    if (!targets)
        return tw_refuse(check, TW_ERR_INVALID, "atom must be one of the matrix atoms (got \"%.64s\")", name);
    if (targets >> check->kernel->target.arch & 1)
        return tw_refuse(check, TW_ERR_UNSUPPORTED, "atom %s must have elements of the tile IR (got f64)",
                         name);
    char what[96];
    snprintf(what, sizeof what, "atom %s", name);
    return tw_refuse_target(check, what, targets);
}

tw_status tw_rule_mma(const tw_check *check) {
    const char *name = check->op->attrs[0].as.s;
    for (uint32_t i = 0; i < 3; i++) {
        static const char *const letters[] = {"A", "B", "C"};
        const tw_type *wanted =
            tw_fragment_type(check->kernel->target, name, (tw_matrix_operand)(TW_MATRIX_A + i));
        if (!wanted) return refuse_atom(check, name);
        const tw_type *type = tw_type_of(check->kernel, check->op->operands[i]);
        if (type != wanted)
            return tw_refuse(check, TW_ERR_INVALID,
                             "operand %" PRIu32 " must be a fragment of %s of %s, %s (got %s)", i, letters[i],
                             name, TYPE_TEXT(wanted), TYPE_TEXT(type));
    }
    return tw_check_whole_waves(check);
}
