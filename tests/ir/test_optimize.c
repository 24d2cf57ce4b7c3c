/* Random kernels give the same memory before and after they are optimised: the interpreter runs both. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "ir/interp.h"
#include "ir/ir.h"

#define KERNELS    250
#define WORK_ITEMS 32
#define GROUPS     2
#define POOL       64
#define OUTPUTS    16 /* words that each work-item stores */

/* Values in scope, by element; `count` shrinks again when a region ends. */
typedef struct pool {
    tw_value values[POOL];
    unsigned count;
} pool;

typedef struct maker {
    tw_builder *b;
    pool pools[TW_F32 + 1];
    uint64_t seed;
    unsigned depth;
    tw_value tid, lds;
} maker;

static unsigned below(maker *m, unsigned limit) {
    m->seed ^= m->seed << 13;
    m->seed ^= m->seed >> 7;
    m->seed ^= m->seed << 17;
    return (unsigned)((m->seed * 0x9E3779B97F4A7C15u) >> 33) % limit;
}

static void add(maker *m, tw_value value) {
    const tw_type *type = tw_value_type(m->b, value);
    if (!type || type->kind != TW_TYPE_SCALAR) return;
    pool *p = &m->pools[type->scalar];
    if (p->count < POOL) p->values[p->count++] = value;
}

/* Small numbers, so that identities and equal constants are frequent; floats of all kinds. */
static tw_value constant(maker *m, tw_scalar scalar) {
    static const uint32_t floats[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x40490fdb,
                                      0x7f800000, 0x00000001, 0x7f7fffff, 0x7fc00001, 0x33800000};
    static const uint16_t halves[] = {0, 0x8000, 0x3c00, 0x7bff, 0x0001, 0x7e00, 0x3555, 0x7c00};
    uint64_t bits = below(m, 6);
    if (scalar == TW_I1) bits &= 1;
    if (scalar == TW_F32) bits = floats[below(m, 10)];
    if (scalar == TW_F16 || scalar == TW_BF16) bits = halves[below(m, 8)];
    if (scalar <= TW_I64 && scalar != TW_I1 && bits == 5)
        bits = tw_scalar_bits(scalar) == 64 ? UINT64_MAX : (1ull << tw_scalar_bits(scalar)) - 1;
    return tw_constant(m->b, tw_type_scalar(scalar), bits);
}

static tw_value pick(maker *m, tw_scalar scalar) {
    pool *p = &m->pools[scalar];
    if (!p->count || !below(m, 4)) {
        tw_value value = constant(m, scalar);
        add(m, value);
        return value;
    }
    return p->values[below(m, p->count)];
}

static void random_alu(maker *m) {
    for (;;) {
        const tw_op_info *info = tw_op_info_get((tw_opcode)(1 + below(m, TW_OPCODE_LIMIT - 1)));
        tw_scalar scalar = (tw_scalar)below(m, TW_F32 + 1);
        if (!info || info->effect != E_PURE || info->result != R_SAME0 || info->attr_count) continue;
        if (!tw_type_in_class(tw_type_scalar(scalar), info->operands[0])) continue;
        tw_value in[3];
        for (unsigned i = 0; i < info->operand_count; i++)
            in[i] = pick(m, scalar);
        add(m, tw_build_op(m->b, info->opcode, NULL, in, info->operand_count, NULL, 0));
        return;
    }
}

static void random_choice(maker *m) {
    tw_scalar scalar = (tw_scalar)below(m, TW_F32 + 1);
    tw_value x = pick(m, scalar), y = pick(m, scalar), c = pick(m, TW_I1);
    add(m, tw_select(m->b, c, x, y));
    if (scalar <= TW_I64) {
        add(m, tw_icmp(m->b, (tw_icmp_predicate)below(m, 10), x, y));
    } else {
        add(m, tw_fcmp(m->b, (tw_fcmp_predicate)below(m, 14), x, y));
    }
}

static void random_conversion(maker *m) {
    tw_value i = pick(m, TW_I32), f = pick(m, TW_F32), h = pick(m, TW_F16), c = pick(m, TW_I1);
    switch (below(m, 9)) {
    case 0: add(m, tw_sitofp(m->b, i, TW_F32)); return;
    case 1: add(m, tw_fptosi(m->b, f, TW_I16)); return;
    case 2: add(m, tw_fptrunc(m->b, f, TW_F16)); return;
    case 3: add(m, tw_fpext(m->b, h, TW_F32)); return;
    case 4: add(m, tw_sext(m->b, i, TW_I64)); return;
    case 5: add(m, tw_trunc(m->b, i, TW_I8)); return;
    case 6: add(m, tw_zext(m->b, c, TW_I32)); return;
    case 7: add(m, tw_uitofp(m->b, i, TW_F16)); return;
    default: add(m, tw_bitcast(m->b, f, tw_type_scalar(TW_I32))); return;
    }
}

