#include "run/plan.h"

#include <stdlib.h>
#include <string.h>

#include "support/arena.h"
#include "support/fail.h"
#include "support/strbuf.h"

/* A plan is small and grows one entry at a time; what it outgrows stays in the arena until it is freed. */
typedef struct list {
    void *items;
    size_t count, capacity;
} list;

typedef struct launch_lists {
    list zeroed, args;
} launch_lists;

struct tw_plan {
    tw_arena arena;
    const char *label;
    list buffers;  /* tw_plan_buffer */
    list launches; /* tw_plan_launch */
    launch_lists newest;
    tw_status status; /* the first error and its text */
    const char *error;
};

/* ---- errors ---- */

static void no_memory(tw_plan *plan) {
    if (plan->status) return;
    plan->status = TW_ERR_NO_MEMORY;
    plan->error = "out of memory";
}

static void keep_error(tw_plan *plan, tw_status status, const char *format, va_list arguments) {
    if (plan->status) return;
    tw_strbuf text;
    tw_strbuf_init(&text, NULL);
    tw_strbuf_vprintf(&text, format, arguments);
    const char *kept =
        text.failed ? NULL : tw_arena_strndup(&plan->arena, tw_strbuf_text(&text), text.length);
    tw_strbuf_free(&text);
    if (!kept) {
        no_memory(plan);
        return;
    }
    plan->status = status;
    plan->error = kept;
}

static void misuse(tw_plan *plan, const char *format, ...) TW_PRINTF(2, 3);
static void misuse(tw_plan *plan, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    keep_error(plan, TW_ERR_USAGE, format, arguments);
    va_end(arguments);
}

void tw_plan_refuse(tw_plan *plan, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    keep_error(plan, TW_ERR_INVALID, format, arguments);
    va_end(arguments);
}

/* ---- filling ---- */

/* Room for one more item at the end of the list, zeroed; NULL (and the plan's error) when memory is out. */
static void *append(tw_plan *plan, list *l, size_t size) {
    if (l->count == l->capacity) {
        size_t capacity = l->capacity ? 2 * l->capacity : 8;
        void *items = tw_arena_alloc(&plan->arena, capacity, size);
        if (!items) {
            no_memory(plan);
            return NULL;
        }
        if (l->count) memcpy(items, l->items, l->count * size);
        l->items = items;
        l->capacity = capacity;
    }
    return (char *)l->items + l->count++ * size;
}

static const char *copy_text(tw_plan *plan, const char *text) {
    const char *copy = text ? tw_arena_strndup(&plan->arena, text, strlen(text)) : "";
    if (!copy) no_memory(plan);
    return copy ? copy : "";
}

tw_plan *tw_plan_new(const char *label) {
    tw_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return NULL;
    tw_arena_init(&plan->arena, NULL);
    plan->label = copy_text(plan, label);
    return plan;
}

void tw_plan_free(tw_plan *plan) {
    if (!plan) return;
    tw_arena_free(&plan->arena);
    free(plan);
}

static bool is_name(const char *name) {
    size_t length =
        name ? strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.") : 0;
    return length >= 1 && length <= 64 && !name[length] && name[0] != '.';
}

uint32_t tw_plan_add_buffer(tw_plan *plan, const char *name, tw_plan_role role, uint64_t bytes) {
    uint32_t index = (uint32_t)plan->buffers.count;
    if (!is_name(name))
        tw_plan_refuse(
            plan, "a buffer's name must be 1 to 64 letters, digits, '_', '-' and '.', no '.' first (got %s)",
            name ? name : "NULL");
    for (size_t i = 0; !plan->status && i < plan->buffers.count; i++)
        if (!strcmp(tw_plan_buffer_at(plan, i)->name, name))
            tw_plan_refuse(plan, "a buffer's name must be there once (got %s)", name);
    if ((unsigned)role > TW_PLAN_SCRATCH) {
        misuse(plan, "the role of buffer %s must be a tw_plan_role (got %d)", name ? name : "NULL",
               (int)role);
        role = TW_PLAN_SCRATCH;
    }
    if (bytes > SIZE_MAX / 2)
        tw_plan_refuse(plan, "buffer %s must fit in memory (got %llu bytes)", name ? name : "NULL",
                       (unsigned long long)bytes);
    tw_plan_buffer *buffer = append(plan, &plan->buffers, sizeof *buffer);
    if (buffer) *buffer = (tw_plan_buffer){copy_text(plan, name), role, bytes};
    return index;
}

