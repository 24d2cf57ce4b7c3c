#include "ir/interp.h"

#include <inttypes.h>
#include <string.h>

#include "ir/eval.h"
#include "ir/interp_state.h"
#include "ir/rules.h"
#include "support/strbuf.h"

#define DEFAULT_MAX_OPS 100000000u

tw_status tw_interp_refuse(const tw_interp *in, const tw_op *op, uint32_t item, const char *format, ...) {
    tw_strbuf text;
    va_list arguments;
    tw_strbuf_init(&text, NULL);
    va_start(arguments, format);
    tw_strbuf_vprintf(&text, format, arguments);
    va_end(arguments);
    tw_refuse_op(in->kernel, op, in->diag, TW_ERR_DEVICE,
                 "in work-item %" PRIu32 " of workgroup %" PRIu32 ", %" PRIu32 ", %" PRIu32 " %s", item,
                 in->group[0], in->group[1], in->group[2], tw_strbuf_text(&text));
    tw_strbuf_free(&text);
    return TW_ERR_DEVICE;
}

/* ---- control ---- */

static tw_status run_block(tw_interp *in, const tw_block *block, const uint8_t *mask, unsigned depth);

static bool any(const tw_interp *in, const uint8_t *mask) { return memchr(mask, 1, in->items) != NULL; }

static void copy_value(const tw_interp *in, tw_value to, tw_value from, const uint8_t *mask) {
    size_t bytes = in->slots[to.id].width * sizeof(uint64_t);
    for (uint32_t item = 0; item < in->items; item++)
        if (mask[item]) memcpy(tw_interp_words(in, to, item), tw_interp_words(in, from, item), bytes);
}

static tw_status run_if(tw_interp *in, const tw_op *op, const uint8_t *mask, unsigned depth) {
    for (uint32_t region = 0; region < 2; region++) {
        uint8_t *inner = in->masks[2 * depth];
        for (uint32_t item = 0; item < in->items; item++)
            inner[item] = mask[item] && (tw_interp_in(in, op, 0, item)[0] != 0) == (region == 0);
        if (region >= op->block_count || !any(in, inner)) continue;
        const tw_block *block = &op->blocks[region];
        tw_status status = run_block(in, block, inner, depth + 1);
        if (status) return status;
        for (uint32_t i = 0; i < op->result_count; i++)
            copy_value(in, tw_op_result(op, i), block->last->operands[i], inner);
    }
    return TW_OK;
}

/* All yielded values are read before the first carried one changes. */
static void carry(tw_interp *in, const tw_block *body, const uint8_t *mask) {
    const tw_op *yield = body->last;
    uint64_t *to = in->carried;
    for (uint32_t i = 0; i < yield->operand_count; i++) {
        size_t width = in->slots[body->args[1 + i].id].width;
        for (uint32_t item = 0; item < in->items; item++, to += width)
            if (mask[item]) memcpy(to, tw_interp_in(in, yield, i, item), width * sizeof *to);
    }
    const uint64_t *from = in->carried;
    for (uint32_t i = 0; i < yield->operand_count; i++) {
        size_t width = in->slots[body->args[1 + i].id].width;
        for (uint32_t item = 0; item < in->items; item++, from += width)
            if (mask[item]) memcpy(tw_interp_words(in, body->args[1 + i], item), from, width * sizeof *from);
    }
}

static int64_t index_operand(const tw_interp *in, const tw_op *op, uint32_t operand, uint32_t item,
                             unsigned width) {
    return tw_sign_extend(tw_interp_in(in, op, operand, item)[0], width);
}

/* Moves the index of the work-items in `mask`, and takes those out that are done. */
static tw_status next_round(tw_interp *in, const tw_op *op, uint8_t *mask, unsigned width) {
    for (uint32_t item = 0; item < in->items; item++) {
        uint64_t *index = tw_interp_words(in, op->blocks[0].args[0], item);
        int64_t step = index_operand(in, op, 2, item, width), next;
        if (!mask[item]) continue;
        if (__builtin_add_overflow(tw_sign_extend(*index, width), step, &next) ||
            next != tw_sign_extend((uint64_t)next & tw_width_mask(width), width))
            return tw_interp_refuse(in, op, item, "the index must not overflow (got step %" PRId64 ")", step);
        *index = (uint64_t)next & tw_width_mask(width);
        mask[item] = next < index_operand(in, op, 1, item, width);
    }
    return TW_OK;
}

