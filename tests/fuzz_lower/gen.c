/* The generator: random valid kernels, driven by the rows of ir/opcodes.def. For an op it draws a row, types
 * and operands of the row's classes and attributes in their ranges, and lets the rules of ir/rules.c judge:
 * what they refuse is drawn again. What a program must not do while it runs is avoided by construction
 * (indices are masked, divisors are odd, each work-item stores to slots of its own), and so is what
 * docs/ir.md leaves open: NaN bits are replaced by one NaN before anything can see them, sums of atomics are
 * exact in any order. */
#include "tests/fuzz_lower/gen.h"

#include <stdio.h>
#include <string.h>

#include "ir/eval.h"

uint64_t fuzz_ops_made[TW_OPCODE_LIMIT];

#define COUNT(array)  (sizeof(array) / sizeof(array)[0])
#define OUT_BYTES_MAX 65536

/* ---- ops ---- */

void gen_push(gen *g, gen_value v) {
    if (g->count < GEN_POOL) g->pool[g->count++] = v;
}

static bool passes_bits_on(tw_opcode opcode) {
    switch (opcode) {
    case TW_OP_CONSTANT:
    case TW_OP_SELECT:
    case TW_OP_BITCAST:
    case TW_OP_VECTOR_BUILD:
    case TW_OP_VECTOR_EXTRACT:
    case TW_OP_VECTOR_INSERT:
    case TW_OP_VECTOR_SPLAT:
    case TW_OP_VECTOR_SHUFFLE:
    case TW_OP_READFIRSTLANE:
    case TW_OP_SHUFFLE:
    case TW_OP_SHUFFLE_XOR:
    case TW_OP_ROW_SHIFT: return true;
    default: return false;
    }
}

static bool is_float_like(const tw_type *type) {
    return (type->kind == TW_TYPE_SCALAR || type->kind == TW_TYPE_VECTOR) &&
           !tw_scalar_is_int(type->scalar) && type->scalar != TW_I1;
}

static bool result_is_open(const tw_op_info *row, const tw_type *type, const gen_value *operands,
                           uint32_t count) {
    if (!is_float_like(type)) return false;
    if (!passes_bits_on(row->opcode)) return true;
    for (uint32_t i = 0; i < count; i++)
        if (operands[i].open) return true;
    return false;
}

static uint8_t result_level(const gen *g, const tw_op_info *row, const gen_value *operands, uint32_t count) {
    uint8_t level = TW_UNIFORM_IN_WORKGROUP;
    for (uint32_t i = 0; i < count; i++)
        if (operands[i].level < level) level = operands[i].level;
    switch (row->opcode) {
    case TW_OP_CONSTANT:
    case TW_OP_WORKGROUP_ID:
    case TW_OP_NUM_WORKGROUPS:
    case TW_OP_LDS_ALLOC: return TW_UNIFORM_IN_WORKGROUP;
    case TW_OP_WAVE_ID:
    case TW_OP_BALLOT: return TW_UNIFORM_IN_WAVE;
    case TW_OP_READFIRSTLANE:
    case TW_OP_WAVE_REDUCE: return level > TW_UNIFORM_IN_WAVE ? level : TW_UNIFORM_IN_WAVE;
    default: break;
    }
    (void)g;
    return row->effect == E_PURE && count ? level : TW_DIVERGENT;
}

static const tw_type *result_type(const gen *g, const tw_op *op, const tw_type *given) {
    if (given) return given;
    if (tw_op_info_get(op->opcode)->result == R_NONE) return NULL;
    return tw_op_result_type(g->kernel, op);
}