uint32_t tw_plan_add_launch(tw_plan *plan, uint32_t object, const char *kernel, tw_dim3 grid, tw_dim3 block,
                            uint32_t dynamic_lds) {
    uint32_t index = (uint32_t)plan->launches.count;
    if (!kernel || !kernel[0]) misuse(plan, "launch %u needs the name of a kernel (got none)", index);
    if (object > index)
        misuse(plan, "launch %u must use one of the code objects so far or the next one, %u (got %u)", index,
               index, object);
    if (!grid.x || !grid.y || !grid.z)
        tw_plan_refuse(plan, "the grid of launch %u must be at least 1x1x1 (got %ux%ux%u)", index, grid.x,
                       grid.y, grid.z);
    if (!block.x || !block.y || !block.z)
        tw_plan_refuse(plan, "the block of launch %u must be at least 1x1x1 (got %ux%ux%u)", index, block.x,
                       block.y, block.z);
    tw_plan_launch *launch = append(plan, &plan->launches, sizeof *launch);
    plan->newest = (launch_lists){0};
    if (launch)
        *launch = (tw_plan_launch){.object = object,
                                   .kernel = copy_text(plan, kernel),
                                   .grid = grid,
                                   .block = block,
                                   .dynamic_lds = dynamic_lds};
    return index;
}

/* The launch that is being filled, or NULL (and the plan's error). */
static tw_plan_launch *newest(tw_plan *plan) {
    if (!plan->launches.count) {
        misuse(plan, "an argument belongs to a launch, and the plan has none yet (got 0 launches)");
        return NULL;
    }
    return (tw_plan_launch *)plan->launches.items + plan->launches.count - 1;
}

static bool knows_buffer(tw_plan *plan, uint32_t buffer) {
    if (buffer < plan->buffers.count) return true;
    misuse(plan, "a buffer must be one of the plan's %zu (got index %u)", plan->buffers.count, buffer);
    return false;
}

void tw_plan_zero(tw_plan *plan, uint32_t buffer) {
    tw_plan_launch *launch = newest(plan);
    if (!launch || !knows_buffer(plan, buffer)) return;
    if (tw_plan_buffer_at(plan, buffer)->role == TW_PLAN_INPUT)
        misuse(plan, "an input is not cleared (got %s)", tw_plan_buffer_at(plan, buffer)->name);
    uint32_t *entry = append(plan, &plan->newest.zeroed, sizeof *entry);
    if (entry) *entry = buffer;
    launch->zeroed = plan->newest.zeroed.items;
    launch->zeroed_count = plan->newest.zeroed.count;
}

static void add_arg(tw_plan *plan, const char *name, tw_plan_arg arg) {
    tw_plan_launch *launch = newest(plan);
    if (!launch) return;
    tw_plan_arg *entry = append(plan, &plan->newest.args, sizeof *entry);
    if (entry) {
        *entry = arg;
        entry->name = copy_text(plan, name);
    }
    launch->args = plan->newest.args.items;
    launch->arg_count = plan->newest.args.count;
}

void tw_plan_arg_buffer(tw_plan *plan, const char *name, uint32_t buffer, uint64_t offset) {
    if (!newest(plan) || !knows_buffer(plan, buffer)) return;
    const tw_plan_buffer *of = tw_plan_buffer_at(plan, buffer);
    if (offset > of->bytes)
        tw_plan_refuse(plan, "an offset into buffer %s must be at most %llu bytes (got %llu)", of->name,
                       (unsigned long long)of->bytes, (unsigned long long)offset);
    add_arg(plan, name, (tw_plan_arg){.kind = TW_LAUNCH_BUFFER, .as.buffer = {buffer, offset}});
}

void tw_plan_arg_i32(tw_plan *plan, const char *name, int64_t value) {
    if (value < INT32_MIN || value > INT32_MAX)
        tw_plan_refuse(plan, "%s is an i32 argument and must be -2147483648..2147483647 (got %lld)",
                       name ? name : "a value", (long long)value);
    add_arg(plan, name, (tw_plan_arg){.kind = TW_LAUNCH_I32, .as.i32 = (int32_t)value});
}

void tw_plan_arg_i64(tw_plan *plan, const char *name, int64_t value) {
    add_arg(plan, name, (tw_plan_arg){.kind = TW_LAUNCH_I64, .as.i64 = value});
}

void tw_plan_arg_f32(tw_plan *plan, const char *name, float value) {
    add_arg(plan, name, (tw_plan_arg){.kind = TW_LAUNCH_F32, .as.f32 = value});
}

void tw_plan_arg_f64(tw_plan *plan, const char *name, double value) {
    add_arg(plan, name, (tw_plan_arg){.kind = TW_LAUNCH_F64, .as.f64 = value});
}

void tw_plan_arg_bytes(tw_plan *plan, const char *name, const void *data, size_t size) {
    if (!data || !size) {
        misuse(plan, "a by-value argument needs bytes (got %zu)", data ? size : 0);
        return;
    }
    void *copy = tw_arena_alloc(&plan->arena, size, 1);
    if (!copy) {
        no_memory(plan);
        return;
    }
    memcpy(copy, data, size);
    add_arg(plan, name, (tw_plan_arg){.kind = TW_LAUNCH_BYTES, .as.bytes = {copy, size}});
}

void tw_plan_arg_null(tw_plan *plan, const char *name) {
    add_arg(plan, name, (tw_plan_arg){.kind = TW_LAUNCH_NULL});
}

/* ---- reading ---- */

const char *tw_plan_label(const tw_plan *plan) { return plan->label; }

size_t tw_plan_buffer_count(const tw_plan *plan) { return plan->buffers.count; }

