/* Asynchronous copies. Addresses are taken when the copy begins; bytes move as late as the program allows,
 * when the wave waits for the copy. */
#include <inttypes.h>
#include <string.h>

#include "ir/interp_state.h"
#include "ir/rules.h"

/* Some bytes that move together. */
typedef struct piece {
    uint8_t *to;
    uint8_t *flags;      /* of `to`, where that is LDS */
    const uint8_t *from; /* NULL: zeros */
} piece;

typedef struct tw_interp_copy {
    struct tw_interp_copy *next;
    const tw_op *op;
    uint32_t first; /* work-item of its wave */
    bool is_tensor;
    unsigned bytes; /* of a piece */
    uint32_t count, capacity;
    piece pieces[];
} copy;

static copy *begin_copy(tw_interp *in, const tw_op *op, uint32_t first, bool is_tensor, unsigned bytes,
                        uint32_t capacity) {
    const tw_allocator *allocator = &tw_allocator_default;
    copy *c = allocator->allocate(allocator->user, sizeof *c + capacity * sizeof c->pieces[0]);
    if (!c) {
        tw_fail_no_memory(in->diag);
        return NULL;
    }
    *c = (copy){.op = op, .first = first, .is_tensor = is_tensor, .bytes = bytes, .capacity = capacity};
    copy **end = &in->copies;
    while (*end)
        end = &(*end)->next;
    *end = c;
    return c;
}

static void finish(tw_interp *in, copy **place) {
    const tw_allocator *allocator = &tw_allocator_default;
    copy *c = *place;
    *place = c->next;
    for (uint32_t i = 0; i < c->count; i++) {
        const piece *p = &c->pieces[i];
        if (p->from) {
            memcpy(p->to, p->from, c->bytes);
        } else {
            memset(p->to, 0, c->bytes);
        }
        if (p->flags) memset(p->flags, TW_INTERP_WRITTEN, c->bytes);
    }
    allocator->release(allocator->user, c);
    (void)in;
}

tw_status tw_interp_wait(tw_interp *in, const tw_op *op) {
    bool is_tensor = op->opcode == TW_OP_TENSOR_WAIT;
    int64_t outstanding = tw_op_attr_value(op, "outstanding");
    for (uint32_t first = 0; first < in->items; first += in->wave_size) {
        uint32_t end = first + in->wave_size < in->items ? first + in->wave_size : in->items;
        if (!memchr(in->active + first, 1, end - first)) continue;
        int64_t count = 0;
        for (const copy *c = in->copies; c; c = c->next)
            count += c->first == first && c->is_tensor == is_tensor;
        for (copy **place = &in->copies; *place && count > outstanding;) {
            if ((*place)->first == first && (*place)->is_tensor == is_tensor) {
                finish(in, place);
                count--;
            } else {
                place = &(*place)->next;
            }
        }
    }
    return TW_OK;
}

tw_status tw_interp_end_copies(tw_interp *in, tw_status status) {
    if (!status && in->copies)
        status = tw_interp_refuse(in, in->copies->op, in->copies->first,
                                  "the copy must be waited for before the kernel ends (got no wait)");
    while (in->copies)
        finish(in, &in->copies);
    return status;
}

/* Adds what one access reads and another one writes. `from` may be NULL: zeros. */
static tw_status add_piece(tw_interp *in, copy *c, const tw_interp_access *from, const tw_interp_access *to) {
    piece *p = &c->pieces[c->count];
    uint8_t *source = NULL, *flags = NULL;
    tw_status status = from ? tw_interp_locate(in, from, &source, &flags) : TW_OK;
    if (!status) status = tw_interp_locate(in, to, &p->to, &p->flags);
    if (status) return status;
    p->from = source;
    if (p->flags) memset(p->flags, TW_INTERP_COPY_UNDER_WAY, c->bytes);
    c->count++;
    return TW_OK;
}

/* ---- each lane its own bytes ---- */

static tw_status lane_copy(tw_interp *in, copy *c, uint32_t item) {
    tw_interp_access from = {.op = c->op, .item = item, .bytes = c->bytes, .align = c->bytes};
    tw_interp_access to = from;
    to.stores = true;
    from.object = tw_interp_in(in, c->op, 0, item)[POINTER_OBJECT];
    to.object = tw_interp_in(in, c->op, 2, item)[POINTER_OBJECT];
    tw_status status = tw_interp_element(in, c->op, 0, item, &from.offset);
    if (!status) status = tw_interp_element(in, c->op, 2, item, &to.offset);
    return status ? status : add_piece(in, c, &from, &to);
}

/* Lanes are 4 bytes apart in LDS, or 16. */
static tw_status lane_load(tw_interp *in, copy *c, uint32_t item) {
    uint32_t last = c->op->operand_count - 1, lane = item % in->wave_size;
    const uint64_t *base = tw_interp_in(in, c->op, last, item), *source = tw_interp_in(in, c->op, 0, item);
    unsigned apart = c->bytes <= 4 ? 4 : 16;
    tw_interp_access from = {.op = c->op, .item = item, .bytes = c->bytes, .align = 4};
    tw_interp_access to = from;
    to.stores = true;
    to.align = apart;
    to.object = base[POINTER_OBJECT];
    to.offset = (int64_t)base[POINTER_OFFSET] + (int64_t)lane * apart;
    from.object = source[POINTER_OBJECT];
    if (c->op->opcode == TW_OP_GLOBAL_LOAD_TO_LDS) {
        tw_status status = tw_interp_element(in, c->op, 0, item, &from.offset);
        return status ? status : add_piece(in, c, &from, &to);
    }
    uint64_t offset = tw_interp_in(in, c->op, 1, item)[0] + tw_interp_in(in, c->op, 2, item)[0];
    uint64_t size = source[RSRC_BYTES];
    if (offset > UINT32_MAX)
        return tw_interp_refuse(in, c->op, item,
                                "the sum of the offsets must fit in 32 bits (got %" PRIu64 ")", offset);
    if (offset < size && offset + c->bytes > size)
        return tw_interp_refuse(in, c->op, item,
                                "a buffer load must be inside the resource, %" PRIu64
                                " bytes, or wholly outside (got %u bytes at offset %" PRIu64 ")",
                                size, c->bytes, offset);
    from.offset = (int64_t)(source[POINTER_OFFSET] + offset);
    return add_piece(in, c, offset < size ? &from : NULL, &to);
}

