/* What lowered kernels compute: every op, with many types, on the emulator against the interpreter of the
 * tile IR, bit for bit. */
#include "tests/lower/helpers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/interp.h"
#include "ir/ir.h"
#include "run/device.h"
#include "support/float_formats.h"
#include "support/random.h"
#include "tests/lower/op_kernels.h"

#define MAX_PARAMS 24

/* A compiler and a device to run what it makes. */
typedef struct lane {
    tw_compiler_kind kind;
    const char *target;
    tw_compiler *compiler;
    tw_flavor flavor;
    tw_device *device;
} lane;

/* One kernel in one lane. */
typedef struct job {
    lane *lane;
    size_t kernel;
    unsigned how;
    char name[64];
} job;

/* ---- data ---- */

static bool float_format(tw_scalar scalar, tw_float_format *format) {
    static const int formats[TW_SCALAR_COUNT] = {
        [TW_F16] = TW_FLOAT_F16 + 1,
        [TW_BF16] = TW_FLOAT_BF16 + 1,
        [TW_F32] = TW_FLOAT_F32 + 1,
        [TW_F8E4M3] = TW_FLOAT_FP8_OCP + 1,
        [TW_F8E5M2] = TW_FLOAT_BF8_OCP + 1,
        [TW_F8E4M3FNUZ] = TW_FLOAT_FP8_FNUZ + 1,
        [TW_F8E5M2FNUZ] = TW_FLOAT_BF8_FNUZ + 1,
    };
    *format = (tw_float_format)(formats[scalar] - 1);
    return formats[scalar] != 0;
}

/* Any bits, small numbers, powers of two and their neighbours, and what is special about the format. */
static uint64_t some_value(tw_random *random, tw_scalar scalar) {
    unsigned width = tw_scalar_bits(scalar);
    uint64_t mask = UINT64_MAX >> (64 - width), bits = tw_random_u64(random);
    tw_float_format format;
    if (float_format(scalar, &format)) {
        const tw_float_info *info = tw_float_format_info(format);
        uint64_t sign = (bits & 1) << (width - 1), fraction = ((uint64_t)1 << info->mantissa_bits) - 1;
        switch (tw_random_below(random, 8)) {
        case 0:
            return tw_float_convert(TW_FLOAT_F32, (uint32_t)tw_f32_bits((float)(int8_t)(bits >> 8)), format,
                                    TW_ROUND_NEAREST_EVEN, TW_OVERFLOW_SATURATE);
        case 1: return sign | (bits >> 8 & fraction);                                 /* zero or denormal */
        case 2: return sign | ((info->largest & ~fraction) | (bits >> 8 & fraction)); /* large, NaN */
        case 3:
            return sign | ((uint64_t)(info->bias + bits % 9 - 4) << info->mantissa_bits) | (bits >> 8 & 3);
        case 4:
            return sign | ((uint64_t)(info->bias + bits % 9 - 4) << info->mantissa_bits) |
                   (fraction & ~(bits >> 8 & 3));
        case 5: return tw_random_below(random, 16) ? sign : sign | info->nan;
        default: return bits & mask;
        }
    }
    switch (tw_random_below(random, 4)) {
    case 0: return (uint64_t)((int64_t)(bits % 41) - 20) & mask;
    case 1: return (((uint64_t)1 << bits % width) + ((bits >> 8) % 5) - 2) & mask;
    case 2: return (((uint64_t)1 << bits % width) + ((uint64_t)1 << (bits >> 8) % width) - 1) & mask;
    default: return bits & mask;
    }
}

static void fill(unsigned char *memory, tw_scalar scalar, size_t count, uint64_t seed) {
    tw_random random;
    tw_random_seed(&random, seed);
    size_t size = tw_scalar_bits(scalar) / 8;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = some_value(&random, scalar);
        memcpy(memory + i * size, &value, size); /* little-endian hosts, as the library needs */
    }
}

/* Equal bits, or NaNs both. */
static bool same(tw_scalar scalar, uint64_t a, uint64_t b) {
    tw_float_format format;
    if (a == b) return true;
    return float_format(scalar, &format) && tw_float_is_nan(format, a) && tw_float_is_nan(format, b);
}

/* The argument of a scalar parameter of op_kernels.c. */
static int64_t scalar_argument(const char *name) {
    static const struct {
        const char *name;
        int64_t value;
    } rows[] = {
        {"start", -3},    {"end", 23},     {"high", INT32_MAX - 40},     {"step", 9},
        {"far_start", 2}, {"far_end", 31}, {"far_high", INT64_MAX - 40}, {"far_step", 8},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!strcmp(rows[i].name, name)) return rows[i].value;
    fail_msg("no value for the parameter %s", name);
    return 0;
}

