/* The state in which a wave starts: what the kernel descriptor asks for. */
#include "run/emu/exec.h"

enum {
    /* kernel_code_properties */
    PRIVATE_SEGMENT_BUFFER = 1 << 0,
    DISPATCH_PTR = 1 << 1,
    QUEUE_PTR = 1 << 2,
    KERNARG_PTR = 1 << 3,
    DISPATCH_ID = 1 << 4,
    FLAT_SCRATCH_INIT = 1 << 5,
    PRIVATE_SEGMENT_SIZE = 1 << 6,
    /* compute_pgm_rsrc2 */
    ENABLE_PRIVATE_SEGMENT = 1 << 0,
    WORKGROUP_ID_X = 1 << 7,
    WORKGROUP_ID_Y = 1 << 8,
    WORKGROUP_ID_Z = 1 << 9,
    WORKGROUP_INFO = 1 << 10
};

static void set(tw_emu_wave *w, unsigned reg, uint32_t value) {
    if (reg >= EMU_S_COUNT) return;
    w->s[reg] = value;
    w->su[reg] = 0;
}

static unsigned push64(tw_emu_wave *w, unsigned reg, uint64_t value) {
    set(w, reg, (uint32_t)value);
    set(w, reg + 1, (uint32_t)(value >> 32));
    return reg + 2;
}

/* A resource that reaches the scratch of each lane by its number: dword n of all lanes lies together. */
static unsigned push_scratch_resource(tw_emu_wave *w, unsigned reg) {
    const emu_buffer *b = w->launch->scratch;
    enum { SWIZZLE = 1u << 31, ADD_LANE = 1 << 23, INDEX_STRIDE_64 = 3 << 21, ELEMENT_4 = 1 << 19 };
    uint64_t base = b ? b->address : 0;
    set(w, reg, (uint32_t)base);
    set(w, reg + 1, (uint32_t)(base >> 32 & 0xffff) | 1u << 31);
    set(w, reg + 2, b ? 0xffffffffu : 0);
    set(w, reg + 3, ADD_LANE | INDEX_STRIDE_64 | ELEMENT_4);
    return reg + 4;
}

static void user_registers(tw_emu_wave *w) {
    const emu_launch_state *launch = w->launch;
    unsigned properties = launch->properties, reg = 0;
    if (properties & PRIVATE_SEGMENT_BUFFER) reg = push_scratch_resource(w, reg);
    if (properties & DISPATCH_PTR) reg = push64(w, reg, launch->packet->address);
    if (properties & QUEUE_PTR) reg = push64(w, reg, launch->packet->address + 64);
    if (properties & KERNARG_PTR) reg = push64(w, reg, launch->kernarg->address);
    if (properties & DISPATCH_ID) reg = push64(w, reg, 0);
    if (properties & FLAT_SCRATCH_INIT) reg = push64(w, reg, launch->scratch ? launch->scratch->address : 0);
    if (properties & PRIVATE_SEGMENT_SIZE) set(w, reg++, launch->scratch_bytes);
    /* Preloaded arguments: whole dwords of the kernarg segment. */
    unsigned length = launch->preload & 0x7f, offset = launch->preload >> 7;
    for (unsigned k = 0; k < length; k++, reg++) {
        size_t at = 4 * (size_t)(offset + k);
        uint32_t value = 0, known = 0;
        if (at + 4 <= launch->kernarg->bytes) {
            memcpy(&value, launch->kernarg->data + at, 4);
            memcpy(&known, launch->kernarg->known + at, 4);
        }
        set(w, reg, value);
        if (reg < EMU_S_COUNT) w->su[reg] = w->shadow ? ~known : 0;
    }
}

/* Behind the user registers, whose number the descriptor gives: it may count more than it fills. */
static void system_registers(tw_emu_wave *w) {
    const emu_launch_state *launch = w->launch;
    tw_dim3 id = w->group->id;
    unsigned reg = launch->rsrc2 >> 1 & 0x1f;
    if (launch->isa >= TW_ISA_GFX12) {
        for (unsigned k = 0; k < 16; k++)
            set(w, EMU_S_TTMP + k, 0);
        set(w, EMU_S_TTMP + 9, id.x);
        set(w, EMU_S_TTMP + 7, (id.y & 0xffff) | id.z << 16);
        set(w, EMU_S_TTMP + 8, (uint32_t)w->index << 25);
        return;
    }
    if (launch->rsrc2 & WORKGROUP_ID_X) set(w, reg++, id.x);
    if (launch->rsrc2 & WORKGROUP_ID_Y) set(w, reg++, id.y);
    if (launch->rsrc2 & WORKGROUP_ID_Z) set(w, reg++, id.z);
    if (launch->rsrc2 & WORKGROUP_INFO) set(w, reg++, 0);
    bool flat_scratch = launch->features & TW_ARCH_HAS_FLAT_SCRATCH;
    bool wave_offset = !flat_scratch && launch->rsrc2 & ENABLE_PRIVATE_SEGMENT;
    if (wave_offset) set(w, reg, (uint32_t)w->scratch_offset);
}