bool gen_emit(gen *g, tw_opcode opcode, const tw_type *type, const gen_value *operands, uint32_t count,
              const tw_attr *attrs, gen_value *out) {
    const tw_op_info *row = tw_op_info_get(opcode);
    uint32_t values_before = g->kernel->value_count;
    tw_op *op = tw_op_new(g->kernel, opcode, count, 0);
    if (!op) {
        g->failed = true;
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        op->operands[i] = operands[i].value;
    if (attrs) memcpy(op->attrs, attrs, row->attr_count * sizeof *attrs);
    /* Allocations stand at the top of the kernel, wherever they are wanted. */
    if (opcode == TW_OP_LDS_ALLOC && g->kernel->body.first) {
        tw_block_insert_before(g->kernel->body.first, op);
    } else {
        tw_block_append(opcode == TW_OP_LDS_ALLOC ? &g->kernel->body : g->block, op);
    }
    const tw_type *result = NULL;
    bool good = true;
    for (uint32_t i = 0; i < count && i < row->operand_count; i++) /* result types are computed from these */
        good = good && operands[i].value.id;
    if (good && row->result != R_NONE) {
        result = result_type(g, op, type);
        good = result && tw_op_add_results(g->kernel, op, &result, 1);
    }
    if (!good || tw_op_check(g->kernel, op, NULL)) {
        tw_block_remove(op);
        g->kernel->value_count = values_before;
        return false;
    }
    fuzz_ops_made[opcode]++;
    if (!result) return true;
    gen_value v = {.value = op->first_result,
                   .type = result,
                   .level = result_level(g, row, operands, count),
                   .open = result_is_open(row, result, operands, count)};
    if (opcode != TW_OP_PTR_OFFSET && opcode != TW_OP_BUFFER_RSRC && opcode != TW_OP_LDS_ALLOC)
        gen_push(g, v);
    if (out) *out = v;
    return true;
}

bool gen_emit_int(gen *g, tw_opcode opcode, const tw_type *type, const gen_value *operands, uint32_t count,
                  int64_t attr, gen_value *out) {
    tw_attr attrs[TW_MAX_ATTRS] = {{.kind = TW_ATTR_INT, .as.i = attr}};
    return gen_emit(g, opcode, type, operands, count, attrs, out);
}

gen_value gen_constant(gen *g, const tw_type *type, uint64_t bits) {
    gen_value v = {0};
    gen_emit_int(g, TW_OP_CONSTANT, type, NULL, 0, (int64_t)bits, &v);
    return v;
}

gen_value gen_i32(gen *g, uint32_t value) { return gen_constant(g, tw_type_scalar(TW_I32), value); }

gen_value gen_binary(gen *g, tw_opcode opcode, gen_value a, gen_value b) {
    gen_value v = {0}, operands[] = {a, b};
    gen_emit(g, opcode, NULL, operands, 2, NULL, &v);
    return v;
}

/* ---- parameters ---- */

static const char *const role_names[] = {"in", "out", "sum", "near", "arg"};

gen_value gen_buffer(gen *g, fuzz_role role, tw_scalar scalar) {
    fuzz_case *c = g->c;
    const tw_type *type = tw_type_pointer(scalar, TW_GLOBAL);
    tw_value *known = &g->params[role][scalar];
    if (!known->id) {
        if (c->param_count == FUZZ_MAX_PARAMS) return (gen_value){0};
        char name[32];
        snprintf(name, sizeof name, "%s_%s", role_names[role], tw_scalar_name(scalar));
        unsigned flags =
            (role == FUZZ_IN ? TW_PARAM_READONLY : 0) | (gen_chance(g, 60) ? TW_PARAM_NOALIAS : 0);
        if (!tw_kernel_add_param(g->kernel, name, strlen(name), type, flags, known)) {
            g->failed = true;
            return (gen_value){0};
        }
        g->param_index[role][scalar] = c->param_count;
        c->params[c->param_count++] =
            (fuzz_param){.role = role, .scalar = scalar, .count = role == FUZZ_IN ? FUZZ_IN_COUNT : 0};
    }
    return (gen_value){.value = *known,
                       .type = type,
                       .level = TW_UNIFORM_IN_WORKGROUP,
                       .param = g->param_index[role][scalar],
                       .room = FUZZ_IN_COUNT};
}

uint32_t gen_reserve(gen *g, fuzz_role role, tw_scalar scalar, uint32_t count) {
    gen_value buffer = gen_buffer(g, role, scalar);
    if (!buffer.value.id) return UINT32_MAX;
    fuzz_param *param = &g->c->params[buffer.param];
    uint32_t first = (param->count + 15u) & ~15u;
    if ((first + count) * (tw_scalar_bits(scalar) / 8) > OUT_BYTES_MAX) return UINT32_MAX;
    param->count = first + count;
    return first;
}

void gen_add_scalars(gen *g) {
    static const tw_scalar scalars[] = {TW_I32, TW_I64, TW_F32, TW_I16, TW_F16, TW_BF16};
    for (size_t i = 0; i < COUNT(scalars); i++) {
        if (!gen_chance(g, 40)) continue;
        char name[32];
        tw_value value;
        snprintf(name, sizeof name, "%s_%s", role_names[FUZZ_SCALAR], tw_scalar_name(scalars[i]));
        if (!tw_kernel_add_param(g->kernel, name, strlen(name), tw_type_scalar(scalars[i]), 0, &value))
            return;
        g->c->params[g->c->param_count++] =
            (fuzz_param){.role = FUZZ_SCALAR, .scalar = scalars[i], .bits = gen_bits(g, scalars[i])};
        gen_push(g, (gen_value){.value = value,
                                .type = tw_type_scalar(scalars[i]),
                                .level = TW_UNIFORM_IN_WORKGROUP});
    }
}

/* ---- types and bits ---- */

static tw_scalar fp8_scalar(gen *g) {
    bool bf8 = gen_chance(g, 50);
    if (g->arch->fp8 == TW_FP8_FNUZ) return bf8 ? TW_F8E5M2FNUZ : TW_F8E4M3FNUZ;
    return bf8 ? TW_F8E5M2 : TW_F8E4M3;
}

tw_scalar gen_storage_scalar(gen *g) {
    static const tw_scalar scalars[] = {TW_I8,  TW_I16,  TW_I32, TW_I32, TW_I64,
                                        TW_F16, TW_BF16, TW_F32, TW_F32};
    if (gen_chance(g, 6)) return fp8_scalar(g);
    return scalars[gen_below(g, COUNT(scalars))];
}

const tw_type *gen_any_type(gen *g) {
    static const uint8_t lanes[] = {1, 1, 1, 1, 2, 2, 2, 3, 4, 4, 5, 8, 16};
    tw_scalar scalar = gen_chance(g, 8) ? TW_I1 : gen_storage_scalar(g);
    unsigned n = lanes[gen_below(g, COUNT(lanes))];
    while (n * tw_scalar_bits(scalar) > 512)
        n /= 2;
    return tw_type_vector(scalar, n);
}

const tw_type *gen_type(gen *g, tw_type_class type_class) {
    for (int tries = 0; tries < 60; tries++) {
        const tw_type *type = gen_chance(g, 70) ? g->favourites[gen_below(g, GEN_TYPES)] : gen_any_type(g);
        if (tries > 8 && tries < 20) type = tw_type_vector(type->scalar, 1);
        if (tries >= 20) type = gen_any_type(g);
        if (tw_type_in_class(type, type_class)) return type;
    }
    return NULL;
}

/* The corners of a float format. */
static uint64_t float_corner(gen *g, tw_float_format format) {
    const tw_float_info *info = tw_float_format_info(format);
    unsigned mantissa = info->mantissa_bits;
    uint64_t sign = (uint64_t)gen_below(g, 2) << (info->bits - 1);
    uint64_t one = (uint64_t)info->bias << mantissa, small = gen_below(g, 4);
    uint64_t infinity = (((uint64_t)1 << info->exponent_bits) - 1) << mantissa;
    switch (gen_below(g, 10)) {
    case 0: return sign;
    case 1: return sign | small;                                 /* denormals */
    case 2: return sign | (((uint64_t)1 << mantissa) - small);   /* the largest denormals */
    case 3: return sign | ((((uint64_t)1 << mantissa) + small)); /* the least normal numbers */
    case 4: return sign | (info->largest - small);
    case 5: return sign | infinity;
    case 6: return sign | infinity | (1u + gen_below(g, 3)); /* signaling NaNs */
    case 7: return sign | info->nan;
    case 8: return sign | (one + small);
    default: return sign | (one - small);
    }
}

uint64_t gen_bits(gen *g, tw_scalar scalar) {
    unsigned width = tw_scalar_bits(scalar);
    tw_float_format format;
    uint64_t bits = tw_random_u64(&g->random);
    if (tw_scalar_float_format(scalar, &format)) {
        switch (gen_below(g, 4)) {
        case 0: bits = float_corner(g, format); break;
        case 1:
            bits = tw_float_from_f64(format, (double)tw_random_between(&g->random, -64, 64) * 0.25);
            break;
        default: break;
        }
    } else {
        switch (gen_below(g, 5)) {
        case 0: bits = (uint64_t)tw_random_between(&g->random, -4, 4); break;
        case 1: bits = ((uint64_t)1 << gen_below(g, width)) - gen_below(g, 2); break;
        case 2: bits = (uint64_t)1 << (width - 1); break;
        case 3: bits = gen_below(g, 256); break;
        default: break;
        }
    }
    return bits & tw_width_mask(width);
}

/* ---- values ---- */

static bool from_pool(gen *g, const tw_type *type, uint8_t level, gen_value *out) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        if (g->pool[i].type != type || g->pool[i].level < level) continue;
        if (gen_below(g, ++found) == 0 || gen_chance(g, 25)) *out = g->pool[i];
    }
    return found > 0;
}

