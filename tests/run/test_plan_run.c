/* Plans and launches as a device sees them: what is checked before anything runs, and in what order the
 * driver is called. The HIP runtime here (fake_hip.c) runs nothing and writes down its calls. */
#include "tests/test.h"

#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/plan.h"
#include "tests/run/kernels.h"

static char *hip_log;
static int *hip_live, *hip_overlaps;

typedef struct fixture {
    tw_diag *diag;
    tw_device *device;
    tw_code_object *object;
    int32_t x[100], y[64];
} fixture;

static int begin(void **state) {
    fixture *f = calloc(1, sizeof *f);
    setenv("TILEWRIGHT_HIP", FAKE_HIP, 1);
    setenv("FAKE_HIP_ARCHS", "gfx942:sramecc+:xnack-,gfx1100", 1);
    unsetenv("FAKE_HIP_FAIL");
    void *library = dlopen(FAKE_HIP, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    hip_log = dlsym(library, "fake_hip_log");
    hip_live = dlsym(library, "fake_hip_live");
    hip_overlaps = dlsym(library, "fake_hip_overlaps");
    f->diag = tw_diag_new(NULL);
    f->object = compile_kernel(kernel_slabs, "gfx942");
    assert_int_equal(tw_device_open("hip:0", &f->device, NULL), TW_OK);
    hip_log[0] = 0;
    *state = f;
    return 0;
}

static int end(void **state) {
    fixture *f = *state;
    tw_device_close(f->device);
    tw_code_object_release(f->object);
    tw_diag_free(f->diag);
    free(f);
    assert_int_equal(*hip_live, 0);
    return 0;
}

/* `fold_out` is what the second launch calls its last argument. */
static tw_plan *slab_plan(const char *fold_out, uint32_t block) {
    tw_plan *plan = tw_plan_new("slabs");
    uint32_t x = tw_plan_add_buffer(plan, "x", TW_PLAN_INPUT, 400);
    uint32_t slab = tw_plan_add_buffer(plan, "slab", TW_PLAN_SCRATCH, 256);
    uint32_t y = tw_plan_add_buffer(plan, "y", TW_PLAN_OUTPUT, 256);
    tw_plan_add_launch(plan, 0, "add", (tw_dim3){2, 1, 1}, (tw_dim3){64, 1, 1}, 0);
    tw_plan_zero(plan, slab);
    tw_plan_arg_buffer(plan, "x", x, 0);
    tw_plan_arg_buffer(plan, "slab", slab, 0);
    tw_plan_arg_i32(plan, "n", 100);
    tw_plan_add_launch(plan, 1, "fold", (tw_dim3){1, 1, 1}, (tw_dim3){block, 1, 1}, 0);
    tw_plan_arg_buffer(plan, "slab", slab, 0);
    tw_plan_arg_buffer(plan, fold_out, y, 0);
    return plan;
}

/* The log with the numbers of addresses cut out: kernargs are checked elsewhere. */
static void expect_log(const char *wanted) {
    char got[4096] = "";
    for (const char *line = hip_log; *line;) {
        size_t length = strcspn(line, "\n");
        const char *kernarg = strstr(line, " kernarg ");
        size_t kept = kernarg && kernarg < line + length ? (size_t)(kernarg - line) : length;
        snprintf(got + strlen(got), sizeof got - strlen(got), "%.*s\n", (int)kept, line);
        line += length + (line[length] == '\n');
    }
    assert_string_equal(got, wanted);
}

static void a_plan_runs_from_host_memory_to_host_memory(void **state) {
    fixture *f = *state;
    tw_plan *plan = slab_plan("out", 64);
    tw_code_object *objects[] = {f->object, f->object};
    tw_plan_host hosts[] = {{f->x, NULL}, {NULL, NULL}, {NULL, f->y}};
    tw_launch_counts counts[2] = {{0}, {0}};
    assert_int_equal(tw_plan_run(plan, f->device, objects, 2, hosts, 3, counts, f->diag), TW_OK);
    /* One object in two places is loaded once; the slab is cleared just before the launch that wants it. */
    expect_log(
        "hipModuleLoadData on 0\n"
        "hipMalloc 400 on 0\nhipMemcpy 400 in on 0\nhipMalloc 256 on 0\nhipMalloc 256 on 0\n"
        "hipMemset 256 0 on 0\n"
        "hipModuleGetFunction add on 0\nhipModuleLaunchKernel 2,1,1 64,1,1 lds 0\nhipDeviceSynchronize on 0\n"
        "hipModuleGetFunction fold on 0\nhipModuleLaunchKernel 1,1,1 64,1,1 lds 0\nhipDeviceSynchronize on "
        "0\n"
        "hipMemcpy 256 out on 0\n"
        "hipFree on 0\nhipFree on 0\nhipFree on 0\nhipModuleUnload on 0\n");
    assert_true(counts[0].nanoseconds > 0 && counts[1].nanoseconds > 0);
    tw_plan_free(plan);
}

static void expect_refusal(fixture *f, tw_plan *plan, tw_code_object *const *objects, size_t object_count,
                           const tw_plan_host *hosts, size_t host_count, tw_status status, const char *text) {
    hip_log[0] = 0;
    assert_int_equal(tw_plan_run(plan, f->device, objects, object_count, hosts, host_count, NULL, f->diag),
                     status);
    assert_string_equal(tw_diag_first_error(f->diag), text);
    assert_null(strstr(hip_log, "hipModuleLaunchKernel"));
    tw_diag_clear(f->diag);
    tw_plan_free(plan);
}

static void every_launch_is_checked_before_the_first_one_runs(void **state) {
    fixture *f = *state;
    tw_code_object *objects[] = {f->object, f->object}, *axpy = compile_kernel(kernel_axpy, "gfx942");
    tw_code_object *wrong[] = {f->object, axpy}, *missing[] = {f->object, NULL};
    tw_plan_host hosts[] = {{f->x, NULL}, {NULL, NULL}, {NULL, f->y}},
                 no_input[] = {{NULL, NULL}, {NULL, NULL}, {NULL, f->y}},
                 no_output[] = {{f->x, NULL}, {NULL, NULL}, {NULL, NULL}};
    expect_refusal(f, slab_plan("in", 64), objects, 2, hosts, 3, TW_ERR_USAGE,
                   "argument 1 of this kernel is out (got in)");
    expect_refusal(f, slab_plan("out", 65), objects, 2, hosts, 3, TW_ERR_INVALID,
                   "a workgroup of this kernel has at most 64 work-items (got 65)");
    expect_refusal(f, slab_plan("out", 64), wrong, 2, hosts, 3, TW_ERR_NOT_FOUND,
                   "the kernel must be one of the code object's: axpy (got fold)");
    expect_refusal(f, slab_plan("out", 64), missing, 2, hosts, 3, TW_ERR_USAGE,
                   "tw_module_load needs a device and a code object (got NULL)");
    expect_refusal(f, slab_plan("out", 64), objects, 1, hosts, 3, TW_ERR_USAGE,
                   "this plan needs 2 code objects (got 1)");
    expect_refusal(f, slab_plan("out", 64), objects, 2, hosts, 2, TW_ERR_USAGE,
                   "this plan has 3 buffers (got 2)");
    expect_refusal(f, slab_plan("out", 64), objects, 2, no_input, 3, TW_ERR_USAGE,
                   "buffer x needs input (got NULL)");
    expect_refusal(f, slab_plan("out", 64), objects, 2, no_output, 3, TW_ERR_USAGE,
                   "buffer y needs a place for output (got NULL)");
    tw_plan *plan = slab_plan("out", 64);
    tw_plan_refuse(plan, "h must be at least 1 (got 0)");
    expect_refusal(f, plan, objects, 2, hosts, 3, TW_ERR_INVALID, "h must be at least 1 (got 0)");
    tw_code_object_release(axpy);
}

static void a_plan_runs_on_buffers_that_are_there(void **state) {
    fixture *f = *state;
    tw_plan *plan = slab_plan(NULL, 64);
    tw_module *module;
    tw_buffer *buffers[3];
    static const size_t sizes[] = {400, 1024, 256}; /* a larger buffer is cleared as far as the plan's goes */
    assert_int_equal(tw_module_load(f->device, f->object, &module, NULL), TW_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(tw_buffer_new(f->device, sizes[i], &buffers[i], NULL), TW_OK);
    tw_module *modules[] = {module, module};
    hip_log[0] = 0;
    assert_int_equal(tw_plan_execute(plan, modules, 2, buffers, 3, NULL, f->diag), TW_OK);
    expect_log(
        "hipMemset 256 0 on 0\n"
        "hipModuleGetFunction add on 0\nhipModuleLaunchKernel 2,1,1 64,1,1 lds 0\nhipDeviceSynchronize on 0\n"
        "hipModuleGetFunction fold on 0\nhipModuleLaunchKernel 1,1,1 64,1,1 lds 0\nhipDeviceSynchronize on "
        "0\n");
    tw_buffer *small = buffers[0];
    buffers[0] = buffers[2];
    assert_int_equal(tw_plan_execute(plan, modules, 2, buffers, 3, NULL, f->diag), TW_ERR_USAGE);
    assert_string_equal(tw_diag_first_error(f->diag), "buffer x needs 400 bytes (got 256)");
    tw_diag_clear(f->diag);
    buffers[0] = small;
    modules[1] = NULL;
    assert_int_equal(tw_plan_execute(plan, modules, 2, buffers, 3, NULL, f->diag), TW_ERR_USAGE);
    assert_string_equal(tw_diag_first_error(f->diag), "this plan needs 2 code objects (got 2 with a NULL)");
    tw_plan_free(plan);
}

/* The address at byte `at` of the last kernarg that the driver got. */
static uint64_t logged_address(size_t at) {
    const char *hex = strchr(strstr(hip_log, " kernarg "), ':') + 1 + 2 * at;
    uint64_t address = 0;
    for (int i = 0; i < 8; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        address |= (uint64_t)byte << (8 * i);
    }
    return address;
}

static void offsets_into_buffers_reach_the_kernel(void **state) {
    fixture *f = *state;
    tw_plan *plan = tw_plan_new("offsets");
    uint32_t b = tw_plan_add_buffer(plan, "b", TW_PLAN_SCRATCH, 256);
    tw_plan_add_launch(plan, 0, "fold", (tw_dim3){1, 1, 1}, (tw_dim3){64, 1, 1}, 0);
    tw_plan_arg_buffer(plan, "slab", b, 200);
    tw_plan_arg_buffer(plan, "out", b, 0);
    tw_plan_host host = {NULL, NULL};
    assert_int_equal(tw_plan_run(plan, f->device, &f->object, 1, &host, 1, NULL, f->diag), TW_OK);
    assert_true(logged_address(8) > 0);
    assert_int_equal(logged_address(0), logged_address(8) + 200);
    tw_plan_free(plan);
}

/* ---- single launches and copies ---- */

static void misuse_is_refused_in_words(void **state) {
    fixture *f = *state;
    tw_device *other;
    tw_module *module;
    tw_buffer *mine, *theirs;
    assert_int_equal(tw_device_open("hip:1", &other, NULL), TW_OK);
    assert_int_equal(tw_module_load(other, f->object, &module, f->diag), TW_ERR_UNSUPPORTED);
    assert_string_equal(tw_diag_first_error(f->diag),
                        "hip:1 runs no code of another target (got amdgcn-amd-amdhsa--gfx942)");
    tw_diag_clear(f->diag);
    static const char *const other_features[][2] = {
        {"gfx942:xnack+", "hip:0 runs no code of another target (got amdgcn-amd-amdhsa--gfx942:xnack+)"},
        {"gfx942:sramecc-", "hip:0 runs no code of another target (got amdgcn-amd-amdhsa--gfx942:sramecc-)"},
    };
    for (int i = 0; i < 2; i++) {
        tw_code_object *object = compile_kernel(kernel_slabs, other_features[i][0]);
        assert_int_equal(tw_module_load(f->device, object, &module, f->diag), TW_ERR_UNSUPPORTED);
        assert_string_equal(tw_diag_first_error(f->diag), other_features[i][1]);
        tw_diag_clear(f->diag);
        tw_code_object_release(object);
    }

    assert_int_equal(tw_module_load(f->device, f->object, &module, NULL), TW_OK);
    assert_int_equal(tw_buffer_new(f->device, 256, &mine, NULL), TW_OK);
    assert_int_equal(tw_buffer_new(other, 256, &theirs, NULL), TW_OK);
    tw_launch_arg args[] = {TW_BUFFER_ARG(mine), TW_BUFFER_ARG(theirs)},
                  null[] = {TW_BUFFER_ARG(mine), TW_BUFFER_ARG(NULL)},
                  outside[] = {TW_BUFFER_ARG(mine), TW_BUFFER_ARG(mine)};
    outside[1].as.buffer.offset = 257;
    const tw_dim3 one = {1, 1, 1}, block = {64, 1, 1};
    uint8_t bytes[24] = {0};
    tw_kernarg_pointer past = {9, mine, 0};
    const struct {
        tw_status status;
        const char *text;
    } cases[] = {
        {tw_launch(module, "fold", one, block, args, 2, f->diag),
         "the buffer at kernarg offset 8 must live on hip:0 (got one of hip:1)"},
        {tw_launch(module, "fold", one, block, null, 2, f->diag),
         "the pointer at kernarg offset 8 needs a buffer (got NULL)"},
        {tw_launch(module, "fold", one, block, outside, 2, f->diag),
         "an address must lie in its buffer of 256 bytes (got offset 257)"},
        {tw_launch(module, "fold", one, block, outside, 1, f->diag), "this kernel takes 2 arguments (got 1)"},
        {tw_launch(module, "fold", one, block, NULL, 2, f->diag),
         "tw_launch needs a module and its arguments (got NULL)"},
        {tw_launch_raw(module, "fold", one, block, 0, bytes, 24, NULL, 0, f->diag),
         "the explicit arguments of this kernel have 16 bytes (got 24)"},
        {tw_launch_raw(module, "fold", one, block, 0, bytes, 16, &past, 1, f->diag),
         "a pointer must lie in the 16 bytes of explicit arguments (got offset 9)"},
        {tw_buffer_write(mine, 250, bytes, 7, f->diag),
         "a copy must stay inside the 256 bytes of the buffer (got 7 at offset 250)"},
        {tw_buffer_read(mine, 257, bytes, 0, f->diag),
         "a copy must stay inside the 256 bytes of the buffer (got 0 at offset 257)"},
        {tw_buffer_fill(mine, 8, 0, SIZE_MAX, f->diag),
         "a copy must stay inside the 256 bytes of the buffer (got 18446744073709551615 at offset 8)"},
        {tw_buffer_write(mine, 0, NULL, 1, f->diag), "a copy of 1 bytes needs host memory (got NULL)"},
        {tw_buffer_read(NULL, 0, bytes, 1, f->diag), "a copy needs a buffer (got NULL)"},
    };
    assert_int_equal(tw_diag_count(f->diag), sizeof cases / sizeof cases[0]);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(cases[i].status, TW_ERR_USAGE);
        assert_string_equal(tw_diag_get(f->diag, i)->text, cases[i].text);
    }
    tw_diag_clear(f->diag);
    assert_int_equal(tw_launch(module, "nothing", one, block, args, 2, f->diag), TW_ERR_NOT_FOUND);
    assert_string_equal(tw_diag_first_error(f->diag),
                        "the kernel must be one of the code object's: add, fold (got nothing)");
    assert_null(strstr(hip_log, "hipModuleLaunchKernel"));
    tw_device_close(other);
}

/* The bytes of an object with its symbol `name` turned into one that is defined elsewhere. */
static tw_code_object *without_symbol(const tw_code_object *object, const char *name) {
    size_t size;
    const void *bytes = tw_code_object_bytes(object, &size);
    uint8_t *copy = malloc(size);
    memcpy(copy, bytes, size);
    const Elf64_Ehdr *header = (const void *)copy;
    const Elf64_Shdr *sections = (const void *)(copy + header->e_shoff);
    for (size_t i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_DYNSYM) continue;
        const char *names = (const char *)copy + sections[sections[i].sh_link].sh_offset;
        Elf64_Sym *symbols = (void *)(copy + sections[i].sh_offset);
        for (size_t s = 0; s < sections[i].sh_size / sizeof *symbols; s++)
            if (!strcmp(names + symbols[s].st_name, name)) symbols[s].st_shndx = SHN_UNDEF;
    }
    tw_code_object *patched;
    assert_int_equal(tw_code_object_from_bytes(copy, size, &patched, NULL), TW_OK);
    free(copy);
    return patched;
}