/* Work-item numbers, packed into v0: 10 bits each, as many as the descriptor asks for. */
static void work_item_ids(tw_emu_wave *w) {
    tw_dim3 block = w->launch->options->block;
    unsigned dimensions = w->launch->rsrc2 >> 11 & 3, lanes = w->halves * EMU_LANES;
    for (unsigned lane = 0; lane < lanes; lane++) {
        uint64_t n = (uint64_t)w->index * lanes + lane;
        uint32_t x = (uint32_t)(n % block.x), y = (uint32_t)(n / block.x % block.y);
        uint32_t z = (uint32_t)(n / block.x / block.y);
        uint32_t id = x | (dimensions >= 1 ? y << 10 : 0) | (dimensions >= 2 ? z << 20 : 0);
        w->v[lane / EMU_LANES][lane % EMU_LANES] = id;
        w->u[lane / EMU_LANES][lane % EMU_LANES] = 0;
    }
    w->vflag[0] = EMU_VFLAG_KNOWN;
}

static void poison_registers(tw_emu_wave *w, unsigned first, unsigned count) {
    for (unsigned half = 0; half < w->halves; half++) {
        uint32_t exist = (uint32_t)(w->lanes_exist >> (32 * half));
        for (unsigned r = first; r < first + count; r++) {
            for (unsigned l = 0; l < EMU_LANES; l++) {
                w->v[half][r * EMU_LANES + l] = EMU_POISON;
                /* Lanes without a work-item never run: nothing about them needs to be known. */
                w->u[half][r * EMU_LANES + l] = w->shadow && exist >> l & 1 ? 0xffffffffu : 0;
            }
        }
    }
    memset(w->vflag + first, w->shadow ? EMU_VFLAG_UNKNOWN : EMU_VFLAG_KNOWN, count);
}

void tw_emu_wave_start(tw_emu_wave *w, emu_group *group, uint32_t index) {
    emu_launch_state *launch = group->launch;
    unsigned lanes = launch->halves * EMU_LANES;
    uint32_t *v[2] = {w->v[0], w->v[1]}, *u[2] = {w->u[0], w->u[1]};
    uint8_t *vflag = w->vflag;
    memset(w, 0, sizeof *w);
    memcpy(w->v, v, sizeof v);
    memcpy(w->u, u, sizeof u);
    w->vflag = vflag;
    w->group = group;
    w->launch = launch;
    w->halves = launch->halves;
    w->index = (uint16_t)index;
    w->pc = launch->entry;
    w->budget = launch->budget;
    w->shadow = launch->check_unknown;
    w->vgprs = launch->vgprs;
    w->scratch_offset = group->scratch_offset + (uint64_t)index * lanes * launch->scratch_bytes;
    uint32_t rest = launch->work_items - index * lanes;
    w->lanes_exist = rest >= 64 ? ~0ull : (1ull << rest) - 1;
    if (lanes == 32) w->lanes_exist &= 0xffffffffu;

    for (unsigned k = 0; k < EMU_S_COUNT; k++) {
        w->s[k] = EMU_POISON;
        w->su[k] = w->shadow ? 0xffffffffu : 0;
    }
    set(w, EMU_S_NULL, 0);
    set(w, EMU_S_EXEC, (uint32_t)w->lanes_exist);
    set(w, EMU_S_EXEC + 1, (uint32_t)(w->lanes_exist >> 32));
    if (launch->halves == 1) set(w, EMU_S_VCC + 1, 0);
    w->scc_unknown = w->shadow;

    memset(w->vflag, w->shadow ? EMU_VFLAG_MISSING : EMU_VFLAG_KNOWN, launch->file_registers);
    poison_registers(w, 0, launch->vgprs);
    if (launch->agprs) poison_registers(w, EMU_AGPR_BASE, launch->agprs);
    work_item_ids(w);
    user_registers(w);
    system_registers(w);
    if (launch->scratch && launch->features & TW_ARCH_HAS_FLAT_SCRATCH)
        push64(w, EMU_S_FLAT_SCRATCH,
               (launch->isa == TW_ISA_GFX1250 ? EMU_PRIVATE_APERTURE_GFX1250 : launch->scratch->address) +
                   w->scratch_offset);

    w->mode = (launch->rsrc1 >> 12 & 0xff) | (launch->rsrc1 >> 26 & 1) << 23;
    if (launch->isa < TW_ISA_GFX12)
        w->mode |= (launch->rsrc1 >> 21 & 1) << 8 | (launch->rsrc1 >> 23 & 1) << 9;
    tw_emu_mode_changed(w);
}
