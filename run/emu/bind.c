/* From the text of an instruction to its record: modifiers, vector and scalar instructions. */
#include "run/emu/bind.h"

#include "run/emu/lane_math.h"
#include "run/emu/scaled.h"
#include "run/emu/transposed.h"

/* ---- modifiers ---- */

void tw_emu_bind_known_modifiers(emu_binding *b, const char *const *known) {
    static const char *const CACHE[] = {"glc", "slc", "dlc", "scc",   "sc0", "sc1",
                                        "nt",  "nv",  "th",  "scope", NULL};
    for (unsigned i = 0; i < b->text->modifiers; i++) {
        const char *name = b->text->modifier[i].name;
        bool found = false;
        for (unsigned k = 0; !found && known[k]; k++)
            found = !strcmp(name, known[k]);
        for (unsigned k = 0; !found && CACHE[k]; k++)
            found = !strcmp(name, CACHE[k]);
        if (!found) b->reason = "a modifier that is not known";
    }
}

static int64_t modifier_value(const emu_binding *b, const char *name, int64_t otherwise) {
    const emu_text_modifier *m = tw_emu_text_find(b->text, name);
    return m && m->count ? m->value[0] : otherwise;
}

static emu_sel parse_sel(emu_binding *b, const char *name) {
    static const char *const SEL[] = {"DWORD", "BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1"};
    const emu_text_modifier *m = tw_emu_text_find(b->text, name);
    if (!m) return EMU_SEL_DWORD;
    for (unsigned i = 0; i < sizeof SEL / sizeof SEL[0]; i++) {
        if (!strcmp(m->word, SEL[i])) return (emu_sel)i;
    }
    b->reason = "an SDWA selection that is not known";
    return EMU_SEL_DWORD;
}

static void bind_sdwa(emu_binding *b) {
    emu_inst *i = b->out;
    i->s[0].sel = (uint8_t)parse_sel(b, "src0_sel");
    i->s[1].sel = (uint8_t)parse_sel(b, "src1_sel");
    i->dst_sel = (uint8_t)parse_sel(b, "dst_sel");
    const emu_text_modifier *unused = tw_emu_text_find(b->text, "dst_unused");
    i->dst_unused = !unused || !strcmp(unused->word, "UNUSED_PAD") ? 0
                    : !strcmp(unused->word, "UNUSED_SEXT")         ? 1
                                                                   : 2;
    if (i->dst_sel != EMU_SEL_DWORD) i->flags |= EMU_I_RESULT;
}

static void bind_dpp(emu_binding *b) {
    emu_inst *i = b->out;
    i->row_mask = (uint8_t)modifier_value(b, "row_mask", 15);
    i->bank_mask = (uint8_t)modifier_value(b, "bank_mask", 15);
    if (tw_emu_text_find(b->text, "bound_ctrl")) i->flags |= EMU_I_BOUND_CTRL;
    if (modifier_value(b, "fi", 0)) i->flags |= EMU_I_FETCH_INACTIVE;
    for (unsigned k = 0; k < b->text->modifiers && !i->dpp; k++) {
        const emu_text_modifier *m = &b->text->modifier[k];
        i->dpp = tw_emu_dpp_lanes(b->binder, m->name, m->value, m->count);
        if (!strcmp(m->name, "dpp8")) i->flags |= EMU_I_BOUND_CTRL;
    }
    if (!i->dpp) {
        b->reason = "a DPP control that is not known";
        return;
    }
    i->flags |= EMU_I_DPP;
}

