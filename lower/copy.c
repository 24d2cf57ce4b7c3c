/* Asynchronous copies between global memory and LDS, and the waits for them. */
#include "lower/lowering.h"

/* ---- each lane its own bytes ---- */

/* The table keeps the intrinsics in order of size: 1, 4, 8, 16 bytes. */
static tw_intrinsic for_bytes(tw_intrinsic of_byte, int64_t bytes) {
    return (tw_intrinsic)(of_byte + (bytes == 1 ? 0 : bytes == 4 ? 1 : bytes == 8 ? 2 : 3));
}

void tw_ll_async_copy(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    unsigned global = op->opcode == TW_OP_ASYNC_COPY_TO_LDS ? 0 : 2;
    tw_ref far = tw_ll_element_address(l, op->operands[global], op->operands[global + 1]);
    tw_ref near = tw_ll_element_address(l, op->operands[2 - global], op->operands[3 - global]);
    tw_ll_line(l, "call void %I(ptr addrspace(1) %r, ptr addrspace(3) %r, i32 0, i32 %d)",
               for_bytes(rule->intrinsic, tw_ll_attr(op, 1)), far, near, (int)tw_ll_attr(op, 0));
}

void tw_ll_global_load_to_lds(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    tw_ref from = tw_ll_element_address(l, op->operands[0], op->operands[1]);
    tw_ll_line(l, "call void %I(ptr addrspace(1) %r, ptr addrspace(3) %v, i32 %d, i32 0, i32 %d)",
               TW_LL_GLOBAL_LOAD_LDS, from, op->operands[2], (int)tw_ll_attr(op, 1), (int)tw_ll_attr(op, 0));
}

void tw_ll_buffer_load_to_lds(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    tw_ref soffset = tw_ll_scalar_offset(l, op->operands[2]);
    tw_ll_line(l, "call void %I(%t %v, ptr addrspace(3) %v, i32 %d, i32 %v, i32 %r, i32 0, i32 %d)",
               TW_LL_BUFFER_LOAD_LDS, tw_type_rsrc(), op->operands[0], op->operands[3],
               (int)tw_ll_attr(op, 1), op->operands[1], soffset, (int)tw_ll_attr(op, 0));
}

/* ---- waits ---- */

/* LLVM does not know what the counter stands for: the fences, which cost no instruction, keep copies above
 * the wait and accesses to LDS below it. */
static void fenced(tw_lowering *l, const char *type, tw_intrinsic intrinsic, int value) {
    tw_ll_line(l, "fence syncscope(\"wavefront\") release");
    tw_ll_line(l, "call void %I(%s %d)", intrinsic, type, value);
    tw_ll_line(l, "fence syncscope(\"wavefront\") acquire");
}

/* gfx9: s_waitcnt for vmcnt alone, whose high bits stand apart. Loads of other kinds count there, too: the
 * wait may then be longer than it must. */
static int vmcnt(int64_t count) { return (int)((count & 15) | (count >> 4) << 14 | 7 << 4 | 15 << 8); }

void tw_ll_async_wait(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    int64_t outstanding = tw_ll_attr(op, 0);
    if (tw_ll_has(l, TW_LL_S_WAIT_ASYNCCNT)) {
        fenced(l, "i16", TW_LL_S_WAIT_ASYNCCNT, (int)outstanding);
    } else {
        fenced(l, "i32", TW_LL_S_WAITCNT, vmcnt(outstanding));
    }
}

void tw_ll_tensor_wait(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    fenced(l, "i16", TW_LL_S_WAIT_TENSORCNT, (int)tw_ll_attr(op, 0));
}

/* ---- tiles: the descriptor's words, as docs/targets.md has them ---- */

#define ONE_TRANSFER    1
#define TYPE_OF_TENSORS ((int32_t)(2u << 30))

static tw_ref number(tw_lowering *l, uint32_t value) {
    return tw_ll_let(l, "add i32 0, %d", (int)(int32_t)value);
}

static tw_ref vector_of(tw_lowering *l, const tw_ref *words, unsigned count) {
    tw_ref vector = tw_ref_text("zeroinitializer");
    for (unsigned i = 0; i < count; i++)
        vector = tw_ll_let(l, "insertelement %n %r, i32 %r, i32 %d", "i32", count, vector, words[i], (int)i);
    return vector;
}

