/* Loads, stores and atomic adds, each checked against the bounds of what it is made on. */
#include <inttypes.h>
#include <string.h>

#include "arch/transpose.h"
#include "ir/eval.h"
#include "ir/interp_state.h"

/* One access of one work-item. */
typedef struct access {
    const tw_op *op;
    uint32_t item;
    const tw_type *type;  /* of the data */
    bool loads, stores;   /* an atomic does both */
    const uint64_t *data; /* to store */
    uint64_t *out;        /* where a load goes */
    unsigned bytes, align;
} access;

/* Buffers are accessed by words of at most 4 bytes. */
static unsigned default_align(bool is_atomic, bool is_buffer, unsigned bytes, unsigned element) {
    if (is_atomic) return bytes;
    if (is_buffer) return bytes < 4 ? bytes : 4;
    return element;
}

static access access_of(const tw_interp *in, const tw_op *op) {
    tw_effect effect = tw_op_info_get(op->opcode)->effect;
    bool loads = effect == E_READS_GLOBAL || effect == E_READS_LDS || effect == E_WAVE_READS_GLOBAL ||
                 effect == E_WAVE_READS_LDS;
    bool rmw = effect == E_GLOBAL_RMW || effect == E_LDS_RMW;
    const tw_type *type = tw_type_of(in->kernel, loads ? op->first_result : op->operands[0]);
    bool buffer = tw_type_of(in->kernel, op->operands[!loads])->kind == TW_TYPE_RSRC;
    unsigned bytes = tw_type_bits(type) / 8;
    int64_t align = tw_op_attr_value(op, "align"); /* 0 for the ops that have none */
    return (access){.op = op,
                    .type = type,
                    .loads = loads || rmw,
                    .stores = !loads,
                    .bytes = bytes,
                    .align = align ? (unsigned)align
                                   : default_align(rmw, buffer, bytes, tw_scalar_bits(type->scalar) / 8)};
}

/* ---- the bytes ---- */

static tw_status check_written(const tw_interp *in, const access *a, const tw_interp_object *object,
                               uint64_t offset) {
    if (!object->written) return TW_OK;
    for (unsigned i = 0; i < a->bytes; i++) {
        if (object->written[offset + i] == TW_INTERP_COPY_UNDER_WAY)
            return tw_interp_refuse(in, a->op, a->item,
                                    "the copy to LDS must be waited for before what it writes is touched "
                                    "(got byte %" PRIu64 " of %s)",
                                    offset + i, object->name);
        if (a->loads && !object->written[offset + i])
            return tw_interp_refuse(in, a->op, a->item,
                                    "LDS must be written before it is read (got byte %" PRIu64 " of %s)",
                                    offset + i, object->name);
    }
    if (a->stores) memset(object->written + offset, TW_INTERP_WRITTEN, a->bytes);
    return TW_OK;
}

/* Finds the bytes at `offset` of an object, and checks that the access may be made there. */
static tw_status locate(const tw_interp *in, const access *a, uint64_t object_index, int64_t offset,
                        uint8_t **bytes) {
    const tw_interp_object *object = &in->objects[object_index];
    if ((uint64_t)offset > object->size || object->size - (uint64_t)offset < a->bytes)
        return tw_interp_refuse(in, a->op, a->item,
                                "an access must be inside %s, %" PRIu64
                                " bytes (got %u bytes at offset %" PRId64 ")",
                                object->name, object->size, a->bytes, offset);
    if (offset % a->align)
        return tw_interp_refuse(in, a->op, a->item,
                                "the address must be a multiple of %u (got offset %" PRId64 " of %s)",
                                a->align, offset, object->name);
    if (a->stores && !object->writable)
        return tw_interp_refuse(in, a->op, a->item,
                                "a readonly parameter must not be written (got a store to %s)", object->name);
    *bytes = object->bytes + offset;
    return check_written(in, a, object, (uint64_t)offset);
}

tw_status tw_interp_locate(const tw_interp *in, const tw_interp_access *request, uint8_t **bytes,
                           uint8_t **flags) {
    const tw_interp_object *object = &in->objects[request->object];
    access a = {.op = request->op,
                .item = request->item,
                .loads = !request->stores,
                .stores = request->stores,
                .bytes = request->bytes,
                .align = request->align};
    tw_status status = locate(in, &a, request->object, request->offset, bytes);
    *flags = status || !object->written ? NULL : object->written + request->offset;
    return status;
}

