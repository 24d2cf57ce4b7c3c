/* The module around a kernel: layout, globals, declarations, attributes, metadata. */
#include "lower/lower.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lower/lower_internal.h"
#include "lower/lowering.h"
#include "support/fail.h"

/* ---- rows, refusals and facts that the ops ask for ---- */

static const tw_ll_rule rules[TW_OPCODE_LIMIT] = {
#define PLAIN(OPCODE, how)           [TW_OP_##OPCODE] = {tw_ll_##how, NULL, TW_LL_COUNT},
#define WORD(OPCODE, how, word)      [TW_OP_##OPCODE] = {tw_ll_##how, word, TW_LL_COUNT},
#define CALL(OPCODE, how, intrinsic) [TW_OP_##OPCODE] = {tw_ll_##how, NULL, TW_LL_##intrinsic},
#include "lower/ops.def"
};

const tw_ll_rule *tw_ll_rule_get(tw_opcode opcode) {
    return (unsigned)opcode < TW_OPCODE_LIMIT && rules[opcode].lower ? &rules[opcode] : NULL;
}

void tw_ll_refuse(tw_lowering *l, tw_status status, const char *format, ...) {
    if (l->status) return;
    l->status = status;
    tw_strbuf text;
    tw_strbuf_init(&text, l->out.allocator);
    va_list arguments;
    va_start(arguments, format);
    tw_strbuf_vprintf(&text, format, arguments);
    va_end(arguments);
    const tw_op *op = l->op;
    tw_fail_at(l->diag, status, l->kernel->name, op ? op->line : 0, op ? op->column : 0, "%s%s%s",
               op ? tw_op_info_get(op->opcode)->name : "", op ? ": " : "", tw_strbuf_text(&text));
    tw_strbuf_free(&text);
}

bool tw_ll_has(const tw_lowering *l, tw_intrinsic key) { return l->rows[key] != NULL; }

int64_t tw_ll_attr(const tw_op *op, unsigned index) {
    const tw_attr *attr = &op->attrs[index];
    if (attr->kind == TW_ATTR_NONE) return tw_op_info_get(op->opcode)->attrs[index].default_value;
    return attr->kind == TW_ATTR_BOOL ? attr->as.b : attr->as.i;
}

uint32_t tw_ll_workgroup_size(const tw_lowering *l, unsigned dim) {
    const tw_kernel_options *o = &l->kernel->options;
    uint32_t size = dim == 0 ? o->workgroup_size : dim == 1 ? o->workgroup_size_y : o->workgroup_size_z;
    return size ? size : 1;
}

uint32_t tw_ll_workgroup_total(const tw_lowering *l) {
    return tw_ll_workgroup_size(l, 0) * tw_ll_workgroup_size(l, 1) * tw_ll_workgroup_size(l, 2);
}

bool tw_ll_known(const tw_lowering *l, tw_value value, uint64_t *bits) {
    const tw_op *op = tw_value_get(l->kernel, value)->op;
    *bits = 0;
    if (!op) return false;
    switch (op->opcode) {
    case TW_OP_CONSTANT: *bits = (uint64_t)op->attrs[0].as.i; return true;
    case TW_OP_WORKITEM_ID: return tw_ll_workgroup_size(l, (unsigned)op->attrs[0].as.i) == 1;
    case TW_OP_WAVE_ID: return tw_ll_workgroup_total(l) <= l->kernel->target.wave_size;
    default: return false;
    }
}

void tw_ll_block_ops(tw_lowering *l, const tw_block *block) {
    for (const tw_op *op = block->first; op && !l->status; op = op->next) {
        const tw_ll_rule *rule = tw_ll_rule_get(op->opcode);
        l->op = op;
        rule->lower(l, op, rule);
    }
}

void tw_ll_nothing(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)l;
    (void)op;
    (void)rule;
}

void tw_ll_return(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)op;
    (void)rule;
    tw_ll_line(l, "ret void");
}

/* ---- before the kernel ---- */

static void write_globals(tw_lowering *l) {
    bool any = false;
    for (const tw_op *op = l->kernel->body.first; op; op = op->next) {
        if (op->opcode != TW_OP_LDS_ALLOC) continue;
        tw_value array = op->first_result;
        tw_scalar scalar = tw_ll_type_of(l, array)->scalar;
        tw_ll_text(l, "%v = internal addrspace(3) global [%d x %t] poison, align %d\n", array,
                   (int)tw_ll_attr(op, 0), tw_type_scalar(scalar), (int)tw_ll_attr(op, 1));
        any = true;
    }
    if (any) tw_ll_text(l, "\n");
}