/* ---- a run ---- */

typedef struct run {
    const tw_kernel *kernel;
    const char *name; /* of the job */
    size_t count;     /* parameters */
    tw_scalar scalars[MAX_PARAMS];
    size_t bytes[MAX_PARAMS]; /* 0: a scalar parameter */
    int64_t values[MAX_PARAMS];
    unsigned char *before[MAX_PARAMS], *interpreted[MAX_PARAMS], *executed[MAX_PARAMS];
} run;

static void open_run(run *r, const tw_kernel *kernel, uint32_t elements) {
    r->count = kernel->body.arg_count;
    assert_in_range(r->count, 1, MAX_PARAMS);
    for (size_t i = 0; i < r->count; i++) {
        const tw_type *type = tw_type_of(kernel, kernel->body.args[i]);
        r->scalars[i] = type->scalar;
        r->bytes[i] =
            type->kind == TW_TYPE_POINTER ? (size_t)elements * (tw_scalar_bits(type->scalar) / 8) : 0;
        if (!r->bytes[i]) {
            r->values[i] = scalar_argument(kernel->params[i].name);
            continue;
        }
        r->before[i] = malloc(r->bytes[i]);
        r->interpreted[i] = malloc(r->bytes[i]);
        r->executed[i] = malloc(r->bytes[i]);
        assert_true(r->before[i] && r->interpreted[i] && r->executed[i]);
        fill(r->before[i], type->scalar, elements, 7 + i);
        memcpy(r->interpreted[i], r->before[i], r->bytes[i]);
    }
}

static void close_run(run *r) {
    for (size_t i = 0; i < r->count; i++) {
        free(r->before[i]);
        free(r->interpreted[i]);
        free(r->executed[i]);
    }
}

static void interpret(run *r) {
    tw_interp_arg args[MAX_PARAMS];
    for (size_t i = 0; i < r->count; i++) {
        bool wide = tw_scalar_bits(r->scalars[i]) == 64;
        args[i] = r->bytes[i] ? TW_INTERP_MEMORY(r->interpreted[i], r->bytes[i])
                              : TW_INTERP_BITS(wide ? (uint64_t)r->values[i] : (uint32_t)r->values[i]);
    }
    tw_diag *diag = tw_diag_new(NULL);
    if (tw_interp_run(r->kernel, (const uint32_t[]){1, 1, 1}, args, r->count, NULL, diag))
        fail_msg("%s: %s", tw_kernel_name(r->kernel), tw_diag_text(diag));
    tw_diag_free(diag);
}

/* False where the emulator does not know an instruction. */
static bool launch(const run *r, tw_module *module, const tw_launch_arg *args) {
    tw_diag *diag = tw_diag_new(NULL);
    tw_kernel_options o = tw_kernel_get_options(r->kernel);
    tw_dim3 block = {o.workgroup_size, o.workgroup_size_y, o.workgroup_size_z};
    bool known = true;
    if (tw_launch(module, tw_kernel_name(r->kernel), (tw_dim3){1, 1, 1}, block, args, r->count, diag)) {
        known = !strstr(tw_diag_text(diag), "the emulator does not know this instruction");
        if (known) fail_msg("%s: %s", r->name, tw_diag_text(diag));
        print_message("%s: %s", r->name, tw_diag_text(diag));
    }
    tw_diag_free(diag);
    return known;
}

static bool execute(run *r, tw_device *device, tw_code_object *object) {
    tw_launch_arg args[MAX_PARAMS];
    tw_buffer *buffers[MAX_PARAMS] = {NULL};
    for (size_t i = 0; i < r->count; i++) {
        if (!r->bytes[i]) {
            args[i] = tw_scalar_bits(r->scalars[i]) == 64 ? TW_I64_ARG(r->values[i])
                                                          : TW_I32_ARG((int32_t)r->values[i]);
            continue;
        }
        assert_int_equal(tw_buffer_new(device, r->bytes[i], &buffers[i], NULL), TW_OK);
        assert_int_equal(tw_buffer_write(buffers[i], 0, r->before[i], r->bytes[i], NULL), TW_OK);
        args[i] = TW_BUFFER_ARG(buffers[i]);
    }
    tw_module *module;
    assert_int_equal(tw_module_load(device, object, &module, NULL), TW_OK);
    bool known = launch(r, module, args);
    for (size_t i = 0; i < r->count; i++) {
        if (buffers[i])
            assert_int_equal(tw_buffer_read(buffers[i], 0, r->executed[i], r->bytes[i], NULL), TW_OK);
        tw_buffer_free(buffers[i]);
    }
    tw_module_unload(module);
    return known;
}

