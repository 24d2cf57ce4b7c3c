/* Launches, plans and bundles on the emulator: real machine code, real numbers. */
#include "tests/test.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/bundle.h"
#include "run/emu_device.h"
#include "tests/run/kernels.h"

static const char *const targets[] = {"gfx950", "gfx1100", "gfx1151", "gfx1201", "gfx1250"};
enum { TARGETS = sizeof targets / sizeof targets[0], N = 150 };

typedef struct fixture {
    tw_diag *diag;
    tw_device *device;
    tw_code_object *object;
    tw_module *module;
} fixture;

static void begin(fixture *f, const char *text, const char *target) {
    char name[64];
    snprintf(name, sizeof name, "emu:%s", target);
    f->diag = tw_diag_new(NULL);
    f->object = compile_kernel(text, target);
    if (tw_device_open(name, &f->device, f->diag) ||
        tw_module_load(f->device, f->object, &f->module, f->diag))
        fail_msg("%s", tw_diag_text(f->diag));
    assert_string_equal(tw_device_name(f->device), name);
}

static void end(fixture *f) {
    tw_device_close(f->device);
    tw_code_object_release(f->object);
    tw_diag_free(f->diag);
}

static tw_buffer *buffer_of(fixture *f, const char *name, const void *bytes, size_t size) {
    tw_buffer *buffer;
    assert_int_equal(tw_buffer_new_named(f->device, size, name, &buffer, f->diag), TW_OK);
    assert_int_equal(tw_buffer_size(buffer), size);
    if (bytes) assert_int_equal(tw_buffer_write(buffer, 0, bytes, size, f->diag), TW_OK);
    return buffer;
}

