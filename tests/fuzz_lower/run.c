#include "tests/fuzz_lower/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/eval.h"
#include "ir/interp.h"
#include "jit/backend.h"
#include "lower/lower.h"
#include "tests/fuzz_lower/merge.h"

const char *const fuzz_verdict_names[FUZZ_VERDICT_COUNT] = {
    "agrees", "skipped", "broken", "text", "folded", "compile", "report", "differs",
};

/* One case under way. */
typedef struct job {
    const fuzz_case *c;
    fuzz_case *folded;
    fuzz_memory expected;
    char *llvm;
    fuzz_result *result;
} job;

static void say(job *j, fuzz_verdict verdict, const char *text) {
    j->result->verdict = verdict;
    snprintf(j->result->text, sizeof j->result->text, "%s", text);
}

/* ---- comparison ---- */

static uint64_t element(const uint8_t *bytes, unsigned size) {
    uint64_t bits = 0;
    for (unsigned i = 0; i < size; i++)
        bits |= (uint64_t)bytes[i] << 8 * i;
    return bits;
}

/* Approximations: within one unit of the last place of the exact result, rounded. */
static bool is_near(uint64_t expected, uint64_t got) {
    int64_t e = (int64_t)(expected & 0x7fffffff), g = (int64_t)(got & 0x7fffffff);
    return (expected ^ got) >> 31 == 0 && e - g <= 1 && g - e <= 1;
}

/* Bit for bit, except that all NaNs are one. */
static bool is_same(const fuzz_param *p, uint64_t expected, uint64_t got) {
    tw_float_format format;
    if (expected == got) return true;
    if (!tw_scalar_float_format(p->scalar, &format)) return false;
    if (tw_float_is_nan(format, expected)) return tw_float_is_nan(format, got);
    return p->role == FUZZ_NEAR && !tw_float_is_nan(format, got) && is_near(expected, got);
}

static bool compare(const fuzz_case *c, const fuzz_memory *expected, const fuzz_memory *got,
                    char text[1024]) {
    unsigned differences = 0;
    int length = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < c->param_count; i++) {
        const fuzz_param *p = &c->params[i];
        unsigned size = tw_scalar_bits(p->scalar) / 8;
        for (uint32_t n = 0; n < p->count; n++) {
            uint64_t e = element(expected->bytes[i] + (size_t)n * size, size);
            uint64_t g = element(got->bytes[i] + (size_t)n * size, size);
            if (is_same(p, e, g) || differences++ >= 6) continue;
            length +=
                snprintf(text + length, 1024 - (size_t)length, "  %s[%u]: expected 0x%llx, got 0x%llx\n",
                         tw_kernel_name(c->kernel) ? c->kernel->params[i].name : "", (unsigned)n,
                         (unsigned long long)e, (unsigned long long)g);
        }
    }
    if (differences > 6) snprintf(text + length, 1024 - (size_t)length, "  %u differences\n", differences);
    return differences == 0;
}

/* ---- the interpreter ---- */

static tw_status interpret(const fuzz_case *c, fuzz_memory *m, tw_diag *diag) {
    tw_interp_arg args[FUZZ_MAX_PARAMS];
    for (uint32_t i = 0; i < c->param_count; i++)
        args[i] = (tw_interp_arg){.memory = m->bytes[i], .bytes = m->size[i], .bits = c->params[i].bits};
    return tw_interp_run(c->kernel, c->grid, args, c->param_count, NULL, diag);
}

static bool run_interpreter(job *j) {
    tw_diag *diag = tw_diag_new(NULL);
    bool good = fuzz_memory_new(j->c, &j->expected) && !interpret(j->c, &j->expected, diag);
    if (!good) say(j, FUZZ_BROKEN, tw_diag_text(diag));
    tw_diag_free(diag);
    return good;
}