static tw_status run_for(tw_interp *in, const tw_op *op, const uint8_t *mask, unsigned depth) {
    const tw_block *body = &op->blocks[0];
    unsigned width = tw_scalar_bits(tw_type_of(in->kernel, body->args[0])->scalar);
    uint8_t *inside = in->masks[2 * depth + 1];
    for (uint32_t item = 0; item < in->items; item++) {
        int64_t step = index_operand(in, op, 2, item, width);
        if (mask[item] && step <= 0)
            return tw_interp_refuse(in, op, item, "the step must be positive (got %" PRId64 ")", step);
        inside[item] =
            mask[item] && index_operand(in, op, 0, item, width) < index_operand(in, op, 1, item, width);
    }
    copy_value(in, body->args[0], op->operands[0], mask);
    for (uint32_t i = 0; i < op->result_count; i++)
        copy_value(in, body->args[1 + i], op->operands[3 + i], mask);
    while (any(in, inside)) {
        tw_status status = run_block(in, body, inside, depth + 1);
        if (status) return status;
        carry(in, body, inside);
        status = next_round(in, op, inside, width);
        if (status) return status;
    }
    for (uint32_t i = 0; i < op->result_count; i++)
        copy_value(in, tw_op_result(op, i), body->args[1 + i], mask);
    return TW_OK;
}

static tw_status meet(const tw_interp *in, const tw_op *op) {
    const uint8_t *missing = memchr(in->active, 0, in->items);
    if (!missing) return TW_OK;
    return tw_interp_refuse(in, op, (uint32_t)(missing - in->active),
                            "all work-items of the workgroup must reach the barrier (got one that does not)");
}

