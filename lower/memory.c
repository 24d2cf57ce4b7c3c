/* Global memory, buffers and LDS. */
#include <string.h>

#include "lower/lowering.h"

/* ---- data as the words that memory instructions take ---- */

/* How data of some size is moved: one piece of 1, 2, 4, 8, 12 or 16 bytes, or 4 bytes and 2 bytes behind
 * them. */
static const tw_type *word_type(unsigned bytes) {
    switch (bytes) {
    case 1: return tw_type_scalar(TW_I8);
    case 2: return tw_type_scalar(TW_I16);
    default: return tw_type_vector(TW_I32, bytes / 4);
    }
}

static unsigned data_bytes(const tw_type *type) { return tw_type_bits(type) / 8; }
static bool is_split(const tw_type *type) { return data_bytes(type) == 6; }

/* Lanes in the first piece of split data. */
static unsigned first_lanes(const tw_type *type) { return 32 / tw_scalar_bits(type->scalar); }

static tw_ref as_word(tw_lowering *l, const tw_type *type, tw_ref data) {
    const tw_type *word = word_type(data_bytes(type));
    return type == word ? data : tw_ll_let(l, "bitcast %t %r to %t", type, data, word);
}

/* The two pieces of 6 bytes, as an i32 and an i16. */
static void split(tw_lowering *l, const tw_type *type, tw_ref data, tw_ref words[2]) {
    unsigned first = first_lanes(type);
    for (unsigned i = 0; i < 2; i++) {
        unsigned lanes = i ? type->lanes - first : first;
        tw_ref part = tw_ll_slice(l, type, data, i ? first : 0, lanes);
        words[i] = as_word(l, tw_type_vector(type->scalar, lanes), part);
    }
}

static tw_ref join(tw_lowering *l, const tw_type *type, const tw_ref words[2]) {
    const tw_type *element = tw_type_scalar(type->scalar);
    unsigned first = first_lanes(type), rest = type->lanes - first;
    const tw_type *lower = tw_type_vector(type->scalar, first), *upper = tw_type_vector(type->scalar, rest);
    tw_ref low = tw_ll_let(l, "bitcast i32 %r to %t", words[0], lower);
    tw_ref high = tw_ll_let(l, "bitcast i16 %r to %t", words[1], upper);
    tw_ref data = tw_ll_slice(l, lower, low, 0, type->lanes);
    for (unsigned i = 0; i < rest; i++) {
        tw_ref lane = rest > 1 ? tw_ll_slice(l, upper, high, i, 1) : high;
        data =
            tw_ll_let(l, "insertelement %t %r, %t %r, i32 %d", type, data, element, lane, (int)(first + i));
    }
    return data;
}

static void set_data(tw_lowering *l, const tw_op *op, const tw_type *from, tw_ref value) {
    tw_ll_set(l, op->first_result, "bitcast %t %r to %t", from, value, tw_ll_type_of(l, op->first_result));
}

/* ---- global memory and LDS ---- */

void tw_ll_ptr_offset(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    const tw_type *type = tw_ll_type_of(l, op->operands[0]);
    tw_ll_set(l, op->first_result, "getelementptr %t, %t %v, %t %v", tw_type_scalar(type->scalar), type,
              op->operands[0], tw_ll_type_of(l, op->operands[1]), op->operands[1]);
}

tw_ref tw_ll_element_address(tw_lowering *l, tw_value pointer, tw_value index) {
    const tw_type *type = tw_ll_type_of(l, pointer);
    return tw_ll_let(l, "getelementptr %t, %t %v, %t %v", tw_type_scalar(type->scalar), type, pointer,
                     tw_ll_type_of(l, index), index);
}

/* LLVM loads and stores the type as it is; other types go as words. */
static bool moves_as_it_is(const tw_type *type) {
    unsigned bits = tw_scalar_bits(type->scalar);
    return type->lanes == 1 || bits >= 32 || (bits == 16 && (type->lanes & (type->lanes - 1)) == 0);
}

