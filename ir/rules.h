/* How the rules of ir/rules.c and ir/rules_extra.c work together. */
#ifndef TW_IR_RULES_H
#define TW_IR_RULES_H

#include "ir/ir.h"
#include "support/fail.h"

/* One op under check. */
typedef struct tw_check {
    const tw_kernel *kernel;
    const tw_op *op;
    const tw_op_info *info;
    tw_diag *diag;
} tw_check;

typedef tw_status tw_rule(const tw_check *check);

/* The extra rules that the rows of ir/opcodes.def name: they run after operand types, results and attributes
 * have the form that the row asks for. */
#define OP(number, ENUM, ident, name, in, out, attrs, effect, rule, doc) tw_rule tw_rule_##rule;
#include "ir/opcodes.def"
#undef OP

/* Adds "op: text" where the op stands and returns `status`. */
tw_status tw_refuse(const tw_check *check, tw_status status, const char *format, ...) TW_PRINTF(3, 4);
tw_status tw_refuse_op(const tw_kernel *kernel, const tw_op *op, tw_diag *diag, tw_status status,
                       const char *format, ...) TW_PRINTF(5, 6);
/* What diagnostics name as the place: the text's file, or the kernel. */
const char *tw_kernel_where(const tw_kernel *kernel);

/* "op: needs gfx950 or gfx1250 (got gfx942)" where the target lacks the feature. */
tw_status tw_check_feature(const tw_check *check, tw_arch_feature feature);
/* "op: what needs ..." */
tw_status tw_check_feature_of(const tw_check *check, const char *what, tw_arch_feature feature);
/* Attribute 0 is a cache policy for such accesses on the target. */
tw_status tw_check_cache_policy(const tw_check *check, tw_cache_op cache_op);
/* The workgroup consists of whole waves. */
tw_status tw_check_whole_waves(const tw_check *check);
/* "op: what needs gfx942 or gfx950 (got gfx90a)". `targets`: 1 << tw_arch of each. */
tw_status tw_refuse_target(const tw_check *check, const char *what, uint32_t targets);

/* The name of a type for a diagnostic: what TYPE_TEXT(type) points to lives as long as the call whose
 * argument it is. */
typedef struct tw_type_text {
    char text[TW_TYPE_NAME_MAX];
} tw_type_text;
tw_type_text tw_type_text_of(const tw_type *type); /* "no type" for NULL */
#define TYPE_TEXT(type) (tw_type_text_of(type).text)

/* ---- the kernel apart from its ops (ir/rules_kernel.c) ---- */

/* Name, target and options. */
tw_status tw_kernel_check_head(const tw_kernel *kernel, tw_diag *diag);
/* Parameter `index`, against those before it, too. */
tw_status tw_kernel_check_param(const tw_kernel *kernel, uint32_t index, tw_diag *diag);
/* [A-Za-z_][A-Za-z0-9_.$]*, at most TW_NAME_MAX bytes. */
bool tw_name_is_valid(const char *name, size_t length);
#define TW_NAME_MAX  255
#define TW_PARAM_MAX 256
#define TW_DEPTH_MAX 256 /* regions in regions */
/* Signals and waits of split barriers (ir/rules_barrier.c). */
tw_status tw_kernel_check_barriers(const tw_kernel *kernel, tw_diag *diag);
/* The LDS that the kernel's allocations take, laid out in program order. */
uint64_t tw_kernel_lds_bytes(const tw_kernel *kernel);

#endif
