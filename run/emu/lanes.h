/* Makes the lane functions of the .def files. A file that defines LANES_TABLE (the name of the table) and
 * includes this gets one function a row, compiled for whatever instruction set is in force there. */
#include "run/emu/lane_blocks.h"
#include "run/emu/lane_fp8.h"
#include "run/emu/rows.h"

#define UNUSED_SOURCES (void)a, (void)b, (void)c, (void)m

/* Operand types: what comes before the loop (PRE), and the value of a lane (GET). x is a, b or c. */
#define PRE__(x)
#define GET__(x) 0
#define PRE_B16(x)
#define GET_B16(x) (x[l] & 0xffffu)
#define PRE_B32(x)
#define GET_B32(x) (x[l])
#define PRE_F32(x)
#define GET_F32(x) as_f32(x[l])
#define PRE_MIX(x)
#define GET_MIX(x) as_f32(x[l])
#define PRE_MIXB(x)
#define GET_MIXB(x) as_f32(x[l])
#define PRE_B64(x)
#define GET_B64(x) (x[l] | (uint64_t)x[l + 32] << 32)
#define PRE_F64(x)
#define GET_F64(x) as_f64(GET_B64(x))
#define PRE_P32(x)
#define GET_P32(x) ((pair_u32){x[l], x[l + 32]})
#define PRE_F16(x)   \
    float x##_f[32]; \
    half_block(x##_f, x)
#define GET_F16(x) (x##_f[l])
#define PRE_BF16(x)
#define GET_BF16(x) bf16_to_f32(x[l] & 0xffffu)
#define PRE_MASK(x)
#define GET_MASK(x) (m >> l & 1)
/* Packed operands of a result that is not packed give both halves. */
#define PRE_P16(x)
#define GET_P16(x) ((pair_u32){x[l] & 0xffffu, x[l] >> 16})
#define PRE_PF16(x)               \
    float x##_lo[32], x##_hi[32]; \
    half_block(x##_lo, x);        \
    half_block_high(x##_hi, x)
#define GET_PF16(x) ((pair_f32){x##_lo[l], x##_hi[l]})
#define PRE_PBF16(x)
#define GET_PBF16(x) ((pair_f32){as_f32(x[l] << 16), as_f32(x[l] & 0xffff0000u)})
/* ... and of a packed result one half at a time: H is lo or hi. */
#define HALF_lo_P16(x)   (x[l] & 0xffffu)
#define HALF_hi_P16(x)   (x[l] >> 16)
#define HALF_lo_PF16(x)  (x##_lo[l])
#define HALF_hi_PF16(x)  (x##_hi[l])
#define HALF_lo_PBF16(x) as_f32(x[l] << 16)
#define HALF_hi_PBF16(x) as_f32(x[l] & 0xffff0000u)
#define PRE_PF32(x)
#define HALF_lo_PF32(x) as_f32(x[l])
#define HALF_hi_PF32(x) as_f32(x[l + 32])
#define HALF_lo_B32(x)  (x[l])
#define HALF_hi_B32(x)  (x[l])
#define HALF_lo_F32(x)  as_f32(x[l])
#define HALF_hi_F32(x)  as_f32(x[l])
#define HALF_lo__(x)    0
#define HALF_hi__(x)    0

#define SOURCES(GET, A_, B_, C_)      \
    const __auto_type A = GET##A_(a); \
    const __auto_type B = GET##B_(b); \
    const __auto_type C = GET##C_(c); \
    (void)A, (void)B, (void)C

/* The body by result type. */
#define BODY_B32(A_, B_, C_, E)    \
    EACH_LANE {                    \
        SOURCES(GET_, A_, B_, C_); \
        d[l] = (uint32_t)(E);      \
    }                              \
    return 0
#define BODY_B16(A_, B_, C_, E)       \
    EACH_LANE {                       \
        SOURCES(GET_, A_, B_, C_);    \
        d[l] = (uint32_t)(E)&0xffffu; \
    }                                 \
    return 0
#define BODY_F32(A_, B_, C_, E)                  \
    uint32_t nan = 0;                            \
    EACH_LANE {                                  \
        SOURCES(GET_, A_, B_, C_);               \
        const uint32_t r = f32_bits((float)(E)); \
        nan |= (r & 0x7fffffffu) > 0x7f800000u;  \
        d[l] = r;                                \
    }                                            \
    return nan
#define BODY_F16(A_, B_, C_, E)     \
    float r_f[32];                  \
    uint32_t nan = 0;               \
    EACH_LANE {                     \
        SOURCES(GET_, A_, B_, C_);  \
        const float r = (float)(E); \
        nan |= r != r;              \
        r_f[l] = r;                 \
    }                               \
    to_half_block(d, r_f);          \
    return nan
#define BODY_BF16(A_, B_, C_, E)    \
    float r_f[32];                  \
    uint32_t nan = 0;               \
    EACH_LANE {                     \
        SOURCES(GET_, A_, B_, C_);  \
        const float r = (float)(E); \
        nan |= r != r;              \
        r_f[l] = r;                 \
    }                               \
    to_bf16_block(d, r_f);          \
    return nan
#define BODY_B64(A_, B_, C_, E)           \
    EACH_LANE {                           \
        SOURCES(GET_, A_, B_, C_);        \
        const uint64_t r = (uint64_t)(E); \
        d[l] = (uint32_t)r;               \
        d[l + 32] = (uint32_t)(r >> 32);  \
    }                                     \
    return 0
#define BODY_F64(A_, B_, C_, E)          \
    uint32_t nan = 0;                    \
    EACH_LANE {                          \
        SOURCES(GET_, A_, B_, C_);       \
        const double f = (double)(E);    \
        const uint64_t r = f64_bits(f);  \
        nan |= f != f;                   \
        d[l] = (uint32_t)r;              \
        d[l + 32] = (uint32_t)(r >> 32); \
    }                                    \
    return nan
#define BODY_P32(A_, B_, C_, E)    \
    EACH_LANE {                    \
        SOURCES(GET_, A_, B_, C_); \
        const pair_u32 r = (E);    \
        d[l] = r.x;                \
        d[l + 32] = r.y;           \
    }                              \
    return 0
#define BODY_P16(A_, B_, C_, E)              \
    uint32_t low[32];                        \
    EACH_LANE {                              \
        SOURCES(HALF_lo_, A_, B_, C_);       \
        low[l] = (uint32_t)(E)&0xffffu;      \
    }                                        \
    EACH_LANE {                              \
        SOURCES(HALF_hi_, A_, B_, C_);       \
        d[l] = low[l] | (uint32_t)(E) << 16; \
    }                                        \
    return 0
#define PACKED_FLOAT(A_, B_, C_, E, CONVERT) \
    float low[32], high[32];                 \
    uint32_t nan = 0;                        \
    EACH_LANE {                              \
        SOURCES(HALF_lo_, A_, B_, C_);       \
        const float r = (float)(E);          \
        nan |= r != r;                       \
        low[l] = r;                          \
    }                                        \
    EACH_LANE {                              \
        SOURCES(HALF_hi_, A_, B_, C_);       \
        const float r = (float)(E);          \
        nan |= r != r;                       \
        high[l] = r;                         \
    }                                        \
    CONVERT(d, low, high);                   \
    return nan
#define BODY_PF16(A_, B_, C_, E)  PACKED_FLOAT(A_, B_, C_, E, to_half_pair_block)
#define BODY_PBF16(A_, B_, C_, E) PACKED_FLOAT(A_, B_, C_, E, to_bf16_pair_block)
#define BODY_PF32(A_, B_, C_, E)  PACKED_FLOAT(A_, B_, C_, E, to_f32_pair_block)

#define LANE_FUNCTION(name)                                                                           \
    static uint32_t lane_##name(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c, \
                                uint32_t m)

/* V: a vector operation. R2: one with a lane mask as second result, K is its bit. CMP: only a lane mask. */
#define V(name, dst, A_, B_, C_, flags, E) \
    LANE_FUNCTION(name) {                  \
        UNUSED_SOURCES;                    \
        PRE_##A_(a);                       \
        PRE_##B_(b);                       \
        PRE_##C_(c);                       \
        BODY_##dst(A_, B_, C_, E);         \
    }
#define R2(name, dst, A_, B_, C_, flags, E, K) \
    LANE_FUNCTION(name) {                      \
        UNUSED_SOURCES;                        \
        uint32_t mask = 0;                     \
        EACH_LANE {                            \
            SOURCES(GET_, A_, B_, C_);         \
            uint32_t flag = 0;                 \
            const uint64_t R = (uint64_t)(E);  \
            mask |= (uint32_t)((K) != 0) << l; \
            (void)flag;                        \
            PUT_##dst(R);                      \
        }                                      \
        return mask;                           \
    }
#define PUT_B32(R) d[l] = (uint32_t)(R)
#define PUT_B64(R)        \
    d[l] = (uint32_t)(R); \
    d[l + 32] = (uint32_t)((R) >> 32)
#define CMP(name, A_, B_, E)                   \
    LANE_FUNCTION(name) {                      \
        UNUSED_SOURCES;                        \
        (void)d;                               \
        PRE_##A_(a);                           \
        PRE_##B_(b);                           \
        uint32_t mask = 0;                     \
        for (unsigned l = 0; l < 32; l++) {    \
            const __auto_type A = GET_##A_(a); \
            const __auto_type B = GET_##B_(b); \
            (void)A, (void)B;                  \
            mask |= (uint32_t)((E) != 0) << l; \
        }                                      \
        return mask;                           \
    }
#define CLAMPED(name, dst, A_, B_, C_, E) V(name##_clamped, dst, A_, B_, C_, 0, E)
#define ALIAS(name, canonical)

#include "run/emu/vop.def"
#include "run/emu/vop16.def"
#include "run/emu/vop3p.def"
#include "run/emu/vop_fp8.def"
#include "run/emu/vopc.def"

#undef V
#undef R2
#undef CMP
#undef CLAMPED

#define V(name, dst, A_, B_, C_, flags, E)     [EMU_LANE_##name] = lane_##name,
#define R2(name, dst, A_, B_, C_, flags, E, K) [EMU_LANE_##name] = lane_##name,
#define CMP(name, A_, B_, E)                   [EMU_LANE_##name] = lane_##name,
#define CLAMPED(name, dst, A_, B_, C_, E)      [EMU_LANE_##name##_clamped] = lane_##name##_clamped,
const emu_lane_fn LANES_TABLE[EMU_LANE_COUNT] = {
#include "run/emu/vop.def"
#include "run/emu/vop16.def"
#include "run/emu/vop3p.def"
#include "run/emu/vop_fp8.def"
#include "run/emu/vopc.def"
};