/* The kernel read back from its text, and optimised, computes the same. */
static bool run_folded(job *j) {
    char *text = NULL, *again = NULL;
    size_t length;
    bool good = !tw_kernel_to_text(j->c->kernel, &text, &length, NULL);
    j->folded = good ? fuzz_case_from_text(j->c, text, length) : NULL;
    good = j->folded && !tw_kernel_to_text(j->folded->kernel, &again, NULL, NULL) && !strcmp(text, again);
    if (!good) say(j, FUZZ_TEXT, "printed and read back, the kernel is another one\n");
    free(text);
    free(again);
    if (!good) return false;
    tw_diag *diag = tw_diag_new(NULL);
    fuzz_memory m = {0};
    char difference[1024];
    good = !tw_kernel_optimize(j->folded->kernel, diag) && fuzz_memory_new(j->c, &m) &&
           !interpret(j->folded, &m, diag);
    if (!good) {
        say(j, FUZZ_FOLDED, tw_diag_text(diag));
    } else if (!compare(j->c, &j->expected, &m, difference)) {
        good = false;
        say(j, FUZZ_FOLDED, difference);
    }
    fuzz_memory_free(&m);
    tw_diag_free(diag);
    return good;
}

/* ---- machine code ---- */

/* Odd seeds lower what the optimiser made of the kernel. */
static const fuzz_case *lowered_case(const job *j) { return j->c->seed & 1 ? j->folded : j->c; }

static bool run_lowerer(fuzz_runner *r, job *j) {
    tw_compiler_choice choice;
    tw_diag *diag = tw_diag_new(NULL);
    bool good = !tw_compiler_choose(r->compiler, r->target, &choice, diag) &&
                !tw_lower(lowered_case(j)->kernel, choice.flavor, &j->llvm, NULL, diag);
    if (!good) say(j, FUZZ_COMPILE, tw_diag_text(diag));
    tw_diag_free(diag);
    return good;
}

static tw_status compile(fuzz_runner *r, const char *text, size_t length, tw_code_object **out,
                         tw_diag *diag) {
    const tw_worker_limits limits = {.milliseconds = 60000};
    const tw_compile_options options = {.worker = &limits, .opt_level = r->level, .name = "kernels"};
    return tw_compile_llvm_ir(r->compiler, text, length, r->target, &options, out, diag);
}

static tw_launch_arg scalar_arg(const fuzz_param *p) {
    return (tw_launch_arg){TW_LAUNCH_BYTES, {.bytes = {&p->bits, tw_scalar_bits(p->scalar) / 8}}};
}

static void launch(fuzz_runner *r, job *j, tw_module *module) {
    const fuzz_case *c = j->c;
    tw_diag *diag = tw_diag_new(NULL);
    tw_launch_arg args[FUZZ_MAX_PARAMS];
    tw_buffer *buffers[FUZZ_MAX_PARAMS] = {0};
    fuzz_memory m;
    char difference[1024];
    tw_kernel_options o = tw_kernel_get_options(c->kernel);
    tw_dim3 block = {o.workgroup_size, o.workgroup_size_y ? o.workgroup_size_y : 1,
                     o.workgroup_size_z ? o.workgroup_size_z : 1};
    tw_status status = fuzz_memory_new(c, &m) ? TW_OK : TW_ERR_NO_MEMORY;
    for (uint32_t i = 0; i < c->param_count && !status; i++) {
        args[i] = scalar_arg(&c->params[i]);
        if (c->params[i].role == FUZZ_SCALAR) continue;
        status = tw_buffer_new_named(r->device, m.size[i], c->kernel->params[i].name, &buffers[i], diag);
        if (!status) status = tw_buffer_write(buffers[i], 0, m.bytes[i], m.size[i], diag);
        args[i] = TW_BUFFER_ARG(buffers[i]);
    }
    if (!status)
        status = tw_launch(module, tw_kernel_name(c->kernel), (tw_dim3){c->grid[0], c->grid[1], c->grid[2]},
                           block, args, c->param_count, diag);
    for (uint32_t i = 0; i < c->param_count; i++) {
        if (buffers[i] && !status) tw_buffer_read(buffers[i], 0, m.bytes[i], m.size[i], NULL);
        tw_buffer_free(buffers[i]);
    }
    if (status) {
        bool unknown = strstr(tw_diag_text(diag), "does not know this instruction") != NULL;
        say(j, unknown ? FUZZ_SKIPPED : FUZZ_REPORT, tw_diag_text(diag));
    } else if (!compare(c, &j->expected, &m, difference)) {
        say(j, FUZZ_DIFFERS, difference);
    }
    fuzz_memory_free(&m);
    tw_diag_free(diag);
}