static void a_kernel_gives_the_host_s_numbers(void **state) {
    (void)state;
    float x[N], y[N], back[N];
    for (int i = 0; i < N; i++) {
        x[i] = (float)i * 0.25f;
        y[i] = 100.0f - (float)i;
    }
    for (int t = 0; t < TARGETS; t++) {
        fixture f;
        begin(&f, kernel_axpy, targets[t]);
        tw_buffer *dx = buffer_of(&f, "x", x, sizeof x), *dy = buffer_of(&f, "y", y, sizeof y);
        tw_launch_arg args[] = {TW_BUFFER_ARG(dx), TW_BUFFER_ARG(dy), TW_F32_ARG(2.0f), TW_I32_ARG(N)};
        if (tw_launch(f.module, "axpy", (tw_dim3){3, 1, 1}, (tw_dim3){64, 1, 1}, args, 4, f.diag))
            fail_msg("%s: %s", targets[t], tw_diag_text(f.diag));
        assert_int_equal(tw_buffer_read(dy, 0, back, sizeof back, NULL), TW_OK);
        for (int i = 0; i < N; i++)
            assert_true(back[i] == 2.0f * x[i] + y[i]);
        tw_launch_counts counts = tw_device_last_counts(f.device);
        assert_int_equal(counts.workgroups, 3);
        assert_int_equal(counts.waves, 3 * 64 / tw_device_target(f.device).wave_size);
        assert_int_equal(counts.global_bytes_written, sizeof y);
        assert_true(counts.wave_instructions > 10 * counts.waves && counts.nanoseconds > 0);
        /* A buffer's middle, filled and read back. */
        assert_int_equal(tw_buffer_fill(dy, 8, 0xff, 8, NULL), TW_OK);
        assert_int_equal(tw_buffer_read(dy, 4, back, 16, NULL), TW_OK);
        static const uint8_t ones[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
        assert_memory_equal(back + 1, ones, 8);
        assert_true(back[0] == 2.0f * x[1] + y[1] && back[3] == 2.0f * x[4] + y[4]);
        end(&f);
    }
}

static void hidden_arguments_describe_the_launch(void **state) {
    (void)state;
    for (int t = 0; t < TARGETS; t++) {
        fixture f;
        static const uint32_t expected[8] = {5, 3, 1, 48, 1, 1, 3, 4096};
        uint32_t out[8];
        uint8_t kernarg[8] = {0};
        begin(&f, kernel_hidden, targets[t]);
        tw_buffer *buffer = buffer_of(&f, "out", NULL, sizeof out);
        tw_kernarg_pointer pointer = {0, buffer, 0};
        if (tw_launch_raw(f.module, "hidden", (tw_dim3){5, 3, 1}, (tw_dim3){48, 1, 1}, 4096, kernarg, 8,
                          &pointer, 1, f.diag))
            fail_msg("%s: %s", targets[t], tw_diag_text(f.diag));
        assert_int_equal(tw_buffer_read(buffer, 0, out, sizeof out, NULL), TW_OK);
        assert_memory_equal(out, expected, sizeof out);
        end(&f);
    }
}

static void what_nobody_filled_has_no_value(void **state) {
    (void)state;
    for (int t = 0; t < TARGETS; t++) {
        fixture f;
        begin(&f, kernel_unfilled, targets[t]);
        tw_buffer *buffer = buffer_of(&f, "out", NULL, 4);
        tw_launch_arg arg = TW_BUFFER_ARG(buffer);
        const tw_dim3 one = {1, 1, 1};
        assert_int_equal(tw_launch(f.module, "unfilled", one, one, &arg, 1, f.diag), TW_ERR_DEVICE);
        assert_non_null(strstr(tw_diag_text(f.diag), "nobody wrote"));
        end(&f);
    }
}

static void reports_of_the_emulator_come_through(void **state) {
    (void)state;
    fixture f;
    float x[N] = {0}, y[64] = {0};
    begin(&f, kernel_axpy, "gfx1250");
    tw_buffer *dx = buffer_of(&f, "x", x, sizeof x), *dy = buffer_of(&f, "short_y", y, sizeof y);
    tw_launch_arg args[] = {TW_BUFFER_ARG(dx), TW_BUFFER_ARG(dy), TW_F32_ARG(2.0f), TW_I32_ARG(65)};
    assert_int_equal(tw_launch(f.module, "axpy", (tw_dim3){2, 1, 1}, (tw_dim3){64, 1, 1}, args, 4, f.diag),
                     TW_ERR_DEVICE);
    assert_non_null(strstr(tw_diag_text(f.diag), "axpy"));
    assert_non_null(strstr(tw_diag_text(f.diag), "short_y"));
    tw_diag_clear(f.diag);
    /* The device goes on. */
    args[3] = TW_I32_ARG(64);
    assert_int_equal(tw_launch(f.module, "axpy", (tw_dim3){1, 1, 1}, (tw_dim3){64, 1, 1}, args, 4, f.diag),
                     TW_OK);
    end(&f);
}

static bool stop_at_once(void *user, const tw_emu_trace_event *event) {
    assert_string_equal(event->kernel, "axpy");
    ++*(int *)user;
    return false;
}

static void settings_reach_the_emulator(void **state) {
    (void)state;
    fixture f;
    float x[64] = {0};
    int events = 0;
    begin(&f, kernel_axpy, "gfx1250");
    tw_buffer *dx = buffer_of(&f, "x", x, sizeof x);
    tw_launch_arg args[] = {TW_BUFFER_ARG(dx), TW_BUFFER_ARG(dx), TW_F32_ARG(2.0f), TW_I32_ARG(64)};
    const tw_dim3 one = {1, 1, 1}, block = {64, 1, 1};
    tw_emu_settings settings = {.budget = 5};
    assert_int_equal(tw_device_set_emu(f.device, &settings, NULL), TW_OK);
    assert_int_not_equal(tw_launch(f.module, "axpy", one, block, args, 4, NULL), TW_OK);
    settings = (tw_emu_settings){.trace = stop_at_once, .trace_user = &events};
    assert_int_equal(tw_device_set_emu(f.device, &settings, NULL), TW_OK);
    assert_int_equal(tw_launch(f.module, "axpy", one, block, args, 4, NULL), TW_ERR_LIMIT);
    assert_int_equal(events, 1);
    settings = (tw_emu_settings){0};
    assert_int_equal(tw_device_set_emu(f.device, &settings, NULL), TW_OK);
    assert_int_equal(tw_launch(f.module, "axpy", one, block, args, 4, NULL), TW_OK);
    end(&f);
}

/* ---- plans and bundles ---- */

static tw_plan *slab_plan(void) {
    tw_plan *plan = tw_plan_new("slabs");
    uint32_t x = tw_plan_add_buffer(plan, "x", TW_PLAN_INPUT, 4 * N);
    uint32_t slab = tw_plan_add_buffer(plan, "slab", TW_PLAN_SCRATCH, 256);
    uint32_t out = tw_plan_add_buffer(plan, "out", TW_PLAN_OUTPUT, 256);
    tw_plan_add_launch(plan, 0, "add", (tw_dim3){3, 1, 1}, (tw_dim3){64, 1, 1}, 0);
    tw_plan_zero(plan, slab);
    tw_plan_arg_buffer(plan, "x", x, 0);
    tw_plan_arg_buffer(plan, "slab", slab, 0);
    tw_plan_arg_i32(plan, "n", N);
    tw_plan_add_launch(plan, 0, "fold", (tw_dim3){1, 1, 1}, (tw_dim3){64, 1, 1}, 0);
    tw_plan_arg_buffer(plan, "slab", slab, 0);
    tw_plan_arg_buffer(plan, "out", out, 0);
    return plan;
}

static void slab_numbers(int32_t x[N], double expected[64]) {
    memset(expected, 0, 64 * sizeof expected[0]);
    for (int i = 0; i < N; i++) {
        x[i] = (i * 7919) % 1000 - 500;
        expected[i % 64] += x[i];
    }
}

static void a_plan_runs_its_launches_in_order(void **state) {
    (void)state;
    int32_t x[N], out[64];
    double expected[64];
    slab_numbers(x, expected);
    tw_plan *plan = slab_plan();
    tw_plan_host hosts[] = {{x, NULL}, {NULL, NULL}, {NULL, out}};
    for (int t = 0; t < TARGETS; t++) {
        fixture f;
        tw_launch_counts counts[2];
        begin(&f, kernel_slabs, targets[t]);
        for (int again = 0; again < 2; again++) { /* scratch is cleared each time */
            memset(out, 0xee, sizeof out);
            if (tw_plan_run(plan, f.device, &f.object, 1, hosts, 3, counts, f.diag))
                fail_msg("%s: %s", targets[t], tw_diag_text(f.diag));
            for (int i = 0; i < 64; i++)
                assert_true(out[i] == expected[i]);
            assert_int_equal(counts[0].workgroups, 3);
            assert_int_equal(counts[1].workgroups, 1);
        }
        end(&f);
    }
    tw_plan_free(plan);
}

static int drop(const char *path, const struct stat *info, int type, struct FTW *where) {
    (void)info, (void)type, (void)where;
    return remove(path);
}

static void a_bundle_replays_and_a_wrong_expectation_is_seen(void **state) {
    (void)state;
    char folder[] = "/tmp/tilewright-replay-XXXXXX";
    int32_t x[N];
    double expected[64], bound[64] = {0};
    assert_non_null(mkdtemp(folder));
    slab_numbers(x, expected);
    tw_plan *plan = slab_plan();
    tw_plan_host hosts[] = {{x, NULL}, {NULL, NULL}, {NULL, NULL}};
    tw_bundle_output output = {2, TW_I32, 2, {8, 8}, expected, bound};
    for (int t = 0; t < TARGETS; t++) {
        fixture f;
        tw_bundle *bundle;
        tw_bundle_report report;
        begin(&f, kernel_slabs, targets[t]);
        tw_bundle_source source = {plan, tw_device_target(f.device), &f.object, 1, hosts, 3, &output, 1};
        for (int wrong = 0; wrong < 2; wrong++) {
            expected[63] += wrong;
            assert_int_equal(tw_bundle_write(folder, &source, f.diag), TW_OK);
            expected[63] -= wrong;
            assert_int_equal(tw_bundle_read(folder, &bundle, f.diag), TW_OK);
            assert_true(tw_target_equal(tw_bundle_target(bundle), tw_device_target(f.device)));
            tw_status status = tw_bundle_replay(bundle, f.device, &report, f.diag);
            if (status != (wrong ? TW_ERR_MISMATCH : TW_OK))
                fail_msg("%s: %s", targets[t], tw_diag_text(f.diag));
            assert_int_equal(report.elements, 64);
            assert_int_equal(report.mismatches, wrong);
            assert_int_equal(report.counts.workgroups, 4);
            if (wrong) assert_int_equal(report.first[0].index, 63);
            tw_bundle_free(bundle);
        }
        end(&f);
    }
    tw_plan_free(plan);
    assert_int_equal(nftw(folder, drop, 16, FTW_PHYS | FTW_DEPTH), 0);
}

/* ---- names ---- */

static void device_names_are_checked(void **state) {
    (void)state;
    static const struct {
        const char *name;
        tw_status status;
        const char *text;
    } cases[] = {
        {"gfx1250", TW_ERR_INVALID, "a device must be emu:TARGET, hip:N, auto or auto:TARGET (got gfx1250)"},
        {"", TW_ERR_INVALID, "a device must be emu:TARGET, hip:N, auto or auto:TARGET (got )"},
        {"emu:", TW_ERR_INVALID,
         "target must be one of gfx90a, gfx942, gfx950, gfx1100, gfx1151, gfx1200, gfx1201, gfx1250 (got )"},
        {NULL, TW_ERR_USAGE, "tw_device_open needs a name (got NULL)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tw_diag *diag = tw_diag_new(NULL);
        tw_device *device;
        assert_int_equal(tw_device_open(cases[i].name, &device, diag), cases[i].status);
        assert_null(device);
        assert_string_equal(tw_diag_first_error(diag), cases[i].text);
        tw_diag_free(diag);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_gives_the_host_s_numbers),
        cmocka_unit_test(hidden_arguments_describe_the_launch),
        cmocka_unit_test(what_nobody_filled_has_no_value),
        cmocka_unit_test(reports_of_the_emulator_come_through),
        cmocka_unit_test(settings_reach_the_emulator),
        cmocka_unit_test(a_plan_runs_its_launches_in_order),
        cmocka_unit_test(a_bundle_replays_and_a_wrong_expectation_is_seen),
        cmocka_unit_test(device_names_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