/* How many elements differ; the first few are printed. */
static unsigned compare(const run *r) {
    unsigned differences = 0;
    for (size_t i = 0; i < r->count; i++) {
        size_t size = tw_scalar_bits(r->scalars[i]) / 8;
        for (size_t at = 0; at < r->bytes[i]; at += size) {
            uint64_t wanted = 0, got = 0;
            memcpy(&wanted, r->interpreted[i] + at, size);
            memcpy(&got, r->executed[i] + at, size);
            if (same(r->scalars[i], wanted, got)) continue;
            if (differences++ < 10)
                print_error("%s: %s[%zu] is 0x%llx, not 0x%llx\n", r->name, r->kernel->params[i].name,
                            at / size, (unsigned long long)got, (unsigned long long)wanted);
        }
    }
    return differences;
}

static tw_code_object *compile(const lane *l, const tw_kernel *kernel) {
    size_t length;
    char *text = lower_text(kernel, l->flavor, &length);
    tw_diag *diag = tw_diag_new(NULL);
    tw_code_object *object;
    if (tw_compile_llvm_ir(l->compiler, text, length, tw_kernel_target(kernel), NULL, &object, diag))
        fail_msg("%s", tw_diag_text(diag));
    tw_diag_free(diag);
    free(text);
    return object;
}

static void computes(void **state) {
    const job *j = *state;
    lane *l = j->lane;
    if (!l->device) {
        print_message("%s: there is no such compiler\n", j->name);
        skip();
    }
    if (!op_kernels_served(j->kernel, l->flavor, target_named(l->target).arch)) {
        print_message("%s: the lowerer refuses it for the flavor\n", j->name);
        skip();
    }
    tw_context *ctx = tw_context_new(NULL);
    uint32_t elements;
    tw_kernel *kernel = op_kernels_build(ctx, target_named(l->target), j->kernel, j->how, &elements);
    if (!kernel) fail_msg("%s", tw_context_diagnostics(ctx));
    tw_code_object *object = compile(l, kernel);
    run r = {.kernel = kernel, .name = j->name};
    open_run(&r, kernel, elements);
    interpret(&r);
    bool known = execute(&r, l->device, object);
    unsigned differences = known ? compare(&r) : 0;
    close_run(&r);
    tw_code_object_release(object);
    tw_context_free(ctx);
    assert_int_equal(differences, 0);
    if (!known) skip();
}

/* Leaves the device out where there is no such compiler. */
static void open_lane(lane *l) {
    tw_compiler_choice choice;
    if (tw_compiler_open(l->kind, &l->compiler, NULL)) return;
    if (tw_compiler_choose(l->compiler, target_named(l->target), &choice, NULL)) return;
    l->flavor = choice.flavor;
    char name[64] = "emu:";
    strcat(name, l->target);
    assert_int_equal(tw_device_open(name, &l->device, NULL), TW_OK);
}

#define MAX_LANES 12
#define MAX_JOBS  1024

/* With the argument "all": every target, and operands that are the same in all lanes, too. */
int main(int argc, char **argv) {
    static job jobs[MAX_JOBS];
    static struct CMUnitTest tests[MAX_JOBS];
    lane lanes[MAX_LANES] = {{.kind = TW_COMPILER_COMGR, .target = "gfx90a"},
                             {.kind = TW_COMPILER_LLVM, .target = "gfx1250"}};
    size_t lane_count = 2, count = 0;
    bool all = argc > 1 && !strcmp(argv[1], "all");
    if (all)
        for (lane_count = 1; lane_count <= lower_target_count; lane_count++)
            lanes[lane_count] = (lane){.kind = TW_COMPILER_LLVM, .target = lower_targets[lane_count - 1]};
    for (size_t i = 0; i < lane_count; i++) {
        open_lane(&lanes[i]);
        for (size_t k = 0; k < op_kernels_count(); k++)
            for (unsigned how = 0; how <= (all ? OP_KERNELS_UNIFORM : 0) && op_kernels_settled(k);
                 how += OP_KERNELS_UNIFORM) {
                job *j = &jobs[count];
                *j = (job){.lane = &lanes[i], .kernel = k, .how = how};
                snprintf(j->name, sizeof j->name, "%s on %s%s%s", op_kernels_name(k), lanes[i].target,
                         lanes[i].kind == TW_COMPILER_COMGR ? " by comgr" : "", how ? ", uniform" : "");
                tests[count++] = (struct CMUnitTest){j->name, computes, NULL, NULL, j};
            }
    }
    int failures = _cmocka_run_group_tests("lower-values", tests, count, NULL, NULL);
    for (size_t i = 0; i < lane_count; i++) {
        tw_device_close(lanes[i].device);
        tw_compiler_close(lanes[i].compiler);
    }
    return failures;
}