static bool built(gen *g, const tw_type *type, uint8_t level, gen_value *out) {
    gen_value parts[TW_MAX_LANES];
    const tw_type *element = tw_type_scalar(type->scalar);
    if (gen_chance(g, 40)) {
        parts[0] = gen_value_of(g, element, level);
        return gen_emit(g, TW_OP_VECTOR_SPLAT, type, parts, 1, NULL, out);
    }
    gen_value a = gen_value_of(g, element, level), b = gen_value_of(g, element, level);
    for (unsigned i = 0; i < type->lanes; i++)
        parts[i] = gen_chance(g, 50) ? a : b;
    return gen_emit(g, TW_OP_VECTOR_BUILD, type, parts, type->lanes, NULL, out);
}

/* A truth value: one bit of a number. */
static bool bit_of(gen *g, const tw_type *type, uint8_t level, gen_value *out) {
    gen_value number = gen_value_of(g, tw_type_vector(TW_I32, type->lanes), level);
    return gen_emit(g, TW_OP_TRUNC, type, &number, 1, NULL, out);
}

static bool made_uniform(gen *g, const tw_type *type, gen_value *out) {
    if (!tw_type_in_class(type, T_WORD32)) return false;
    gen_value x = gen_value_of(g, type, TW_DIVERGENT);
    return gen_emit(g, TW_OP_READFIRSTLANE, NULL, &x, 1, NULL, out);
}