static void write_params(tw_lowering *l) {
    for (uint32_t i = 0; i < l->kernel->body.arg_count; i++) {
        tw_value param = l->kernel->body.args[i];
        unsigned flags = l->kernel->params[i].flags;
        tw_ll_text(l, "%s%t noundef%s%s %v", i ? ", " : "", tw_ll_type_of(l, param),
                   flags & TW_PARAM_NOALIAS ? " noalias" : "", flags & TW_PARAM_READONLY ? " readonly" : "",
                   param);
    }
}

/* ---- after the kernel ---- */

static void write_flag(tw_lowering *l, bool on, const char *name) {
    if (on) tw_ll_text(l, " \"%s\"", name);
}

/* Hidden arguments and registers that the kernel does not use are not set up for it. */
static void write_unused(tw_lowering *l) {
    static const struct {
        unsigned need; /* 0: never needed */
        const char *name;
    } unused[] = {
#define UNUSED(need, name) {need, name},
#include "lower/unused.def"
    };
    for (size_t i = 0; i < sizeof unused / sizeof unused[0]; i++)
        write_flag(l, !(l->needs & unused[i].need), unused[i].name);
}

static void write_target(tw_lowering *l) {
    static const char *const switches[] = {[TW_FEATURE_OFF] = "-", [TW_FEATURE_ON] = "+"};
    const tw_target target = l->kernel->target;
    const bool other_wave = target.wave_size != l->arch->wave_size;
    const bool halves = l->flavor->half_register_targets >> target.arch & 1;
    tw_ll_text(l, " \"target-cpu\"=\"%s\"", l->arch->name);
    if (!other_wave && !halves && !target.xnack && !target.sramecc) return;
    const char *comma = "";
    tw_ll_text(l, " \"target-features\"=\"");
    if (other_wave) {
        tw_ll_text(l, "-wavefrontsize%d,+wavefrontsize%d", l->arch->wave_size, target.wave_size);
        comma = ",";
    }
    if (halves) {
        tw_ll_text(l, "%s-real-true16", comma);
        comma = ",";
    }
    if (target.xnack) {
        tw_ll_text(l, "%s%sxnack", comma, switches[target.xnack]);
        comma = ",";
    }
    if (target.sramecc) tw_ll_text(l, "%s%ssramecc", comma, switches[target.sramecc]);
    tw_ll_text(l, "\"");
}

static void write_attributes(tw_lowering *l) {
    const tw_kernel_options *o = &l->kernel->options;
    int size = (int)tw_ll_workgroup_total(l);
    tw_ll_text(l, "\nattributes #0 = { nounwind");
    if (o->flush_f32_denormals) tw_ll_text(l, " %s", l->flavor->flush_attribute);
    tw_ll_text(l, " \"amdgpu-flat-work-group-size\"=\"%d,%d\" \"uniform-work-group-size\"=\"true\"", size,
               size);
    if (o->min_waves_per_eu) {
        tw_ll_text(l, " \"amdgpu-waves-per-eu\"=\"%d", (int)o->min_waves_per_eu);
        if (o->max_waves_per_eu) tw_ll_text(l, ",%d", (int)o->max_waves_per_eu);
        tw_ll_text(l, "\"");
    }
    /* Minimum and maximum give the number when the other operand is a signaling NaN, and need no instruction
     * before them that quiets it. */
    tw_ll_text(l, " \"amdgpu-ieee\"=\"false\"");
    if (l->flavor->atomic_hint & TW_ATOMIC_ATTRIBUTE) tw_ll_text(l, " \"amdgpu-unsafe-fp-atomics\"=\"true\"");
    write_unused(l);
    write_target(l);
    tw_ll_text(l, " }\n");
}

#define NODE_SIZE    0 /* the workgroup's size */
#define NODE_VERSION 1 /* of the code object */
#define FIRST_NODE   2

