/* Missing memory: each allocation of a whole run fails once. Calls must end with TW_ERR_NO_MEMORY or do
 * without, and a sanitizer build sees that nothing leaks or is used after it was freed. The linker leads the
 * library's allocations here (--wrap), and jansson is told to ask here too. */
#include "tests/test.h"

#include <errno.h>
#include <ftw.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instances/measures.h"
#include "run/bundle_internal.h"
#include "tests/run/kernels.h"

static bool counting;
static unsigned long asked, failing; /* allocation number `failing` gives NULL */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);

static bool refuse(void) { return counting && ++asked == failing; }

void *__wrap_malloc(size_t bytes) { return refuse() ? NULL : __real_malloc(bytes); }
void *__wrap_calloc(size_t count, size_t bytes) { return refuse() ? NULL : __real_calloc(count, bytes); }
void *__wrap_realloc(void *memory, size_t bytes) { return refuse() ? NULL : __real_realloc(memory, bytes); }

/* The JSON parser takes some of its failures for errors of syntax. */
static bool json_refused;

static void *allocate_json(size_t bytes) {
    void *memory = __wrap_malloc(bytes);
    json_refused |= !memory;
    return memory;
}

static tw_code_object *object;
static char folder[] = "/tmp/tilewright-memory-XXXXXX";
static int32_t x[100], y[64];
static const double expected[64], bound[64];

static tw_plan *make_plan(void) {
    tw_plan *plan = tw_plan_new("memory");
    if (!plan) return NULL;
    uint32_t in = tw_plan_add_buffer(plan, "x", TW_PLAN_INPUT, sizeof x);
    uint32_t slab = tw_plan_add_buffer(plan, "slab", TW_PLAN_SCRATCH, 256);
    uint32_t out = tw_plan_add_buffer(plan, "y", TW_PLAN_INOUT, sizeof y);
    tw_plan_add_launch(plan, 0, "add", (tw_dim3){2, 1, 1}, (tw_dim3){64, 1, 1}, 0);
    tw_plan_zero(plan, slab);
    tw_plan_arg_buffer(plan, "x", in, 0);
    tw_plan_arg_buffer(plan, "slab", slab, 0);
    tw_plan_arg_bytes(plan, "n", "\x64\0\0", 4);
    tw_plan_add_launch(plan, 0, "fold", (tw_dim3){1, 1, 1}, (tw_dim3){64, 1, 1}, 0);
    tw_plan_arg_buffer(plan, "slab", slab, 0);
    tw_plan_arg_buffer(plan, "out", out, 0);
    free(tw_plan_text(plan));
    return plan;
}

static const tw_plan_host hosts[] = {{x, NULL}, {NULL, NULL}, {y, y}};

static tw_status run_plan(tw_diag *diag) {
    tw_device *device;
    tw_plan *plan = make_plan();
    tw_status status = plan ? tw_plan_check(plan, diag) : TW_ERR_NO_MEMORY;
    if (!status) status = tw_device_open("hip:0", &device, diag);
    if (!status) {
        status = tw_plan_run(plan, device, &object, 1, hosts, 3, NULL, diag);
        tw_device_close(device);
    }
    tw_plan_free(plan);
    return status;
}

static tw_status write_bundle(tw_diag *diag) {
    tw_plan *plan = make_plan();
    tw_bundle_output output = {2, TW_I32, 1, {64}, expected, bound};
    tw_bundle_source source = {plan, tw_code_object_target(object), &object, 1, hosts, 3, &output, 1};
    tw_status status = plan ? tw_bundle_write(folder, &source, diag) : TW_ERR_NO_MEMORY;
    tw_plan_free(plan);
    return status;
}

static tw_status replay_bundle(tw_diag *diag) {
    tw_device *device = NULL;
    tw_bundle *bundle;
    tw_bundle_report report;
    tw_status status = tw_bundle_read(folder, &bundle, diag);
    if (status) return status;
    status = tw_device_open("hip:0", &device, diag);
    if (!status) status = tw_bundle_replay(bundle, device, &report, diag);
    if (!status) free(tw_bundle_report_text(&report));
    tw_device_close(device);
    tw_bundle_free(bundle);
    return status;
}

static tw_status measure(tw_diag *diag) {
    tw_measures measures;
    tw_measure_input input = {TW_F32, y, expected, NULL, bound, 64};
    tw_status status = tw_measure(&input, &measures, diag);
    if (!status) free(tw_measures_text(&measures));
    return status;
}

/* Fails every allocation in turn, until one run asks for fewer. */
static void starve(tw_status (*scenario)(tw_diag *diag), unsigned long least) {
    unsigned long refused = 0;
    for (failing = 1;; failing++) {
        tw_diag *diag = tw_diag_new(NULL);
        asked = 0;
        json_refused = false;
        counting = true;
        tw_status status = scenario(diag);
        counting = false;
        if (asked < failing) {
            if (status) fail_msg("%s", tw_diag_text(diag));
            tw_diag_free(diag);
            break;
        }
        /* Texts for people may be missing, a result never. Files report the system's words. */
        bool said = status == TW_ERR_NO_MEMORY || strstr(tw_diag_first_error(diag), strerror(ENOMEM));
        said |= json_refused && status == TW_ERR_INVALID;
        if (status && !said) fail_msg("allocation %lu: %s", failing, tw_diag_text(diag));
        refused += said;
        tw_diag_free(diag);
    }
    assert_true(refused >= least);
}

static void plans_do_without_memory(void **state) {
    (void)state;
    starve(run_plan, 20);
}

static void bundles_do_without_memory(void **state) {
    (void)state;
    starve(write_bundle, 100);
    starve(replay_bundle, 100);
}

static void measures_do_without_memory(void **state) {
    (void)state;
    starve(measure, 1);
}

static int drop(const char *path, const struct stat *info, int type, struct FTW *where) {
    (void)info, (void)type, (void)where;
    return remove(path);
}

static int begin(void **state) {
    (void)state;
    setenv("TILEWRIGHT_HIP", FAKE_HIP, 1);
    setenv("FAKE_HIP_ARCHS", "gfx942", 1);
    json_set_alloc_funcs(allocate_json, free);
    object = compile_kernel(kernel_slabs, "gfx942");
    return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    tw_code_object_release(object);
    return nftw(folder, drop, 16, FTW_PHYS | FTW_DEPTH);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_do_without_memory),
        cmocka_unit_test(bundles_do_without_memory),
        cmocka_unit_test(measures_do_without_memory),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
