/* What the files of the lowerer share: the state of one lowering and the writer of LLVM IR text.
 *
 * The text is written in one pass. An op becomes one line that defines its result (tw_ll_set) after as many
 * lines with temporaries (tw_ll_let) as it needs. Values keep the names of the tile IR's text: %acc, or %.12
 * for value number 12. Temporaries are %.t1, %.t2, ...; labels begin with a dot, too: no value's name does.
 */
#ifndef TW_LOWER_LOWERING_H
#define TW_LOWER_LOWERING_H

#include "ir/value_names.h"
#include "lower/flavor_info.h"
#include "lower/intrinsics.h"
#include "lower/lower.h"

/* An operand of a line: a value, a temporary or a constant spelled out. */
typedef enum tw_ref_kind { TW_REF_VALUE = 0, TW_REF_TEMP, TW_REF_TEXT } tw_ref_kind;
typedef struct tw_ref {
    tw_ref_kind kind;
    uint32_t id;      /* of a value or temporary */
    const char *text; /* constant data */
} tw_ref;

/* A basic block: ".entry", ".for3.next". */
typedef struct tw_label {
    const char *stem, *suffix; /* constant data */
    uint32_t number;           /* 0: none is written */
} tw_label;

/* Parts of the module that are written only when something needs them. */
typedef enum tw_need {
    TW_NEED_WORKGROUP_ID_X = 1 << 0,
    TW_NEED_WORKGROUP_ID_Y = 1 << 1,
    TW_NEED_WORKGROUP_ID_Z = 1 << 2,
    TW_NEED_WORKITEM_ID_Y = 1 << 3,
    TW_NEED_WORKITEM_ID_Z = 1 << 4,
    TW_NEED_HIDDEN_ARGUMENTS = 1 << 5,
    TW_NEED_DISPATCH_PACKET = 1 << 6,
} tw_need;

/* Metadata nodes that many lines share. */
typedef enum tw_metadata {
    TW_METADATA_EMPTY = 0,
    TW_METADATA_NONTEMPORAL,
    TW_METADATA_LDS_FENCE,
    TW_METADATA_COUNT,
} tw_metadata;

typedef enum tw_answer { TW_UNKNOWN = 0, TW_NO, TW_YES } tw_answer;

typedef struct tw_loop_note {
    struct tw_loop_note *next;
    uint32_t node;
    int64_t unroll;
} tw_loop_note;

#define TW_GENERIC_SLOTS (TW_SCALAR_COUNT * (TW_MAX_LANES + 1))

typedef struct tw_lowering {
    const tw_kernel *kernel;
    const tw_arch_info *arch;
    const tw_flavor_info *flavor;
    tw_diag *diag;
    const tw_op *op;  /* being lowered: what a refusal names */
    tw_status status; /* the first refusal; later text is thrown away */
    tw_arena arena;
    tw_strbuf out;
    tw_value_names names;
    const tw_intrinsic_row *rows[TW_LL_COUNT];
    bool used[TW_LL_COUNT];
    uint64_t *used_types[TW_LL_COUNT]; /* of generic intrinsics: TW_GENERIC_SLOTS bits */
    unsigned needs;                    /* tw_need bits */
    uint32_t last_temp, last_block, next_metadata;
    uint32_t metadata[TW_METADATA_COUNT]; /* node numbers; 0: not used */
    tw_loop_note *loops;
    tw_answer stores_product; /* lower/product.c */
    const uint8_t *uses;      /* by value (lower/wave.c); NULL until it is asked for */
    const tw_op *first_group; /* of the scheduler (lower/memory.c); NULL before it */
    tw_label block;           /* being written */
} tw_lowering;

/* ---- the writer (lower/writer.c) ---- */

/* Formats hold plain text and
 *   %v tw_value: its name or constant         %r tw_ref
 *   %t const tw_type *: LLVM's spelling       %m const tw_type *: the same as part of an intrinsic's name
 *   %n const char *element, unsigned lanes: a type that the tile IR does not have
 *   %c const tw_type *, uint64_t: the constant with those bits in every lane
 *   %I tw_intrinsic: its name, marked as used  %G tw_intrinsic, const tw_type *: the same of a generic one
 *   %l tw_label                                %M tw_metadata: the node
 *   %s const char *                            %d int */
void tw_ll_text(tw_lowering *l, const char *format, ...);
void tw_ll_line(tw_lowering *l, const char *format, ...);
tw_ref tw_ll_let(tw_lowering *l, const char *format, ...);
void tw_ll_set(tw_lowering *l, tw_value result, const char *format, ...);
/* The same in pieces: what follows is written with tw_ll_text, up to and including the end of the line. */
tw_ref tw_ll_begin_let(tw_lowering *l);
void tw_ll_begin_set(tw_lowering *l, tw_value result);
/* `count` lanes of a vector from lane `first` on; those past its end are poison. A vector or, for 1, the
 * element. */
tw_ref tw_ll_slice(tw_lowering *l, const tw_type *type, tw_ref vector, unsigned first, unsigned count);
/* An i32 of whose origin LLVM knows nothing: it goes through an empty piece of assembly, which is no
 * instruction. */
tw_ref tw_ll_hide(tw_lowering *l, tw_ref word);
/* Begins a basic block. */
void tw_ll_block(tw_lowering *l, tw_label label);

/* The constant of `type` with `bits` in every lane. */
void tw_ll_constant(tw_lowering *l, const tw_type *type, uint64_t bits);
void tw_ll_type(tw_lowering *l, const tw_type *type);
void tw_ll_mangled(tw_strbuf *out, const tw_type *type);
/* The declarations of all used intrinsics. */
void tw_ll_declare_intrinsics(tw_lowering *l);

