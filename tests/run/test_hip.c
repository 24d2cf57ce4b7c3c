/* The HIP device on a runtime that runs nothing (fake_hip.c), and the errors where there is no runtime. */
#include "tests/test.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/device.h"
#include "tests/run/kernels.h"

static char *hip_log;
static int *hip_live;

static void use_library(const char *path) {
    setenv("TILEWRIGHT_HIP", path, 1);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    hip_log = dlsym(library, "fake_hip_log");
    hip_live = dlsym(library, "fake_hip_live");
    assert_non_null(hip_log);
    assert_non_null(hip_live);
    hip_log[0] = 0;
}

static int begin(void **state) {
    (void)state;
    use_library(FAKE_HIP);
    setenv("FAKE_HIP_ARCHS", "gfx1100,gfx942:sramecc+:xnack-", 1);
    unsetenv("FAKE_HIP_FAIL");
    return 0;
}

static void expect_open_error(const char *name, tw_status status, const char *text) {
    tw_diag *diag = tw_diag_new(NULL);
    tw_device *device = (tw_device *)1;
    assert_int_equal(tw_device_open(name, &device, diag), status);
    assert_null(device);
    assert_string_equal(tw_diag_first_error(diag), text);
    tw_diag_free(diag);
}

static void a_missing_driver_is_a_plain_error(void **state) {
    (void)state;
    setenv("TILEWRIGHT_HIP", "/nonexistent/libamdhip64.so", 1);
    expect_open_error(
        "hip:0", TW_ERR_NOT_FOUND,
        "hip:0: no HIP driver: libamdhip64.so cannot be opened (tried /nonexistent/libamdhip64.so)");
    expect_open_error(
        "auto", TW_ERR_NOT_FOUND,
        "auto: no HIP driver: libamdhip64.so cannot be opened (tried /nonexistent/libamdhip64.so)");
    /* Without a choice every place is tried, and named. */
    unsetenv("TILEWRIGHT_HIP");
    setenv("ROCM_PATH", "/nonexistent/rocm", 1);
    tw_diag *diag = tw_diag_new(NULL);
    tw_device *device;
    if (tw_device_open("hip:0", &device, diag)) {
        const char *text = tw_diag_first_error(diag);
        if (strstr(text, "no HIP driver")) {
            assert_non_null(
                strstr(text, "(tried /nonexistent/rocm/lib/libamdhip64.so, /opt/rocm/lib/libamdhip64.so"));
            assert_non_null(strstr(text, ", libamdhip64.so.7"));
        }
    }
    tw_device_close(device);
    tw_diag_free(diag);
    unsetenv("ROCM_PATH");
}

static void a_library_that_is_no_driver_is_named(void **state) {
    (void)state;
    setenv("TILEWRIGHT_HIP", "libm.so.6", 1);
    tw_diag *diag = tw_diag_new(NULL);
    tw_device *device;
    assert_int_equal(tw_device_open("hip:0", &device, diag), TW_ERR_NOT_FOUND);
    assert_non_null(strstr(tw_diag_first_error(diag),
                           "hip:0: the HIP driver lacks a function that is needed (got no hip"));
    tw_diag_free(diag);
}

static void a_driver_without_devices_is_a_plain_error(void **state) {
    (void)state;
    setenv("FAKE_HIP_ARCHS", "", 1);
    expect_open_error("hip:0", TW_ERR_NOT_FOUND, "hip:0: no HIP device (the driver has 0)");
    setenv("FAKE_HIP_FAIL", "hipGetDeviceCount", 1);
    expect_open_error(
        "hip:0", TW_ERR_NOT_FOUND,
        "hip:0: no HIP device: hipGetDeviceCount failed (no ROCm-capable device is detected, error 100)");
}

static void device_numbers_are_checked(void **state) {
    (void)state;
    expect_open_error("hip:2", TW_ERR_NOT_FOUND, "hip:2: the driver has 2 devices (got number 2)");
    expect_open_error("hip:", TW_ERR_INVALID, "hip: must be followed by the number of a device (got hip:)");
    expect_open_error("hip:-1", TW_ERR_INVALID,
                      "hip: must be followed by the number of a device (got hip:-1)");
    expect_open_error("hip:0x", TW_ERR_INVALID,
                      "hip: must be followed by the number of a device (got hip:0x)");
    expect_open_error("hip:99999999999999999999", TW_ERR_INVALID,
                      "hip: must be followed by the number of a device (got hip:99999999999999999999)");
    setenv("FAKE_HIP_ARCHS", "gfx803", 1);
    expect_open_error("hip:0", TW_ERR_UNSUPPORTED,
                      "hip:0: the GPU must be a target of this library (got gfx803)");
}

static void expect_device(const char *name, const char *opened, const char *target_name) {
    tw_device *device;
    char text[TW_TARGET_NAME_MAX];
    assert_int_equal(tw_device_open(name, &device, NULL), TW_OK);
    assert_string_equal(tw_device_name(device), opened);
    tw_target_format(tw_device_target(device), text);
    assert_string_equal(text, target_name);
    tw_device_close(device);
}