static void random_vector(maker *m) {
    tw_value x = pick(m, TW_I32), y = pick(m, TW_I32), z = pick(m, TW_I32), elements[] = {x, y, x, z};
    int64_t first = below(m, 8), lanes[2] = {first, first * 5 % 8};
    tw_value v = below(m, 2) ? tw_vector_build(m->b, elements, 4) : tw_vector_splat(m->b, x, 4);
    tw_value w = tw_vector_insert(m->b, y, v, below(m, 4));
    tw_value s = tw_vector_shuffle(m->b, v, w, lanes, 2);
    add(m, tw_vector_extract(m->b, w, below(m, 4)));
    add(m, tw_vector_extract(m->b, s, below(m, 2)));
    tw_value halves = tw_bitcast(m->b, s, tw_type_vector(TW_F16, 4));
    add(m, tw_vector_extract(m->b, halves, below(m, 4)));
}

/* Where all work-items are active: lanes read each other, LDS is written, passed on and written again. */
static void random_exchange(maker *m) {
    tw_value x = pick(m, TW_I32);
    add(m, tw_readfirstlane(m->b, x));
    add(m, tw_shuffle_xor(m->b, x, 1 + below(m, WORK_ITEMS - 1)));
    add(m, tw_row_shift(m->b, x, 1));
    add(m, tw_wave_reduce(m->b, TW_REDUCE_ADD, x));
    tw_value one = tw_i32(m->b, 1);
    tw_value other = tw_xor(m->b, m->tid, one);
    tw_lds_store(m->b, x, m->lds, m->tid, 0);
    tw_barrier(m->b, TW_FENCE_LDS);
    add(m, tw_lds_load(m->b, tw_type_scalar(TW_I32), m->lds, other, 0));
    tw_barrier(m->b, TW_FENCE_LDS);
}

static void random_ops(maker *m, unsigned count);

/* The pools as they were: what a region defines is out of scope after it. */
static void forget(maker *m, const unsigned counts[TW_F32 + 1]) {
    for (int s = 0; s <= TW_F32; s++)
        m->pools[s].count = counts[s];
}

static void remember(const maker *m, unsigned counts[TW_F32 + 1]) {
    for (int s = 0; s <= TW_F32; s++)
        counts[s] = m->pools[s].count;
}

static void random_loop(maker *m) {
    tw_value from = tw_i32(m->b, (int)below(m, 3)), to = tw_i32(m->b, (int)below(m, 5));
    tw_value three = tw_i32(m->b, 3);
    if (!below(m, 4)) to = tw_and(m->b, m->tid, three);
    tw_value step = tw_i32(m->b, 1 + (int)below(m, 3));
    tw_value carried[2], results[2];
    tw_value i0 = pick(m, TW_I32), f0 = pick(m, TW_F32), init[2] = {i0, f0};
    unsigned counts[TW_F32 + 1];
    remember(m, counts);
    tw_value i = tw_for_begin(m->b, from, to, step, 2, init, carried);
    add(m, i);
    add(m, carried[0]);
    add(m, carried[1]);
    random_ops(m, 1 + below(m, 6));
    tw_value i1 = pick(m, TW_I32), f1 = pick(m, TW_F32), next[2] = {i1, f1};
    tw_for_end(m->b, 2, next, results);
    forget(m, counts);
    add(m, results[0]);
    add(m, results[1]);
}

static void random_branch(maker *m) {
    tw_value condition = pick(m, TW_I1), result;
    unsigned counts[TW_F32 + 1];
    remember(m, counts);
    tw_if_begin(m->b, condition);
    random_ops(m, below(m, 5));
    tw_value x = pick(m, TW_I32);
    forget(m, counts);
    tw_if_else(m->b, 1, &x);
    random_ops(m, below(m, 5));
    tw_value y = pick(m, TW_I32);
    tw_if_end(m->b, 1, &y, &result);
    forget(m, counts);
    add(m, result);
}

