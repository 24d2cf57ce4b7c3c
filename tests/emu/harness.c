#include "tests/emu/harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/kernarg.h"

static const char *const TARGETS[] = {"gfx90a",  "gfx942",  "gfx950",  "gfx1100",
                                      "gfx1151", "gfx1200", "gfx1201", "gfx1250"};
static const char *const LEVELS[] = {"O0", "O2", "O3"};
enum { TARGET_COUNT = sizeof TARGETS / sizeof TARGETS[0], LEVEL_COUNT = sizeof LEVELS / sizeof LEVELS[0] };

static void must(harness *h, tw_status status, const char *what) {
    if (status == TW_OK) return;
    print_error("%s: %s\n%s", what, tw_status_name(status), tw_diag_text(h->diag));
    fail();
}

static void start(harness *h, const char *target) {
    tw_target t;
    memset(h, 0, sizeof *h);
    h->diag = tw_diag_new(NULL);
    assert_non_null(h->diag);
    h->target = target;
    h->threads = 1;
    h->budget = 50000000;
    must(h, tw_target_parse(target, &t, h->diag), target);
    must(h, tw_emu_new(t, &h->emu, h->diag), target);
}

void harness_open(harness *h, const char *name, const char *target, const char *level) {
    char path[512];
    start(h, target);
    h->level = level;
    snprintf(path, sizeof path, "%s/%s.%s.%s.hsaco", KERNEL_FOLDER, name, target, level);
    must(h, tw_code_object_read(path, &h->object, h->diag), path);
    must(h, tw_emu_load(h->emu, h->object, &h->module, h->diag), path);
}

void harness_open_object(harness *h, tw_code_object *object, const char *target) {
    start(h, target);
    h->object = object;
    must(h, tw_emu_load(h->emu, h->object, &h->module, h->diag), target);
}

void harness_close(harness *h) {
    tw_emu_free(h->emu);
    tw_code_object_release(h->object);
    tw_diag_free(h->diag);
}

uint64_t harness_buffer(harness *h, const char *name, const void *data, size_t bytes) {
    uint64_t address;
    must(h, tw_emu_alloc(h->emu, bytes, name, &address, h->diag), name);
    if (data) must(h, tw_emu_write(h->emu, address, data, bytes, h->diag), name);
    return address;
}

void harness_write(harness *h, uint64_t address, const void *data, size_t bytes) {
    must(h, tw_emu_write(h->emu, address, data, bytes, h->diag), "write");
}

void harness_read(harness *h, uint64_t address, void *to, size_t bytes) {
    must(h, tw_emu_read(h->emu, address, to, bytes, h->diag), "read");
}

harness_arg harness_f32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (harness_arg){bits, 4};
}

void harness_bytes(harness *h, const void *data, size_t bytes) {
    h->bytes = data;
    h->byte_count = bytes;
}

tw_status harness_try(harness *h, const char *kernel, tw_dim3 grid, tw_dim3 block, uint32_t dynamic_lds,
                      const harness_arg *args, size_t count) {
    const tw_kernel_info *info = tw_code_object_kernel(h->object, kernel);
    uint8_t explicit_bytes[512] = {0}, segment[1024] = {0}, known[1024] = {0};
    tw_launch_shape shape = {.grid = grid, .block = block, .dynamic_lds = dynamic_lds};
    if (!info) fail_msg("no kernel '%s'", kernel);
    assert_int_equal(count, tw_kernarg_explicit_count(info));
    for (size_t k = 0; k < count; k++) {
        const tw_arg_info *a = tw_kernarg_explicit_at(info, k);
        assert_int_equal(a->size, args[k].size ? args[k].size : h->byte_count);
        memcpy(explicit_bytes + a->offset, args[k].size ? &args[k].bits : h->bytes, a->size);
    }
    assert_true(info->kernarg_size <= sizeof segment);
    tw_diag_clear(h->diag);
    must(h,
         tw_kernarg_fill(info, &shape, explicit_bytes, tw_kernarg_explicit_size(info), segment, known,
                         h->diag),
         kernel);
    for (size_t k = (size_t)h->forget_arguments; h->forget_arguments && k < count; k++) {
        const tw_arg_info *a = tw_kernarg_explicit_at(info, k);
        memset(known + a->offset, 0, a->size);
    }
    tw_emu_launch launch = {.kernel = info,
                            .grid = grid,
                            .block = block,
                            .dynamic_lds = dynamic_lds,
                            .kernarg = segment,
                            .kernarg_size = info->kernarg_size,
                            .kernarg_known = known,
                            .threads = h->threads,
                            .budget = h->budget,
                            .disabled_checks = h->disabled_checks,
                            .strict_checks = h->strict_checks};
    return tw_emu_run(h->module, &launch, &h->counts, h->diag);
}

