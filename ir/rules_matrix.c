/* The extra rules of ops that work on matrix tiles. */
#include <inttypes.h>
#include <stdio.h>

#include "arch/transpose.h"
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
    tw_strbuf_init(&names, NULL);
    for (unsigned arch = 1; arch < TW_ARCH_COUNT; arch++) {
        if (!(targets >> arch & 1)) continue;
        targets &= ~(1u << arch);
        tw_strbuf_printf(&names, "%s%s", names.length ? targets ? ", " : " or " : "",
                         tw_arch_get((tw_arch)arch)->name);
    }
    tw_refuse(check, TW_ERR_UNSUPPORTED, "%s%sneeds %s (got %s)", what, *what ? " " : "",
              tw_strbuf_text(&names), tw_arch_get(check->kernel->target.arch)->name);
    tw_strbuf_free(&names);
    return TW_ERR_UNSUPPORTED;
}

tw_status tw_check_feature_of(const tw_check *check, const char *what, tw_arch_feature feature) {
    uint32_t targets = 0;
    for (unsigned arch = 1; arch < TW_ARCH_COUNT; arch++)
        if (tw_arch_get((tw_arch)arch)->features & (uint32_t)feature) targets |= 1u << arch;
    if (targets >> check->kernel->target.arch & 1) return TW_OK;
    return tw_refuse_target(check, what, targets);
}

tw_status tw_check_feature(const tw_check *check, tw_arch_feature feature) {
    return tw_check_feature_of(check, "", feature);
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

/* ---- transposed reads ---- */

static tw_status check_transposed(const tw_check *check, tw_arch_feature feature,
                                  const tw_transposed_read *read) {
    tw_status status = tw_check_feature(check, feature);
    if (status) return status;
    if (!read)
        return tw_refuse(check, TW_ERR_UNSUPPORTED, "needs a wave size of 32 (got %u)",
                         (unsigned)check->kernel->target.wave_size);
    tw_scalar scalar = tw_type_of(check->kernel, check->op->operands[0])->scalar;
    if (tw_scalar_bits(scalar) != 16)
        return tw_refuse(check, TW_ERR_INVALID, "operand 0 must point to elements of 16 bits (got %s)",
                         tw_scalar_name(scalar));
    const tw_type *wanted = tw_type_vector(scalar, read->slots);
    const tw_type *type = tw_type_of(check->kernel, check->op->first_result);
    if (type != wanted)
        return tw_refuse(check, TW_ERR_INVALID, "the result must be %s (got %s)", TYPE_TEXT(wanted),
                         TYPE_TEXT(type));
    return tw_check_whole_waves(check);
}

tw_status tw_rule_lds_load_transposed(const tw_check *check) {
    return check_transposed(check, TW_ARCH_HAS_TRANSPOSED_LDS_READ,
                            tw_transposed_lds_read(check->kernel->target));
}

tw_status tw_rule_global_load_transposed(const tw_check *check) {
    return check_transposed(check, TW_ARCH_HAS_TRANSPOSED_GLOBAL_LOAD,
                            tw_transposed_global_load(check->kernel->target));
}