static void add_elements(const access *a, uint64_t *elements) {
    for (unsigned lane = 0; lane < a->type->lanes; lane++)
        tw_eval_alu(TW_OP_FADD, a->type->scalar, false, (uint64_t[3]){elements[lane], a->data[lane], 0},
                    &elements[lane]);
}

static void transfer(const access *a, uint8_t *bytes) {
    unsigned width = tw_scalar_bits(a->type->scalar), lanes = a->type->lanes;
    uint64_t elements[TW_MAX_LANES];
    if (!a->stores) {
        tw_interp_unpack(bytes, lanes, width, a->out);
    } else if (a->loads) {
        tw_interp_unpack(bytes, lanes, width, elements);
        add_elements(a, elements);
        tw_interp_pack(elements, lanes, width, bytes);
    } else {
        tw_interp_pack(a->data, lanes, width, bytes);
    }
}

static tw_status perform(const tw_interp *in, const access *a, uint64_t object, int64_t offset) {
    uint8_t *bytes = NULL;
    tw_status status = locate(in, a, object, offset, &bytes);
    if (!status) transfer(a, bytes);
    return status;
}

/* ---- pointers ---- */

/* `offset` moved by a signed count of elements; false where 64 bits do not hold it. */
static bool move(const tw_interp *in, tw_value pointer, tw_value index, uint32_t item, int64_t *offset) {
    const tw_type *type = tw_type_of(in->kernel, pointer);
    unsigned width = tw_scalar_bits(tw_type_of(in->kernel, index)->scalar);
    int64_t count = tw_sign_extend(tw_interp_words(in, index, item)[0], width), bytes;
    int64_t from = (int64_t)tw_interp_words(in, pointer, item)[POINTER_OFFSET];
    return !__builtin_mul_overflow(count, (int64_t)(tw_scalar_bits(type->scalar) / 8), &bytes) &&
           !__builtin_add_overflow(from, bytes, offset);
}

static tw_status refuse_overflow(const tw_interp *in, const tw_op *op, uint32_t item) {
    return tw_interp_refuse(in, op, item, "an address must fit in 64 bits (got an index past that)");
}

tw_status tw_interp_element(const tw_interp *in, const tw_op *op, uint32_t pointer, uint32_t item,
                            int64_t *offset) {
    if (move(in, op->operands[pointer], op->operands[pointer + 1], item, offset)) return TW_OK;
    return refuse_overflow(in, op, item);
}

tw_status tw_interp_ptr_offset(tw_interp *in, const tw_op *op) {
    TW_EACH_ACTIVE(in, item) {
        int64_t offset;
        if (!move(in, op->operands[0], op->operands[1], item, &offset)) return refuse_overflow(in, op, item);
        uint64_t *out = tw_interp_out(in, op, item);
        out[POINTER_OBJECT] = tw_interp_in(in, op, 0, item)[POINTER_OBJECT];
        out[POINTER_OFFSET] = (uint64_t)offset;
    }
    return TW_OK;
}

tw_status tw_interp_pointer_access(tw_interp *in, const tw_op *op) {
    access a = access_of(in, op);
    uint32_t pointer = a.stores; /* the data stands before it */
    TW_EACH_ACTIVE(in, item) {
        int64_t offset;
        if (!move(in, op->operands[pointer], op->operands[pointer + 1], item, &offset))
            return refuse_overflow(in, op, item);
        a.item = item;
        a.data = a.stores ? tw_interp_in(in, op, 0, item) : NULL;
        a.out = a.stores ? NULL : tw_interp_out(in, op, item);
        tw_status status = perform(in, &a, tw_interp_in(in, op, pointer, item)[POINTER_OBJECT], offset);
        if (status) return status;
    }
    return TW_OK;
}

/* ---- transposed reads ---- */

#define MAX_SLOTS 8