/* Halves and signs: op_sel, op_sel_hi, neg_lo, neg_hi, by the types of the sources. */
static void bind_halves(emu_binding *b) {
    emu_inst *i = b->out;
    const emu_text_modifier *sel = tw_emu_text_find(b->text, "op_sel"),
                            *sel_hi = tw_emu_text_find(b->text, "op_sel_hi");
    const emu_text_modifier *neg_lo = tw_emu_text_find(b->text, "neg_lo"),
                            *neg_hi = tw_emu_text_find(b->text, "neg_hi");
    for (unsigned k = 0; k < i->sources; k++) {
        emu_operand *o = &i->s[k];
        emu_type type = (emu_type)b->row->src[k];
        bool packed = emu_is_packed(type) || emu_is_packed32(type), mix = type == T_MIX || type == T_MIXB;
        bool low = sel && k < sel->count && sel->value[k];
        bool high = sel_hi && k < sel_hi->count ? sel_hi->value[k] : packed;
        if (low && (packed || mix || emu_is_half(type))) o->mods |= EMU_HALF;
        if (packed && !high) o->mods |= EMU_HALF_HI; /* stands for "not the usual half", see below */
        if (mix && high) o->mods |= EMU_HALF_HI;
        if (neg_lo && k < neg_lo->count && neg_lo->value[k]) o->mods |= EMU_NEG;
        if (neg_hi && k < neg_hi->count && neg_hi->value[k]) o->mods |= mix ? EMU_ABS : EMU_NEG_HI;
    }
    if (sel && sel->count > i->sources && sel->value[i->sources]) i->flags |= EMU_I_HIGH_HALF;
}

/* Constants take their modifiers here, once. */
static void fold_constant(emu_binding *b, emu_operand *o, emu_type type) {
    uint32_t v = o->bits[0];
    uint64_t bits = v;
    if (emu_is_packed(type)) {
        uint32_t lo = o->mods & EMU_HALF ? v >> 16 : v & 0xffff,
                 hi = o->mods & EMU_HALF_HI ? v & 0xffff : v >> 16;
        if (o->mods & EMU_NEG) lo ^= 0x8000;
        if (o->mods & EMU_NEG_HI) hi ^= 0x8000;
        bits = lo | hi << 16;
    } else if (emu_is_packed32(type)) {
        uint32_t lo = o->mods & EMU_HALF ? o->bits[1] : v, hi = o->mods & EMU_HALF_HI ? v : o->bits[1];
        if (o->mods & EMU_NEG) lo ^= 0x80000000u;
        if (o->mods & EMU_NEG_HI) hi ^= 0x80000000u;
        bits = lo | (uint64_t)hi << 32;
    } else if ((type == T_MIX || type == T_MIXB) && o->mods & EMU_HALF_HI) {
        uint32_t h = o->mods & EMU_HALF ? v >> 16 : v & 0xffff;
        bits = f32_bits(type == T_MIX ? half_to_f32(h) : bf16_to_f32(h));
        bits = tw_emu_bind_signed_bits(bits, T_F32, o->mods & EMU_NEG, o->mods & EMU_ABS);
    } else if (emu_is_half(type)) {
        bits = tw_emu_bind_signed_bits(o->mods & EMU_HALF ? v >> 16 : v, type, o->mods & EMU_NEG,
                                       o->mods & EMU_ABS);
    } else {
        bits = tw_emu_bind_signed_bits(v | (uint64_t)o->bits[1] << 32, type, o->mods & EMU_NEG,
                                       o->mods & EMU_ABS);
    }
    uint8_t words = o->words;
    tw_emu_bind_constant(b, bits, words, o);
    o->type = (uint8_t)type;
}

/* A constant of v_fma_mix whose op_sel_hi is set stands for a 16-bit value. */
static void rebind_mix_constant(emu_binding *b, unsigned index, emu_type type, emu_operand *o) {
    const emu_text_operand *t = &b->text->operand[index];
    uint64_t bits;
    if (!(o->mods & EMU_HALF_HI) || !tw_emu_bind_number_bits(t, type == T_MIX ? T_PF16 : T_PBF16, &bits))
        return;
    o->bits[0] = (uint32_t)bits;
}

