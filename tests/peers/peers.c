/* The library's depthwise weight gradient next to one in HIP C++: the same problem, inputs, grid and
 * emulator.
 *
 *   peers --check                        numbers only, small problems: passes or fails
 *   peers [n=1 h=112 w=112 c=96]         what each kernel executes and uses
 *   peers --triton FOLDER                the same, with the code objects that tools/peers/triton_depthwise.py
 *                                        --save left there
 *   peers --time TILEWRIGHT [REPEAT]     wall time of the compiles, in milliseconds */
#include "tests/peers/peers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fail.h"
#include "tools/job.h"

const char *const peer_form_names[PEER_FORMS] = {"checked", "window"};
static const char *const targets[] = {"gfx950", "gfx1201", "gfx1250"};
static const char *const dtypes[] = {"bf16", "f16"};
static const int filters[] = {3, 7};
/* No multiple of any tile, and images as large as no inner loop, one round, and an odd number of columns. */
static const char *const check_sizes[][5] = {{"n=1", "h=3", "w=4", "c=37", NULL},
                                             {"n=2", "h=11", "w=13", "c=70", NULL}};
static const char *const measured_sizes[] = {"n=4", "h=28", "w=28", "c=96", NULL};
enum { X, DY, WS, DW, BUFFERS }; /* of the plan */

typedef struct options {
    bool check;
    const char *const *sizes; /* of what is measured */
    const char *triton;       /* a folder, or NULL */
    const char *command;      /* whose compiles to time, or NULL */
    unsigned repeat, failures;
} options;

/* One kernel's results and what the emulator counted. */
typedef struct outcome {
    tw_launch_counts counts;
    const tw_kernel_info *info;
    size_t code_bytes;
    uint64_t wrong; /* elements out of their bound */
} outcome;

tw_status peer_instance(const peer_case *c, const char *const *sizes, tw_instance *out, tw_diag *diag) {
    char kh[16], kw[16], dtype[24];
    const char *words[16] = {"direct_wgrad_depthwise", kh, kw, dtype};
    size_t count = 4;
    snprintf(kh, sizeof kh, "kh=%d", c->filter);
    snprintf(kw, sizeof kw, "kw=%d", c->filter);
    snprintf(dtype, sizeof dtype, "dtype=%s", c->dtype);
    while (*sizes && count < sizeof words / sizeof words[0])
        words[count++] = *sizes++;
    return tw_instance_parse(words, count, out, diag);
}

static uint64_t count_wrong(const cli_job *job, const float *dw) {
    const tw_reference *r = &job->references[DW];
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < job->job->tensors[DW].elements; i++)
        wrong += !(fabs((double)dw[i] - r->expected[i]) <= r->bound[i]);
    return wrong;
}

static void describe(const tw_code_object *object, const char *kernel, outcome *out) {
    out->info = tw_code_object_kernel(object, kernel);
    out->code_bytes = out->info ? out->info->code_bytes : 0;
}

static tw_status run_own(cli_job *job, tw_device *device, outcome *out, tw_diag *diag) {
    tw_launch_counts counts[2];
    if (tw_plan_launch_count(job->job->plan) != 2) return tw_fail(diag, TW_ERR_INVALID, "not a plan of two");
    tw_status status = tw_plan_run(job->job->plan, device, job->objects, job->object_count, job->hosts,
                                   job->buffer_count, counts, diag);
    if (status) return status;
    out->counts = counts[0];
    out->wrong = count_wrong(job, job->data[DW]);
    describe(job->objects[0], tw_plan_launch_at(job->job->plan, 0)->kernel, out);
    return TW_OK;
}

/* The value of the plan's argument, by name. */
static int32_t plan_value(const tw_plan_launch *launch, const char *name) {
    for (size_t i = 0; i < launch->arg_count; i++)
        if (!strcmp(launch->args[i].name, name)) return launch->args[i].as.i32;
    return 0;
}

