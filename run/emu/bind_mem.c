/* Binding of memory instructions and of those with a handler of their own. */
#include "run/emu/bind.h"

#include "run/emu/copy.h"
#include "run/emu/hwreg.h"

static const char *const OFFSET_MODIFIERS[] = {"offset",  "scale_offset", "offen", "idxen",
                                               "offset0", "offset1",      "lds",   NULL};

static void bind_offsets(emu_binding *b) {
    const emu_text_modifier *m = tw_emu_text_find(b->text, "offset");
    tw_emu_bind_known_modifiers(b, OFFSET_MODIFIERS);
    if (m && m->count) b->out->imm = m->value[0];
    if ((m = tw_emu_text_find(b->text, "offset0")) && m->count) b->out->imm = m->value[0];
    if ((m = tw_emu_text_find(b->text, "offset1")) && m->count) b->out->imm2 = m->value[0];
    if (tw_emu_text_find(b->text, "scale_offset")) b->out->flags |= EMU_I_SCALE;
    if (tw_emu_text_find(b->text, "offen")) b->out->flags |= EMU_I_OFFEN;
    if (tw_emu_text_find(b->text, "idxen")) b->out->flags |= EMU_I_IDXEN;
    if (tw_emu_text_find(b->text, "lds") || b->row->flags & EMU_ROW_DMA) b->out->flags |= EMU_I_LDS;
}

static bool is_off(const emu_text_operand *t) { return t->kind == EMU_TEXT_NAME && !strcmp(t->name, "off"); }
static bool is_sgpr(const emu_text_operand *t) { return t->kind == EMU_TEXT_REGISTER && t->file == 's'; }

/* Registers of the data operand: of compare-and-swap a pair of values. */
static unsigned data_words(const emu_row *row) {
    bool atomic = row->exec == tw_emu_exec_vmem_atomic || row->exec == tw_emu_exec_smem_atomic;
    unsigned words = row->flags & EMU_ROW_BLOCK ? 32 : (emu_mem_bytes(row) + 3) / 4;
    return atomic && emu_atomic_is_pair(emu_mem_what(row)) ? 2 * words : words;
}

/* A register that loads and atomics may name with a 16-bit half. */
static void bind_data(emu_binding *b, unsigned index, unsigned words, unsigned slot, emu_operand *out) {
    tw_emu_bind_register(b, index, words, slot, out);
    if (!b->reason && out->kind != EMU_OPERAND_VGPR) b->reason = "data that is no vector register";
}

/* vaddr or off, saddr or off: the end in memory of copies and of plain accesses */
static void bind_global_address(emu_binding *b, unsigned index) {
    emu_inst *i = b->out;
    const emu_text *t = b->text;
    if (index + 2 != t->operands) {
        b->reason = "an unexpected number of operands";
        return;
    }
    bool scratch = emu_mem_space(b->row) == EMU_SPACE_SCRATCH;
    if (is_sgpr(&t->operand[index + 1])) {
        tw_emu_bind_register(b, index + 1, scratch ? 1 : 2, 2, &i->s[2]);
        if (t->operand[index + 1].reg == EMU_S_NULL) i->s[2].kind = EMU_OPERAND_NONE;
    }
    if (!is_off(&t->operand[index]))
        tw_emu_bind_register(b, index, scratch || i->s[2].kind != EMU_OPERAND_NONE ? 1 : 2, 0, &i->s[0]);
}

/* DMA: vaddr, saddr; load: LDS address, vaddr, saddr; store: vaddr, LDS address, saddr. */
void tw_emu_bind_copy(emu_binding *b) {
    emu_inst *i = b->out;
    bool store = b->row->flags & EMU_ROW_STORE;
    bind_offsets(b);
    i->exec = tw_emu_exec_copy;
    if (i->flags & EMU_I_LDS) {
        bind_global_address(b, 0);
        return;
    }
    if (b->text->operands != 3) {
        b->reason = "an unexpected number of operands";
        return;
    }
    bind_data(b, store ? 1 : 0, 1, store ? 1 : 3, &i->s[1]);
    if (!store) {
        bind_global_address(b, 1);
        return;
    }
    emu_text reordered = *b->text; /* the address stands around the data */
    reordered.operand[1] = reordered.operand[2];
    reordered.operands = 2;
    const emu_text *text = b->text;
    b->text = &reordered;
    bind_global_address(b, 0);
    b->text = text;
}

