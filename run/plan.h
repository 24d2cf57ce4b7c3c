/* Plans: what a problem needs from one or more kernels. Named buffers, and launches in order, each with what
 * is cleared before it. A plan holds no code and no data: it is made once a problem and run with code objects
 * and buffers, on any device.
 *
 *     tw_plan *plan = tw_plan_new("axpy n=1000");
 *     uint32_t x = tw_plan_add_buffer(plan, "x", TW_PLAN_INPUT, 4000);
 *     uint32_t sum = tw_plan_add_buffer(plan, "sum", TW_PLAN_OUTPUT, 4);
 *     tw_plan_add_launch(plan, 0, "reduce", (tw_dim3){4, 1, 1}, (tw_dim3){256, 1, 1}, 0);
 *     tw_plan_zero(plan, sum);                  // before this launch
 *     tw_plan_arg_buffer(plan, "x", x, 0);      // arguments in the kernel's order
 *     tw_plan_arg_buffer(plan, "sum", sum, 0);
 *     tw_plan_arg_i32(plan, "n", 1000);
 *     status = tw_plan_check(plan, diag);
 *
 * The calls that fill a plan cannot fail one by one: a plan keeps its first error and tw_plan_check, like
 * every call that uses the plan, reports it. One thread at a time fills a plan; a filled plan is read by any
 * number. */
#ifndef TW_RUN_PLAN_H
#define TW_RUN_PLAN_H

#include "run/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_plan tw_plan;

typedef enum tw_plan_role {
    TW_PLAN_INPUT = 0, /* the host gives its bytes */
    TW_PLAN_OUTPUT,    /* the launches write it, the host wants it */
    TW_PLAN_INOUT,     /* both */
    TW_PLAN_SCRATCH    /* lives for the launches only */
} tw_plan_role;

/* Strings and arrays below belong to the plan and live until it is freed or filled further. */
typedef struct tw_plan_buffer {
    const char *name;
    tw_plan_role role;
    uint64_t bytes;
} tw_plan_buffer;

typedef struct tw_plan_arg {
    const char *name; /* "": not said */
    tw_launch_arg_kind kind;
    union {
        struct {
            uint32_t index; /* of the plan's buffers */
            uint64_t offset;
        } buffer;
        int32_t i32;
        int64_t i64;
        float f32;
        double f64;
        struct {
            const void *data;
            size_t size;
        } bytes;
    } as;
} tw_plan_arg;

typedef struct tw_plan_launch {
    uint32_t object; /* which of the code objects that the plan is run with */
    const char *kernel;
    tw_dim3 grid, block;
    uint32_t dynamic_lds;
    const uint32_t *zeroed; /* buffers that are cleared before it */
    size_t zeroed_count;
    const tw_plan_arg *args;
    size_t arg_count;
} tw_plan_launch;

/* ---- filling ---- */

/* `label` (copied) names the plan in diagnostics. NULL when memory is out. */
TW_API tw_plan *tw_plan_new(const char *label);
TW_API void tw_plan_free(tw_plan *plan); /* NULL is fine */

/* Names are 1 to 64 letters, digits, '_', '-' and '.', no '.' first, each once. Gives the buffer's index. */
TW_API uint32_t tw_plan_add_buffer(tw_plan *plan, const char *name, tw_plan_role role, uint64_t bytes);
/* `object` counts the code objects that the plan is run with; `dynamic_lds` in bytes. Gives the launch's
 * index; the calls below speak of the newest launch. */
TW_API uint32_t tw_plan_add_launch(tw_plan *plan, uint32_t object, const char *kernel, tw_dim3 grid,
                                   tw_dim3 block, uint32_t dynamic_lds);
/* The whole buffer is zero when the launch begins. */
TW_API void tw_plan_zero(tw_plan *plan, uint32_t buffer);
/* Arguments in the order of the kernel's. `name` may be NULL; where the code object knows its argument's name
 * too, the two must agree, so that a swapped pair does not pass. */
TW_API void tw_plan_arg_buffer(tw_plan *plan, const char *name, uint32_t buffer, uint64_t offset);
/* A value that an i32 cannot hold is the plan's error: sizes in bytes are computed in 64 bits and given here.
 */
TW_API void tw_plan_arg_i32(tw_plan *plan, const char *name, int64_t value);
TW_API void tw_plan_arg_i64(tw_plan *plan, const char *name, int64_t value);
TW_API void tw_plan_arg_f32(tw_plan *plan, const char *name, float value);
TW_API void tw_plan_arg_f64(tw_plan *plan, const char *name, double value);
TW_API void tw_plan_arg_bytes(tw_plan *plan, const char *name, const void *data, size_t size); /* copied */
TW_API void tw_plan_arg_null(tw_plan *plan, const char *name);
/* Gives the plan an error of the caller's, where it has none: "ho must be at least 1 (got 0)". */
TW_API void tw_plan_refuse(tw_plan *plan, const char *format, ...) TW_PRINTF(2, 3);

/* ---- reading ---- */

/* TW_OK, or the first error with its text: of a filling call, or of the plan as a whole (no launch, a buffer
 * that no launch uses). */
TW_API tw_status tw_plan_check(const tw_plan *plan, tw_diag *diag);
TW_API const char *tw_plan_label(const tw_plan *plan);
TW_API size_t tw_plan_buffer_count(const tw_plan *plan);
TW_API const tw_plan_buffer *tw_plan_buffer_at(const tw_plan *plan, size_t index); /* NULL past the end */
TW_API size_t tw_plan_launch_count(const tw_plan *plan);
TW_API const tw_plan_launch *tw_plan_launch_at(const tw_plan *plan, size_t index); /* NULL past the end */
TW_API size_t tw_plan_object_count(const tw_plan *plan); /* code objects that it needs */
/* Lines for people: buffers, then launches with grids, cleared buffers and arguments. free() it; NULL when
 * memory is out. */
TW_API char *tw_plan_text(const tw_plan *plan);

/* ---- running ---- */

/* The host's side of one buffer. `input` is read for INPUT and INOUT, `output` written for OUTPUT and INOUT,
 * the buffer's size each; the others are not looked at. */
typedef struct tw_plan_host {
    const void *input;
    void *output;
} tw_plan_host;

/* Everything from host memory to host memory: loads the code, makes the buffers, runs, copies back. `hosts`
 * has one entry a buffer; `counts` (may be NULL) gets one entry a launch, where no other thread launches on
 * the device. Every launch is checked before the first one runs. */
TW_API tw_status tw_plan_run(const tw_plan *plan, tw_device *device, tw_code_object *const *objects,
                             size_t object_count, const tw_plan_host *hosts, size_t host_count,
                             tw_launch_counts *counts, tw_diag *diag);

/* The launches alone, on modules and buffers that are on one device already: what a caller does who runs a
 * plan many times. Buffers are at least as long as the plan's. */
TW_API tw_status tw_plan_execute(const tw_plan *plan, tw_module *const *modules, size_t module_count,
                                 tw_buffer *const *buffers, size_t buffer_count, tw_launch_counts *counts,
                                 tw_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
