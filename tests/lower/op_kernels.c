#include "tests/lower/op_kernels.h"

#include "tests/lower/op_kernel_parts.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* clang-format off */
static const struct {
    const char *name;
    void (*build)(maker *m);
    uint32_t x, y, z; /* the workgroup */
    bool flush;       /* f32 denormals */
    bool settled;     /* the IR says what it computes, interpreter and emulator how sums are rounded */
} kernels[] = {
    /* name                build                     x    y  z  flush  settled */
    {"i1",                build_i1,                 64,  1, 1, false, true},
    {"i8",                build_i8,                 64,  1, 1, false, true},
    {"i16",               build_i16,                64,  1, 1, false, true},
    {"i32",               build_i32,                64,  1, 1, false, true},
    {"i64",               build_i64,                64,  1, 1, false, true},
    {"f16",               build_f16,                64,  1, 1, false, true},
    {"bf16",              build_bf16,               64,  1, 1, false, true},
    {"f32",               build_f32,                64,  1, 1, false, true},
    {"f32_flushed",       build_f32,                64,  1, 1, true,  true},
    {"approximations",    build_approximations,     64,  1, 1, false, true},
    {"divisions",         build_divisions,          64,  1, 1, false, false},
    {"by_constants",      build_by_constants,       64,  1, 1, false, true},
    {"by_zero",           build_by_zero,            64,  1, 1, false, false},
    {"int_choice",        build_int_choice,         64,  1, 1, false, true},
    {"float_choice",      build_float_choice,       64,  1, 1, false, true},
    {"int_conversions",   build_int_conversions,    64,  1, 1, false, true},
    {"f16_conversions",   build_f16_conversions,    64,  1, 1, false, true},
    {"bf16_conversions",  build_bf16_conversions,   64,  1, 1, false, true},
    {"f32_conversions",   build_f32_conversions,    64,  1, 1, false, true},
    {"fp8",               build_fp8,                64,  1, 1, false, true},
    {"vectors",           build_vectors,            64,  1, 1, false, true},
    {"wave",              build_wave,               256, 1, 1, false, true},
    {"constants",         build_constants,          64,  1, 1, false, true},
    {"ids",               build_ids,                8,   8, 4, false, true},
    {"ids_flat",          build_ids,                256, 1, 1, false, true},
    {"ids_one_wave",      build_ids,                32,  1, 1, false, true},
    {"global",            build_global,             64,  1, 1, false, true},
    {"buffers",           build_buffers,            64,  1, 1, false, true},
    {"atomics",           build_atomics,            64,  1, 1, false, true},
    {"lds",               build_lds,                128, 1, 1, false, true},
    {"matrices",          build_matrices,           64,  1, 1, false, true},
    {"transposed",        build_transposed,         64,  1, 1, false, true},
    {"copies",            build_copies,             128, 1, 1, false, true},
    {"control",           build_control,            64,  1, 1, false, true},
};
/* clang-format on */

size_t op_kernels_count(void) { return COUNT(kernels); }

const char *op_kernels_name(size_t index) { return kernels[index].name; }

bool op_kernels_settled(size_t index) { return kernels[index].settled; }

bool op_kernels_served(size_t index, tw_flavor flavor, tw_arch arch) {
    return flavor != TW_FLAVOR_LLVM15 || kernels[index].build != build_copies ||
           !(tw_arch_get(arch)->features & TW_ARCH_HAS_LDS_DMA);
}

tw_kernel *op_kernels_build(tw_context *ctx, tw_target target, size_t index, unsigned how,
                            uint32_t *elements) {
    tw_kernel_options options = {.workgroup_size = kernels[index].x,
                                 .workgroup_size_y = kernels[index].y,
                                 .workgroup_size_z = kernels[index].z,
                                 .flush_f32_denormals = kernels[index].flush};
    maker m = {
        .b = tw_kernel_begin(ctx, kernels[index].name, target, &options),
        .how = how,
        .items = kernels[index].x * kernels[index].y * kernels[index].z,
    };
    if (!m.b) return NULL;
    m.place = m.items * 16;
    for (unsigned s = TW_I8; s < TW_SCALAR_COUNT; s++)
        m.pointers[s] = tw_param_ptr(m.b, tw_scalar_name((tw_scalar)s), (tw_scalar)s, 0);
    kernels[index].build(&m);
    if (elements) *elements = m.place + 64;
    return tw_kernel_end(m.b);
}