/* Both kernels take the slab and the same sizes, the one in a struct, the other one by one and with two
 * pointers to scratch that it does not use. */
static tw_status launch_on(const cli_job *job, tw_module *module, tw_buffer *const *buffers, bool triton,
                           tw_diag *diag) {
    static const char *const names[] = {"h", "w", "ho", "wo", "c", "pad_h", "pad_w"};
    enum { SIZES = sizeof names / sizeof names[0] };
    const tw_plan_launch *like = tw_plan_launch_at(job->job->plan, 0);
    int32_t sizes[SIZES];
    tw_launch_arg args[16] = {TW_BUFFER_ARG(buffers[X]), TW_BUFFER_ARG(buffers[DY]),
                              TW_BUFFER_ARG(buffers[WS]), TW_I32_ARG(plan_value(like, "n"))};
    size_t count = 4;
    for (int i = 0; i < SIZES; i++) {
        sizes[i] = plan_value(like, names[i]);
        if (triton) args[count++] = TW_I32_ARG(sizes[i]);
    }
    if (!triton) args[count++] = (tw_launch_arg){TW_LAUNCH_BYTES, {.bytes = {sizes, sizeof sizes}}};
    args[count++] = TW_I32_ARG(plan_value(like, "row_blocks"));
    for (int i = 0; triton && i < 2; i++)
        args[count++] = (tw_launch_arg){.kind = TW_LAUNCH_NULL};
    return tw_launch(module, triton ? "wgrad" : "peer_wgrad", like->grid, like->block, args, count, diag);
}

static tw_status launch_peer(const cli_job *job, tw_device *device, tw_module *module, bool triton,
                             float *slab, tw_diag *diag) {
    tw_buffer *buffers[WS + 1] = {NULL};
    tw_status status = TW_OK;
    for (int i = X; !status && i <= WS; i++) {
        const tw_plan_buffer *b = tw_plan_buffer_at(job->job->plan, (size_t)i);
        status = tw_buffer_new_named(device, b->bytes, b->name, &buffers[i], diag);
        if (!status)
            status = i == WS ? tw_buffer_fill(buffers[i], 0, 0, b->bytes, diag)
                             : tw_buffer_write(buffers[i], 0, job->data[i], b->bytes, diag);
    }
    if (!status) status = launch_on(job, module, buffers, triton, diag);
    if (!status) status = tw_buffer_read(buffers[WS], 0, slab, tw_buffer_size(buffers[WS]), diag);
    for (int i = X; i <= WS; i++)
        tw_buffer_free(buffers[i]);
    return status;
}

/* There is one slab, [r][s][c] in fp32: dW[c][r][s] is its transpose. */
static tw_status check_slab(const cli_job *job, const float *slab, outcome *out, tw_diag *diag) {
    uint64_t elements = job->job->tensors[DW].elements, channels = (uint64_t)job->job->tensors[DW].shape[0];
    if (job->job->tensors[WS].elements != elements) return tw_fail(diag, TW_ERR_INVALID, "not one slab");
    float *dw = malloc(elements * sizeof *dw);
    if (!dw) return tw_fail_no_memory(diag);
    for (uint64_t i = 0; i < elements; i++)
        dw[i % channels * (elements / channels) + i / channels] = slab[i];
    out->wrong = count_wrong(job, dw);
    free(dw);
    return TW_OK;
}

static tw_status run_peer(const cli_job *job, tw_device *device, tw_code_object *object, bool triton,
                          outcome *out, tw_diag *diag) {
    tw_module *module = NULL;
    float *slab = malloc(job->job->tensors[WS].elements * sizeof *slab);
    tw_status status = slab ? tw_module_load(device, object, &module, diag) : tw_fail_no_memory(diag);
    if (!status) status = launch_peer(job, device, module, triton, slab, diag);
    out->counts = tw_device_last_counts(device);
    if (!status) status = check_slab(job, slab, out, diag);
    describe(object, triton ? "wgrad" : "peer_wgrad", out);
    tw_module_unload(module);
    free(slab);
    return status;
}