static inline tw_ref tw_ref_value(tw_value value) { return (tw_ref){TW_REF_VALUE, value.id, NULL}; }
static inline tw_ref tw_ref_text(const char *text) { return (tw_ref){TW_REF_TEXT, 0, text}; }

/* ---- refusals ---- */

/* Keeps the first refusal, with the op in front: "tile.barrier: ..." */
void tw_ll_refuse(tw_lowering *l, tw_status status, const char *format, ...) TW_PRINTF(3, 4);
bool tw_ll_has(const tw_lowering *l, tw_intrinsic key); /* the flavor knows it for the target */

/* ---- what an op says ---- */

static inline const tw_type *tw_ll_type_of(const tw_lowering *l, tw_value value) {
    return tw_type_of(l->kernel, value);
}
static inline const tw_type *tw_ll_like(const tw_type *type, tw_scalar scalar) { /* the same lanes */
    return tw_type_vector(scalar, type->lanes);
}
static inline bool tw_ll_feature(const tw_lowering *l, tw_arch_feature feature) {
    return (l->arch->features & (uint32_t)feature) != 0;
}
/* Attribute `index` of the row: an integer, boolean or word; the default where it is missing. */
int64_t tw_ll_attr(const tw_op *op, unsigned index);
/* Every work-item sees the same constant bits: constants, and ids of a dimension with one work-item. */
bool tw_ll_known(const tw_lowering *l, tw_value value, uint64_t *bits);
/* A uniform byte offset, in a scalar register where LLVM does not see to that (lower/memory.c). */
tw_ref tw_ll_scalar_offset(tw_lowering *l, tw_value offset);
uint32_t tw_ll_workgroup_size(const tw_lowering *l, unsigned dim); /* at least 1 */
uint32_t tw_ll_workgroup_total(const tw_lowering *l);

/* The value may be a constant +0, in some lane, for LLVM (lower/product.c). */
bool tw_ll_may_be_plus_zero(const tw_lowering *l, tw_value value);
/* Operand 0 of a difference of floats, in a form that is not a constant +0 for LLVM. */
tw_ref tw_ll_minuend(tw_lowering *l, const tw_op *op);
/* The f32 value may be a product for LLVM: it must not be rounded to a narrower format right away
 * (lower/product.c). */
bool tw_ll_may_be_product(tw_lowering *l, tw_value value);
/* `value` of type `type`, f32, in a form that LLVM does not merge with the operation after it. */
tw_ref tw_ll_keep_apart(tw_lowering *l, const tw_type *type, tw_ref value);

typedef struct tw_ll_rule tw_ll_rule;

/* ---- kernels that flush f32 denormals (lower/flush.c) ---- */

/* Arithmetic on elements of this format counts denormals as zeros: f32, and bf16, which is computed as f32.
 */
bool tw_ll_flushes(const tw_lowering *l, tw_scalar scalar);
/* Operand `index`, of f32 or bf16, as f32 without denormals. */
tw_ref tw_ll_flushed_operand(tw_lowering *l, const tw_op *op, unsigned index);
/* The whole op in such a kernel. */
void tw_ll_flushed_binary(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule);
void tw_ll_flushed_fma(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule);
void tw_ll_flushed_call(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule);

/* The address of element `index` from `pointer` on (lower/memory.c). */
tw_ref tw_ll_element_address(tw_lowering *l, tw_value pointer, tw_value index);

/* ---- bf16 (lower/bf16.c): values of type `type`, whose scalar is bf16, and f32 with the same lanes ---- */

tw_ref tw_ll_widen(tw_lowering *l, const tw_type *type, tw_ref value);
/* Rounds to nearest even. */
tw_ref tw_ll_narrow(tw_lowering *l, const tw_type *type, tw_ref f32);
/* The upper half of each f32, which holds the value exactly. */
tw_ref tw_ll_upper_half(tw_lowering *l, const tw_type *type, tw_ref f32);
/* fadd, fsub and fmul; fma. */
void tw_ll_bf16_binary(tw_lowering *l, const tw_op *op, const tw_type *type, const char *word);
void tw_ll_bf16_fma(tw_lowering *l, const tw_op *op, const tw_type *type);
/* fma of f32 operands, widened or flushed, with one rounding to bf16; `flush`: where the f32 result is a
 * denormal it counts as zero. */
void tw_ll_bf16_exact_fma(tw_lowering *l, const tw_op *op, const tw_type *type, const tw_ref f32[3],
                          bool flush);
/* tw_ll_widen through integers, where LLVM must not move the operation after it into bf16. */
tw_ref tw_ll_widen_bits(tw_lowering *l, const tw_type *type, tw_ref value);

/* ---- lowering an op: one function a word of lower/ops.def ---- */

struct tw_ll_rule {
    void (*lower)(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule);
    const char *word;       /* LLVM's word for the op */
    tw_intrinsic intrinsic; /* or the intrinsic */
};

const tw_ll_rule *tw_ll_rule_get(tw_opcode opcode); /* NULL for an opcode without a row */
void tw_ll_block_ops(tw_lowering *l, const tw_block *block);

#define PLAIN(OPCODE, how)      void tw_ll_##how(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule);
#define WORD(OPCODE, how, word) void tw_ll_##how(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule);
#define CALL(OPCODE, how, intrinsic) \
    void tw_ll_##how(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule);
#include "lower/ops.def"

#endif
