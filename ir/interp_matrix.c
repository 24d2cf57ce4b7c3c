/* Matrix products: one wave at a time, by the atom's lane maps. */
#include <inttypes.h>

#include "ir/eval.h"
#include "ir/interp_state.h"
#include "ir/matrix.h"
#include "support/fail.h"

#define MAX_ELEMENTS 4096 /* of an operand of a wave: TW_MAX_LANES in each of 64 lanes */

/* One operand as a matrix. Elements are f32 or integers, as the op adds them. */
typedef struct matrix {
    uint64_t elements[MAX_ELEMENTS];
    unsigned columns;
} matrix;

typedef struct product {
    const tw_op *op;
    tw_lane_map maps[3];
    unsigned copies[3]; /* bits of the lane that make no difference */
    tw_matrix_info info;
    bool flushes; /* denormals of a 16-bit product's operands and results are zeros of their sign */
    matrix a, b, d;
} product;

/* An element as the sum sees it: every float format of the atoms lies within f32. */
static uint64_t widened(tw_scalar scalar, uint64_t bits) {
    if (scalar == TW_F32 || scalar == TW_I32) return bits;
    if (tw_scalar_is_int(scalar))
        return (uint64_t)tw_sign_extend(bits, tw_scalar_bits(scalar)) & tw_width_mask(32);
    uint64_t wide = 0;
    tw_eval_convert(TW_OP_FPEXT, scalar, TW_F32, bits, &wide);
    return wide;
}

static uint64_t without_denormals(uint64_t f32) { return f32 & 0x7f800000u ? f32 : f32 & 0x80000000u; }

/* As the matrix unit reads it. */
static uint64_t operand_element(const product *p, tw_scalar scalar, uint64_t bits) {
    if (!p->flushes) return widened(scalar, bits);
    uint64_t exponent = scalar == TW_F16 ? 0x7c00 : scalar == TW_BF16 ? 0x7f80 : 0x7f800000u;
    return widened(scalar, bits & exponent ? bits : bits & UINT64_C(1) << (tw_scalar_bits(scalar) - 1));
}

/* Where (lane, slot) of an operand stands in its matrix. */
static uint64_t *element(matrix *m, const tw_lane_map *map, unsigned lane, unsigned slot) {
    unsigned row, column;
    tw_lane_map_element(map, lane, slot, &row, &column);
    return &m->elements[row * m->columns + column];
}

static tw_status gather(tw_interp *in, product *p, uint32_t first, unsigned operand, matrix *m) {
    tw_scalar scalar = tw_type_of(in->kernel, p->op->operands[operand])->scalar;
    const tw_lane_map *map = &p->maps[operand];
    for (unsigned lane = 0; lane < in->wave_size; lane++) {
        const uint64_t *own = tw_interp_in(in, p->op, operand, first + lane);
        const uint64_t *copied = tw_interp_in(in, p->op, operand, first + (lane & ~p->copies[operand]));
        for (unsigned slot = 0; slot < p->info.slots[operand]; slot++) {
            if (own[slot] != copied[slot])
                return tw_interp_refuse(in, p->op, first + lane,
                                        "lanes that hold copies of an element of operand %u must have the "
                                        "same bits (got 0x%" PRIx64 " and 0x%" PRIx64 ")",
                                        operand, copied[slot], own[slot]);
            *element(m, map, lane, slot) = operand_element(p, scalar, own[slot]);
        }
    }
    return TW_OK;
}

/* In order of k, each step rounded once: the sum that docs/ir.md gives as the interpreter's. The kernel's
 * word on denormals does not reach matrix units. */
static uint64_t sum_of(const product *p, unsigned row, unsigned column, bool is_int) {
    uint64_t sum = p->d.elements[row * p->d.columns + column];
    for (unsigned k = 0; k < p->info.k; k++) {
        uint64_t x = p->a.elements[row * p->a.columns + k], y = p->b.elements[k * p->b.columns + column];
        if (is_int) {
            sum = (sum + x * y) & tw_width_mask(32);
        } else {
            tw_eval_alu(TW_OP_FMA, TW_F32, false, (uint64_t[3]){x, y, sum}, &sum);
        }
    }
    return sum;
}

static tw_status multiply_wave(tw_interp *in, product *p, uint32_t first) {
    bool is_int = tw_scalar_is_int(tw_type_of(in->kernel, p->op->first_result)->scalar);
    tw_status status = gather(in, p, first, TW_MATRIX_A, &p->a);
    if (!status) status = gather(in, p, first, TW_MATRIX_B, &p->b);
    if (!status) status = gather(in, p, first, TW_MATRIX_D, &p->d);
    if (status) return status;
    for (unsigned lane = 0; lane < in->wave_size; lane++)
        for (unsigned slot = 0; slot < p->info.slots[TW_MATRIX_D]; slot++) {
            unsigned row, column;
            tw_lane_map_element(&p->maps[TW_MATRIX_D], lane, slot, &row, &column);
            uint64_t sum = sum_of(p, row, column, is_int);
            tw_interp_out(in, p->op, first + lane)[slot] = p->flushes ? without_denormals(sum) : sum;
        }
    return TW_OK;
}

tw_status tw_interp_mma(tw_interp *in, const tw_op *op) {
    const tw_matrix_atom *atom = tw_matrix_atom_by_name(in->kernel->target, op->attrs[0].as.s);
    tw_matrix_info info = tw_matrix_atom_info(atom);
    product *p = in->product ? in->product : (in->product = TW_ARENA_NEW(&in->arena, product, 1));
    if (!p) return tw_fail_no_memory(in->diag);
    p->op = op;
    p->info = info;
    p->flushes = tw_arch_get(in->kernel->target.arch)->features & TW_ARCH_HAS_MFMA_FLUSH &&
                 (info.a == TW_MATRIX_F16 || info.a == TW_MATRIX_BF16);
    p->a.columns = info.k;
    p->b.columns = p->d.columns = info.n;
    for (unsigned operand = TW_MATRIX_A; operand <= TW_MATRIX_D; operand++) {
        p->maps[operand] = tw_matrix_lane_map(atom, (tw_matrix_operand)operand);
        p->copies[operand] = tw_matrix_copies(atom, (tw_matrix_operand)operand);
    }
    for (uint32_t first = 0; first < in->items; first += in->wave_size) {
        tw_status status = tw_interp_check_whole_wave(in, op, first);
        if (!status && in->active[first]) status = multiply_wave(in, p, first);
        if (status) return status;
    }
    return TW_OK;
}