static void the_processor_is_read_from_either_layout_of_the_properties(void **state) {
    (void)state;
    expect_device("hip:0", "hip:0", "gfx1100");
    expect_device("hip:1", "hip:1", "gfx942:sramecc+:xnack-");
    use_library(FAKE_HIP_ROCM5);
    expect_device("hip:1", "hip:1", "gfx942:sramecc+:xnack-");
}

static void auto_takes_a_gpu_that_serves_the_target(void **state) {
    (void)state;
    expect_device("auto", "hip:0", "gfx1100");
    expect_device("auto:gfx942", "hip:1", "gfx942:sramecc+:xnack-");
    expect_device("auto:gfx1250", "emu:gfx1250", "gfx1250");
    expect_device("auto:gfx942:xnack+", "emu:gfx942:xnack+", "gfx942:xnack+");
    setenv("FAKE_HIP_ARCHS", "gfx803", 1);
    expect_open_error("auto", TW_ERR_NOT_FOUND,
                      "auto: none of the driver's 1 devices serves this library's targets");
    expect_device("auto:gfx1250", "emu:gfx1250", "gfx1250");
    expect_open_error("auto:gfx1", TW_ERR_INVALID,
                      "target must be one of gfx90a, gfx942, gfx950, gfx1100, gfx1151, gfx1200, gfx1201, "
                      "gfx1250 (got gfx1)");
}

/* ---- running ---- */

static void every_call_reaches_the_driver_on_its_device(void **state) {
    (void)state;
    tw_device *device;
    tw_code_object *object = compile_kernel(kernel_axpy, "gfx942");
    tw_module *module;
    tw_buffer *x, *y, *empty;
    float numbers[4] = {1, 2, 3, 4}, back[4] = {0};
    assert_int_equal(tw_device_open("hip:1", &device, NULL), TW_OK);
    assert_int_equal(tw_module_load(device, object, &module, NULL), TW_OK);
    assert_int_equal(tw_buffer_new(device, 16, &x, NULL), TW_OK);
    assert_int_equal(tw_buffer_new(device, 16, &y, NULL), TW_OK);
    assert_int_equal(tw_buffer_new(device, 0, &empty, NULL), TW_OK);
    assert_int_equal(tw_buffer_write(x, 0, numbers, 16, NULL), TW_OK);
    assert_int_equal(tw_buffer_fill(y, 4, 7, 12, NULL), TW_OK);
    assert_int_equal(tw_buffer_read(x, 4, back, 12, NULL), TW_OK);
    assert_memory_equal(back, numbers + 1, 12);
    assert_string_equal(hip_log,
                        "hipModuleLoadData on 1\nhipMalloc 16 on 1\nhipMalloc 16 on 1\nhipMemcpy 16 in on 1\n"
                        "hipMemset 12 7 on 1\nhipMemcpy 12 out on 1\n");
    hip_log[0] = 0;
    tw_launch_arg args[] = {
        TW_BUFFER_ARG(empty), {TW_LAUNCH_NULL, {.i32 = 0}}, TW_F32_ARG(2.0f), TW_I32_ARG(4)};
    assert_int_equal(tw_launch(module, "axpy", (tw_dim3){3, 2, 1}, (tw_dim3){8, 4, 1}, args, 4, NULL), TW_OK);
    assert_string_equal(hip_log, "hipModuleGetFunction axpy on 1\n"
                                 "hipModuleLaunchKernel 3,2,1 8,4,1 lds 0 kernarg "
                                 "24:000000000000000000000000000000000000004004000000 on 1\n"
                                 "hipDeviceSynchronize on 1\n");
    assert_true(tw_device_last_counts(device).nanoseconds > 0);
    assert_int_equal(tw_device_last_counts(device).wave_instructions, 0);
    hip_log[0] = 0;
    tw_module_unload(module);
    tw_buffer_free(x);
    assert_string_equal(hip_log, "hipModuleUnload on 1\nhipFree on 1\n");
    tw_device_close(device); /* frees y and the empty buffer */
    assert_int_equal(*hip_live, 0);
    tw_code_object_release(object);
}