/* Two or four groups of scalar registers. */
void tw_emu_bind_tensor(emu_binding *b) {
    static const uint8_t WORDS[4] = {4, 8, 4, 4};
    static const char *const NONE[] = {"r128", NULL};
    tw_emu_bind_known_modifiers(b, NONE);
    if (b->text->operands != 2 && b->text->operands != 4) b->reason = "an unexpected number of operands";
    for (unsigned k = 0; k < b->text->operands && k < 4 && !b->reason; k++) {
        tw_emu_bind_register(b, k, WORDS[k], 0, &b->out->s[k]);
        if (b->text->operand[k].reg == EMU_S_NULL)
            b->out->s[k].kind = EMU_OPERAND_NONE;
        else if (!b->reason && b->out->s[k].kind != EMU_OPERAND_SGPR)
            b->reason = "a tensor descriptor that is no scalar register";
    }
    b->out->exec = tw_emu_exec_tensor;
}

/* How many operations may still be under way stands in the encoding. */
void tw_emu_bind_wait(emu_binding *b) {
    enum { NO_LIMIT = 63 };
    emu_inst *i = b->out;
    i->imm = b->bytes[0] | b->bytes[1] << 8;
    i->imm2 = b->row->arg;
    i->exec = tw_emu_exec_wait;
    if (b->row->arg != EMU_COUNTER_VM) return;
    i->imm = (b->bytes[0] & 15) | (b->bytes[1] >> 6)
                                      << 4; /* vmcnt of gfx9, which alone has copies of this kind */
    if (b->binder->isa != TW_ISA_GFX9 || i->imm == NO_LIMIT) i->exec = tw_emu_exec_nop;
}

/* vdst or vdata, saddr: each lane at its own dword from there on. */
static void bind_thread_address(emu_binding *b) {
    emu_inst *i = b->out;
    const emu_text *t = b->text;
    if (t->operands != 2) {
        b->reason = "an unexpected number of operands";
        return;
    }
    bool store = b->row->flags & EMU_ROW_STORE;
    bind_data(b, 0, 1, store ? 1 : 3, store ? &i->s[1] : &i->d);
    if (!is_off(&t->operand[1])) tw_emu_bind_register(b, 1, 2, 2, &i->s[2]);
    i->exec = b->row->exec;
}

/* load: vdst, vaddr, saddr; store: vaddr, vdata, saddr; atomic: [vdst,] vaddr, vdata, saddr. */
void tw_emu_bind_global(emu_binding *b) {
    emu_inst *i = b->out;
    const emu_row *row = b->row;
    const emu_text *t = b->text;
    unsigned count = t->operands, words = data_words(row);
    bool atomic = row->exec == tw_emu_exec_vmem_atomic, load = !atomic && !(row->flags & EMU_ROW_STORE);
    bind_offsets(b);
    if (i->flags & EMU_I_LDS) {
        bind_global_address(b, 0);
        i->exec = tw_emu_exec_copy;
        bool scratch = emu_mem_space(row) == EMU_SPACE_SCRATCH;
        if (!load || emu_mem_space(row) == EMU_SPACE_FLAT || (scratch && words > 1))
            b->reason = "a copy to LDS that is not known";
        return;
    }
    if (row->flags & EMU_ROW_TID) {
        bind_thread_address(b);
        return;
    }
    bool has_scalar = count && (is_off(&t->operand[count - 1]) || is_sgpr(&t->operand[count - 1]));
    unsigned vectors = count - (has_scalar ? 1 : 0);
    unsigned next = 0;
    if (vectors != (load ? 2u : 2u) && !(atomic && vectors == 3)) {
        b->reason = "an unexpected number of operands";
        return;
    }
    if (load || vectors == 3) {
        bind_data(b, next++, atomic ? (emu_mem_bytes(row) + 3) / 4 : words, 3, &i->d);
        if (atomic) i->flags |= EMU_I_RETURN;
    }
    if (has_scalar && is_sgpr(&t->operand[count - 1])) {
        const emu_text_operand *s = &t->operand[count - 1];
        tw_emu_bind_register(b, count - 1, s->count == 0 ? 1 : s->count, 2, &i->s[2]);
        if (s->reg == EMU_S_NULL) i->s[2].kind = EMU_OPERAND_NONE;
    }
    if (!is_off(&t->operand[next])) {
        unsigned address_words =
            emu_mem_space(row) == EMU_SPACE_SCRATCH || i->s[2].kind != EMU_OPERAND_NONE ? 1 : 2;
        tw_emu_bind_register(b, next, address_words, 0, &i->s[0]);
    }
    next++;
    if (!load) bind_data(b, next, words, 1, &i->s[1]);
    i->exec = row->exec;
}