static void write_metadata(tw_lowering *l) {
    const tw_flavor_info *flavor = l->flavor;
    if (flavor->version) tw_ll_text(l, "\n!llvm.module.flags = !{!%d}\n", NODE_VERSION);
    tw_ll_text(l, "%s!%d = !{i32 %d, i32 %d, i32 %d}\n", flavor->version ? "" : "\n", NODE_SIZE,
               (int)tw_ll_workgroup_size(l, 0), (int)tw_ll_workgroup_size(l, 1),
               (int)tw_ll_workgroup_size(l, 2));
    if (flavor->version)
        tw_ll_text(l, "!%d = !{i32 1, !\"%s\", i32 %d}\n", NODE_VERSION, flavor->version_flag,
                   (int)flavor->version);
    if (l->metadata[TW_METADATA_EMPTY]) tw_ll_text(l, "%M = !{}\n", TW_METADATA_EMPTY);
    if (l->metadata[TW_METADATA_NONTEMPORAL]) tw_ll_text(l, "%M = !{i32 1}\n", TW_METADATA_NONTEMPORAL);
    if (l->metadata[TW_METADATA_LDS_FENCE])
        tw_ll_text(l, "%M = !{!\"%s\", !\"local\"}\n", TW_METADATA_LDS_FENCE, flavor->lds_fence_tag);
    for (const tw_loop_note *loop = l->loops; loop; loop = loop->next) {
        int node = (int)loop->node;
        tw_ll_text(l, "!%d = distinct !{!%d, ", node, node);
        if (loop->unroll == 1) {
            tw_ll_text(l, "!{!\"llvm.loop.unroll.disable\"}}\n");
        } else {
            tw_ll_text(l, "!{!\"llvm.loop.unroll.count\", i32 %d}}\n", (int)loop->unroll);
        }
    }
}

/* ---- the module ---- */

static void write_module(tw_lowering *l) {
    char target[TW_TARGET_NAME_MAX];
    tw_target_format(l->kernel->target, target);
    tw_ll_text(l, "; %s for %s, %s\n", l->kernel->name, target, tw_flavor_name(l->flavor->flavor));
    if (l->flavor->data_layout[0]) tw_ll_text(l, "target datalayout = \"%s\"\n", l->flavor->data_layout);
    tw_ll_text(l, "target triple = \"amdgcn-amd-amdhsa\"\n\n");
    write_globals(l);
    tw_ll_text(l, "define protected amdgpu_kernel void @%s(", l->kernel->name);
    write_params(l);
    tw_ll_text(l, ") #0 !reqd_work_group_size !%d {\n", NODE_SIZE);
    tw_ll_block(l, (tw_label){".entry", "", 0});
    tw_ll_block_ops(l, &l->kernel->body);
    l->op = NULL;
    tw_ll_text(l, "}\n\n");
    tw_ll_declare_intrinsics(l);
    write_attributes(l);
    write_metadata(l);
}

static tw_status check(const tw_kernel *kernel, tw_flavor flavor, tw_diag *diag) {
    tw_status status = kernel->verified ? TW_OK : tw_kernel_verify(kernel, diag);
    if (!status) status = tw_flavor_serves(flavor, kernel->target, diag);
    if (status) return status;
    /* LLVM keeps these names for itself. */
    if (strncmp(kernel->name, "llvm.", strlen("llvm.")) == 0)
        return tw_fail_at(diag, TW_ERR_INVALID, kernel->name, 0, 0,
                          "a kernel's name must not begin with \"llvm.\" (got \"%s\")", kernel->name);
    return TW_OK;
}

tw_status tw_lower_with(const tw_kernel *kernel, tw_flavor flavor, const tw_allocator *allocator, char **text,
                        size_t *length, tw_diag *diag) {
    tw_status status = check(kernel, flavor, diag);
    if (status) return status;
    tw_lowering l = {
        .kernel = kernel,
        .arch = tw_arch_get(kernel->target.arch),
        .flavor = tw_flavor_info_get(flavor),
        .diag = diag,
        .next_metadata = FIRST_NODE,
    };
    tw_arena_init(&l.arena, allocator);
    tw_strbuf_init(&l.out, allocator);
    tw_intrinsics_choose(flavor, kernel->target, l.rows);
    bool named = tw_value_names_init(&l.names, kernel, allocator);
    if (named) write_module(&l);
    if (!l.status) {
        *text = named ? tw_strbuf_take(&l.out, length) : NULL;
        if (!*text) l.status = tw_fail_no_memory(diag);
    }
    tw_value_names_free(&l.names);
    tw_strbuf_free(&l.out);
    tw_arena_free(&l.arena);
    return l.status;
}

tw_status tw_lower(const tw_kernel *kernel, tw_flavor flavor, char **text, size_t *length, tw_diag *diag) {
    if (text) *text = NULL;
    if (length) *length = 0;
    if (!kernel || !text) return tw_fail(diag, TW_ERR_USAGE, "tw_lower: kernel and text must not be NULL");
    return tw_lower_with(kernel, flavor, NULL, text, length, diag);
}