static void bind_result_modifiers(emu_binding *b) {
    emu_inst *i = b->out;
    const emu_row *row = b->row;
    emu_type type = (emu_type)row->dst;
    if (tw_emu_text_find(b->text, "clamp")) {
        uint16_t clamped = tw_emu_clamped_lane(row->lane);
        if (clamped) {
            i->fn.lane = tw_emu_lanes()[clamped];
        } else if (emu_is_float(type)) {
            i->flags |= EMU_I_CLAMP | EMU_I_RESULT;
        } else if (!(row->flags & EMU_ROW_MODES)) {
            b->reason = "clamp, which is not known for it";
        }
    }
    int64_t mul = modifier_value(b, "mul", 1), div = modifier_value(b, "div", 1);
    bool modified = tw_emu_text_find(b->text, "clamp") || mul != 1 || div != 1;
    if (modified && row->flags & EMU_ROW_MODES && row->flags & EMU_ROW_MASK_OUT)
        b->reason = "an output modifier, which is not known for it"; /* v_div_scale */
    if (mul != 1 || div != 1) {
        i->omod = mul == 2 ? 1 : mul == 4 ? 2 : 3;
        i->flags |= EMU_I_RESULT;
    }
    if (!emu_is_half(type)) return;
    if (row->flags & EMU_ROW_HIGH_HALF) i->flags |= EMU_I_HIGH_HALF;
    if (b->binder->isa != TW_ISA_GFX9 || row->flags & EMU_ROW_KEEP_HALF || i->flags & EMU_I_HIGH_HALF)
        i->flags |= EMU_I_KEEP_HALF | EMU_I_RESULT;
}

/* ---- vector instructions ---- */

static const char *const VECTOR_MODIFIERS[] = {
    "clamp",     "mul",       "div",       "op_sel",       "op_sel_hi", "neg_lo",     "neg_hi",
    "row_mask",  "bank_mask", "fi",        "bound_ctrl",   "quad_perm", "row_shl",    "row_shr",
    "row_ror",   "wave_shl",  "wave_rol",  "wave_shr",     "wave_ror",  "row_mirror", "row_half_mirror",
    "row_bcast", "row_share", "row_xmask", "row_newbcast", "dpp8",      "dst_sel",    "dst_unused",
    "src0_sel",  "src1_sel",  "bitop3",    "byte_sel",     NULL};

static void bind_sources(emu_binding *b, unsigned first) {
    emu_inst *i = b->out;
    const emu_row *row = b->row;
    unsigned count = 0;
    while (count < 3 && row->src[count] != T_NONE)
        count++;
    i->sources = (uint8_t)count;
    for (unsigned k = 0; k < count && !b->reason; k++) {
        emu_type type = (emu_type)row->src[k];
        bool last = k + 1 == count;
        if (last && row->flags & EMU_ROW_READS_DST) {
            i->s[k] = i->d;
            i->s[k].type = (uint8_t)type;
            if (i->flags & EMU_I_HIGH_HALF && emu_is_half(type)) i->s[k].mods |= EMU_HALF;
        } else if (last && type == T_MASK && first + k >= b->text->operands) {
            tw_emu_bind_sgpr(EMU_S_VCC, T_MASK, tw_emu_type_words(T_MASK, b->binder->target.wave_size == 64),
                             &i->s[k]);
        } else {
            tw_emu_bind_operand(b, first + k, type, k, &i->s[k]);
        }
    }
}

static void bind_mask_source(emu_binding *b) {
    emu_inst *i = b->out;
    const emu_row *row = b->row;
    i->mask_reg = -1;
    if (row->flags & EMU_ROW_VCC_IN) i->mask_reg = EMU_S_VCC;
    for (unsigned k = 0; k < i->sources; k++) {
        if (i->s[k].type != T_MASK) continue;
        if (i->s[k].kind == EMU_OPERAND_SGPR)
            i->mask_reg = (int16_t)i->s[k].reg;
        else if (i->s[k].kind == EMU_OPERAND_CONST)
            i->mask_reg = -3; /* the constant in imm2 */
        else
            b->reason = "a lane mask that is no scalar register";
        i->imm2 = (int64_t)(i->s[k].bits[0] | (uint64_t)i->s[k].bits[1] << 32);
        i->sources = (uint8_t)k;
        break;
    }
    if (row->flags & EMU_ROW_IMM_MASK) {
        i->mask_reg = -2;
        i->imm = modifier_value(b, "bitop3", 0);
    }
    if (row->flags & EMU_ROW_SIGNS) {
        i->mask_reg = -2;
        i->imm = (i->s[0].mods & EMU_NEG ? 1 : 0) | (i->s[1].mods & EMU_NEG ? 2 : 0);
        i->s[0].mods = i->s[1].mods = 0;
    }
}

