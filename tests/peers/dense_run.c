/* Launches kernels of other compilers on a family's problem. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/emu_device.h"
#include "support/fail.h"
#include "tests/peers/dense.h"

int32_t dense_value(const cli_job *job, const char *name) {
    const tw_plan_launch *launch = tw_plan_launch_at(job->job->plan, 0);
    for (size_t i = 0; i < launch->arg_count; i++)
        if (!strcmp(launch->args[i].name, name)) return launch->args[i].as.i32;
    return 0;
}

uint64_t dense_count_wrong(const cli_job *job, const float *dw) {
    const tw_reference *r = &job->references[DENSE_DW];
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < job->job->tensors[DENSE_DW].elements; i++)
        wrong += !(fabs((double)dw[i] - r->expected[i]) <= r->bound[i]);
    return wrong;
}

void dense_describe(const tw_code_object *object, const char *kernel, uint32_t dynamic_lds,
                    dense_outcome *out) {
    const tw_kernel_info *info = tw_code_object_kernel(object, kernel);
    if (!info) return;
    out->vgprs = info->vgprs;
    out->spills = info->vgpr_spills + info->sgpr_spills;
    out->lds = info->lds_bytes + dynamic_lds;
    out->code_bytes = info->code_bytes;
}

static int64_t tiles(int64_t size, int tile) { return (size + tile - 1) / tile; }

static bool has_form(const dense_peer *peer, const char *form) {
    size_t length = strlen(form);
    return !strncmp(peer->label, form, length) && (!peer->label[length] || peer->label[length] == '-');
}

/* Workgroups along x, and what is shared along y: positions, or strips of 32 of a row. */
static void divide(const cli_job *job, const dense_case *c, const dense_peer *peer, int64_t *grid,
                   int64_t *units) {
    enum { STRIP = 32 };
    const int64_t taps = (int64_t)c->filter * c->filter, k = tiles(dense_value(job, "k"), peer->tile_k),
                  rows = (int64_t)dense_value(job, "n") * dense_value(job, "ho"), wo = dense_value(job, "wo"),
                  channels = dense_value(job, "c");
    *units = has_form(peer, "taps") ? rows * tiles(wo, STRIP) : rows * wo;
    if (has_form(peer, "flat"))
        *grid = k * tiles(taps * channels, peer->tile_c);
    else
        *grid = k * tiles(channels, peer->tile_c) *
                (has_form(peer, "taps")  ? 1
                 : has_form(peer, "row") ? c->filter
                                         : taps);
}

/* X, dY, the slab, which is dW in fp32, and one launch. */
static tw_plan *plan_of(const cli_job *job, const dense_case *c, const dense_peer *peer) {
    static const char *const sizes[] = {"n", "h", "w", "ho", "wo", "c", "k", "pad_h", "pad_w"};
    const tw_plan *like = job->job->plan;
    tw_plan *plan = tw_plan_new(peer->label);
    if (!plan) return NULL;
    int64_t grid, units,
        splits = (int64_t)tw_plan_launch_at(like, 0)->grid.z * tw_plan_launch_at(like, 0)->grid.y;
    divide(job, c, peer, &grid, &units);
    int64_t share = tiles(units, (int)splits);
    tw_plan_add_buffer(plan, "x", TW_PLAN_INPUT, tw_plan_buffer_at(like, DENSE_X)->bytes);
    tw_plan_add_buffer(plan, "dy", TW_PLAN_INPUT, tw_plan_buffer_at(like, DENSE_DY)->bytes);
    tw_plan_add_buffer(plan, "slab", TW_PLAN_OUTPUT, job->job->tensors[DENSE_DW].elements * sizeof(float));
    tw_plan_add_launch(plan, 0, peer->kernel, (tw_dim3){(uint32_t)grid, (uint32_t)splits, 1},
                       (tw_dim3){(uint32_t)peer->threads, 1, 1}, peer->dynamic_lds);
    for (uint32_t i = 0; i < 3; i++)
        tw_plan_arg_buffer(plan, NULL, i, 0);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        tw_plan_arg_i32(plan, NULL, dense_value(job, sizes[i]));
    tw_plan_arg_i32(plan, NULL, share);
    for (int i = 0; peer->triton && i < 2; i++) /* scratch that it does not use */
        tw_plan_arg_null(plan, NULL);
    tw_plan_zero(plan, 2);
    return plan;
}

tw_status dense_run_peer(const cli_job *job, tw_device *device, const dense_case *c, const dense_peer *peer,
                         dense_outcome *out, tw_diag *diag) {
    float *slab = malloc(job->job->tensors[DENSE_DW].elements * sizeof *slab);
    tw_plan *plan = plan_of(job, c, peer);
    tw_code_object *object = NULL;
    const tw_plan_host hosts[] = {
        {.input = job->data[DENSE_X]}, {.input = job->data[DENSE_DY]}, {.output = slab}};
    /* Triton masks lanes by offsets and LDS addresses that do not exist. */
    const tw_emu_settings settings = {
        .disabled_checks = peer->triton ? TW_EMU_CHECK_LDS_RANGE | TW_EMU_CHECK_BUFFER_RANGE : 0};
    tw_status status = slab && plan ? tw_plan_check(plan, diag) : tw_fail_no_memory(diag);
    if (!status) status = tw_device_set_emu(device, &settings, diag);
    if (!status) status = tw_code_object_read(peer->path, &object, diag);
    if (!status) status = tw_plan_run(plan, device, &object, 1, hosts, 3, &out->counts, diag);
    if (!status) out->wrong = dense_count_wrong(job, slab);
    if (object) dense_describe(object, peer->kernel, peer->dynamic_lds, out);
    tw_code_object_release(object);
    tw_plan_free(plan);
    free(slab);
    return status;
}
