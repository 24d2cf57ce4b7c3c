/* What a gfx target is: one row each in arch/targets.def, read through this header. */
#ifndef TW_ARCH_TARGET_H
#define TW_ARCH_TARGET_H

#include "support/diag.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers are part of the ABI: append only. */
typedef enum tw_arch {
    TW_ARCH_NONE = 0,
    TW_ARCH_GFX90A,
    TW_ARCH_GFX942,
    TW_ARCH_GFX950,
    TW_ARCH_GFX1100,
    TW_ARCH_GFX1151,
    TW_ARCH_GFX1200,
    TW_ARCH_GFX1201,
    TW_ARCH_GFX1250,
    TW_ARCH_COUNT
} tw_arch;

/* The ISA generation: what decides encodings of buffer resources, cache policies and waits. */
typedef enum tw_isa { TW_ISA_GFX9 = 0, TW_ISA_GFX11, TW_ISA_GFX12, TW_ISA_GFX1250 } tw_isa;

/* What the immediate of a buffer instruction says about caches (arch/cache_policy.def). */
typedef enum tw_cache_model {
    TW_CACHE_GLC_SLC_SCC = 0,
    TW_CACHE_SC0_NT_SC1,
    TW_CACHE_GLC_SLC_DLC,
    TW_CACHE_TH_SCOPE,
    TW_CACHE_MODEL_COUNT
} tw_cache_model;

/* A feature of a target ID: left open, off ("-") or on ("+"). */
typedef enum tw_feature_mode { TW_FEATURE_ANY = 0, TW_FEATURE_OFF, TW_FEATURE_ON } tw_feature_mode;

/* What a kernel is made for. A plain value: copy it, compare it with tw_target_equal. */
typedef struct tw_target {
    tw_arch arch;
    uint8_t wave_size; /* 32 or 64 */
    uint8_t xnack;     /* tw_feature_mode; only where the row has_xnack */
    uint8_t sramecc;   /* tw_feature_mode; only where the row has_sramecc */
} tw_target;

/* Reads "gfx1250", "gfx90a:sramecc+:xnack-" (LLVM's target ID; the features in any order) or "gfx1100:wave64"
 * (where there is a choice of wave size). TW_ERR_INVALID with a diagnostic for anything else; *out is then
 * all zero. */
TW_API tw_status tw_target_parse(const char *text, tw_target *out, tw_diag *diag);
/* Writes the canonical form, "gfx90a:sramecc+:xnack-" or "gfx1100:wave64", to `buffer` (TW_TARGET_NAME_MAX
 * bytes). */
#define TW_TARGET_NAME_MAX 48
TW_API void tw_target_format(tw_target target, char buffer[TW_TARGET_NAME_MAX]);
TW_API bool tw_target_equal(tw_target a, tw_target b);

/* fp8/bf8 formats that a target's conversions and matrix units read. */
typedef enum tw_fp8_kind { TW_FP8_NONE = 0, TW_FP8_OCP, TW_FP8_FNUZ } tw_fp8_kind;

/* Bits of tw_arch_info.features; docs/targets.md is generated from the same list. */
#define TW_ARCH_FEATURE_LIST(X)                                                                          \
    X(MFMA, 0, "mfma", "matrix instructions of CDNA")                                                    \
    X(WMMA, 1, "wmma", "matrix instructions of RDNA3 and later")                                         \
    X(PACKED_F16_BUFFER_ATOMIC, 2, "buffer-atomic-pk-f16", "buffer atomic add of two f16")               \
    X(PACKED_BF16_BUFFER_ATOMIC, 3, "buffer-atomic-pk-bf16", "buffer atomic add of two bf16")            \
    X(GLOBAL_ATOMIC_PK_F16, 4, "global-atomic-pk-f16", "global atomic add of two f16 without a loop")    \
    X(GLOBAL_ATOMIC_PK_BF16, 5, "global-atomic-pk-bf16", "global atomic add of two bf16 without a loop") \
    X(LDS_ATOMIC_PK, 6, "lds-atomic-pk", "LDS atomic add of two f16 or bf16 without a loop")             \
    X(BF16_CONVERT, 7, "bf16-convert", "v_cvt_pk_bf16_f32")                                              \
    X(FP8_CONVERT, 8, "fp8-convert", "fp8 and bf8 conversions")                                          \
    X(TRANSPOSED_LDS_READ, 9, "lds-transpose", "LDS reads that transpose 16-bit tiles")                  \
    X(TRANSPOSED_GLOBAL_LOAD, 10, "global-transpose", "global loads that transpose 16-bit tiles")        \
    X(LDS_DMA, 11, "lds-dma", "buffer and global loads straight into LDS (M0 form)")                     \
    X(ASYNC_LDS, 12, "async-lds", "asynchronous copies between global memory and LDS")                   \
    X(TENSOR_COPY, 13, "tensor-copy", "tensor copies to and from LDS")                                   \
    X(SPLIT_BARRIER, 14, "split-barrier", "barrier signal and wait")                                     \
    X(WAVE64_CHOICE, 15, "wave64", "kernels may choose wave64")                                          \
    X(DPP_ROW_XMASK, 16, "dpp-row-xmask", "DPP row_xmask")                                               \
    X(PERMLANE, 17, "permlane16", "permlane16 and permlanex16")                                          \
    X(DPP_ROW_BCAST, 18, "dpp-row-bcast", "DPP row_bcast")                                               \
    X(WAVE64_BPERMUTE, 19, "wave64-bpermute", "ds_bpermute reaches all lanes of a wave of 64")           \
    X(PACKED_BF16, 20, "packed-bf16", "v_pk_mul_bf16 and v_pk_fma_bf16")                                 \
    X(PACKED_F32, 21, "packed-f32", "v_pk_mul_f32, v_pk_add_f32 and v_pk_fma_f32")                       \
    X(MFMA_FLUSH, 22, "mfma-flush", "matrix instructions of f16 and bf16 flush denormals")               \
    X(LDS_DMA_WIDE, 23, "lds-dma-wide", "loads of 12 and 16 bytes a lane straight into LDS")             \
    X(FLAT_SCRATCH, 24, "flat-scratch", "waves start with the address of their scratch in FLAT_SCRATCH") \
    X(PLAIN_ATOMIC_STORE, 25, "plain-atomic-store", "relaxed atomic stores look like plain ones")