static void finish_sources(emu_binding *b, unsigned first) {
    emu_inst *i = b->out;
    for (unsigned k = 0; k < i->sources; k++) {
        emu_operand *o = &i->s[k];
        emu_type type = (emu_type)o->type;
        if (o->kind == EMU_OPERAND_CONST) {
            if (type == T_MIX || type == T_MIXB) rebind_mix_constant(b, first + k, type, o);
            if (o->mods) fold_constant(b, o, type);
        }
        if (o->mods || o->sel || ((type == T_MIX || type == T_MIXB) && o->mods & EMU_HALF_HI))
            i->flags |= EMU_I_MODS;
    }
    if (i->flags & EMU_I_DPP) i->flags |= EMU_I_MODS;
    for (unsigned k = 0; k < i->sources; k++) {
        const emu_operand *o = &i->s[k];
        if (o->kind == EMU_OPERAND_VGPR && o->reg < i->d.reg + i->d.words && i->d.reg < o->reg + o->words)
            i->flags |= EMU_I_ALIASED;
    }
    /* Where VGPR numbers have high bits from elsewhere, equal numbers say nothing. */
    if (b->binder->isa == TW_ISA_GFX1250) i->flags |= EMU_I_ALIASED;
}

/* fp8: which byte of the source, or (a result of a byte) of the register that takes it; gfx9 says the latter
 * in op_sel. */
static void bind_byte(emu_binding *b) {
    emu_inst *i = b->out;
    const emu_text_modifier *sel = tw_emu_text_find(b->text, "op_sel");
    int64_t byte = modifier_value(b, "byte_sel", 0);
    if (tw_emu_text_find(b->text, "clamp")) b->reason = "clamp, which is not known for it";
    if (i->sources == 1) {
        if (byte) i->s[0].sel = (uint8_t)(EMU_SEL_BYTE_0 + byte);
    } else if (b->row->flags & EMU_ROW_BYTE_OUT) {
        if (sel && sel->count == 4) byte = sel->value[2] + 2 * sel->value[3];
        i->dst_sel = (uint8_t)(EMU_SEL_BYTE_0 + byte);
        i->dst_unused = 2;
        i->flags = (i->flags & ~(uint32_t)EMU_I_HIGH_HALF) | EMU_I_RESULT;
    }
}

static void bind_vector(emu_binding *b) {
    emu_inst *i = b->out;
    const emu_row *row = b->row;
    unsigned next = 1;
    tw_emu_bind_known_modifiers(b, VECTOR_MODIFIERS);
    i->fn.lane = tw_emu_lanes()[row->lane];
    tw_emu_bind_operand(b, 0, (emu_type)row->dst, 3, &i->d);
    if (i->d.mods & EMU_HALF) {
        i->flags |= EMU_I_HIGH_HALF;
        i->d.mods = 0;
    }
    if (row->flags & EMU_ROW_MASK_OUT) {
        tw_emu_bind_operand(b, 1, T_MASK, 3, &i->d2);
        i->flags |= EMU_I_CARRY_OUT;
        next = 2;
    }
    if (i->d.kind != EMU_OPERAND_VGPR) b->reason = "a result that is no vector register";
    if (b->reason) return;
    const emu_text_modifier *sel = tw_emu_text_find(b->text, "op_sel");
    if (row->flags & EMU_ROW_READS_DST && sel && sel->count == 3 && sel->value[2])
        i->flags |= EMU_I_HIGH_HALF;
    bind_sources(b, next);
    if (b->reason) return;
    bind_halves(b);
    bind_mask_source(b);
    if (b->text->sdwa) bind_sdwa(b);
    if (row->flags & EMU_ROW_FP8) bind_byte(b);
    if (b->text->dpp) bind_dpp(b);
    finish_sources(b, next);
    bind_result_modifiers(b);
    bool plain = !(i->flags & (EMU_I_MODS | EMU_I_RESULT));
    i->exec = plain ? tw_emu_exec_vector : tw_emu_exec_vector_full;
}

