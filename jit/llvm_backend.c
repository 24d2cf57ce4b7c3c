/* LLVM and lld in this process.
 *
 * What goes wrong in a program comes back as a diagnostic: parser, verifier, back end and linker all report
 * through handlers. What LLVM calls a fatal error ("Cannot select ...") ends the process, and the one hook
 * against it, LLVMInstallFatalErrorHandler, is a process-wide setting that belongs to the application, not to
 * a library. Programs of unknown quality are compiled through jit/worker.h, in a process of their own. */
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/backend.h"
#include "jit/lld_shim.h"
#include "support/fail.h"

#define TRIPLE "amdgcn-amd-amdhsa"

typedef struct llvm_backend {
    tw_backend base;
    LLVMTargetRef target;
    char identity[48];
} llvm_backend;

/* One compile's LLVM objects: everything that must be disposed of, in whatever order it came to be. */
typedef struct session {
    const llvm_backend *backend;
    const tw_compile_job *job;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTargetMachineRef machine;
    LLVMMemoryBufferRef object;
    bool refused; /* LLVM reported an error through its handler */
} session;

static void session_end(session *s) {
    if (s->object) LLVMDisposeMemoryBuffer(s->object);
    if (s->machine) LLVMDisposeTargetMachine(s->machine);
    if (s->module) LLVMDisposeModule(s->module);
    if (s->context) LLVMContextDispose(s->context);
}

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *user) {
    session *s = user;
    LLVMDiagnosticSeverity severity = LLVMGetDiagInfoSeverity(info);
    if (severity == LLVMDSError) s->refused = true;
    if (severity == LLVMDSRemark) return;
    char *text = LLVMGetDiagInfoDescription(info);
    text[strcspn(text, "\n")] = '\0'; /* behind it the source line and a caret */
    if (severity == LLVMDSError) {
        tw_fail_at(s->job->diag, TW_ERR_COMPILE, "LLVM", 0, 0, "%s", text);
    } else if (severity == LLVMDSWarning) {
        tw_warn(s->job->diag, "LLVM", "%s", text);
    } else {
        tw_note(s->job->diag, "LLVM", "%s", text);
    }
    LLVMDisposeMessage(text);
}

/* The parser's message is "NAME:LINE:COLUMN: error: TEXT", then the source line and a caret; "NAME: error:
 * TEXT" where it is not about a line. */
static tw_status report_parse_error(const session *s, const char *message) {
    unsigned line = 0, column = 0;
    int at = 0;
    const char *text = message;
    if (sscanf(message, "%*[^:]:%u:%u: error: %n", &line, &column, &at) == 2 && at) text = message + at;
    if (text == message && sscanf(message, "kernel.ll: error: %n", &at) == 0 && at) text = message + at;
    return tw_fail_at(s->job->diag, TW_ERR_INVALID, "kernel.ll", line, column, "%.*s",
                      (int)strcspn(text, "\n"), text);
}

static tw_status parse(session *s) {
    const tw_compile_job *job = s->job;
    s->context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(s->context, on_diagnostic, s);
    LLVMMemoryBufferRef text = LLVMCreateMemoryBufferWithMemoryRangeCopy(job->text, job->length, "kernel.ll");
    char *message = NULL;
    bool failed = LLVMParseIRInContext2(s->context, text, &s->module, &message);
    LLVMDisposeMemoryBuffer(text);
    tw_status status = TW_OK;
    if (failed) {
        s->module = NULL;
        status = report_parse_error(s, message ? message : "the parser gave no reason");
    }
    LLVMDisposeMessage(message);
    return status;
}

/* `failure` and `what` say whose fault a broken module is. */
static tw_status verify(session *s, tw_status failure, const char *what) {
    char *message = NULL;
    bool broken = LLVMVerifyModule(s->module, LLVMReturnStatusAction, &message);
    tw_status status = TW_OK;
    if (broken)
        status = tw_fail_at(s->job->diag, failure, "kernel.ll", 0, 0, "%s: %.*s", what,
                            (int)strcspn(message, "\n"), message);
    LLVMDisposeMessage(message);
    return status;
}

static const char *mode_feature(uint8_t mode, const char *on, const char *off) {
    return mode == TW_FEATURE_ON ? on : mode == TW_FEATURE_OFF ? off : "";
}

void tw_target_features(tw_target target, char *text, size_t size) {
    snprintf(text, size, "%s%s%s", target.wave_size == 64 ? "+wavefrontsize64" : "+wavefrontsize32",
             mode_feature(target.xnack, ",+xnack", ",-xnack"),
             mode_feature(target.sramecc, ",+sramecc", ",-sramecc"));
}

