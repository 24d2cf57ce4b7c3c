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
    unsigned bytes; /* of a piece */
    uint32_t count, capacity;
    piece pieces[];
} copy;

#define MAX_PIECES (1u << 22) /* under way at once: many times what fits in LDS */

static tw_interp_copies *copies_of(const tw_interp *in, uint32_t first, bool is_tensor) {
    return &in->copies[2 * (first / in->wave_size) + is_tensor];
}

static tw_status begin_copy(tw_interp *in, const tw_op *op, uint32_t first, bool is_tensor, unsigned bytes,
                            uint32_t capacity, copy **out) {
    const tw_allocator *allocator = &tw_allocator_default;
    if (capacity > MAX_PIECES - in->pieces)
        return tw_refuse_op(
            in->kernel, op, in->diag, TW_ERR_LIMIT,
            "copies must be waited for before %u accesses of theirs are under way (got %" PRIu32
            " and another %" PRIu32 ")",
            MAX_PIECES, in->pieces, capacity);
    copy *c = allocator->allocate(allocator->user, sizeof *c + capacity * sizeof c->pieces[0]);
    if (!c) return tw_fail_no_memory(in->diag);
    *c = (copy){.op = op, .first = first, .bytes = bytes, .capacity = capacity};
    in->pieces += capacity;
    tw_interp_copies *copies = copies_of(in, first, is_tensor);
    if (copies->last) {
        copies->last->next = c;
    } else {
        copies->first = c;
    }
    copies->last = c;
    copies->count++;
    *out = c;
    return TW_OK;
}

static void finish_oldest(tw_interp *in, tw_interp_copies *copies) {
    const tw_allocator *allocator = &tw_allocator_default;
    copy *c = copies->first;
    copies->first = c->next;
    if (!c->next) copies->last = NULL;
    copies->count--;
    for (uint32_t i = 0; i < c->count; i++) {
        const piece *p = &c->pieces[i];
        if (p->from) {
            memcpy(p->to, p->from, c->bytes);
        } else {
            memset(p->to, 0, c->bytes);
        }
        if (p->flags) memset(p->flags, TW_INTERP_WRITTEN, c->bytes);
    }
    in->pieces -= c->capacity;
    allocator->release(allocator->user, c);
}

tw_status tw_interp_wait(tw_interp *in, const tw_op *op) {
    bool is_tensor = op->opcode == TW_OP_TENSOR_WAIT;
    int64_t outstanding = tw_op_attr_value(op, "outstanding");
    for (uint32_t first = 0; first < in->items; first += in->wave_size) {
        uint32_t end = first + in->wave_size < in->items ? first + in->wave_size : in->items;
        if (!memchr(in->active + first, 1, end - first)) continue;
        tw_interp_copies *copies = copies_of(in, first, is_tensor);
        while (copies->count > outstanding)
            finish_oldest(in, copies);
    }
    return TW_OK;
}

tw_status tw_interp_end_copies(tw_interp *in, tw_status status) {
    for (uint32_t first = 0; first < in->items; first += in->wave_size)
        for (int is_tensor = 0; is_tensor < 2; is_tensor++) {
            tw_interp_copies *copies = copies_of(in, first, is_tensor);
            if (!status && copies->first)
                status = tw_interp_refuse(in, copies->first->op, first,
                                          "the copy must be waited for before the kernel ends (got no wait)");
            while (copies->first)
                finish_oldest(in, copies);
        }
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
    to.offset = (int64_t)(base[POINTER_OFFSET] + (uint64_t)lane * apart);
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
        tw_status status = TW_OK;
        if (!c || c->first != first) status = begin_copy(in, op, first, false, bytes, in->wave_size, &c);
        if (!status) status = own_address ? lane_copy(in, c, item) : lane_load(in, c, item);
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
        copy *c = NULL;
        status = begin_copy(in, op, first, true, t.bytes, (uint32_t)t.elements, &c);
        for (uint64_t i = 0; i < t.elements && !status; i++)
            status = tile_piece(in, c, &t, i, loads);
        if (status) return status;
    }
    return TW_OK;
}