/* No default: a row without an interpretation is a warning of the compiler. */
static tw_status run_op(tw_interp *in, const tw_op *op, unsigned depth) {
    switch (op->opcode) {
#define OP(number, ENUM, ident, name, in, out, attrs, effect, rule, doc)
#define ALU1(number, ENUM, ident, name, class, result, fold, doc) case TW_OP_##ENUM:
#define ALU2(number, ENUM, ident, name, class, result, fold, doc) case TW_OP_##ENUM:
#define ALU3(number, ENUM, ident, name, class, result, fold, doc) case TW_OP_##ENUM:
#include "ir/opcodes.def"
#undef OP
#undef ALU1
#undef ALU2
#undef ALU3
        return tw_interp_alu(in, op);
    case TW_OP_ICMP:
    case TW_OP_FCMP: return tw_interp_compare(in, op);
    case TW_OP_SELECT: return tw_interp_select(in, op);
    case TW_OP_FPEXT:
    case TW_OP_FPTRUNC:
    case TW_OP_FPTRUNC_SAT:
    case TW_OP_SITOFP:
    case TW_OP_UITOFP:
    case TW_OP_FPTOSI:
    case TW_OP_FPTOUI:
    case TW_OP_SEXT:
    case TW_OP_ZEXT:
    case TW_OP_TRUNC: return tw_interp_convert(in, op);
    case TW_OP_BITCAST: return tw_interp_bitcast(in, op);
    case TW_OP_VECTOR_BUILD:
    case TW_OP_VECTOR_EXTRACT:
    case TW_OP_VECTOR_INSERT:
    case TW_OP_VECTOR_SPLAT:
    case TW_OP_VECTOR_SHUFFLE: return tw_interp_vector(in, op);
    case TW_OP_WORKITEM_ID:
    case TW_OP_WORKGROUP_ID:
    case TW_OP_NUM_WORKGROUPS:
    case TW_OP_LANE_ID:
    case TW_OP_WAVE_ID: return tw_interp_id(in, op);
    case TW_OP_READFIRSTLANE:
    case TW_OP_SHUFFLE:
    case TW_OP_SHUFFLE_XOR:
    case TW_OP_ROW_SHIFT:
    case TW_OP_WAVE_REDUCE:
    case TW_OP_BALLOT: return tw_interp_across_lanes(in, op);
    case TW_OP_MMA: return tw_interp_mma(in, op);
    case TW_OP_PTR_OFFSET: return tw_interp_ptr_offset(in, op);
    case TW_OP_GLOBAL_LOAD:
    case TW_OP_GLOBAL_STORE:
    case TW_OP_GLOBAL_ATOMIC_FADD:
    case TW_OP_LDS_LOAD:
    case TW_OP_LDS_STORE:
    case TW_OP_LDS_ATOMIC_FADD: return tw_interp_pointer_access(in, op);
    case TW_OP_BUFFER_RSRC: return tw_interp_buffer_rsrc(in, op);
    case TW_OP_BUFFER_LOAD:
    case TW_OP_BUFFER_STORE:
    case TW_OP_BUFFER_ATOMIC_FADD: return tw_interp_buffer_access(in, op);
    case TW_OP_ASYNC_COPY_TO_LDS:
    case TW_OP_ASYNC_COPY_FROM_LDS:
    case TW_OP_GLOBAL_LOAD_TO_LDS:
    case TW_OP_BUFFER_LOAD_TO_LDS: return tw_interp_copy(in, op);
    case TW_OP_TENSOR_LOAD_TO_LDS:
    case TW_OP_TENSOR_STORE_FROM_LDS: return tw_interp_tensor_copy(in, op);
    case TW_OP_ASYNC_WAIT:
    case TW_OP_TENSOR_WAIT: return tw_interp_wait(in, op);
    case TW_OP_LDS_LOAD_TRANSPOSED:
    case TW_OP_GLOBAL_LOAD_TRANSPOSED: return tw_interp_transposed(in, op);
    case TW_OP_BARRIER:
    case TW_OP_BARRIER_SIGNAL: /* in step, all have come when the first signals */
    case TW_OP_BARRIER_WAIT: return meet(in, op);
    case TW_OP_FOR: return run_for(in, op, in->active, depth);
    case TW_OP_IF: return run_if(in, op, in->active, depth);
    /* Constants and LDS arrays have their slots filled before the start; the rest has no effect on values. */
    case TW_OP_CONSTANT:
    case TW_OP_LDS_ALLOC:
    case TW_OP_SCHED_BARRIER:
    case TW_OP_SCHED_GROUP_BARRIER:
    case TW_OP_SETPRIO:
    case TW_OP_YIELD:
    case TW_OP_RETURN: return TW_OK;
    case TW_OP_INVALID: break;
    }
    return TW_ERR_INVALID;
}

static tw_status run_block(tw_interp *in, const tw_block *block, const uint8_t *mask, unsigned depth) {
    for (const tw_op *op = block->first; op; op = op->next) {
        if (in->ops == in->max_ops)
            return tw_refuse_op(in->kernel, op, in->diag, TW_ERR_LIMIT,
                                "the run must end within its limit of ops (got %" PRIu64 ")", in->max_ops);
        in->ops++;
        in->active = mask;
        tw_status status = tw_interp_check_uniform(in, op);
        if (!status) status = run_op(in, op, depth);
        if (status) return status;
    }
    return TW_OK;
}

/* ---- the state ---- */

static uint32_t words_of(const tw_type *type) {
    switch (type->kind) {
    case TW_TYPE_POINTER: return RSRC_BYTES;
    case TW_TYPE_RSRC: return RSRC_BYTES + 1;
    default: return type->lanes ? type->lanes : 1;
    }
}