static bool is_alive(const job *j) { return j->result->verdict == FUZZ_AGREES; }

/* Compiles the kernels of jobs first .. last - 1 as one module. */
static tw_status compile_jobs(fuzz_runner *r, job *jobs, unsigned first, unsigned last, tw_code_object **out,
                              tw_diag *diag) {
    tw_strbuf text, declarations;
    unsigned merged = 0;
    size_t length = 0;
    tw_strbuf_init(&text, NULL);
    tw_strbuf_init(&declarations, NULL);
    for (unsigned i = first; i < last; i++)
        if (is_alive(&jobs[i])) fuzz_merge(&text, &declarations, jobs[i].llvm, merged++);
    tw_strbuf_append(&text, tw_strbuf_text(&declarations));
    tw_strbuf_free(&declarations);
    char *module = tw_strbuf_take(&text, &length);
    tw_strbuf_free(&text);
    *out = NULL;
    tw_status status = !merged  ? TW_ERR_NOT_FOUND
                       : module ? compile(r, module, length, out, diag)
                                : TW_ERR_NO_MEMORY;
    free(module);
    return status;
}

static void run_machine_code(fuzz_runner *r, job *jobs, unsigned first, unsigned last) {
    tw_diag *diag = tw_diag_new(NULL);
    tw_code_object *object;
    tw_module *module = NULL;
    uint64_t start = tw_now();
    tw_status status = compile_jobs(r, jobs, first, last, &object, diag);
    if (!status) status = tw_module_load(r->device, object, &module, diag);
    r->compile_time += tw_now() - start;
    start = tw_now();
    for (unsigned i = first; i < last && !status; i++)
        if (is_alive(&jobs[i])) launch(r, &jobs[i], module);
    r->run_time += tw_now() - start;
    if (status && last - first == 1 && is_alive(&jobs[first]))
        say(&jobs[first], FUZZ_COMPILE, tw_diag_text(diag));
    tw_module_unload(module);
    tw_code_object_release(object);
    tw_diag_free(diag);
    if (!status || last - first <= 1) return;
    unsigned middle = first + (last - first) / 2; /* who is it? */
    run_machine_code(r, jobs, first, middle);
    run_machine_code(r, jobs, middle, last);
}

void fuzz_run(fuzz_runner *r, fuzz_case *const *cases, unsigned count, fuzz_result *results) {
    job jobs[FUZZ_BATCH] = {0};
    uint64_t start = tw_now();
    for (unsigned i = 0; i < count; i++) {
        results[i] = (fuzz_result){FUZZ_AGREES, ""};
        jobs[i] = (job){.c = cases[i], .result = &results[i]};
        if (!cases[i]) {
            say(&jobs[i], FUZZ_BROKEN, "the generator gave no kernel\n");
            continue;
        }
        if (run_interpreter(&jobs[i]) && run_folded(&jobs[i])) run_lowerer(r, &jobs[i]);
    }
    r->interpret_time += tw_now() - start;
    run_machine_code(r, jobs, 0, count);
    for (unsigned i = 0; i < count; i++) {
        free(jobs[i].llvm);
        fuzz_memory_free(&jobs[i].expected);
        fuzz_case_free(jobs[i].folded);
    }
}

bool fuzz_runner_open(fuzz_runner *r, const char *target) {
    char name[TW_TARGET_NAME_MAX + 8];
    *r = (fuzz_runner){0};
    snprintf(name, sizeof name, "emu:%s", target);
    tw_diag *diag = tw_diag_new(NULL);
    tw_status status = tw_target_parse(target, &r->target, diag);
    if (!status) status = tw_compiler_open(TW_COMPILER_LLVM, &r->compiler, diag);
    if (!status) status = tw_device_open(name, &r->device, diag);
    if (status) fprintf(stderr, "%s", tw_diag_text(diag));
    tw_diag_free(diag);
    return !status;
}

void fuzz_runner_close(fuzz_runner *r) {
    tw_device_close(r->device);
    tw_compiler_close(r->compiler);
    *r = (fuzz_runner){0};
}