/* vdata, vaddr or off, srsrc, soffset */
void tw_emu_bind_buffer(emu_binding *b) {
    emu_inst *i = b->out;
    const emu_row *row = b->row;
    bool atomic = row->exec == tw_emu_exec_vmem_atomic;
    bind_offsets(b);
    unsigned next = i->flags & EMU_I_LDS ? 0 : 1; /* a copy to LDS has no data register */
    if (b->text->operands != next + 3) {
        b->reason = "an unexpected number of operands";
        return;
    }
    if (next) bind_data(b, 0, data_words(row), 3, &i->s[1]);
    i->d = i->s[1];
    if (atomic) {
        const emu_text_modifier *th = tw_emu_text_find(b->text, "th");
        bool returns = tw_emu_text_find(b->text, "glc") || tw_emu_text_find(b->text, "sc0") ||
                       (th && (strstr(th->word, "RETURN") || (b->bytes[6] & 0x10)));
        if (returns) i->flags |= EMU_I_RETURN;
        i->d.words = (uint8_t)((emu_mem_bytes(row) + 3) / 4);
    }
    if (!is_off(&b->text->operand[next])) {
        bool both = i->flags & EMU_I_OFFEN && i->flags & EMU_I_IDXEN;
        tw_emu_bind_register(b, next, both ? 2 : 1, 0, &i->s[0]);
    }
    tw_emu_bind_register(b, next + 1, 4, 2, &i->s[2]);
    tw_emu_bind_operand(b, next + 2, T_B32, 2, &i->s[3]);
    if (!b->reason && i->s[2].kind != EMU_OPERAND_SGPR)
        b->reason = "a buffer resource that is no scalar register";
    i->exec = next ? row->exec : tw_emu_exec_copy;
    if (!next && row->exec != tw_emu_exec_vmem_load) b->reason = "a copy to LDS that is not known";
}

/* load: vdst, addr; store: addr, data[, data2]; atomic: [vdst,] addr, data[, data2] */
void tw_emu_bind_lds(emu_binding *b) {
    emu_inst *i = b->out;
    const emu_row *row = b->row;
    unsigned bytes = emu_mem_bytes(row), words = (bytes + 3) / 4, what = emu_mem_what(row), next = 0;
    bool atomic = row->exec == tw_emu_exec_lds_atomic, load = row->exec == tw_emu_exec_lds_load;
    bool exchange = row->exec == tw_emu_exec_lds_exchange;
    bool two = !atomic && what >= EMU_ACCESS_LOAD2;
    bool two_data = atomic ? what >= EMU_ATOMIC_CMPSTORE && what <= EMU_ATOMIC_WRAP : two && !load;
    bind_offsets(b);
    if (load || row->dst != T_NONE)
        bind_data(b, next++, (load || exchange) && two ? 2 * words : words, 3, &i->d);
    if (row->dst != T_NONE) i->flags |= EMU_I_RETURN;
    if (!(row->flags & EMU_ROW_TID)) tw_emu_bind_register(b, next++, 1, 0, &i->s[0]);
    if (!load) bind_data(b, next++, words, 1, &i->s[1]);
    if (two_data) bind_data(b, next++, words, 2, &i->s[2]);
    if (next != b->text->operands) b->reason = "an unexpected number of operands";
    i->exec = row->exec;
}