typedef struct access {
    const tw_type *pointer;
    tw_ref address;
    unsigned align;
    bool nontemporal;
} access;

static access access_of(tw_lowering *l, const tw_op *op, unsigned pointer) {
    const tw_type *type = tw_ll_type_of(l, op->operands[pointer]);
    int64_t align = tw_ll_attr(op, 0);
    return (access){
        .pointer = type,
        .address = tw_ll_element_address(l, op->operands[pointer], op->operands[pointer + 1]),
        .align = align ? (unsigned)align : tw_scalar_bits(type->scalar) / 8,
        .nontemporal = type->space == TW_GLOBAL && tw_ll_attr(op, 1),
    };
}

/* The two bytes behind the first four. */
static access second_piece(tw_lowering *l, access a) {
    a.address = tw_ll_let(l, "getelementptr i8, %t %r, i32 4", a.pointer, a.address);
    if (a.align > 4) a.align = 4;
    return a;
}

static void write_access_end(tw_lowering *l, access a) {
    tw_ll_text(l, "%t %r, align %d", a.pointer, a.address, (int)a.align);
    if (a.nontemporal) tw_ll_text(l, ", !nontemporal %M", TW_METADATA_NONTEMPORAL);
    tw_ll_text(l, "\n");
}

static tw_ref load_piece(tw_lowering *l, const tw_type *type, access a) {
    tw_ref piece = tw_ll_begin_let(l);
    tw_ll_text(l, "load %t, ", type);
    write_access_end(l, a);
    return piece;
}

static void store_piece(tw_lowering *l, const tw_type *type, tw_ref piece, access a) {
    tw_ll_text(l, "  store %t %r, ", type, piece);
    write_access_end(l, a);
}

void tw_ll_load(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    const tw_type *type = tw_ll_type_of(l, op->first_result);
    access a = access_of(l, op, 0);
    if (is_split(type)) {
        tw_ref words[2];
        words[0] = load_piece(l, word_type(4), a);
        words[1] = load_piece(l, word_type(2), second_piece(l, a));
        set_data(l, op, type, join(l, type, words));
    } else if (moves_as_it_is(type)) {
        tw_ll_begin_set(l, op->first_result);
        tw_ll_text(l, "load %t, ", type);
        write_access_end(l, a);
    } else {
        const tw_type *word = word_type(data_bytes(type));
        set_data(l, op, word, load_piece(l, word, a));
    }
}

void tw_ll_store(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    const tw_type *type = tw_ll_type_of(l, op->operands[0]);
    tw_ref data = tw_ref_value(op->operands[0]);
    access a = access_of(l, op, 1);
    if (is_split(type)) {
        tw_ref words[2];
        split(l, type, data, words);
        store_piece(l, word_type(4), words[0], a);
        store_piece(l, word_type(2), words[1], second_piece(l, a));
    } else if (moves_as_it_is(type)) {
        store_piece(l, type, data, a);
    } else {
        store_piece(l, word_type(data_bytes(type)), as_word(l, type, data), a);
    }
}

void tw_ll_load_transposed(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    const tw_type *type = tw_ll_type_of(l, op->first_result), *words = tw_ll_like(type, TW_I16);
    const tw_type *pointer = tw_ll_type_of(l, op->operands[0]);
    tw_ref address = tw_ll_element_address(l, op->operands[0], op->operands[1]);
    set_data(l, op, words, tw_ll_let(l, "call %t %I(%t %r)", words, rule->intrinsic, pointer, address));
}

