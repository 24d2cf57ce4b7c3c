/* Jobs: their code. */
#include "instances/family.h"
#include "jit/compile.h"

static tw_status compile_one(const tw_job *job, size_t index, tw_compiler *compiler,
                             const tw_compile_options *options, tw_code_object **out, tw_diag *diag) {
    tw_context *ctx = tw_context_new(NULL);
    if (!ctx) return tw_fail_no_memory(diag);
    tw_kernel *kernel = tw_instance_build(ctx, &job->kernels[index], job->target);
    tw_status status;
    if (kernel) {
        status = tw_compile(compiler, kernel, options, out, diag);
    } else {
        const tw_diagnostic *first = tw_diag_get(tw_context_diag(ctx), 0);
        status = first ? tw_fail(diag, first->status, "%s", first->text) : tw_fail_no_memory(diag);
    }
    tw_context_free(ctx);
    return status;
}

tw_status tw_job_compile(const tw_job *job, tw_compiler *compiler, const tw_compile_options *options,
                         tw_code_object *objects[TW_JOB_MAX_KERNELS], tw_diag *diag) {
    tw_status status = TW_OK;
    for (size_t i = 0; i < TW_JOB_MAX_KERNELS; i++)
        objects[i] = NULL;
    for (size_t i = 0; !status && i < job->kernel_count; i++)
        status = compile_one(job, i, compiler, options, &objects[i], diag);
    for (size_t i = 0; status && i < job->kernel_count; i++) {
        tw_code_object_release(objects[i]);
        objects[i] = NULL;
    }
    return status;
}