static tw_status open_machine(session *s) {
    tw_target target = s->job->target;
    const tw_arch_info *arch = tw_arch_get(target.arch);
    char features[96];
    tw_target_features(target, features, sizeof features);
    LLVMTargetMachineOptionsRef options = LLVMCreateTargetMachineOptions();
    LLVMTargetMachineOptionsSetCPU(options, arch->name);
    LLVMTargetMachineOptionsSetFeatures(options, features);
    LLVMTargetMachineOptionsSetCodeGenOptLevel(options, (LLVMCodeGenOptLevel)s->job->opt_level);
    LLVMTargetMachineOptionsSetRelocMode(options, LLVMRelocPIC);
    s->machine = LLVMCreateTargetMachineWithOptions(s->backend->target, TRIPLE, options);
    LLVMDisposeTargetMachineOptions(options);
    if (!s->machine)
        return tw_fail(s->job->diag, TW_ERR_COMPILE, "LLVM has no target machine for %s", arch->name);
    return TW_OK;
}

/* A text may leave triple and data layout out; one that names others is for another target. */
static tw_status adopt_module(session *s) {
    const char *triple = LLVMGetTarget(s->module);
    if (!triple[0]) {
        LLVMSetTarget(s->module, TRIPLE);
    } else if (strncmp(triple, TRIPLE, strlen(TRIPLE)) != 0) {
        return tw_fail_at(s->job->diag, TW_ERR_INVALID, "kernel.ll", 0, 0,
                          "the target triple must be " TRIPLE " (got %s)", triple);
    }
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(s->machine);
    char *wanted = LLVMCopyStringRepOfTargetData(layout);
    const char *got = LLVMGetDataLayoutStr(s->module);
    tw_status status = TW_OK;
    if (!got[0]) {
        LLVMSetModuleDataLayout(s->module, layout);
    } else if (strcmp(got, wanted) != 0) {
        status = tw_fail_at(s->job->diag, TW_ERR_INVALID, "kernel.ll", 0, 0,
                            "the data layout must be %s (got %s)", wanted, got);
    }
    LLVMDisposeMessage(wanted);
    LLVMDisposeTargetData(layout);
    return status;
}

static tw_status run_passes(session *s) {
    char pipeline[16];
    snprintf(pipeline, sizeof pipeline, "default<O%u>", s->job->opt_level);
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(s->module, pipeline, s->machine, options);
    LLVMDisposePassBuilderOptions(options);
    /* A module that the optimizer broke would become code that computes something else. */
    if (!error) return verify(s, TW_ERR_COMPILE, "LLVM's optimizer left a broken module");
    char *message = LLVMGetErrorMessage(error);
    tw_status status = tw_fail_at(s->job->diag, TW_ERR_COMPILE, "LLVM", 0, 0, "%s", message);
    LLVMDisposeErrorMessage(message);
    return status;
}

static tw_status generate(session *s, LLVMCodeGenFileType type) {
    char *message = NULL;
    if (!LLVMTargetMachineEmitToMemoryBuffer(s->machine, s->module, type, &message, &s->object)) return TW_OK;
    s->object = NULL;
    tw_status status = tw_fail_at(s->job->diag, TW_ERR_COMPILE, "LLVM", 0, 0, "%s", message);
    LLVMDisposeMessage(message);
    return status;
}

/* Text to machine code, in s->object; fills the times of all phases but the link. */
static tw_status front_half(session *s, LLVMCodeGenFileType type) {
    tw_compile_times *times = s->job->times;
    uint64_t start = tw_now();
    tw_status status = parse(s);
    if (!status) status = verify(s, TW_ERR_INVALID, "LLVM's verifier");
    if (!status) status = open_machine(s);
    if (!status) status = adopt_module(s);
    uint64_t parsed = tw_now();
    times->parse = parsed - start;
    if (status) return status;
    status = run_passes(s);
    uint64_t optimised = tw_now();
    times->passes = optimised - parsed;
    if (!status && !s->refused) status = generate(s, type);
    times->codegen = tw_now() - optimised;
    return !status && s->refused ? TW_ERR_COMPILE : status;
}