void tw_ll_global_atomic_fadd(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    const tw_type *type = tw_ll_type_of(l, op->operands[0]);
    tw_ref address = tw_ll_element_address(l, op->operands[1], op->operands[2]);
    if (type->lanes == 2 && tw_ll_has(l, TW_LL_GLOBAL_FADD_V2F16)) { /* where atomicrmw takes no vectors */
        tw_ll_let(l, "call %t %I(ptr addrspace(1) %r, %t %v)", type, TW_LL_GLOBAL_FADD_V2F16, address, type,
                  op->operands[0]);
        return;
    }
    tw_ll_begin_let(l);
    tw_ll_text(l, "atomicrmw fadd ptr addrspace(1) %r, %t %v syncscope(\"agent\") monotonic, align 4",
               address, type, op->operands[0]);
    if (l->flavor->atomic_hint & TW_ATOMIC_METADATA)
        tw_ll_text(l, ", !amdgpu.no.fine.grained.memory %M, !amdgpu.ignore.denormal.mode %M",
                   TW_METADATA_EMPTY, TW_METADATA_EMPTY);
    tw_ll_text(l, "\n");
}

void tw_ll_lds_atomic_fadd(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    tw_ref address = tw_ll_element_address(l, op->operands[1], op->operands[2]);
    tw_ll_let(l, "atomicrmw fadd ptr addrspace(3) %r, %t %v syncscope(\"workgroup\") monotonic, align 4",
              address, tw_ll_type_of(l, op->operands[0]), op->operands[0]);
}

/* ---- buffers ---- */

/* Word 0 and the lower half of word 1 are the address, word 2 the size. */
static void set_rsrc_words(tw_lowering *l, const tw_op *op) {
    const tw_type *address = tw_type_scalar(TW_I64);
    tw_ref base = tw_ll_let(l, "ptrtoint ptr addrspace(1) %v to i64", op->operands[0]);
    tw_ref low = tw_ll_let(l, "trunc i64 %r to i32", base);
    tw_ref bits =
        tw_ll_let(l, "and i64 %r, %c", base, address, ((uint64_t)1 << l->arch->buffer_address_bits) - 1);
    tw_ref upper = tw_ll_let(l, "lshr i64 %r, 32", bits);
    tw_ref high = tw_ll_let(l, "trunc i64 %r to i32", upper);
    tw_ref rsrc = tw_ll_let(l, "insertelement <4 x i32> poison, i32 %r, i32 0", low);
    rsrc = tw_ll_let(l, "insertelement <4 x i32> %r, i32 %r, i32 1", rsrc, high);
    rsrc = tw_ll_let(l, "insertelement <4 x i32> %r, i32 %v, i32 2", rsrc, op->operands[1]);
    tw_ll_set(l, op->first_result, "insertelement <4 x i32> %r, i32 %d, i32 3", rsrc,
              (int32_t)l->arch->buffer_word3);
}

void tw_ll_buffer_rsrc(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    if (l->flavor->rsrc_form == TW_RSRC_WORDS) {
        set_rsrc_words(l, op);
        return;
    }
    tw_ref size = tw_ref_value(op->operands[1]);
    bool wide = strcmp(l->flavor->rsrc_size_type, "i32") != 0;
    if (wide) size = tw_ll_let(l, "zext i32 %r to %s", size, l->flavor->rsrc_size_type);
    tw_ll_set(l, op->first_result, "call ptr addrspace(8) %I(ptr addrspace(1) %v, i16 0, %s %r, i32 %d)",
              TW_LL_MAKE_BUFFER_RSRC, op->operands[0], l->flavor->rsrc_size_type, size,
              (int32_t)l->arch->buffer_word3);
}

/* The intrinsic of a word type, counted from that of one byte: the table keeps them in order of size. */
static tw_intrinsic for_word(tw_intrinsic of_byte, const tw_type *word) {
    unsigned place = word->scalar == TW_I8 ? 0 : word->scalar == TW_I16 ? 1 : 1u + word->lanes;
    return (tw_intrinsic)(of_byte + place);
}

/* The releases that want the resource as words want the uniform offset in a scalar register, and do not see
 * to it: one that they computed in vector registers ends them with a bad instruction. */