static void bind_compare(emu_binding *b) {
    emu_inst *i = b->out;
    const emu_row *row = b->row;
    bool exec = !strncmp(b->text->mnemonic, "v_cmpx", 6);
    unsigned next = b->text->operands == 3 ? 1 : 0;
    tw_emu_bind_known_modifiers(b, VECTOR_MODIFIERS);
    i->fn.lane = tw_emu_lanes()[row->lane];
    if (next) tw_emu_bind_operand(b, 0, T_MASK, 3, &i->d);
    if (exec) i->flags |= EMU_I_TO_EXEC;
    if (!next && !exec) b->reason = "fewer operands than expected";
    if (next && i->d.kind != EMU_OPERAND_SGPR) b->reason = "a result that is no scalar register";
    if (b->reason) return;
    bind_sources(b, next);
    if (b->reason) return;
    i->mask_reg = -1;
    bind_halves(b);
    if (b->text->sdwa) bind_sdwa(b);
    if (b->text->dpp) bind_dpp(b);
    finish_sources(b, next);
    i->exec = tw_emu_exec_compare;
}

/* ---- scalar instructions ---- */

static void bind_scalar(emu_binding *b) {
    emu_inst *i = b->out;
    const emu_row *row = b->row;
    static const char *const NONE[] = {NULL};
    tw_emu_bind_known_modifiers(b, NONE);
    i->fn.scalar = row->scalar;
    unsigned next = 0;
    bool immediate = row->flags & (EMU_ROW_K16 | EMU_ROW_KU16);
    if (row->dst != T_NONE) tw_emu_bind_operand(b, next++, (emu_type)row->dst, 3, &i->d);
    unsigned count = 0;
    while (count < 3 && row->src[count] != T_NONE)
        count++;
    i->sources = (uint8_t)count;
    /* With an immediate, a first source is the destination itself, or the one register of a compare. */
    if (immediate && row->dst != T_NONE && row->src[1] != T_NONE) next = 0;
    for (unsigned k = 0; k < 3 && !b->reason; k++) {
        if (row->src[k] == T_NONE) continue;
        if (k == 2 && row->flags & EMU_ROW_READS_DST) {
            i->s[2] = i->d;
            i->sources = 3;
            continue;
        }
        tw_emu_bind_operand(b, next++, (emu_type)row->src[k], k, &i->s[k]);
        bool last = k == 2 || row->src[k + 1] == T_NONE;
        if (immediate && last && !b->reason) {
            uint64_t v = i->s[k].bits[0];
            tw_emu_bind_constant(b, row->flags & EMU_ROW_K16 ? (uint64_t)(uint32_t)(int16_t)v : v & 0xffff, 1,
                                 &i->s[k]);
        }
    }
    for (unsigned k = 0; k < 3; k++) {
        if (i->s[k].kind == EMU_OPERAND_VGPR) b->reason = "a vector register where a scalar one belongs";
    }
    i->exec = row->exec;
}

static void bind_branch(emu_binding *b) {
    emu_inst *i = b->out;
    unsigned last = b->text->operands - 1u;
    if (b->row->dst != T_NONE) tw_emu_bind_operand(b, 0, T_B64, 3, &i->d);
    if (b->text->operands == 0 || b->text->operand[last].kind != EMU_TEXT_INTEGER) {
        b->reason = "a branch without a distance";
        return;
    }
    i->imm = (int16_t)b->text->operand[last].integer;
    i->exec = tw_emu_exec_branch;
}

/* ---- one instruction ---- */

static const emu_row *find_row(const emu_binder *binder, emu_text *text, bool dual) {
    char *name = text->mnemonic;
    if (dual) { /* v_dual_add_f32 is v_add_f32 */
        if (strncmp(name, "v_dual_", 7)) return NULL;
        memmove(name + 2, name + 7, strlen(name + 7) + 1);
    }
    if (!strncmp(name, "v_cmpx_", 7)) {
        char plain[sizeof text->mnemonic] = "v_cmp_";
        strcpy(plain + 6, name + 7);
        return tw_emu_table_find(binder->table, plain);
    }
    return tw_emu_table_find(binder->table, name);
}

