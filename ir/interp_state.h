/* What the files of the interpreter share. */
#ifndef TW_IR_INTERP_STATE_H
#define TW_IR_INTERP_STATE_H

#include "ir/interp.h"
#include "ir/ir.h"

/* The words of a value in one work-item: the bits of its elements, lane 0 first; of a pointer its object and
 * the byte offset in it; of a buffer resource the object, the byte offset and the size. */
enum { POINTER_OBJECT = 0, POINTER_OFFSET, RSRC_BYTES };

typedef struct tw_interp_slot {
    uint64_t *words;
    uint32_t width; /* words of a value */
    uint32_t step;  /* words from one work-item to the next; 0 where all have the same value */
} tw_interp_slot;

/* What a byte of LDS holds. */
enum { TW_INTERP_NOTHING = 0, TW_INTERP_WRITTEN, TW_INTERP_COPY_UNDER_WAY };

/* What a pointer points into: the memory of a parameter or an LDS array. */
typedef struct tw_interp_object {
    uint8_t *bytes;
    uint64_t size;
    const char *name;
    bool writable;
    uint8_t *written; /* LDS: one of the above for each byte; NULL for global memory */
} tw_interp_object;

/* The copies of one kind that one wave has under way, oldest first. */
typedef struct tw_interp_copies {
    struct tw_interp_copy *first, *last;
    uint32_t count;
} tw_interp_copies;

typedef struct tw_interp {
    const tw_kernel *kernel;
    tw_diag *diag;
    tw_arena arena;
    bool flush; /* f32 denormals */
    uint32_t grid[3], block[3], group[3];
    uint32_t items, wave_size;
    tw_interp_slot *slots;     /* by value id */
    const uint8_t *active;     /* by work-item: executes the current op */
    uint8_t **masks;           /* by depth of regions: two masks */
    uint64_t *carried;         /* the values of one yield, while they are assigned */
    tw_interp_copies *copies;  /* by wave, two each: those of lanes, those of tensors */
    uint32_t pieces;           /* that all copies under way have room for */
    void *product;             /* of ir/interp_matrix.c */
    tw_interp_object *objects; /* those of the parameters first */
    uint32_t object_count;
    uint64_t ops, max_ops; /* executed, and how many may be */
} tw_interp;

/* The words of an operand or result for one work-item. */
static inline uint64_t *tw_interp_words(const tw_interp *in, tw_value value, uint32_t item) {
    const tw_interp_slot *slot = &in->slots[value.id];
    return slot->words + (size_t)item * slot->step;
}
static inline const uint64_t *tw_interp_in(const tw_interp *in, const tw_op *op, uint32_t operand,
                                           uint32_t item) {
    return tw_interp_words(in, op->operands[operand], item);
}
static inline uint64_t *tw_interp_out(const tw_interp *in, const tw_op *op, uint32_t item) {
    return tw_interp_words(in, op->first_result, item);
}

/* Loops over the work-items that execute the op. */
#define TW_EACH_ACTIVE(in, item)                        \
    for (uint32_t item = 0; item < (in)->items; item++) \
        if ((in)->active[item])

/* "op: in work-item n of workgroup x, y, z text" as TW_ERR_DEVICE. */
tw_status tw_interp_refuse(const tw_interp *in, const tw_op *op, uint32_t item, const char *format, ...)
    TW_PRINTF(4, 5);

/* ---- ir/interp_alu.c ---- */
tw_status tw_interp_alu(tw_interp *in, const tw_op *op);
tw_status tw_interp_compare(tw_interp *in, const tw_op *op);
tw_status tw_interp_select(tw_interp *in, const tw_op *op);
tw_status tw_interp_convert(tw_interp *in, const tw_op *op);
tw_status tw_interp_bitcast(tw_interp *in, const tw_op *op);
tw_status tw_interp_vector(tw_interp *in, const tw_op *op);
/* Elements of `width` bits as bytes, little-endian, and back: `count` of them. */
void tw_interp_pack(const uint64_t *elements, unsigned count, unsigned width, uint8_t *bytes);
void tw_interp_unpack(const uint8_t *bytes, unsigned count, unsigned width, uint64_t *elements);

/* ---- ir/interp_wave.c ---- */
tw_status tw_interp_id(tw_interp *in, const tw_op *op);
tw_status tw_interp_across_lanes(tw_interp *in, const tw_op *op);
/* Operands that must be the same in all active lanes of a wave are. */
tw_status tw_interp_check_uniform(tw_interp *in, const tw_op *op);

/* Of the wave that begins at work-item `first`, all lanes execute the op, or none. */
tw_status tw_interp_check_whole_wave(const tw_interp *in, const tw_op *op, uint32_t first);

/* ---- ir/interp_matrix.c ---- */
tw_status tw_interp_mma(tw_interp *in, const tw_op *op);

/* ---- ir/interp_memory.c ---- */
tw_status tw_interp_ptr_offset(tw_interp *in, const tw_op *op);
tw_status tw_interp_buffer_rsrc(tw_interp *in, const tw_op *op);
tw_status tw_interp_pointer_access(tw_interp *in, const tw_op *op);
tw_status tw_interp_buffer_access(tw_interp *in, const tw_op *op);
tw_status tw_interp_transposed(tw_interp *in, const tw_op *op);

/* One access that another file makes. */
typedef struct tw_interp_access {
    const tw_op *op;
    uint32_t item;
    uint64_t object;
    int64_t offset;
    unsigned bytes, align;
    bool stores; /* it loads otherwise */
} tw_interp_access;
/* Checks it as any other access, and finds its bytes and, in LDS, their flags (`flags` is NULL otherwise). */
tw_status tw_interp_locate(const tw_interp *in, const tw_interp_access *access, uint8_t **bytes,
                           uint8_t **flags);
/* The byte offset of a pointer moved by an index; refuses one past 64 bits. */
tw_status tw_interp_element(const tw_interp *in, const tw_op *op, uint32_t pointer, uint32_t item,
                            int64_t *offset);

/* ---- ir/interp_copy.c: copies that are done when the program waits for them, no earlier ---- */
tw_status tw_interp_copy(tw_interp *in, const tw_op *op);
tw_status tw_interp_tensor_copy(tw_interp *in, const tw_op *op);
tw_status tw_interp_wait(tw_interp *in, const tw_op *op);
/* At the end of a workgroup: nothing may be under way. Returns `status` if that is an error already. */
tw_status tw_interp_end_copies(tw_interp *in, tw_status status);

#endif