static bool make_slot(tw_interp *in, tw_value value, bool same_in_all) {
    tw_interp_slot *slot = &in->slots[value.id];
    slot->width = words_of(tw_type_of(in->kernel, value));
    slot->step = same_in_all ? 0 : slot->width;
    slot->words =
        TW_ARENA_NEW(&in->arena, uint64_t, same_in_all ? slot->width : (size_t)slot->width * in->items);
    return slot->words != NULL;
}

static bool fill_constant(tw_interp *in, const tw_op *op) {
    if (!make_slot(in, op->first_result, true)) return false;
    const tw_interp_slot *slot = &in->slots[op->first_result.id];
    for (uint32_t lane = 0; lane < slot->width; lane++)
        slot->words[lane] = (uint64_t)op->attrs[0].as.i;
    return true;
}

static bool make_lds(tw_interp *in, const tw_op *op) {
    const tw_value_info *info = tw_value_get(in->kernel, op->first_result);
    tw_interp_object *object = &in->objects[in->object_count];
    object->size = (uint64_t)tw_op_attr_value(op, "count") * (tw_scalar_bits(info->type->scalar) / 8);
    object->bytes = TW_ARENA_NEW(&in->arena, uint8_t, object->size);
    object->written = TW_ARENA_NEW(&in->arena, uint8_t, object->size);
    object->name = info->name ? info->name : "an LDS array";
    object->writable = true;
    if (!object->bytes || !object->written || !make_slot(in, op->first_result, true)) return false;
    in->slots[op->first_result.id].words[POINTER_OBJECT] = in->object_count++;
    return true;
}

/* Slots for all values; the widest yield. */
static bool make_slots(tw_interp *in) {
    size_t widest = 0;
    for (const tw_op *op = in->kernel->body.first; op; op = tw_op_after(op)) {
        if (op->opcode == TW_OP_CONSTANT) {
            if (!fill_constant(in, op)) return false;
        } else if (op->opcode == TW_OP_LDS_ALLOC) {
            if (!make_lds(in, op)) return false;
        } else {
            size_t width = 0;
            for (uint32_t i = 0; i < op->result_count; i++) {
                if (!make_slot(in, tw_op_result(op, i), false)) return false;
                width += in->slots[op->first_result.id + i].width;
            }
            for (uint32_t i = 0; op->block_count && i < op->blocks[0].arg_count; i++)
                if (!make_slot(in, op->blocks[0].args[i], false)) return false;
            widest = width > widest ? width : widest;
        }
    }
    in->carried = TW_ARENA_NEW(&in->arena, uint64_t, widest * in->items + 1);
    return in->carried != NULL;
}

static bool make_params(tw_interp *in, const tw_interp_arg *args) {
    const tw_kernel *kernel = in->kernel;
    for (uint32_t i = 0; i < kernel->body.arg_count; i++) {
        tw_value value = kernel->body.args[i];
        if (!make_slot(in, value, true)) return false;
        const tw_type *type = tw_type_of(kernel, value);
        if (type->kind == TW_TYPE_POINTER) {
            in->objects[in->object_count] =
                (tw_interp_object){.bytes = args[i].memory,
                                   .size = args[i].bytes,
                                   .name = kernel->params[i].name,
                                   .writable = !(kernel->params[i].flags & TW_PARAM_READONLY)};
            in->slots[value.id].words[POINTER_OBJECT] = in->object_count++;
        } else {
            in->slots[value.id].words[0] = args[i].bits;
        }
    }
    return true;
}

static bool make_state(tw_interp *in, const tw_interp_arg *args) {
    const tw_kernel *kernel = in->kernel;
    size_t arrays = 0;
    for (const tw_op *op = kernel->body.first; op; op = op->next)
        arrays += op->opcode == TW_OP_LDS_ALLOC;
    in->slots = TW_ARENA_NEW(&in->arena, tw_interp_slot, (size_t)kernel->value_count + 1);
    in->objects = TW_ARENA_NEW(&in->arena, tw_interp_object, kernel->body.arg_count + arrays + 1);
    in->masks = TW_ARENA_NEW(&in->arena, uint8_t *, 2 * (TW_DEPTH_MAX + 1));
    in->copies =
        TW_ARENA_NEW(&in->arena, tw_interp_copies, 2 * ((in->items + in->wave_size - 1) / in->wave_size));
    if (!in->slots || !in->objects || !in->masks || !in->copies || !make_params(in, args)) return false;
    for (unsigned i = 0; i < 2 * (TW_DEPTH_MAX + 1); i++)
        if (!(in->masks[i] = TW_ARENA_NEW(&in->arena, uint8_t, in->items))) return false;
    return make_slots(in);
}