tw_ref tw_ll_scalar_offset(tw_lowering *l, tw_value offset) {
    uint64_t bits;
    tw_ref given = tw_ref_value(offset);
    if (l->flavor->rsrc_form != TW_RSRC_WORDS || tw_ll_known(l, offset, &bits)) return given;
    return tw_ll_let(l, "call i32 %I(i32 %r)", TW_LL_READFIRSTLANE, given);
}

typedef struct buffer_access {
    tw_value rsrc;
    tw_ref voffset, soffset;
    int policy;
} buffer_access;

static buffer_access buffer_access_of(tw_lowering *l, const tw_op *op, unsigned rsrc) {
    return (buffer_access){op->operands[rsrc], tw_ref_value(op->operands[rsrc + 1]),
                           tw_ll_scalar_offset(l, op->operands[rsrc + 2]), (int)tw_ll_attr(op, 0)};
}

/* The two bytes behind the first four: in soffset, which does not wrap around as a sum in voffset would. */
static buffer_access second_buffer_piece(tw_lowering *l, buffer_access a) {
    a.soffset = tw_ll_let(l, "add i32 %r, 4", a.soffset);
    return a;
}

static void write_buffer_end(tw_lowering *l, buffer_access a) {
    tw_ll_text(l, "%t %v, i32 %r, i32 %r, i32 %d)\n", tw_type_rsrc(), a.rsrc, a.voffset, a.soffset, a.policy);
}

static tw_ref buffer_load_piece(tw_lowering *l, const tw_type *word, buffer_access a) {
    tw_ref piece = tw_ll_begin_let(l);
    tw_ll_text(l, "call %t %I(", word, for_word(TW_LL_BUFFER_LOAD_I8, word));
    write_buffer_end(l, a);
    return piece;
}

static void buffer_store_piece(tw_lowering *l, const tw_type *word, tw_ref piece, buffer_access a) {
    tw_ll_text(l, "  call void %I(%t %r, ", for_word(TW_LL_BUFFER_STORE_I8, word), word, piece);
    write_buffer_end(l, a);
}

void tw_ll_buffer_load(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    const tw_type *type = tw_ll_type_of(l, op->first_result);
    buffer_access a = buffer_access_of(l, op, 0);
    if (is_split(type)) {
        tw_ref words[2];
        words[0] = buffer_load_piece(l, word_type(4), a);
        words[1] = buffer_load_piece(l, word_type(2), second_buffer_piece(l, a));
        set_data(l, op, type, join(l, type, words));
    } else {
        const tw_type *word = word_type(data_bytes(type));
        set_data(l, op, word, buffer_load_piece(l, word, a));
    }
}

void tw_ll_buffer_store(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    const tw_type *type = tw_ll_type_of(l, op->operands[0]);
    tw_ref data = tw_ref_value(op->operands[0]);
    buffer_access a = buffer_access_of(l, op, 1);
    if (is_split(type)) {
        tw_ref words[2];
        split(l, type, data, words);
        buffer_store_piece(l, word_type(4), words[0], a);
        buffer_store_piece(l, word_type(2), words[1], second_buffer_piece(l, a));
    } else {
        buffer_store_piece(l, word_type(data_bytes(type)), as_word(l, type, data), a);
    }
}

void tw_ll_buffer_atomic_fadd(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    const tw_type *type = tw_ll_type_of(l, op->operands[0]);
    tw_intrinsic key = type->lanes == 1         ? TW_LL_BUFFER_FADD_F32
                       : type->scalar == TW_F16 ? TW_LL_BUFFER_FADD_V2F16
                                                : TW_LL_BUFFER_FADD_V2BF16;
    buffer_access a = buffer_access_of(l, op, 1);
    tw_ll_begin_let(l);
    tw_ll_text(l, "call %t %I(%t %v, ", type, key, type, op->operands[0]);
    write_buffer_end(l, a);
}

/* ---- order ---- */