/* glc is how gfx90a and gfx11 load past the caches of a workgroup, sc1 how gfx94x and gfx950 do. */
static bool meets_other_workgroups(const emu_text *text) {
    const emu_text_modifier *scope = tw_emu_text_find(text, "scope");
    if (scope) return !strcmp(scope->word, "SCOPE_DEV") || !strcmp(scope->word, "SCOPE_SYS");
    /* Of an instruction without operands the first word is read as one. */
    for (unsigned k = 0; k < text->operands; k++) {
        if (text->operand[k].kind == EMU_TEXT_NAME && !strcmp(text->operand[k].name, "sc1")) return true;
    }
    return tw_emu_text_find(text, "sc1") || tw_emu_text_find(text, "glc");
}

static void bind_one(emu_binder *binder, const char *text, size_t length, const uint8_t *bytes, bool dual,
                     emu_inst *out) {
    emu_text parsed;
    const char *wrong;
    emu_binding b = {.binder = binder, .text = &parsed, .bytes = bytes, .out = out};
    out->cls = EMU_CLASS_OTHER;
    if (!tw_emu_text_parse(text, length, &parsed, &wrong)) {
        b.reason = "text that could not be read";
    } else if (!(b.row = find_row(binder, &parsed, dual))) {
        b.reason = "the mnemonic is not known";
    } else {
        out->row = b.row;
        out->cls = b.row->cls;
        switch ((emu_bind)b.row->bind) {
        case EMU_BIND_VECTOR: bind_vector(&b); break;
        case EMU_BIND_COMPARE: bind_compare(&b); break;
        case EMU_BIND_SCALAR:
        case EMU_BIND_SCALAR_K: bind_scalar(&b); break;
        case EMU_BIND_BRANCH: bind_branch(&b); break;
        case EMU_BIND_NONE: out->exec = b.row->exec; break;
        case EMU_BIND_SMEM: tw_emu_bind_smem(&b); break;
        case EMU_BIND_GLOBAL: tw_emu_bind_global(&b); break;
        case EMU_BIND_BUFFER: tw_emu_bind_buffer(&b); break;
        case EMU_BIND_LDS: tw_emu_bind_lds(&b); break;
        case EMU_BIND_COPY: tw_emu_bind_copy(&b); break;
        case EMU_BIND_TENSOR: tw_emu_bind_tensor(&b); break;
        case EMU_BIND_WAIT: tw_emu_bind_wait(&b); break;
        case EMU_BIND_SPECIAL: tw_emu_bind_special(&b); break;
        case EMU_BIND_MATRIX: tw_emu_bind_matrix(&b); break;
        case EMU_BIND_SCALED: tw_emu_bind_scaled(&b); break;
        }
    }
    if (!b.reason && meets_other_workgroups(&parsed)) out->flags |= EMU_I_SCOPED;
    if (b.row && b.row->flags & EMU_ROW_TRANSPOSED && !b.reason) tw_emu_bind_transposed(&b);
    if (b.reason) {
        out->exec = tw_emu_exec_unknown;
        out->fn.any = b.reason;
    }
}

void tw_emu_bind(emu_binder *binder, const char *text, const uint8_t *bytes, emu_inst *out) {
    const char *second = strstr(text, " :: ");
    if (!second) {
        bind_one(binder, text, strlen(text), bytes, false, out);
        return;
    }
    emu_inst *dual = TW_ARENA_NEW(&binder->arena, emu_inst, 1);
    if (!dual) {
        binder->failed = true;
        return;
    }
    dual->pc = out->pc;
    dual->text = out->text;
    bind_one(binder, text, (size_t)(second - text), bytes, true, out);
    bind_one(binder, second + 4, strlen(second + 4), bytes, true, dual);
    if (out->exec == tw_emu_exec_unknown) return;
    if (dual->exec == tw_emu_exec_unknown) {
        out->fn = dual->fn;
        out->exec = dual->exec;
        return;
    }
    out->dual = dual;
    out->exec = tw_emu_exec_dual;
}