static void raw_launches_patch_addresses_in(void **state) {
    (void)state;
    tw_device *device;
    tw_code_object *object = compile_kernel(kernel_axpy, "gfx942");
    tw_module *module;
    tw_buffer *x;
    assert_int_equal(tw_device_open("hip:1", &device, NULL), TW_OK);
    assert_int_equal(tw_module_load(device, object, &module, NULL), TW_OK);
    tw_code_object_release(object); /* the module keeps it */
    assert_int_equal(tw_buffer_new(device, 16, &x, NULL), TW_OK);
    uint8_t kernarg[24];
    memset(kernarg, 0xaa, sizeof kernarg);
    tw_kernarg_pointer pointers[] = {{8, x, 0}, {0, x, 5}};
    hip_log[0] = 0;
    assert_int_equal(tw_launch_raw(module, "axpy", (tw_dim3){1, 1, 1}, (tw_dim3){1, 1, 1}, 512, kernarg, 24,
                                   pointers, 2, NULL),
                     TW_OK);
    assert_int_equal(kernarg[8], 0xaa);
    unsigned first[8], second[8];
    const char *hex = strstr(hip_log, "lds 512 kernarg 24:");
    assert_non_null(hex);
    hex += strlen("lds 512 kernarg 24:");
    uint64_t address[2] = {0, 0};
    for (int i = 0; i < 8; i++) {
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &first[i]), 1);
        assert_int_equal(sscanf(hex + 16 + 2 * i, "%2x", &second[i]), 1);
        address[0] |= (uint64_t)first[i] << (8 * i);
        address[1] |= (uint64_t)second[i] << (8 * i);
    }
    assert_true(address[1] > 0);
    assert_int_equal(address[0], address[1] + 5);
    assert_non_null(strstr(hex + 32, "aaaaaaaaaaaaaaaa on 1\n"));
    tw_device_close(device);
}

static void errors_of_the_driver_come_with_its_words(void **state) {
    (void)state;
    static const struct {
        const char *call;
        tw_status status;
        const char *text;
    } cases[] = {
        {"hipSetDevice", TW_ERR_DEVICE, "hip:1: hipSetDevice must succeed (got invalid argument, error 101)"},
        {"hipMalloc", TW_ERR_NO_MEMORY, "hip:1: hipMalloc must succeed (got out of memory, error 2)"},
        {"hipMemcpy", TW_ERR_DEVICE, "hip:1: hipMemcpy must succeed (got invalid argument, error 1)"},
        {"hipMemset", TW_ERR_DEVICE, "hip:1: hipMemset must succeed (got invalid argument, error 1)"},
        {"hipModuleLoadData", TW_ERR_DEVICE,
         "hip:1: hipModuleLoadData must succeed (got invalid argument, error 1)"},
        {"hipModuleGetFunction", TW_ERR_DEVICE,
         "hip:1: hipModuleGetFunction must succeed (got invalid argument, error 1)"},
        {"hipModuleLaunchKernel", TW_ERR_DEVICE,
         "hip:1: hipModuleLaunchKernel must succeed (got invalid argument, error 1)"},
        {"hipDeviceSynchronize", TW_ERR_DEVICE,
         "hip:1: hipDeviceSynchronize must succeed (got unspecified launch failure, error 719)"},
    };
    tw_code_object *object = compile_kernel(kernel_axpy, "gfx942");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tw_device *device;
        tw_buffer *x = NULL;
        tw_module *module = NULL;
        uint32_t word = 0;
        tw_launch_arg args[] = {
            {TW_LAUNCH_NULL, {.i32 = 0}}, {TW_LAUNCH_NULL, {.i32 = 0}}, TW_F32_ARG(1), TW_I32_ARG(0)};
        tw_diag *diag = tw_diag_new(NULL);
        unsetenv("FAKE_HIP_FAIL");
        assert_int_equal(tw_device_open("hip:1", &device, NULL), TW_OK);
        setenv("FAKE_HIP_FAIL", cases[i].call, 1);
        tw_status status = tw_buffer_new(device, 4, &x, diag);
        if (!status) status = tw_buffer_write(x, 0, &word, 4, diag);
        if (!status) status = tw_buffer_fill(x, 0, 0, 4, diag);
        if (!status) status = tw_module_load(device, object, &module, diag);
        if (!status)
            status = tw_launch(module, "axpy", (tw_dim3){1, 1, 1}, (tw_dim3){1, 1, 1}, args, 4, diag);
        assert_string_equal(tw_diag_first_error(diag), cases[i].text);
        assert_int_equal(status, cases[i].status);
        unsetenv("FAKE_HIP_FAIL");
        tw_device_close(device);
        tw_diag_free(diag);
    }
    assert_int_equal(*hip_live, 0);
    tw_code_object_release(object);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_missing_driver_is_a_plain_error, begin),
        cmocka_unit_test_setup(a_library_that_is_no_driver_is_named, begin),
        cmocka_unit_test_setup(a_driver_without_devices_is_a_plain_error, begin),
        cmocka_unit_test_setup(device_numbers_are_checked, begin),
        cmocka_unit_test_setup(the_processor_is_read_from_either_layout_of_the_properties, begin),
        cmocka_unit_test_setup(auto_takes_a_gpu_that_serves_the_target, begin),
        cmocka_unit_test_setup(every_call_reaches_the_driver_on_its_device, begin),
        cmocka_unit_test_setup(raw_launches_patch_addresses_in, begin),
        cmocka_unit_test_setup(errors_of_the_driver_come_with_its_words, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
