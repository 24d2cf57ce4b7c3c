/* What atomics do to memory. */
#include "run/emu/exec.h"
#include "run/emu/lane_math.h"

/* The rule of vector arithmetic, whatever the host's is: the first NaN made quiet, or +NaN. */
static float add(float a, float b) {
    float r = a + b;
    if (r == r) return r;
    return a != a ? quiet(a) : b != b ? quiet(b) : as_f32(0x7fc00000u);
}
static double add64(double a, double b) {
    double r = a + b;
    if (r == r) return r;
    return a != a ? quiet64(a) : b != b ? quiet64(b) : as_f64(0x7ff8000000000000u);
}

static uint32_t add_halves(uint32_t old, uint32_t data) {
    uint32_t lo = f32_to_half_nearest(add(half_to_f32(old & 0xffff), half_to_f32(data & 0xffff)));
    uint32_t hi = f32_to_half_nearest(add(half_to_f32(old >> 16), half_to_f32(data >> 16)));
    return lo | hi << 16;
}

static uint32_t add_bf16s(uint32_t old, uint32_t data) {
    uint32_t lo = f32_to_bf16_nearest(add(bf16_to_f32(old & 0xffff), bf16_to_f32(data & 0xffff)));
    uint32_t hi = f32_to_bf16_nearest(add(bf16_to_f32(old >> 16), bf16_to_f32(data >> 16)));
    return lo | hi << 16;
}

/* A barrier in LDS: arrivals that are still to come after the next one in bits 28:0, the phase in 31:29, what
 * the count begins with in 60:32. The arrival that finds no other to come takes one from the phase (as a
 * borrow would) and starts the count again (CDNA5 ISA; Triton's lowering of its barriers for gfx1250). */
static uint64_t arrive(uint64_t old, uint64_t count) {
    enum { COUNT_BITS = 29 };
    const uint32_t mask = (1u << COUNT_BITS) - 1;
    uint32_t pending = (uint32_t)old & mask, phase = (uint32_t)old >> COUNT_BITS, n = (uint32_t)count;
    uint32_t next = pending - n;
    if (n > pending) {
        next += ((uint32_t)(old >> 32) & mask) + 1;
        phase--;
    }
    return (old >> 32 << 32) | (uint32_t)(phase << COUNT_BITS) | (next & mask);
}

uint64_t tw_emu_atomic_result(unsigned operation, unsigned bytes, uint64_t old, uint64_t data,
                              uint64_t other) {
    bool wide = bytes == 8;
    int64_t so = wide ? (int64_t)old : (int32_t)old, sd = wide ? (int64_t)data : (int32_t)data;
    switch ((emu_atomic)operation) {
    case EMU_ATOMIC_SWAP: return data;
    case EMU_ATOMIC_CMPSWAP:
    case EMU_ATOMIC_CMPSTORE: return old == other ? data : old;
    case EMU_ATOMIC_CMPSWAP_F32:
    case EMU_ATOMIC_CMPSTORE_F32: return as_f32((uint32_t)old) == as_f32((uint32_t)other) ? data : old;
    case EMU_ATOMIC_CMPSTORE_F64: return as_f64(old) == as_f64(other) ? data : old;
    case EMU_ATOMIC_CMPST: return old == data ? other : old;
    case EMU_ATOMIC_CMPST_F32: return as_f32((uint32_t)old) == as_f32((uint32_t)data) ? other : old;
    case EMU_ATOMIC_CMPST_F64: return as_f64(old) == as_f64(data) ? other : old;
    case EMU_ATOMIC_MSKOR: return (old & ~data) | other;
    case EMU_ATOMIC_WRAP: return old >= data ? old - data : old + other;
    case EMU_ATOMIC_ADD: return old + data;
    case EMU_ATOMIC_SUB: return old - data;
    case EMU_ATOMIC_RSUB: return data - old;
    case EMU_ATOMIC_SMIN: return so < sd ? old : data;
    case EMU_ATOMIC_UMIN: return old < data ? old : data;
    case EMU_ATOMIC_SMAX: return so > sd ? old : data;
    case EMU_ATOMIC_UMAX: return old > data ? old : data;
    case EMU_ATOMIC_AND: return old & data;
    case EMU_ATOMIC_OR: return old | data;
    case EMU_ATOMIC_XOR: return old ^ data;
    case EMU_ATOMIC_INC: return old >= data ? 0 : old + 1;
    case EMU_ATOMIC_DEC: return old == 0 || old > data ? data : old - 1;
    case EMU_ATOMIC_SUB_CLAMP: return old > data ? old - data : 0;
    case EMU_ATOMIC_COND_SUB: return old >= data ? old - data : old;
    case EMU_ATOMIC_ADD_F32: return f32_bits(add(as_f32((uint32_t)old), as_f32((uint32_t)data)));
    case EMU_ATOMIC_ADD_F64: return f64_bits(add64(as_f64(old), as_f64(data)));
    case EMU_ATOMIC_MIN_F32: return f32_bits(min_number(as_f32((uint32_t)old), as_f32((uint32_t)data)));
    case EMU_ATOMIC_MAX_F32: return f32_bits(max_number(as_f32((uint32_t)old), as_f32((uint32_t)data)));
    case EMU_ATOMIC_MIN_F64: return f64_bits(min_number64(as_f64(old), as_f64(data)));
    case EMU_ATOMIC_MAX_F64: return f64_bits(max_number64(as_f64(old), as_f64(data)));
    case EMU_ATOMIC_PK_ADD_F16: return add_halves((uint32_t)old, (uint32_t)data);
    case EMU_ATOMIC_PK_ADD_BF16: return add_bf16s((uint32_t)old, (uint32_t)data);
    case EMU_ATOMIC_ARRIVE: return arrive(old, data);
    }
    return old;
}

uint64_t tw_emu_atomic_host(uint8_t *at, unsigned operation, unsigned bytes, uint64_t data, uint64_t other) {
    if (bytes == 4) {
        uint32_t *p = (uint32_t *)(void *)at, old = __atomic_load_n(p, __ATOMIC_RELAXED), next;
        do
            next = (uint32_t)tw_emu_atomic_result(operation, bytes, old, data, other);
        while (!__atomic_compare_exchange_n(p, &old, next, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
        return old;
    }
    uint64_t *p = (uint64_t *)(void *)at, old = __atomic_load_n(p, __ATOMIC_RELAXED), next;
    do
        next = tw_emu_atomic_result(operation, bytes, old, data, other);
    while (!__atomic_compare_exchange_n(p, &old, next, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    return old;
}