static void code_with_an_undefined_symbol_is_not_loaded(void **state) {
    fixture *f = *state;
    tw_module *module;
    tw_code_object *whole = compile_kernel("target triple = \"amdgcn-amd-amdhsa\"\n"
                                           "@table = addrspace(1) global i32 1\n"
                                           "define amdgpu_kernel void @k() {\n"
                                           "  ret void\n"
                                           "}\n",
                                           "gfx942");
    tw_code_object *patched = without_symbol(whole, "table");
    assert_int_equal(tw_module_load(f->device, whole, &module, f->diag), TW_OK);
    assert_int_equal(tw_module_load(f->device, patched, &module, f->diag), TW_ERR_COMPILE);
    assert_string_equal(tw_diag_first_error(f->diag),
                        "a code object that runs has no undefined symbol (got table)");
    tw_code_object_release(patched);
    tw_code_object_release(whole);
}

enum { THREADS = 4, ROUNDS = 200 };

static void *use_device(void *user) {
    fixture *f = user;
    tw_module *module;
    tw_buffer *buffer;
    uint8_t bytes[64], back[64];
    for (int i = 0; i < ROUNDS; i++) {
        memset(bytes, i, sizeof bytes);
        if (tw_buffer_new(f->device, 64, &buffer, NULL) ||
            tw_module_load(f->device, f->object, &module, NULL))
            return f;
        tw_launch_arg args[] = {TW_BUFFER_ARG(buffer), TW_BUFFER_ARG(buffer)};
        if (tw_buffer_write(buffer, 0, bytes, 64, NULL)) return f;
        if (tw_launch(module, "fold", (tw_dim3){1, 1, 1}, (tw_dim3){64, 1, 1}, args, 2, NULL)) return f;
        if (tw_buffer_read(buffer, 0, back, 64, NULL) || memcmp(bytes, back, 64)) return f;
        tw_device_last_counts(f->device);
        tw_module_unload(module);
        if (i % 2) tw_buffer_free(buffer); /* the others are left to the device */
    }
    return NULL;
}

static void threads_may_share_a_device(void **state) {
    fixture *f = *state;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_device, f), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(*hip_live, THREADS * ROUNDS / 2);
    assert_int_equal(*hip_overlaps, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_plan_runs_from_host_memory_to_host_memory, begin, end),
        cmocka_unit_test_setup_teardown(every_launch_is_checked_before_the_first_one_runs, begin, end),
        cmocka_unit_test_setup_teardown(a_plan_runs_on_buffers_that_are_there, begin, end),
        cmocka_unit_test_setup_teardown(offsets_into_buffers_reach_the_kernel, begin, end),
        cmocka_unit_test_setup_teardown(misuse_is_refused_in_words, begin, end),
        cmocka_unit_test_setup_teardown(code_with_an_undefined_symbol_is_not_loaded, begin, end),
        cmocka_unit_test_setup_teardown(threads_may_share_a_device, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