void harness_run(harness *h, const char *kernel, unsigned grid, unsigned block, const harness_arg *args,
                 size_t count) {
    must(h, harness_try(h, kernel, (tw_dim3){grid, 1, 1}, (tw_dim3){block, 1, 1}, 0, args, count), kernel);
}

double harness_stochastic(tw_float_format format, double d, uint32_t random) {
    const tw_float_info *info = tw_float_format_info(format);
    int lost = 23 - (int)info->mantissa_bits, exponent = 1 - (int)info->bias;
    if (!isfinite(d)) return d;
    if (d != 0 && ilogb(d) > exponent) exponent = ilogb(d);
    int step = exponent - (int)info->mantissa_bits;
    double steps = trunc(ldexp(fabs(d), lost - step)) + (double)(random >> (32 - lost));
    return copysign(ldexp(trunc(ldexp(steps, -lost)), step), d);
}

uint32_t harness_random(uint32_t *state) {
    uint32_t x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

void harness_expect(harness *h, tw_status status, const char *const *texts) {
    const char *said = tw_diag_text(h->diag);
    if (status != TW_ERR_DEVICE) fail_msg("no report: %s", tw_status_name(status));
    for (; *texts; texts++) {
        if (!strstr(said, *texts)) fail_msg("'%s' is not in:\n%s", *texts, said);
    }
}

void harness_silent(harness *h, tw_status status) {
    if (status != TW_OK) fail_msg("a false report:\n%s", tw_diag_text(h->diag));
}

typedef struct instance {
    const harness_case *test;
    const char *target, *level;
    char name[80];
} instance;

static void run_instance(void **state) {
    const instance *i = *state;
    harness h;
    harness_open(&h, i->test->file, i->target, i->level);
    i->test->check(&h);
    harness_close(&h);
}

int harness_main(const harness_case *cases, size_t count) { return harness_main_on("gfx", cases, count); }

int harness_main_on(const char *targets, const harness_case *cases, size_t count) {
    size_t total = count * TARGET_COUNT * LEVEL_COUNT, used = 0;
    struct CMUnitTest *tests = calloc(total, sizeof *tests);
    instance *instances = calloc(total, sizeof *instances);
    if (!tests || !instances) return 1;
    for (size_t k = 0; k < total; k++) {
        const harness_case *test = &cases[k / (TARGET_COUNT * LEVEL_COUNT)];
        const char *target = TARGETS[k / LEVEL_COUNT % TARGET_COUNT];
        if (strncmp(target, targets, strlen(targets))) continue;
        instance *i = &instances[used];
        i->test = test;
        i->target = target;
        i->level = LEVELS[k % LEVEL_COUNT];
        snprintf(i->name, sizeof i->name, "%s %s %s", i->test->name, i->target, i->level);
        tests[used++] = (struct CMUnitTest){i->name, run_instance, NULL, NULL, i};
    }
    int failed = _cmocka_run_group_tests("emulator", tests, used, NULL, NULL);
    free(tests);
    free(instances);
    return failed;
}