/* sdst or sdata (of an atomic both), sbase, soffset or immediate */
void tw_emu_bind_smem(emu_binding *b) {
    emu_inst *i = b->out;
    unsigned bytes = emu_mem_bytes(b->row);
    bool buffer = emu_mem_space(b->row) == EMU_SPACE_BUFFER;
    bind_offsets(b);
    bool store = b->row->exec == tw_emu_exec_smem_store, atomic = b->row->exec == tw_emu_exec_smem_atomic;
    tw_emu_bind_register(b, 0, store || atomic ? data_words(b->row) : (bytes + 3) / 4, 3, &i->d);
    if (store || atomic) i->s[2] = i->d;
    if (atomic) i->d.words = (uint8_t)(bytes / 4);
    if (atomic && tw_emu_text_find(b->text, "glc")) i->flags |= EMU_I_RETURN;
    tw_emu_bind_register(b, 1, buffer ? 4 : 2, 0, &i->s[0]);
    if (b->reason) return;
    if (b->text->operands < 3) {
        b->reason = "fewer operands than expected";
        return;
    }
    const emu_text_operand *t = &b->text->operand[2];
    if (t->kind == EMU_TEXT_INTEGER) {
        i->imm = t->integer;
    } else if (t->kind == EMU_TEXT_REGISTER && t->reg != EMU_S_NULL) {
        tw_emu_bind_register(b, 2, 1, 1, &i->s[1]);
    } else if (t->kind != EMU_TEXT_REGISTER) {
        b->reason = "an operand that is not known";
    }
    i->exec = b->row->exec;
}

static emu_message message(const emu_text *t) {
    const emu_text_operand *last = t->operands ? &t->operand[t->operands - 1] : NULL;
    if (!last || last->kind != EMU_TEXT_CALL) return EMU_MESSAGE_OTHER;
    if (!strcmp(last->args, "MSG_DEALLOC_VGPRS")) return EMU_MESSAGE_DEALLOC_VGPRS;
    return !strcmp(last->args, "MSG_RTN_GET_REALTIME") ? EMU_MESSAGE_GET_REALTIME : EMU_MESSAGE_OTHER;
}

static void bind_hwreg(emu_binding *b, unsigned index) {
    const emu_text_operand *t = index < b->text->operands ? &b->text->operand[index] : NULL;
    unsigned offset, size;
    int id = t && t->kind == EMU_TEXT_CALL && !strcmp(t->name, "hwreg")
                 ? tw_emu_hwreg_parse(t->args, &offset, &size)
                 : -1;
    if (id < 0) {
        b->reason = "a hardware register that is not known";
        return;
    }
    b->out->imm = id;
    b->out->imm2 = (int64_t)(offset | size << 8);
}

void tw_emu_bind_special(emu_binding *b) {
    emu_inst *i = b->out;
    const emu_row *row = b->row;
    static const char *const KNOWN[] = {"op_sel", "offset", "offset0", "offset1", "bound_ctrl", "fi", NULL};
    tw_emu_bind_known_modifiers(b, KNOWN);
    unsigned next = 0;
    if (row->exec == tw_emu_exec_setreg) bind_hwreg(b, next++);
    if (row->dst != T_NONE) tw_emu_bind_operand(b, next++, (emu_type)row->dst, 3, &i->d);
    if (row->exec == tw_emu_exec_getreg) bind_hwreg(b, next++);
    if (row->exec == tw_emu_exec_sendmsg) i->imm = message(b->text);
    for (unsigned k = 0; k < 3 && row->src[k] != T_NONE && !b->reason; k++) {
        tw_emu_bind_operand(b, next++, (emu_type)row->src[k], k, &i->s[k]);
        i->sources = (uint8_t)(k + 1);
    }
    const emu_text_modifier *sel = tw_emu_text_find(b->text, "op_sel");
    if (sel && sel->count >= 2) {
        if (sel->value[0]) i->flags |= EMU_I_FETCH_INACTIVE;
        if (sel->value[1]) i->flags |= EMU_I_BOUND_CTRL;
    }
    const emu_text_modifier *m = tw_emu_text_find(b->text, "fi");
    if (m && m->count && m->value[0]) i->flags |= EMU_I_FETCH_INACTIVE;
    if (tw_emu_text_find(b->text, "bound_ctrl")) i->flags |= EMU_I_BOUND_CTRL;
    /* The offset of LDS instructions is the low half of their first word, whatever the text makes of it. */
    if (row->cls == EMU_CLASS_LDS) i->imm = b->bytes[0] | b->bytes[1] << 8;
    /* Which operands are relative: an immediate where the second source of the others stands. */
    if (row->exec == tw_emu_exec_gpr_index) i->imm = b->bytes[row->arg == EMU_INDEX_ON ? 1 : 0] & 15;
    i->exec = row->exec;
}
