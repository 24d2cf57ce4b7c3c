/* Reading buffer resources, and their rules of range. */
#include "run/emu/resource.h"

emu_resource tw_emu_resource_read(const uint32_t word[4], tw_isa isa) {
    emu_resource r = {.is_gfx9 = isa == TW_ISA_GFX9};
    uint32_t w3 = word[3];
    if (isa == TW_ISA_GFX1250) {
        r.base = word[0] | (uint64_t)(word[1] & 0x1ffffffu) << 32;
        r.records = word[1] >> 25 | (uint64_t)word[2] << 7 | (uint64_t)(w3 & 0x3f) << 39;
        r.stride = w3 >> 12 & 0x3fff;
        r.bounds = 3;
        return r;
    }
    r.base = word[0] | (uint64_t)(word[1] & 0xffffu) << 32;
    r.records = word[2];
    r.stride = word[1] >> 16 & 0x3fff;
    r.add_lane = w3 >> 23 & 1;
    r.index_stride = 8u << (w3 >> 21 & 3);
    if (r.is_gfx9) {
        r.swizzle = word[1] >> 31;
        r.element_bytes = 2u << (w3 >> 19 & 3);
        /* With ADD_TID_ENABLE four bits of the data format extend the stride. */
        if (r.add_lane) r.stride |= (w3 >> 15 & 15) << 14;
    } else {
        r.swizzle = word[1] >> 30 & 3;
        r.element_bytes = 4;
        r.bounds = w3 >> 28 & 3;
    }
    return r;
}

static bool in_range(const emu_resource *r, uint32_t index, uint64_t offset, unsigned bytes) {
    bool structured = r->is_gfx9 ? r->stride && r->swizzle : false;
    if (r->is_gfx9)
        return structured ? index < r->records && offset + bytes <= r->stride
                          : offset + (uint64_t)index * r->stride + bytes <= r->records;
    switch (r->bounds) {
    case 0: return index < r->records && (!r->stride || offset + bytes <= r->stride);
    case 1: return index < r->records;
    case 2: return r->records != 0;
    default: return offset + (uint64_t)index * r->stride + bytes <= r->records;
    }
}

bool tw_emu_resource_address(const emu_resource *r, uint32_t index, uint32_t offset, uint32_t scalar_offset,
                             unsigned lane, unsigned bytes, uint64_t *address) {
    if (r->add_lane) index += lane;
    /* A private segment: swizzled, one stride a lane, and checked by its own bounds. */
    bool per_lane = r->swizzle && r->add_lane;
    if (!per_lane && !in_range(r, index, (uint64_t)offset + scalar_offset, bytes)) return false;
    uint64_t from = r->base + scalar_offset;
    if (r->swizzle) {
        uint64_t row =
            (uint64_t)(index / r->index_stride) * r->stride + offset / r->element_bytes * r->element_bytes;
        *address = from + row * r->index_stride + (uint64_t)(index % r->index_stride) * r->element_bytes +
                   offset % r->element_bytes;
    } else {
        *address = from + (uint64_t)index * r->stride + offset;
    }
    return true;
}