/* Each lane's own read, then what the map gives to each. */
static tw_status transpose_wave(tw_interp *in, const tw_op *op, const tw_transposed_read *read,
                                uint32_t first) {
    uint64_t words[64][MAX_SLOTS];
    access a = access_of(in, op);
    a.align = read == tw_transposed_lds_read(in->kernel->target) ? a.bytes : sizeof(uint32_t);
    for (uint32_t lane = 0; lane < read->wave_size; lane++) {
        int64_t offset;
        a.item = first + lane;
        a.out = words[lane];
        if (!move(in, op->operands[0], op->operands[1], a.item, &offset))
            return refuse_overflow(in, op, a.item);
        tw_status status = perform(in, &a, tw_interp_in(in, op, 0, a.item)[POINTER_OBJECT], offset);
        if (status) return status;
    }
    for (uint32_t lane = 0; lane < read->wave_size; lane++)
        for (unsigned slot = 0; slot < read->slots; slot++) {
            unsigned source_lane = 0, source_slot = 0;
            tw_transposed_source(read, lane, slot, &source_lane, &source_slot);
            tw_interp_out(in, op, first + lane)[slot] = words[source_lane][source_slot];
        }
    return TW_OK;
}

tw_status tw_interp_transposed(tw_interp *in, const tw_op *op) {
    tw_target target = in->kernel->target;
    const tw_transposed_read *read = op->opcode == TW_OP_LDS_LOAD_TRANSPOSED
                                         ? tw_transposed_lds_read(target)
                                         : tw_transposed_global_load(target);
    for (uint32_t first = 0; first < in->items; first += in->wave_size) {
        tw_status status = tw_interp_check_whole_wave(in, op, first);
        if (!status && in->active[first]) status = transpose_wave(in, op, read, first);
        if (status) return status;
    }
    return TW_OK;
}

/* ---- buffers ---- */

tw_status tw_interp_buffer_rsrc(tw_interp *in, const tw_op *op) {
    TW_EACH_ACTIVE(in, item) {
        uint64_t *out = tw_interp_out(in, op, item);
        const uint64_t *pointer = tw_interp_in(in, op, 0, item);
        out[POINTER_OBJECT] = pointer[POINTER_OBJECT];
        out[POINTER_OFFSET] = pointer[POINTER_OFFSET];
        out[RSRC_BYTES] = tw_interp_in(in, op, 1, item)[0];
    }
    return TW_OK;
}

/* One work-item's access at byte `offset` of a resource. Where an access is partly in range, and where
 * offsets pass 32 bits, targets differ: a program must not do it. */
static tw_status access_resource(const tw_interp *in, const access *a, const uint64_t *rsrc,
                                 uint64_t offset) {
    uint64_t size = rsrc[RSRC_BYTES];
    if (offset > UINT32_MAX)
        return tw_interp_refuse(in, a->op, a->item,
                                "the sum of the offsets must fit in 32 bits (got %" PRIu64 ")", offset);
    if (offset + a->bytes <= size)
        return perform(in, a, rsrc[POINTER_OBJECT], (int64_t)(rsrc[POINTER_OFFSET] + offset));
    if (a->stores || offset < size)
        return tw_interp_refuse(in, a->op, a->item,
                                "%s must be inside the resource, %" PRIu64
                                " bytes%s (got %u bytes at offset %" PRIu64 ")",
                                a->stores ? "a buffer store or atomic" : "a buffer load", size,
                                a->stores ? "" : ", or wholly outside", a->bytes, offset);
    memset(a->out, 0, a->type->lanes * sizeof *a->out);
    return TW_OK;
}

tw_status tw_interp_buffer_access(tw_interp *in, const tw_op *op) {
    access a = access_of(in, op);
    uint32_t rsrc = a.stores;
    TW_EACH_ACTIVE(in, item) {
        a.item = item;
        a.data = a.stores ? tw_interp_in(in, op, 0, item) : NULL;
        a.out = a.stores ? NULL : tw_interp_out(in, op, item);
        uint64_t offset = tw_interp_in(in, op, rsrc + 1, item)[0] + tw_interp_in(in, op, rsrc + 2, item)[0];
        tw_status status = access_resource(in, &a, tw_interp_in(in, op, rsrc, item), offset);
        if (status) return status;
    }
    return TW_OK;
}