static void random_ops(maker *m, unsigned count) {
    m->depth++;
    for (unsigned i = 0; i < count; i++) {
        unsigned what = below(m, 16);
        if (what < 8 || m->depth > 3) {
            random_alu(m);
        } else if (what < 10) {
            random_choice(m);
        } else if (what < 12) {
            random_conversion(m);
        } else if (what == 12) {
            random_vector(m);
        } else if (what == 13) {
            random_loop(m);
        } else if (what == 14) {
            random_branch(m);
        } else if (m->depth == 1) {
            random_exchange(m);
        }
    }
    m->depth--;
}

static tw_kernel *random_kernel(tw_context *ctx, uint64_t seed) {
    tw_target target;
    assert_int_equal(tw_target_parse("gfx1250", &target, NULL), TW_OK);
    tw_kernel_options options = {.workgroup_size = WORK_ITEMS, .flush_f32_denormals = seed % 3 == 0};
    tw_builder *b = tw_kernel_begin(ctx, "random", target, &options);
    maker m = {.b = b, .seed = seed * 0x2545F4914F6CDD1D};
    tw_value out = tw_param_ptr(b, "out", TW_I32, TW_PARAM_NOALIAS);
    add(&m, tw_param(b, "i", TW_I32));
    add(&m, tw_param(b, "f", TW_F32));
    add(&m, tw_param(b, "h", TW_F16));
    m.tid = tw_workitem_id(b, 0);
    m.lds = tw_lds_alloc(b, TW_I32, WORK_ITEMS, 16);
    add(&m, m.tid);
    random_ops(&m, 30);
    tw_value group = tw_workgroup_id(b, 0);
    tw_value size = tw_i32(b, WORK_ITEMS);
    tw_value first = tw_mul(b, group, size);
    tw_value place = tw_add(b, first, m.tid);
    tw_value stride = tw_i32(b, OUTPUTS);
    tw_value base = tw_mul(b, place, stride);
    for (int i = 0; i < OUTPUTS; i++) {
        tw_value f = pick(&m, TW_F32);
        tw_value word = i % 2 ? tw_bitcast(b, f, tw_type_scalar(TW_I32)) : pick(&m, TW_I32);
        tw_value offset = tw_i32(b, i);
        tw_value index = tw_add(b, base, offset);
        tw_global_store(b, word, out, index, 0);
    }
    return tw_kernel_end(b);
}

static uint32_t *run(const tw_kernel *kernel, tw_diag *diag) {
    const uint32_t grid[3] = {GROUPS, 1, 1};
    size_t bytes = sizeof(uint32_t) * GROUPS * WORK_ITEMS * OUTPUTS;
    uint32_t *out = calloc(1, bytes);
    tw_interp_arg args[] = {TW_INTERP_MEMORY(out, bytes), TW_INTERP_BITS(7), TW_INTERP_BITS(0x3fc00000),
                            TW_INTERP_BITS(0x4248)};
    tw_status status = tw_interp_run(kernel, grid, args, 4, NULL, diag);
    if (status) fail_msg("%s", tw_diag_text(diag));
    return out;
}

static void optimized_kernels_do_the_same(void **state) {
    (void)state;
    size_t ops_before = 0, ops_after = 0;
    for (uint64_t seed = 1; seed <= KERNELS; seed++) {
        tw_context *ctx = tw_context_new(NULL);
        tw_kernel *kernel = random_kernel(ctx, seed);
        if (!kernel) fail_msg("seed %d: %s", (int)seed, tw_context_diagnostics(ctx));
        uint32_t *before = run(kernel, tw_context_diag(ctx));
        for (const tw_op *op = kernel->body.first; op; op = tw_op_after(op))
            ops_before++;
        assert_int_equal(tw_kernel_optimize(kernel, NULL), TW_OK);
        uint32_t *after = run(kernel, tw_context_diag(ctx));
        for (const tw_op *op = kernel->body.first; op; op = tw_op_after(op))
            ops_after++;
        for (size_t i = 0; i < GROUPS * WORK_ITEMS * OUTPUTS; i++)
            if (before[i] != after[i])
                fail_msg("seed %d, word %zu: 0x%x before, 0x%x after", (int)seed, i, before[i], after[i]);
        free(before);
        free(after);
        tw_context_free(ctx);
    }
    /* There was something to do. */
    assert_true(ops_after * 10 < ops_before * 9);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(optimized_kernels_do_the_same)};
    return cmocka_run_group_tests_name("optimize", tests, NULL, NULL);
}