/* ---- the launch ---- */

static tw_status check_args(const tw_kernel *kernel, const tw_interp_arg *args, size_t count, tw_diag *diag) {
    if (count != kernel->body.arg_count)
        return tw_fail(diag, TW_ERR_USAGE, "%s must get %" PRIu32 " arguments (got %zu)", kernel->name,
                       kernel->body.arg_count, count);
    for (size_t i = 0; i < count; i++) {
        const tw_type *type = tw_type_of(kernel, kernel->body.args[i]);
        unsigned width = tw_type_bits(type);
        const char *name = kernel->params[i].name;
        if (type->kind == TW_TYPE_POINTER && !args[i].memory && args[i].bytes)
            return tw_fail(diag, TW_ERR_USAGE, "argument %s must have memory (got NULL with %zu bytes)", name,
                           args[i].bytes);
        if (type->kind != TW_TYPE_POINTER && args[i].bits & ~tw_width_mask(width))
            return tw_fail(diag, TW_ERR_USAGE, "argument %s must fit in %u bits (got 0x%" PRIX64 ")", name,
                           width, args[i].bits);
    }
    return TW_OK;
}

static tw_status run_workgroup(tw_interp *in, const uint8_t *all) {
    for (uint32_t i = 0; i < in->object_count; i++)
        if (in->objects[i].written) memset(in->objects[i].written, 0, in->objects[i].size);
    tw_status status = run_block(in, &in->kernel->body, all, 0);
    return tw_interp_end_copies(in, status);
}

static tw_status run_grid(tw_interp *in) {
    uint8_t *all = TW_ARENA_NEW(&in->arena, uint8_t, in->items);
    if (!all) return tw_fail_no_memory(in->diag);
    memset(all, 1, in->items);
    tw_status status = TW_OK;
    uint32_t *g = in->group;
    for (g[2] = 0; g[2] < in->grid[2]; g[2]++)
        for (g[1] = 0; g[1] < in->grid[1]; g[1]++)
            for (g[0] = 0; g[0] < in->grid[0]; g[0]++)
                if ((status = run_workgroup(in, all))) return status;
    return TW_OK;
}

tw_status tw_interp_run(const tw_kernel *kernel, const uint32_t grid[3], const tw_interp_arg *args,
                        size_t arg_count, const tw_interp_options *options, tw_diag *diag) {
    if (!kernel || !grid || (!args && arg_count))
        return tw_fail(diag, TW_ERR_USAGE, "tw_interp_run: kernel, grid and args must not be NULL");
    tw_status status = tw_kernel_verify(kernel, diag);
    if (!status) status = check_args(kernel, args, arg_count, diag);
    if (status) return status;
    const tw_kernel_options *o = &kernel->options;
    tw_interp in = {.kernel = kernel,
                    .diag = diag,
                    .flush = o->flush_f32_denormals,
                    .grid = {grid[0], grid[1], grid[2]},
                    .block = {o->workgroup_size, o->workgroup_size_y ? o->workgroup_size_y : 1,
                              o->workgroup_size_z ? o->workgroup_size_z : 1},
                    .wave_size = kernel->target.wave_size,
                    .max_ops = options && options->max_ops ? options->max_ops : DEFAULT_MAX_OPS};
    in.items = in.block[0] * in.block[1] * in.block[2];
    tw_arena_init(&in.arena, &tw_allocator_default); /* several threads may run one kernel */
    status = make_state(&in, args) ? run_grid(&in) : tw_fail_no_memory(diag);
    tw_arena_free(&in.arena);
    return status;
}