static void fence(tw_lowering *l, const tw_op *op, const char *order) {
    bool lds_only = tw_ll_attr(op, 0) == TW_FENCE_LDS && l->flavor->lds_fence_tag[0];
    tw_ll_text(l, "  fence syncscope(\"workgroup\") %s", order);
    if (lds_only) tw_ll_text(l, ", !mmra %M", TW_METADATA_LDS_FENCE);
    tw_ll_text(l, "\n");
}

/* Where the release puts a change of the register bank that follows a barrier before the instruction that
 * precedes the barrier, that must be one which names no registers: nothing is moved between the two, nor to
 * behind the barrier. */
typedef enum side { BEFORE_BARRIER, BEHIND_BARRIER } side;

static void guard_barrier(tw_lowering *l, side of) {
    const tw_target target = l->kernel->target;
    if (!(l->flavor->guarded_barrier_targets >> target.arch & 1)) return;
    tw_ll_line(l, "call void %I(i32 0)", TW_LL_SCHED_BARRIER);
    if (of == BEFORE_BARRIER) tw_ll_line(l, "call void %I(i16 0)", TW_LL_S_NOP);
}

void tw_ll_barrier(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    fence(l, op, "release");
    guard_barrier(l, BEFORE_BARRIER);
    tw_ll_line(l, "call void %I()", TW_LL_S_BARRIER);
    guard_barrier(l, BEHIND_BARRIER);
    fence(l, op, "acquire");
}

#define WORKGROUP_BARRIER (-1)

void tw_ll_barrier_signal(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    fence(l, op, "release");
    guard_barrier(l, BEFORE_BARRIER);
    tw_ll_line(l, "call void %I(i32 %d)", TW_LL_S_BARRIER_SIGNAL, WORKGROUP_BARRIER);
    guard_barrier(l, BEHIND_BARRIER);
}

void tw_ll_barrier_wait(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    guard_barrier(l, BEFORE_BARRIER);
    tw_ll_line(l, "call void %I(i16 %d)", TW_LL_S_BARRIER_WAIT, WORKGROUP_BARRIER);
    guard_barrier(l, BEHIND_BARRIER);
    fence(l, op, "acquire");
}

/* A hint that the flavor does not know changes nothing but the time a kernel takes: it is left out. */
static bool takes_hint(tw_lowering *l, tw_intrinsic key) {
    if (tw_ll_has(l, key)) return true;
    tw_ll_line(l, "; %s is unknown to %s", tw_intrinsic_name(key), tw_flavor_name(l->flavor->flavor));
    return false;
}

void tw_ll_sched_barrier(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    if (takes_hint(l, TW_LL_SCHED_BARRIER))
        tw_ll_line(l, "call void %I(i32 %d)", TW_LL_SCHED_BARRIER, (int)tw_ll_attr(op, 0));
}

/* LLVM's scheduler runs past its arrays where groups of several pipelines (`sync`) meet and one of them finds
 * no instruction: those of the first pipeline stay. Ops are lowered in the order of the text. */
static bool is_of_first_pipeline(tw_lowering *l, const tw_op *op) {
    if (!l->first_group) l->first_group = op;
    if (tw_ll_attr(l->first_group, 2) == tw_ll_attr(op, 2)) return true;
    tw_ll_line(l, "; a group of another pipeline than the kernel's first is left out");
    return false;
}

void tw_ll_sched_group_barrier(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    if (is_of_first_pipeline(l, op) && takes_hint(l, TW_LL_SCHED_GROUP_BARRIER))
        tw_ll_line(l, "call void %I(i32 %d, i32 %d, i32 %d)", TW_LL_SCHED_GROUP_BARRIER,
                   (int)tw_ll_attr(op, 0), (int)tw_ll_attr(op, 1), (int)tw_ll_attr(op, 2));
}

void tw_ll_setprio(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    if (takes_hint(l, TW_LL_S_SETPRIO))
        tw_ll_line(l, "call void %I(i16 %d)", TW_LL_S_SETPRIO, (int)tw_ll_attr(op, 0));
}