const tw_plan_buffer *tw_plan_buffer_at(const tw_plan *plan, size_t index) {
    return index < plan->buffers.count ? (const tw_plan_buffer *)plan->buffers.items + index : NULL;
}

size_t tw_plan_launch_count(const tw_plan *plan) { return plan->launches.count; }

const tw_plan_launch *tw_plan_launch_at(const tw_plan *plan, size_t index) {
    return index < plan->launches.count ? (const tw_plan_launch *)plan->launches.items + index : NULL;
}

size_t tw_plan_object_count(const tw_plan *plan) {
    size_t count = 0;
    for (size_t i = 0; i < plan->launches.count; i++) {
        size_t needed = (size_t)tw_plan_launch_at(plan, i)->object + 1;
        if (needed > count) count = needed;
    }
    return count;
}

static bool uses_buffer(const tw_plan_launch *launch, size_t buffer) {
    for (size_t i = 0; i < launch->arg_count; i++)
        if (launch->args[i].kind == TW_LAUNCH_BUFFER && launch->args[i].as.buffer.index == buffer)
            return true;
    return false;
}

tw_status tw_plan_check(const tw_plan *plan, tw_diag *diag) {
    if (plan->status == TW_ERR_NO_MEMORY) return tw_fail_no_memory(diag);
    if (plan->status) return tw_fail_at(diag, plan->status, plan->label, 0, 0, "%s", plan->error);
    if (!plan->launches.count)
        return tw_fail_at(diag, TW_ERR_USAGE, plan->label, 0, 0,
                          "a plan must have at least 1 launch (got 0)");
    for (size_t b = 0; b < plan->buffers.count; b++) {
        bool used = false;
        for (size_t i = 0; !used && i < plan->launches.count; i++)
            used = uses_buffer(tw_plan_launch_at(plan, i), b);
        if (!used)
            return tw_fail_at(diag, TW_ERR_USAGE, plan->label, 0, 0,
                              "every buffer is an argument of a launch (got %s)",
                              tw_plan_buffer_at(plan, b)->name);
    }
    return TW_OK;
}

/* ---- text for people ---- */

static void list_arg(const tw_plan *plan, const tw_plan_arg *arg, tw_strbuf *out) {
    tw_strbuf_printf(out, " %s%s", arg->name, arg->name[0] ? "=" : "");
    switch (arg->kind) {
    case TW_LAUNCH_BUFFER:
        tw_strbuf_append(out, tw_plan_buffer_at(plan, arg->as.buffer.index)->name);
        if (arg->as.buffer.offset) tw_strbuf_printf(out, "+%llu", (unsigned long long)arg->as.buffer.offset);
        break;
    case TW_LAUNCH_I32: tw_strbuf_printf(out, "i32:%d", (int)arg->as.i32); break;
    case TW_LAUNCH_I64: tw_strbuf_printf(out, "i64:%lld", (long long)arg->as.i64); break;
    case TW_LAUNCH_F32:
    case TW_LAUNCH_F64: { /* exact bits, the same in every locale */
        uint64_t bits = 0;
        size_t size = arg->kind == TW_LAUNCH_F32 ? 4 : 8;
        memcpy(&bits, &arg->as, size);
        tw_strbuf_printf(out, "f%u:0x", (unsigned)size * 8);
        tw_strbuf_hex(out, bits, (unsigned)size * 2);
        break;
    }
    case TW_LAUNCH_BYTES: tw_strbuf_printf(out, "bytes:%zu", arg->as.bytes.size); break;
    case TW_LAUNCH_NULL: tw_strbuf_append(out, "null"); break;
    }
}

char *tw_plan_text(const tw_plan *plan) {
    static const char *const roles[] = {"input", "output", "inout", "scratch"};
    tw_strbuf out;
    tw_strbuf_init(&out, NULL);
    tw_strbuf_printf(&out, "plan %s\n", plan->label);
    for (size_t i = 0; i < plan->buffers.count; i++) {
        const tw_plan_buffer *buffer = tw_plan_buffer_at(plan, i);
        tw_strbuf_printf(&out, "  buffer %s: %s, %llu bytes\n", buffer->name, roles[buffer->role],
                         (unsigned long long)buffer->bytes);
    }
    for (size_t i = 0; i < plan->launches.count; i++) {
        const tw_plan_launch *launch = tw_plan_launch_at(plan, i);
        for (size_t z = 0; z < launch->zeroed_count; z++)
            tw_strbuf_printf(&out, "  zero %s\n", tw_plan_buffer_at(plan, launch->zeroed[z])->name);
        tw_strbuf_printf(&out, "  launch %s: grid %ux%ux%u, block %ux%ux%u, dynamic LDS %u:", launch->kernel,
                         launch->grid.x, launch->grid.y, launch->grid.z, launch->block.x, launch->block.y,
                         launch->block.z, launch->dynamic_lds);
        for (size_t a = 0; a < launch->arg_count; a++)
            list_arg(plan, &launch->args[a], &out);
        tw_strbuf_char(&out, '\n');
    }
    if (plan->status) tw_strbuf_printf(&out, "  refused: %s\n", plan->error);
    return tw_strbuf_take(&out, NULL);
}