typedef enum tw_arch_feature {
#define TW_ARCH_FEATURE_BIT(NAME, bit, text, doc) TW_ARCH_HAS_##NAME = 1 << (bit),
    TW_ARCH_FEATURE_LIST(TW_ARCH_FEATURE_BIT)
#undef TW_ARCH_FEATURE_BIT
} tw_arch_feature;

/* One target's facts. Constant data, valid for ever. */
typedef struct tw_arch_info {
    tw_arch arch;
    const char *name; /* "gfx1250": the processor's name for LLVM */
    tw_isa isa;
    tw_cache_model cache_model;
    uint8_t wave_size;             /* the default */
    bool has_xnack, has_sramecc;   /* the target ID has these features */
    uint32_t lds_bytes;            /* a workgroup's limit */
    uint32_t lds_banks;            /* of 4 bytes */
    uint32_t max_workgroup;        /* work-items */
    uint32_t vgprs_per_lane_total; /* of a SIMD: what the waves on it share */
    uint32_t vgpr_granule;         /* allocation granule */
    uint32_t max_vgprs;            /* a wave can address: arch VGPRs (+ AGPRs on CDNA) */
    uint32_t max_waves;            /* on a SIMD at once */
    uint32_t max_sgprs;
    uint32_t buffer_word3;       /* what tile.buffer_rsrc puts in word 3 */
    uint8_t buffer_address_bits; /* base address of a buffer resource: 48 or 57 */
    tw_fp8_kind fp8;
    uint32_t elf_mach;   /* EF_AMDGPU_MACH_* */
    uint32_t first_llvm; /* the first LLVM release whose back end serves the target */
    uint32_t features;   /* tw_arch_feature bits */
    const char *product; /* what the silicon is called, for people */
} tw_arch_info;

/* The row of a target; NULL for TW_ARCH_NONE and unknown numbers. */
TW_API const tw_arch_info *tw_arch_get(tw_arch arch);
/* By processor name ("gfx1250") or by the e_flags mach number of a code object; NULL where there is none. */
TW_API const tw_arch_info *tw_arch_by_name(const char *name);
TW_API const tw_arch_info *tw_arch_by_elf_mach(uint32_t mach);
/* VGPRs (arch + acc on CDNA) that LLVM gives a wave of a workgroup of up to `workgroup_size` work-items
 * before it spills; 0 and anything above the target's limit mean the limit. 0 for a target that is none. The
 * rule and how it was measured stand in docs/targets.md. */
TW_API uint32_t tw_arch_vgpr_budget(tw_target target, uint32_t workgroup_size);

/* ---- cache policies: the immediate of buffer loads, stores and atomics ---- */

typedef enum tw_cache_op { TW_CACHE_LOAD = 0, TW_CACHE_STORE, TW_CACHE_ATOMIC } tw_cache_op;

/* Policies by meaning, so that builders never spell raw bits. */
typedef enum tw_cache_policy_name {
    TW_CACHE_DEFAULT = 0,
    TW_CACHE_STREAM,          /* loads and stores that are not read again: nt / slc */
    TW_ATOMIC_DEVICE,         /* device scope: 16 on gfx12 targets, 0 elsewhere */
    TW_ATOMIC_CASCADE_DEVICE, /* device scope, cascading in the caches: 20 on gfx12 targets, 0 elsewhere */
} tw_cache_policy_name;

TW_API uint32_t tw_cache_policy(tw_target target, tw_cache_policy_name name);
/* The bits of the immediate that a policy for `op` may set on the target. Bit 0 of an atomic is never among
 * them: there it asks for the old value, and an instruction whose result the compiler does not expect would
 * overwrite a live register. */
TW_API uint32_t tw_cache_policy_mask(tw_target target, tw_cache_op op);
/* TW_OK, or TW_ERR_INVALID with the reason in words; the range 0..31 is checked too. */
TW_API tw_status tw_cache_policy_check(tw_target target, tw_cache_op op, int64_t value, tw_diag *diag);
/* How the assembler spells it, e.g. "th:TH_ATOMIC_CASCADE_RT scope:SCOPE_DEV", "" for the default. NULL for a
 * value that tw_cache_policy_check refuses. Constant data. */
TW_API const char *tw_cache_policy_spelling(tw_target target, tw_cache_op op, uint32_t value);

#ifdef __cplusplus
}
#endif
#endif