tw_status tw_interp_copy(tw_interp *in, const tw_op *op) {
    bool own_address = op->opcode == TW_OP_ASYNC_COPY_TO_LDS || op->opcode == TW_OP_ASYNC_COPY_FROM_LDS;
    unsigned bytes = (unsigned)tw_op_attr_value(op, "bytes");
    copy *c = NULL;
    TW_EACH_ACTIVE(in, item) {
        uint32_t first = item - item % in->wave_size;
        if (!c || c->first != first) c = begin_copy(in, op, first, false, bytes, in->wave_size);
        if (!c) return TW_ERR_NO_MEMORY;
        tw_status status = own_address ? lane_copy(in, c, item) : lane_load(in, c, item);
        if (status) return status;
    }
    return TW_OK;
}

/* ---- tiles ---- */

#define MAX_RANK 3

typedef struct tile {
    uint32_t rank;
    int64_t sizes[MAX_RANK];
    uint64_t extents[MAX_RANK], strides[MAX_RANK]; /* in elements */
    uint64_t elements;
    unsigned bytes; /* of an element */
    uint64_t interval, amount;
} tile;

static tile tile_of(const tw_interp *in, const tw_op *op, uint32_t item) {
    const tw_attr *sizes = &op->attrs[1];
    tile t = {.rank = sizes->as.ints.count,
              .elements = 1,
              .strides = {1},
              .bytes = tw_scalar_bits(tw_type_of(in->kernel, op->operands[0])->scalar) / 8,
              .interval = (uint64_t)tw_op_attr_value(op, "pad_interval") * 4,
              .amount = (uint64_t)tw_op_attr_value(op, "pad_amount") * 4};
    for (uint32_t i = 0; i < t.rank; i++) {
        t.sizes[i] = sizes->as.ints.values[i];
        t.extents[i] = tw_interp_in(in, op, 2 + i, item)[0];
        if (i) t.strides[i] = tw_interp_in(in, op, 2 + t.rank + i - 1, item)[0];
        t.elements *= (uint64_t)t.sizes[i];
    }
    return t;
}

/* Where element `index` of the tile is in global memory, in elements; false past an extent. */
static bool global_place(const tile *t, uint64_t index, uint64_t *place) {
    *place = 0;
    for (uint32_t i = 0; i < t->rank; i++) {
        uint64_t at = index % (uint64_t)t->sizes[i];
        index /= (uint64_t)t->sizes[i];
        if (at >= t->extents[i]) return false;
        *place += at * t->strides[i];
    }
    return true;
}

static tw_status tile_piece(tw_interp *in, copy *c, const tile *t, uint64_t index, bool loads) {
    const uint64_t *lds = tw_interp_in(in, c->op, 0, c->first),
                   *global = tw_interp_in(in, c->op, 1, c->first);
    uint64_t place, byte = index * t->bytes;
    bool inside = global_place(t, index, &place);
    if (!inside && !loads) return TW_OK;
    tw_interp_access near = {
        .op = c->op, .item = c->first, .bytes = t->bytes, .align = t->bytes, .stores = loads};
    tw_interp_access far = near;
    far.stores = !loads;
    near.object = lds[POINTER_OBJECT];
    near.offset = (int64_t)(lds[POINTER_OFFSET] + byte + (t->interval ? byte / t->interval * t->amount : 0));
    far.object = global[POINTER_OBJECT];
    far.offset = (int64_t)(global[POINTER_OFFSET] + place * t->bytes);
    if (loads) return add_piece(in, c, inside ? &far : NULL, &near);
    return add_piece(in, c, &near, &far);
}

#define MAX_TILE_ELEMENTS (1u << 20) /* more than any LDS holds */

tw_status tw_interp_tensor_copy(tw_interp *in, const tw_op *op) {
    bool loads = op->opcode == TW_OP_TENSOR_LOAD_TO_LDS;
    for (uint32_t first = 0; first < in->items; first += in->wave_size) {
        tw_status status = tw_interp_check_whole_wave(in, op, first);
        if (status) return status;
        if (!in->active[first]) continue;
        tile t = tile_of(in, op, first);
        if (t.elements > MAX_TILE_ELEMENTS)
            return tw_interp_refuse(in, op, first, "the tile must fit in LDS (got %" PRIu64 " elements)",
                                    t.elements);
        copy *c = begin_copy(in, op, first, true, t.bytes, (uint32_t)t.elements);
        if (!c) return TW_ERR_NO_MEMORY;
        for (uint64_t i = 0; i < t.elements; i++)
            if ((status = tile_piece(in, c, &t, i, loads))) return status;
    }
    return TW_OK;
}