static tw_ref address_group(tw_lowering *l, const tw_op *op) {
    tw_ref words[4] = {number(l, ONE_TRANSFER)};
    words[1] = tw_ll_let(l, "ptrtoint ptr addrspace(3) %v to i32", op->operands[0]);
    tw_ref address = tw_ll_let(l, "ptrtoint ptr addrspace(1) %v to i64", op->operands[1]);
    words[2] = tw_ll_let(l, "trunc i64 %r to i32", address);
    tw_ref upper = tw_ll_let(l, "lshr i64 %r, 32", address);
    tw_ref high = tw_ll_let(l, "trunc i64 %r to i32", upper);
    tw_ref low_bits = tw_ll_let(l, "and i32 %r, %d", high, (1 << 25) - 1);
    words[3] = tw_ll_let(l, "or i32 %r, %d", low_bits, (int)TYPE_OF_TENSORS);
    return vector_of(l, words, 4);
}

static unsigned log2_of(unsigned value) { return (unsigned)__builtin_ctz(value); }

static uint32_t flags_word(const tw_lowering *l, const tw_op *op) {
    unsigned bytes = tw_scalar_bits(tw_ll_type_of(l, op->operands[0])->scalar) / 8;
    uint32_t word = log2_of(bytes) << 16;
    uint32_t interval = (uint32_t)tw_op_attr_value(op, "pad_interval");
    uint32_t amount = (uint32_t)tw_op_attr_value(op, "pad_amount");
    if (interval) word |= 1u << 20 | (log2_of(interval) - 1) << 22 | (amount - 1) << 25;
    return word;
}

/* The upper half of one value, and the lower half of the next above it. */
static tw_ref straddle(tw_lowering *l, tw_ref first, tw_ref second) {
    tw_ref low = tw_ll_let(l, "lshr i32 %r, 16", first);
    tw_ref high = tw_ll_let(l, "shl i32 %r, 16", second);
    return tw_ll_let(l, "or i32 %r, %r", low, high);
}

/* Extents and strides past the rank: one element, so that it does not mask the tile; and 0. */
static tw_ref extent(const tw_op *op, uint32_t rank, uint32_t index) {
    return index < rank ? tw_ref_value(op->operands[2 + index]) : tw_ref_text("1");
}
static tw_ref stride(const tw_op *op, uint32_t rank, uint32_t index) {
    return index + 1 < rank ? tw_ref_value(op->operands[2 + rank + index]) : tw_ref_text("0");
}

static tw_ref tile_group(tw_lowering *l, const tw_op *op, uint32_t rank) {
    const int64_t *sizes = op->attrs[1].as.ints.values;
    uint32_t size[3] = {0, 0, 0};
    for (uint32_t i = 0; i < rank; i++)
        size[i] = (uint32_t)sizes[i];
    tw_ref zero = tw_ref_text("0"), words[8];
    tw_ref inner = extent(op, rank, 0), outer = extent(op, rank, 1), plane = stride(op, rank, 1);
    words[0] = number(l, flags_word(l, op));
    words[1] = straddle(l, zero, inner);
    words[2] = straddle(l, inner, outer);
    words[3] = straddle(l, outer, number(l, size[0]));
    words[4] = number(l, size[1] | size[2] << 16);
    words[5] = tw_ll_let(l, "add i32 %r, 0", stride(op, rank, 0));
    words[6] = straddle(l, zero, plane);
    words[7] = straddle(l, plane, zero);
    return vector_of(l, words, 8);
}

void tw_ll_tensor_copy(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    uint32_t rank = op->attrs[1].as.ints.count;
    tw_ref addresses = address_group(l, op), tile = tile_group(l, op, rank);
    tw_intrinsic two = rule->intrinsic, four = (tw_intrinsic)(two + 1), five = (tw_intrinsic)(two + 2);
    bool is_short = rank < 3 && tw_ll_has(l, two);
    const char *zeros = "<4 x i32> zeroinitializer, ";
    tw_ref third = tw_ref_text("zeroinitializer");
    if (rank == 3) third = tw_ll_let(l, "insertelement <4 x i32> %r, i32 %r, i32 0", third, extent(op, 3, 2));
    tw_ll_text(l, "  call void %I(<4 x i32> %r, <8 x i32> %r, ",
               is_short             ? two
               : tw_ll_has(l, four) ? four
                                    : five,
               addresses, tile);
    if (!is_short) tw_ll_text(l, "<4 x i32> %r, %s", third, zeros);
    if (!is_short && !tw_ll_has(l, four)) tw_ll_text(l, "<8 x i32> zeroinitializer, ");
    tw_ll_text(l, "i32 %d)\n", (int)tw_ll_attr(op, 0));
}