/* Products that exist: every one is a lane's fma at least. */
static uint64_t products_of_channel(const cli_job *job, int filter) {
    const tw_plan_launch *launch = tw_plan_launch_at(job->job->plan, 0);
    const int64_t h = plan_value(launch, "h"), w = plan_value(launch, "w"), ho = plan_value(launch, "ho"),
                  wo = plan_value(launch, "wo"), pad_h = plan_value(launch, "pad_h"),
                  pad_w = plan_value(launch, "pad_w");
    int64_t rows = 0, columns = 0;
    for (int64_t r = 0; r < filter; r++) {
        for (int64_t y = 0; y < ho; y++)
            rows += y + r - pad_h >= 0 && y + r - pad_h < h;
        for (int64_t x = 0; x < wo; x++)
            columns += x + r - pad_w >= 0 && x + r - pad_w < w;
    }
    return (uint64_t)(plan_value(launch, "n") * rows * columns);
}

static void print_row(const peer_case *c, const char *name, const cli_job *job, const outcome *o) {
    const tw_launch_counts *n = &o->counts;
    uint64_t products = products_of_channel(job, c->filter) * tw_plan_launch_at(job->job->plan, 0)->grid.x;
    double least =
        (double)(tw_plan_buffer_at(job->job->plan, X)->bytes + tw_plan_buffer_at(job->job->plan, DY)->bytes);
    printf("| %s | %s %dx%d | %s | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64
           " | %.2f | %u | %u | %.2f | %zu |\n",
           c->target, c->dtype, c->filter, c->filter, name, n->wave_instructions, n->valu, n->vmem, n->salu,
           (double)products / (double)n->valu, o->info->vgprs, o->info->sgprs,
           (double)n->global_bytes_read / least, o->code_bytes);
}

/* One kernel's outcome: a row, or a line of a check. */
static void report(const peer_case *c, const char *name, const cli_job *job, const outcome *o, options *opt) {
    const tw_tensor *x = &job->job->tensors[X], *dw = &job->job->tensors[DW];
    opt->failures += o->wrong != 0;
    if (opt->check)
        printf("%s %s_%s_%dx%d_%s_of_%dx%dx%d (%" PRIu64 " of %" PRIu64 " elements out of bound)\n",
               o->wrong ? "[  FAILED  ]" : "[       OK ]", c->target, c->dtype, c->filter, c->filter, name,
               (int)x->shape[1], (int)x->shape[2], (int)x->shape[3], o->wrong, dw->elements);
    else if (o->wrong)
        fprintf(stderr, "%s %s: %" PRIu64 " elements out of bound\n", c->target, name, o->wrong);
    else
        print_row(c, name, job, o);
}

/* The code object FOLDER/peer.TARGET.DTYPE.FILTER.FORM.hsaco, or FOLDER/triton.TARGET.DTYPE.FILTER.hsaco. */
static tw_status compare_object(const peer_case *c, const cli_job *job, tw_device *device, options *o,
                                const char *folder, peer_form form, tw_diag *diag) {
    const bool triton = form == PEER_TRITON;
    const char *name = triton ? "triton" : peer_form_names[form];
    char path[512];
    outcome peer = {0};
    tw_code_object *object = NULL;
    snprintf(path, sizeof path, "%s/%s.%s.%s.%d%s%s.hsaco", folder, triton ? name : "peer", c->target,
             c->dtype, c->filter, triton ? "" : ".", triton ? "" : name);
    tw_status status = tw_code_object_read(path, &object, diag);
    if (!status) status = run_peer(job, device, object, triton, &peer, diag);
    if (!status) report(c, name, job, &peer, o);
    tw_code_object_release(object);
    return status;
}