gen_value gen_value_of(gen *g, const tw_type *type, uint8_t level) {
    gen_value v = {0};
    if (g->failed) return v;
    if (gen_chance(g, 80) && from_pool(g, type, level, &v)) return v;
    if (level == TW_UNIFORM_IN_WAVE && gen_chance(g, 60) && made_uniform(g, type, &v)) return v;
    if (!level && gen_chance(g, 80) && gen_load(g, type, &v)) return v;
    if (type->scalar == TW_I1 && gen_chance(g, 70) && bit_of(g, type, level, &v)) return v;
    if (type->lanes > 1 && gen_chance(g, 60) && built(g, type, level, &v)) return v;
    if (tw_type_in_class(type, T_LOGIC_OR_FLOAT)) return gen_constant(g, type, gen_bits(g, type->scalar));
    /* fp8 has no constants */
    const tw_type *bytes = tw_type_vector(TW_I8, type->lanes);
    gen_value x = gen_constant(g, bytes, gen_bits(g, TW_I8));
    gen_emit(g, TW_OP_BITCAST, type, &x, 1, NULL, &v);
    return v;
}

gen_value gen_index(gen *g, uint32_t limit, uint32_t step, uint8_t level) {
    uint32_t mask = 1;
    while (mask * 2 <= limit)
        mask *= 2;
    mask = (mask - 1) & ~(step - 1);
    if (gen_chance(g, 15) || limit < step) return gen_i32(g, limit ? gen_below(g, limit) & ~(step - 1) : 0);
    gen_value x = !level && gen_chance(g, 60) ? (gen_chance(g, 50) ? g->tid : g->global_tid)
                                              : gen_value_of(g, tw_type_scalar(TW_I32), level);
    if (gen_chance(g, 40)) x = gen_binary(g, TW_OP_MUL, x, gen_i32(g, step));
    return gen_binary(g, TW_OP_AND, x, gen_i32(g, mask));
}

gen_value gen_closed(gen *g, gen_value x) {
    if (!x.open) return x;
    if (!tw_type_in_class(x.type, T_FLOAT)) return (gen_value){0};
    tw_float_format format = TW_FLOAT_F32;
    tw_scalar_float_format(x.type->scalar, &format);
    gen_value nan = gen_constant(g, x.type, tw_float_format_info(format)->nan);
    gen_value operands[3] = {x, x}, closed = {0};
    if (!gen_emit_int(g, TW_OP_FCMP, NULL, operands, 2, TW_FUNO, &operands[0])) return closed;
    operands[1] = nan;
    operands[2] = x;
    gen_emit(g, TW_OP_SELECT, NULL, operands, 3, NULL, &closed);
    closed.open = false;
    for (uint32_t i = 0; i < g->count; i++)
        if (g->pool[i].value.id == closed.value.id) g->pool[i].open = false;
    return closed;
}
