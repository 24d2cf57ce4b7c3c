/* Loops that wait for another wave: nothing in them changes but what their loads bring. */
#include "run/emu/poll.h"

#include "run/emu/exec.h"

enum { MAX_BYTES = 8 }; /* of an atomic load */

/* A load that may poll LDS: of an address that the registers give, as wide as an atomic can be. */
static bool may_poll(const emu_inst *i) {
    const emu_row *row = i->row;
    bool lds = row->exec == tw_emu_exec_lds_load && emu_mem_what(row) == EMU_ACCESS_LOAD;
    bool flat = row->exec == tw_emu_exec_vmem_load && emu_mem_space(row) == EMU_SPACE_FLAT;
    return (lds || flat) && emu_mem_bytes(row) <= MAX_BYTES &&
           !(row->flags & (EMU_ROW_TRANSPOSED | EMU_ROW_TID));
}

/* What may stand in such a loop besides: nothing that others could see, and no way into other code. */
static bool harmless(const emu_inst *i) {
    if (!i->row) return false;
    switch (i->cls) {
    case EMU_CLASS_VALU:
    case EMU_CLASS_SALU:
    case EMU_CLASS_WAIT: return true;
    case EMU_CLASS_BRANCH:
        return i->exec == tw_emu_exec_branch && i->row->arg != EMU_BRANCH_CALL &&
               i->row->arg != EMU_BRANCH_ALWAYS;
    default:
        return i->row->exec == tw_emu_exec_nop || i->row->exec == tw_emu_exec_sleep ||
               i->row->exec == tw_emu_exec_acquire;
    }
}

static bool overlaps(const emu_operand *a, const emu_operand *b) {
    return a->kind == b->kind && (a->kind == EMU_OPERAND_VGPR || a->kind == EMU_OPERAND_SGPR) &&
           a->reg < b->reg + b->words && b->reg < a->reg + a->words;
}

static bool writes(const emu_inst *i, const emu_operand *o) {
    return overlaps(&i->d, o) || overlaps(&i->d2, o) || (i->dual && writes(i->dual, o));
}

static bool same_address_each_time(const emu_inst *load, emu_inst *const *loop, unsigned count) {
    for (unsigned k = 0; k < count; k++) {
        for (unsigned n = 0; n < sizeof load->s / sizeof load->s[0]; n++)
            if (writes(loop[k], &load->s[n])) return false;
    }
    return true;
}

bool tw_emu_mark_polls(emu_inst *const *loop, unsigned count) {
    bool leaves = false, any = false;
    for (unsigned k = 0; k < count; k++) {
        const emu_inst *i = loop[k];
        bool last = k + 1 == count;
        if (!last && !harmless(i) && !(i->row && may_poll(i))) return false;
        leaves |= i->exec == tw_emu_exec_branch && i->row->arg != EMU_BRANCH_ALWAYS;
    }
    for (unsigned k = 0; leaves && k + 1 < count; k++) {
        if (!may_poll(loop[k]) || !same_address_each_time(loop[k], loop, count)) continue;
        loop[k]->flags |= EMU_I_POLLS;
        any = true;
    }
    return any;
}

static bool same_place(const emu_inst *a, const emu_inst *b) {
    for (unsigned k = 0; k < sizeof a->s / sizeof a->s[0]; k++) {
        const emu_operand *x = &a->s[k], *y = &b->s[k];
        if (x->kind != y->kind || x->reg != y->reg || x->bits[0] != y->bits[0]) return false;
    }
    return a->row == b->row && a->imm == b->imm;
}

bool tw_emu_mark_first_look(emu_inst *before, emu_inst *const *loop, unsigned count) {
    if (!harmless(before) && !(before->row && may_poll(before))) return false;
    for (unsigned k = 0; k < count; k++) {
        if (!(loop[k]->flags & EMU_I_POLLS)) continue;
        if (may_poll(before) && same_place(before, loop[k])) before->flags |= EMU_I_POLLS;
        for (unsigned n = 0; n < sizeof before->s / sizeof before->s[0]; n++)
            if (writes(before, &loop[k]->s[n])) return false;
    }
    return true;
}