static tw_status compare(const peer_case *c, const char *const *sizes, options *o, tw_compiler *compiler,
                         tw_diag *diag) {
    char name[64];
    tw_instance instance;
    tw_target target;
    tw_device *device = NULL;
    cli_job job = {0};
    outcome own = {0};
    snprintf(name, sizeof name, "emu:%s", c->target);
    tw_status status = tw_target_parse(c->target, &target, diag);
    if (!status) status = peer_instance(c, sizes, &instance, diag);
    if (!status) status = tw_device_open(name, &device, diag);
    if (!status)
        status = cli_job_open(&instance, target, CLI_VALUES_UNIFORM, 1, compiler, &(tw_compile_options){0},
                              &job, diag);
    if (!status) status = cli_job_reference(&job, diag);
    if (!status) status = run_own(&job, device, &own, diag);
    if (!status) report(c, "tilewright", &job, &own, o);
    for (int form = 0; !status && form < PEER_FORMS; form++)
        status = compare_object(c, &job, device, o, PEER_FOLDER, (peer_form)form, diag);
    if (!status && o->triton) status = compare_object(c, &job, device, o, o->triton, PEER_TRITON, diag);
    cli_job_close(&job);
    tw_device_close(device);
    return status;
}

static tw_status every_case(options *o, tw_diag *diag) {
    const size_t target_count = sizeof targets / sizeof targets[0],
                 filter_count = sizeof filters / sizeof filters[0];
    const size_t dtype_count = o->check ? sizeof dtypes / sizeof dtypes[0] : 1;
    const size_t cases = target_count * dtype_count * filter_count;
    tw_compiler *compiler = NULL;
    tw_status status = tw_compiler_open(TW_COMPILER_LLVM, &compiler, diag);
    for (size_t i = 0; !status && i < cases; i++) {
        const peer_case c = {targets[i / (dtype_count * filter_count)],
                             dtypes[i / filter_count % dtype_count], filters[i % filter_count]};
        if (o->command) {
            status = peer_time(&c, o->command, o->repeat, diag);
        } else if (o->check) {
            for (size_t s = 0; !status && s < sizeof check_sizes / sizeof check_sizes[0]; s++)
                status = compare(&c, check_sizes[s], o, compiler, diag);
        } else {
            status = compare(&c, o->sizes, o, compiler, diag);
        }
    }
    tw_compiler_close(compiler);
    return status;
}

int main(int argc, char **argv) {
    options o = {.sizes = measured_sizes, .repeat = argc == 4 ? (unsigned)strtoul(argv[3], NULL, 10) : 10};
    const char *word = argc > 1 ? argv[1] : "";
    if (argc == 2 && !strcmp(word, "--check")) {
        o.check = true;
    } else if (argc == 3 && !strcmp(word, "--triton")) {
        o.triton = argv[2];
    } else if ((argc == 3 || argc == 4) && !strcmp(word, "--time")) {
        o.command = argv[2];
    } else if (strchr(word, '=')) {
        o.sizes = (const char *const *)argv + 1;
    } else if (argc != 1) {
        fprintf(stderr, "usage: %s [SIZES... | --check | --triton FOLDER | --time TILEWRIGHT [REPEAT]]\n",
                argv[0]);
        return 2;
    }
    tw_diag *diag = tw_diag_new(NULL);
    if (!diag) return 1;
    if (o.command)
        puts("| target | kernel | library, first | library | `tilewright compile` | clang, checked | clang, "
             "window | "
             "clang, window / `tilewright compile` |\n|---|---|---|---|---|---|---|---|");
    else if (!o.check)
        puts("| target | kernel | written as | instructions | VALU | VMEM | SALU | products / VALU | VGPRs | "
             "SGPRs | "
             "bytes read / least | code bytes |\n|---|---|---|---|---|---|---|---|---|---|---|---|");
    tw_status status = every_case(&o, diag);
    if (status) fprintf(stderr, "peers: %s", tw_diag_text(diag));
    tw_diag_free(diag);
    return status || o.failures;
}