/* lld's messages, a line each: the errors as errors, the rest as notes. */
static void report_link_log(const session *s, char *log) {
    for (char *line = log, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        const char *text = strncmp(line, "ld.lld: ", 8) == 0 ? line + 8 : line;
        if (strncmp(text, "error: ", 7) == 0) {
            tw_fail_at(s->job->diag, TW_ERR_COMPILE, "lld", 0, 0, "%s", text + 7);
        } else if (*text) {
            tw_note(s->job->diag, "lld", "%s", text);
        }
    }
}

static tw_status link_object(session *s, uint8_t **bytes, size_t *size) {
    uint64_t start = tw_now();
    char *log = NULL;
    tw_lld_result result =
        tw_lld_link(LLVMGetBufferStart(s->object), LLVMGetBufferSize(s->object), bytes, size, &log);
    s->job->times->link = tw_now() - start;
    tw_status status = TW_OK;
    switch (result) {
    case TW_LLD_OK: report_link_log(s, log); break;
    case TW_LLD_NO_MEMORY: status = tw_fail_no_memory(s->job->diag); break;
    case TW_LLD_SYSTEM:
        status = tw_fail(s->job->diag, TW_ERR_IO, "linking in memory failed: %s", log ? log : "no reason");
        break;
    case TW_LLD_REFUSED:
        report_link_log(s, log);
        status = tw_fail(s->job->diag, TW_ERR_COMPILE, "lld refused the object");
        break;
    case TW_LLD_UNUSABLE:
        status = tw_fail(s->job->diag, TW_ERR_COMPILE,
                         "lld cannot run again in this process: an earlier link damaged its state");
        break;
    }
    free(log);
    return status;
}

static tw_status llvm_serves(const tw_backend *backend, tw_target target, tw_diag *diag) {
    return tw_flavor_serves(backend->flavor, target, diag);
}

static tw_status llvm_compile(const tw_backend *backend, const tw_compile_job *job, uint8_t **bytes,
                              size_t *size) {
    session s = {.backend = (const llvm_backend *)backend, .job = job};
    tw_status status = front_half(&s, LLVMObjectFile);
    if (!status) status = link_object(&s, bytes, size);
    session_end(&s);
    return status;
}

static tw_status llvm_assembly(const tw_backend *backend, const tw_compile_job *job, char **text) {
    session s = {.backend = (const llvm_backend *)backend, .job = job};
    tw_status status = front_half(&s, LLVMAssemblyFile);
    if (!status) {
        *text = strndup(LLVMGetBufferStart(s.object), LLVMGetBufferSize(s.object));
        if (!*text) status = tw_fail_no_memory(job->diag);
    }
    session_end(&s);
    return status;
}

static tw_status llvm_builds(const tw_backend *backend, tw_builds *builds, tw_diag *diag) {
    (void)backend;
    tw_status status = tw_builds_add_loaded(builds, (uintptr_t)LLVMCreateTargetMachineWithOptions, diag);
    return status ? status : tw_builds_add_text(builds, tw_lld_build, diag);
}

static void llvm_close(tw_backend *backend) { free(backend); }

static const tw_backend_functions llvm_functions = {
    TW_COMPILER_LLVM, llvm_serves, llvm_compile, llvm_assembly, llvm_builds, llvm_close,
};

/* Registration writes LLVM's global tables; doing it again is harmless. */
static LLVMTargetRef register_target(void) {
    tw_lld_lock();
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser(); /* inline assembly */
    LLVMTargetRef target = LLVMGetTargetFromName("amdgcn");
    tw_lld_unlock();
    return target;
}

tw_status tw_llvm_backend_open(tw_backend **out, tw_diag *diag) {
    *out = NULL;
    unsigned major, minor, patch;
    LLVMGetVersion(&major, &minor, &patch);
    if (major != LLVM_VERSION_MAJOR)
        return tw_fail(diag, TW_ERR_NOT_FOUND, "the loaded LLVM must be release %u (got %u.%u.%u)",
                       LLVM_VERSION_MAJOR, major, minor, patch);
    llvm_backend *backend = calloc(1, sizeof *backend);
    if (!backend) return tw_fail_no_memory(diag);
    backend->base.functions = &llvm_functions;
    backend->base.flavor = (tw_flavor)LLVM_VERSION_MAJOR;
    backend->base.identity = backend->identity;
    snprintf(backend->identity, sizeof backend->identity, "llvm %u.%u.%u", major, minor, patch);
    backend->target = register_target();
    if (!backend->target) {
        free(backend);
        return tw_fail(diag, TW_ERR_NOT_FOUND, "the loaded LLVM has no AMDGPU target");
    }
    *out = &backend->base;
    return TW_OK;
}
