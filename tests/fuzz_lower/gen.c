/* The generator: random valid kernels, driven by the rows of ir/opcodes.def. For an op it draws a row, types
 * and operands of the row's classes and attributes in their ranges, and lets the rules of ir/rules.c judge:
 * what they refuse is drawn again. What a program must not do while it runs is avoided by construction
 * (indices are masked, divisors are odd, each work-item stores to slots of its own), and so is what
 * docs/ir.md leaves open: NaN bits are replaced by one NaN before anything can see them, sums of atomics are
 * exact in any order. */
#include "tests/fuzz_lower/gen.h"

#include <stdio.h>
#include <stdlib.h>
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

static void add_scalars(gen *g) {
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

static const tw_type *draw_type(gen *g) {
    static const uint8_t lanes[] = {1, 1, 1, 1, 2, 2, 2, 3, 4, 4, 5, 8, 16};
    tw_scalar scalar = gen_chance(g, 8) ? TW_I1 : gen_storage_scalar(g);
    unsigned n = lanes[gen_below(g, COUNT(lanes))];
    while (n * tw_scalar_bits(scalar) > 512)
        n /= 2;
    return tw_type_vector(scalar, n);
}

const tw_type *gen_type(gen *g, tw_type_class type_class) {
    for (int tries = 0; tries < 60; tries++) {
        const tw_type *type = gen_chance(g, 70) ? g->favourites[gen_below(g, GEN_TYPES)] : draw_type(g);
        if (tries > 8 && tries < 20) type = tw_type_vector(type->scalar, 1);
        if (tries >= 20) type = draw_type(g);
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

/* ---- any op of values, by its row ---- */

static int64_t draw_int(gen *g, const tw_attr_info *info) {
    int64_t span = info->max - info->min;
    switch (gen_below(g, 3)) {
    case 0: return tw_random_between(&g->random, info->min, info->max);
    case 1: return info->min + (int64_t)gen_below(g, span < 4 ? (uint32_t)span + 1 : 4);
    default: {
        uint32_t bits = 1u + gen_below(g, 5);
        int64_t value = info->min + (int64_t)gen_below(g, 1u << bits);
        return value > info->max ? info->max : value;
    }
    }
}

static bool draw_attrs(gen *g, const tw_op_info *row, const tw_type *type, const gen_value *operands,
                       tw_attr *attrs) {
    for (unsigned i = 0; i < row->attr_count; i++) {
        const tw_attr_info *info = &row->attrs[i];
        attrs[i] = (tw_attr){.kind = TW_ATTR_NONE};
        if (!info->required && gen_chance(g, 50) && info->rule != AR_ENUM && info->rule != AR_BITS &&
            info->rule != AR_INTS)
            continue;
        switch (info->rule) {
        case AR_INT: attrs[i] = (tw_attr){.kind = TW_ATTR_INT, .as.i = draw_int(g, info)}; break;
        case AR_BOOL: attrs[i] = (tw_attr){.kind = TW_ATTR_BOOL, .as.b = gen_chance(g, 50)}; break;
        case AR_ENUM: {
            uint32_t words = 0;
            while (info->words[words])
                words++;
            attrs[i] = (tw_attr){.kind = TW_ATTR_INT, .as.i = (int64_t)gen_below(g, words)};
            break;
        }
        case AR_BITS:
            attrs[i] = (tw_attr){.kind = TW_ATTR_INT, .as.i = (int64_t)gen_bits(g, type->scalar)};
            break;
        case AR_INTS: { /* as many as the result has lanes, each a lane of the two operands laid end to end */
            int64_t *values = tw_arena_alloc(&g->kernel->arena, type->lanes, sizeof *values);
            if (!values) return false;
            for (unsigned n = 0; n < type->lanes; n++)
                values[n] = (int64_t)gen_below(g, 2u * operands[0].type->lanes);
            attrs[i].kind = TW_ATTR_INTS;
            attrs[i].as.ints.values = values;
            attrs[i].as.ints.count = type->lanes;
            break;
        }
        case AR_STRING: return false;
        }
    }
    return true;
}

static bool class_is_value(tw_type_class c) {
    switch (c) {
    case T_NONE:
    case T_RSRC:
    case T_UNIFORM_GPTR:
    case T_PTR:
    case T_GPTR:
    case T_LPTR: return false;
    default: return true;
    }
}

/* Ops of numbers alone. */
static bool is_value_op(const tw_op_info *row) {
    if (row->effect != E_PURE && row->effect != E_CROSS_LANE) return false;
    if (row->result == R_RSRC || row->result == R_NONE) return false;
    for (unsigned i = 0; i < row->operand_count; i++)
        if (!class_is_value(row->operands[i])) return false;
    for (unsigned i = 0; i < row->attr_count; i++)
        if (row->attrs[i].rule == AR_STRING) return false;
    return !row->more_operands || row->opcode == TW_OP_VECTOR_BUILD;
}

static bool is_memory_op(const tw_op_info *row) {
    if (row->more_operands) return false;
    switch (row->effect) {
    case E_READS_GLOBAL:
    case E_WRITES_GLOBAL:
    case E_GLOBAL_RMW:
    case E_READS_LDS:
    case E_WRITES_LDS:
    case E_LDS_RMW: break;
    default: return false;
    }
    /* data, then pointer and index, or resource and two offsets */
    unsigned at = row->result == R_NONE ? 1 : 0;
    if (row->result != R_NONE && row->result != R_GIVEN_DATA) return false;
    switch (row->operands[at]) {
    case T_GPTR: return row->operand_count == at + 2 && row->operands[at + 1] == T_INDEX;
    case T_LPTR: return row->operand_count == at + 2 && row->operands[at + 1] == T_I32;
    case T_RSRC: return row->operand_count == at + 3;
    default: return false;
    }
}

bool fuzz_row_is_known(const tw_op_info *row) {
    switch (row->opcode) {
    case TW_OP_FOR:
    case TW_OP_IF:
    case TW_OP_YIELD:
    case TW_OP_RETURN:
    case TW_OP_LDS_ALLOC:
    case TW_OP_BARRIER:
    case TW_OP_PTR_OFFSET:
    case TW_OP_BUFFER_RSRC: return true;
    default: break;
    }
    return (row->effect == E_SCHEDULE && !row->operand_count) || is_value_op(row) || is_memory_op(row);
}

/* The result is left open for some operands: then the last operand is made odd and positive. */
static bool is_partial(tw_opcode opcode, tw_scalar scalar) {
    uint64_t out;
    return tw_scalar_is_int(scalar) && tw_op_info_get(opcode)->effect == E_PURE &&
           !tw_eval_alu(opcode, scalar, false, (uint64_t[3]){1, 0, 0}, &out) &&
           tw_eval_alu(opcode, scalar, false, (uint64_t[3]){1, 1, 0}, &out);
}

static gen_value odd_and_positive(gen *g, gen_value x) {
    uint64_t positive = tw_width_mask(tw_scalar_bits(x.type->scalar)) >> 1;
    gen_value low = gen_binary(g, TW_OP_AND, x, gen_constant(g, x.type, positive));
    return gen_binary(g, TW_OP_OR, low, gen_constant(g, x.type, 1));
}

/* A number of a size at which approximations give normal numbers: exponents -63 .. 0, either sign. */
static gen_value tame(gen *g, const tw_type *type) {
    const tw_type *words = tw_type_vector(TW_I32, type->lanes);
    gen_value bits = gen_value_of(g, words, TW_DIVERGENT), result = {0};
    bits = gen_binary(g, TW_OP_AND, bits, gen_constant(g, words, 0xbfffffff));
    bits = gen_binary(g, TW_OP_OR, bits, gen_constant(g, words, 0x20000000));
    gen_emit(g, TW_OP_BITCAST, type, &bits, 1, NULL, &result);
    return result;
}

static bool operand_types(gen *g, const tw_op_info *row, const tw_type **types) {
    for (unsigned i = 0; i < row->operand_count; i++) {
        switch (row->operands[i]) {
        case T_SAME0: types[i] = types[0]; break;
        case T_SAME1: types[i] = types[1]; break;
        default: types[i] = gen_type(g, row->operands[i]);
        }
        if (!types[i]) return false;
    }
    /* What the rules ask for beyond the classes, so that few draws are refused. */
    if (row->opcode == TW_OP_SELECT && types[0]->lanes > 1) types[0] = tw_type_vector(TW_I1, types[1]->lanes);
    if (row->opcode == TW_OP_VECTOR_INSERT) types[0] = tw_type_scalar(types[1]->scalar);
    return true;
}

static const tw_type *given_type(gen *g, const tw_op_info *row, const tw_type *const *types) {
    tw_type_class given = tw_result_given_class(row->result);
    if (given == T_NONE) return NULL;
    const tw_type *type = gen_type(g, given);
    if (!type || !row->operand_count || row->opcode == TW_OP_CONSTANT) return type;
    if (row->opcode == TW_OP_VECTOR_SHUFFLE || row->opcode == TW_OP_VECTOR_SPLAT ||
        row->opcode == TW_OP_VECTOR_BUILD)
        return tw_type_vector(types[0]->scalar, type->lanes);
    if (row->opcode == TW_OP_BITCAST)
        return tw_type_vector(type->scalar, tw_type_bits(types[0]) / tw_scalar_bits(type->scalar));
    return tw_type_vector(type->scalar, types[0]->lanes); /* conversions keep the lanes */
}

static bool may_stand_here(const gen *g, const tw_op_info *row) {
    if (row->effect != E_CROSS_LANE) return true;
    switch (row->opcode) {
    case TW_OP_READFIRSTLANE:
    case TW_OP_ROW_SHIFT:
    case TW_OP_BALLOT: return true;
    default: return g->whole_waves && g->together >= TW_UNIFORM_IN_WAVE; /* all lanes are active */
    }
}

static bool value_op(gen *g, const tw_op_info *row) {
    const tw_type *types[TW_MAX_LANES] = {0};
    gen_value operands[TW_MAX_LANES], result;
    tw_attr attrs[TW_MAX_ATTRS];
    if (!may_stand_here(g, row) || !operand_types(g, row, types)) return false;
    bool approximate = row->operand_count && row->effect == E_PURE && !row->attr_count &&
                       row->result == R_SAME0 && tw_scalar_is_float(types[0]->scalar) &&
                       tw_eval_is_approximate(row->opcode);
    const tw_type *given = given_type(g, row, types);
    if (tw_result_given_class(row->result) != T_NONE && !given) return false;
    uint32_t count = row->operand_count;
    if (row->more_operands) count = given->lanes;
    for (uint32_t i = 0; i < count; i++) {
        const tw_type *type = types[i < row->operand_count ? i : 0];
        uint8_t level =
            i < row->operand_count && tw_type_class_is_uniform(row->operands[i]) ? TW_UNIFORM_IN_WAVE : 0;
        operands[i] = approximate ? tame(g, type) : gen_value_of(g, type, level);
        if (row->opcode == TW_OP_BITCAST) operands[i] = gen_closed(g, operands[i]);
        if (!operands[i].value.id) return false;
    }
    if (count > 1 && row->result == R_SAME0 && is_partial(row->opcode, types[0]->scalar))
        operands[count - 1] = odd_and_positive(g, operands[count - 1]);
    if (!draw_attrs(g, row, given ? given : types[0], operands, attrs)) return false;
    if (!gen_emit(g, row->opcode, given, operands, count, attrs, &result)) return false;
    if (!approximate) return true;
    g->count--; /* nothing else may see it */
    for (unsigned lane = 0; lane < result.type->lanes && lane < 4; lane++) {
        gen_value one = result;
        if (result.type->lanes > 1) {
            if (!gen_emit_int(g, TW_OP_VECTOR_EXTRACT, NULL, &result, 1, lane, &one)) return false;
            g->count--;
        }
        gen_store_own(g, FUZZ_NEAR, one);
    }
    return true;
}

static bool schedule_op(gen *g, const tw_op_info *row) {
    tw_attr attrs[TW_MAX_ATTRS];
    return draw_attrs(g, row, NULL, NULL, attrs) && gen_emit(g, row->opcode, NULL, NULL, 0, attrs, NULL);
}

static bool one_op(gen *g, const tw_op_info *row) {
    switch (row->opcode) {
    case TW_OP_FOR: return gen_for(g);
    case TW_OP_IF: return gen_if(g);
    case TW_OP_PTR_OFFSET: return gen_ptr_offset(g);
    case TW_OP_LDS_ALLOC:
    case TW_OP_BARRIER: return gen_lds_op(g, row);
    default: break;
    }
    if (row->effect == E_SCHEDULE && !row->operand_count) return schedule_op(g, row);
    if (is_memory_op(row)) {
        bool lds = row->effect == E_READS_LDS || row->effect == E_WRITES_LDS || row->effect == E_LDS_RMW;
        return lds ? gen_lds_op(g, row) : gen_memory_op(g, row);
    }
    return is_value_op(row) && value_op(g, row);
}

void gen_ops(gen *g, uint32_t count) {
    for (uint32_t tries = 0; count && g->ops_left && tries < 200 && !g->failed; tries++) {
        const tw_op_info *row = tw_op_info_get((tw_opcode)gen_below(g, TW_OPCODE_LIMIT));
        if (!row || !one_op(g, row)) continue;
        count--;
        g->ops_left--;
    }
}

/* ---- the kernel ---- */

/* Pieces that memory holds: 1 to 16 bytes. */
void gen_store_result(gen *g, gen_value v) {
    if (v.type->kind != TW_TYPE_SCALAR && v.type->kind != TW_TYPE_VECTOR) return;
    gen_value operands[2] = {v, v};
    if (v.type->scalar == TW_I1) {
        if (!gen_emit(g, TW_OP_ZEXT, tw_type_vector(TW_I8, v.type->lanes), operands, 1, NULL, &v)) return;
        operands[0] = operands[1] = v;
    }
    if (tw_type_in_class(v.type, T_DATA)) {
        gen_store_own(g, FUZZ_OUT, v);
        return;
    }
    unsigned most = 128 / tw_scalar_bits(v.type->scalar), width = 1;
    while (width * 2 <= most && width * 2 <= v.type->lanes)
        width *= 2;
    for (unsigned lane = 0; lane < v.type->lanes; lane += width) {
        int64_t *lanes = tw_arena_alloc(&g->kernel->arena, width, sizeof *lanes);
        if (!lanes) return;
        for (unsigned i = 0; i < width; i++)
            lanes[i] = (int64_t)(lane + i) % (2 * v.type->lanes);
        tw_attr attr = {.kind = TW_ATTR_INTS, .as.ints = {lanes, width}};
        gen_value piece;
        bool made = width == 1 ? gen_emit_int(g, TW_OP_VECTOR_EXTRACT, NULL, operands, 1, lane, &piece)
                               : gen_emit(g, TW_OP_VECTOR_SHUFFLE, tw_type_vector(v.type->scalar, width),
                                          operands, 2, &attr, &piece);
        if (made) gen_store_own(g, FUZZ_OUT, piece);
    }
}

static gen_value id(gen *g, tw_opcode opcode, int64_t dim) {
    gen_value v = {0};
    gen_emit_int(g, opcode, NULL, NULL, 0, dim, &v);
    return v;
}

/* Flat numbers of the work-item in its workgroup and in the grid. */
static void prologue(gen *g, const uint32_t block[3]) {
    gen_value flat = id(g, TW_OP_WORKITEM_ID, 0), group = id(g, TW_OP_WORKGROUP_ID, 0);
    uint32_t stride = block[0], groups = g->c->grid[0];
    for (int dim = 1; dim < 3; dim++) {
        if (block[dim] > 1) {
            gen_value at = gen_binary(g, TW_OP_MUL, id(g, TW_OP_WORKITEM_ID, dim), gen_i32(g, stride));
            flat = gen_binary(g, TW_OP_ADD, flat, at);
        }
        if (g->c->grid[dim] > 1) {
            gen_value at = gen_binary(g, TW_OP_MUL, id(g, TW_OP_WORKGROUP_ID, dim), gen_i32(g, groups));
            group = gen_binary(g, TW_OP_ADD, group, at);
        }
        stride *= block[dim];
        groups *= g->c->grid[dim];
    }
    g->tid = flat;
    gen_value base = gen_binary(g, TW_OP_MUL, group, gen_i32(g, stride));
    g->global_tid = gen_binary(g, TW_OP_ADD, base, flat);
}

static void draw_shape(gen *g, tw_kernel_options *options, uint32_t grid[3]) {
    static const uint8_t sizes[] = {1, 7, 16, 31, 32, 32, 33, 64, 64, 64, 65, 96, 128, 128};
    *options = (tw_kernel_options){.workgroup_size = sizes[gen_below(g, COUNT(sizes))]};
    if (gen_chance(g, 15)) {
        options->workgroup_size = 1u + gen_below(g, 16);
        options->workgroup_size_y = 1u + gen_below(g, 4);
        options->workgroup_size_z = 1u + gen_below(g, 2);
    }
    if (gen_chance(g, 10)) {
        options->workgroup_size = 8;
        options->workgroup_size_y = 4;
        options->workgroup_size_z = 2;
    }
    if (gen_chance(g, 15)) options->min_waves_per_eu = 1u + gen_below(g, 4);
    if (options->min_waves_per_eu && gen_chance(g, 50))
        options->max_waves_per_eu = options->min_waves_per_eu + gen_below(g, 3);
    options->flush_f32_denormals = gen_chance(g, 25);
    grid[0] = 1u + gen_below(g, 3);
    grid[1] = gen_chance(g, 15) ? 2 : 1;
    grid[2] = gen_chance(g, 10) ? 2 : 1;
    uint32_t y = options->workgroup_size_y ? options->workgroup_size_y : 1,
             z = options->workgroup_size_z ? options->workgroup_size_z : 1;
    g->items = options->workgroup_size * y * z;
    while (g->items * grid[0] * grid[1] * grid[2] > 256 && (grid[0] > 1 || grid[1] > 1 || grid[2] > 1)) {
        unsigned dim = grid[2] > 1 ? 2 : grid[1] > 1 ? 1 : 0;
        grid[dim]--;
    }
    g->total = g->items * grid[0] * grid[1] * grid[2];
}

static void generate(gen *g) {
    const tw_kernel_options *o = &g->kernel->options;
    uint32_t block[3] = {o->workgroup_size, o->workgroup_size_y ? o->workgroup_size_y : 1,
                         o->workgroup_size_z ? o->workgroup_size_z : 1};
    g->block = &g->kernel->body;
    for (unsigned i = 0; i < GEN_TYPES; i++)
        g->favourites[i] = draw_type(g);
    add_scalars(g);
    prologue(g, block);
    uint32_t first = g->count;
    g->ops_left = 60;
    gen_ops(g, 4 + gen_below(g, 20));
    /* The last values are those that depend on the most. */
    for (uint32_t i = g->count, shown = 0; i > first && shown < 10; i--, shown++)
        gen_store_result(g, g->pool[i - 1]);
    tw_op *end = tw_op_new(g->kernel, TW_OP_RETURN, 0, 0);
    if (end) tw_block_append(&g->kernel->body, end);
    fuzz_ops_made[TW_OP_RETURN]++;
    g->failed = g->failed || !end;
    for (unsigned s = 0; s < TW_SCALAR_COUNT; s++)
        if (g->out_sizes[s])
            g->out_sizes[s]->attrs[0].as.i =
                (int64_t)g->c->params[g->param_index[FUZZ_OUT][s]].count * (tw_scalar_bits((tw_scalar)s) / 8);
}

static void print_kernel(const fuzz_case *c) {
    char *text = NULL;
    if (!tw_kernel_to_text(c->kernel, &text, NULL, NULL)) fprintf(stderr, "%s", text);
    free(text);
}

fuzz_case *fuzz_case_new(uint64_t seed, tw_target target) {
    fuzz_case *c = calloc(1, sizeof *c);
    gen *g = calloc(1, sizeof *g);
    if (!c || !g) goto failed;
    c->seed = seed;
    c->ctx = tw_context_new(NULL);
    if (!c->ctx) goto failed;
    g->c = c;
    g->arch = tw_arch_get(target.arch);
    tw_random_seed(&g->random, seed);
    tw_kernel_options options;
    draw_shape(g, &options, c->grid);
    c->items = g->items;
    g->whole_waves = g->items % target.wave_size == 0;
    g->together = TW_UNIFORM_IN_WORKGROUP;
    char name[32];
    snprintf(name, sizeof name, "k%llu", (unsigned long long)seed);
    c->kernel = g->kernel = tw_kernel_new(c->ctx, name, strlen(name), target, &options);
    if (!c->kernel) goto failed;
    generate(g);
    if (g->failed) goto failed;
    if (tw_kernel_verify(c->kernel, tw_context_diag(c->ctx))) {
        fprintf(stderr, "seed %llu: the generator made an invalid kernel: %s", (unsigned long long)seed,
                tw_context_diagnostics(c->ctx));
        print_kernel(c);
        goto failed;
    }
    free(g);
    return c;
failed:
    free(g);
    fuzz_case_free(c);
    return NULL;
}

void fuzz_case_free(fuzz_case *c) {
    if (!c) return;
    tw_context_free(c->ctx);
    free(c);
}

fuzz_case *fuzz_case_from_text(const fuzz_case *model, const char *text, size_t length) {
    fuzz_case *c = malloc(sizeof *c);
    if (!c) return NULL;
    *c = *model;
    c->ctx = tw_context_new(NULL);
    c->kernel = NULL;
    if (!c->ctx || tw_kernel_parse(c->ctx, text, length, NULL, &c->kernel)) {
        if (c->ctx)
            fprintf(stderr, "seed %llu: %s", (unsigned long long)model->seed, tw_context_diagnostics(c->ctx));
        fuzz_case_free(c);
        return NULL;
    }
    return c;
}

/* ---- memory ---- */

static size_t bytes_of(const fuzz_param *p) { return (size_t)p->count * (tw_scalar_bits(p->scalar) / 8); }

/* Inputs are full of corners; outputs hold a pattern that shows what was not written; sums begin at 0. */
static void fill(const fuzz_case *c, uint32_t index, uint8_t *bytes) {
    const fuzz_param *p = &c->params[index];
    unsigned size = tw_scalar_bits(p->scalar) / 8;
    gen g = {0};
    tw_random_seed(&g.random, c->seed * 64 + index);
    for (uint32_t i = 0; i < p->count; i++) {
        uint64_t bits = p->role == FUZZ_IN    ? gen_bits(&g, p->scalar)
                        : p->role == FUZZ_SUM ? 0
                                              : 0x3535353535353535;
        for (unsigned b = 0; b < size; b++)
            bytes[i * size + b] = (uint8_t)(bits >> 8 * b);
    }
}

bool fuzz_memory_new(const fuzz_case *c, fuzz_memory *out) {
    *out = (fuzz_memory){0};
    for (uint32_t i = 0; i < c->param_count; i++) {
        if (c->params[i].role == FUZZ_SCALAR) continue;
        out->size[i] = bytes_of(&c->params[i]);
        out->bytes[i] = malloc(out->size[i] + 1);
        if (!out->bytes[i]) {
            fuzz_memory_free(out);
            return false;
        }
        fill(c, i, out->bytes[i]);
    }
    return true;
}

void fuzz_memory_free(fuzz_memory *m) {
    for (uint32_t i = 0; i < FUZZ_MAX_PARAMS; i++)
        free(m->bytes[i]);
    *m = (fuzz_memory){0};
}
