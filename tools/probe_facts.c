#include "tools/probe_facts.h"

#include <stdlib.h>
#include <string.h>

#include "lower/flavor_info.h"
#include "support/fail.h"

#define TRIPLE "target triple = \"amdgcn-amd-amdhsa\"\n"

/* Compiles `text`; the output stays empty where the compiler does not take it. */
static tw_status compile(const probe *p, probe_step step, unsigned arch, const char *text, tw_strbuf *output,
                         tw_diag *diag) {
    probe_end end;
    tw_strbuf_clear(output);
    tw_status status = probe_run(p, step, (tw_arch)arch, text, output, &end, diag);
    if (!status && end != PROBE_GOOD) tw_strbuf_clear(output);
    return status;
}

static json_t *by_target(void) {
    json_t *all = json_object();
    for (unsigned a = 1; a < TW_ARCH_COUNT; a++)
        json_object_set_new(all, tw_arch_get((tw_arch)a)->name,
                            json_string(tw_measured_word(TW_MEASURED_TARGET_UNSUPPORTED)));
    return all;
}

/* ---- the data layout that the back end sets ---- */

static tw_status data_layout(const probe *p, json_t *facts, tw_strbuf *output, tw_diag *diag) {
    const char *mark = "target datalayout = \"";
    tw_status status = compile(p, PROBE_MACHINE, TW_ARCH_GFX90A,
                               TRIPLE "define amdgpu_kernel void @k() { ret void }\n", output, diag);
    const char *found = strstr(tw_strbuf_text(output), mark);
    const char *layout = found ? found + strlen(mark) : "";
    if (!status) json_object_set_new(facts, "data_layout", json_stringn(layout, strcspn(layout, "\"")));
    return status;
}

/* ---- arithmetic on bfloat ---- */

static tw_status bfloat(const probe *p, json_t *facts, tw_strbuf *output, tw_diag *diag) {
    json_t *all = by_target();
    tw_status status = TW_OK;
    for (unsigned a = 1; a < TW_ARCH_COUNT; a++) {
        if (!p->served[a] || status) continue;
        status = compile(p, PROBE_ASSEMBLY, a,
                         TRIPLE "define amdgpu_kernel void @k(ptr addrspace(1) %p) {\n"
                                "  %x = load bfloat, ptr addrspace(1) %p\n  %y = fadd bfloat %x, %x\n"
                                "  store bfloat %y, ptr addrspace(1) %p\n  ret void\n}\n",
                         output, diag);
        if (output->length) json_object_set_new(all, tw_arch_get((tw_arch)a)->name, json_string("ok"));
    }
    json_object_set_new(facts, "bfloat", all);
    return status;
}

/* ---- what keeps f32 denormals from being kept ---- */

static tw_status flush(const probe *p, json_t *facts, tw_strbuf *output, tw_diag *diag) {
    json_t *effects = json_object();
    tw_status status = TW_OK;
    for (size_t i = 0; tw_flavor_at(i) && !status; i++) {
        const char *spelling = tw_flavor_info_get(tw_flavor_at(i))->flush_attribute;
        if (json_object_get(effects, spelling)) continue;
        char text[400];
        snprintf(text, sizeof text,
                 TRIPLE "define amdgpu_kernel void @k() #0 { ret void }\nattributes #0 = { %s }\n", spelling);
        status = compile(p, PROBE_ASSEMBLY, TW_ARCH_GFX90A, text, output, diag);
        bool flushes = strstr(tw_strbuf_text(output), ".amdhsa_float_denorm_mode_32 0") != NULL;
        json_object_set_new(effects, spelling, json_string(flushes ? "ok" : "no effect"));
    }
    json_object_set_new(facts, "flush", effects);
    return status;
}

/* ---- which hints make an instruction, not a loop, of atomicrmw fadd ---- */

#define METADATA ", !amdgpu.no.fine.grained.memory !0, !amdgpu.ignore.denormal.mode !0"

static const struct {
    const char *word, *attribute, *metadata;
} hints[] = {{"none", "", ""},
             {"attribute", "\"amdgpu-unsafe-fp-atomics\"=\"true\"", ""},
             {"metadata", "", METADATA},
             {"both", "\"amdgpu-unsafe-fp-atomics\"=\"true\"", METADATA}};
#define HINTS (sizeof hints / sizeof hints[0])

static void write_atomics(tw_strbuf *text, const char *type) {
    tw_strbuf_append(text, TRIPLE);
    for (size_t i = 0; i < HINTS; i++)
        tw_strbuf_printf(
            text,
            "define amdgpu_kernel void @%s(ptr addrspace(1) %%p, %s %%v) #%zu {\n"
            "  %%r = atomicrmw fadd ptr addrspace(1) %%p, %s %%v syncscope(\"agent\") monotonic, align 4%s\n"
            "  ret void\n}\nattributes #%zu = { nounwind %s }\n",
            hints[i].word, type, i, type, hints[i].metadata, i, hints[i].attribute);
    tw_strbuf_append(text, "!0 = !{}\n");
}

/* The assembly between "NAME:" and the end of the function. */
static const char *body_of(const char *assembly, const char *name, size_t *length) {
    char label[64];
    snprintf(label, sizeof label, "\n%s:", name);
    const char *body = strstr(assembly, label);
    const char *end = body ? strstr(body, ".amdhsa_kernel") : NULL;
    *length = end ? (size_t)(end - body) : 0;
    return end ? body : NULL;
}

static json_t *hints_that_work(const char *assembly) {
    char words[64] = "";
    for (size_t i = 0; i < HINTS; i++) {
        size_t length;
        const char *body = body_of(assembly, hints[i].word, &length);
        if (!body || memmem(body, length, "cmpswap", 7) || !memmem(body, length, "atomic", 6)) continue;
        strcat(words, *words ? " " : "");
        strcat(words, hints[i].word);
    }
    return json_string(*words ? words : "no instruction");
}

static tw_status atomics(const probe *p, const char *fact, const char *type, json_t *facts, tw_strbuf *output,
                         tw_diag *diag) {
    json_t *all = by_target();
    tw_strbuf text;
    tw_strbuf_init(&text, NULL);
    write_atomics(&text, type);
    tw_status status = text.failed ? tw_fail_no_memory(diag) : TW_OK;
    for (unsigned a = 1; a < TW_ARCH_COUNT; a++) {
        if (!p->served[a] || status) continue;
        status = compile(p, PROBE_ASSEMBLY, a, tw_strbuf_text(&text), output, diag);
        json_object_set_new(all, tw_arch_get((tw_arch)a)->name,
                            output->length ? hints_that_work(tw_strbuf_text(output))
                                           : json_string("refused"));
    }
    tw_strbuf_free(&text);
    json_object_set_new(facts, fact, all);
    return status;
}

/* ---- attributes that keep hidden arguments and registers away ---- */

static const char *const unused[] = {
#define UNUSED(need, name) name,
#include "lower/unused.def"
};
#define UNUSED_COUNT (sizeof unused / sizeof unused[0])

/* A call of something unknown makes LLVM set up everything. Attributes may work in pairs, so each is tried
 * twice: kernel with<i> has attribute i alone, and without<i> has all but it; one past the end stands for no
 * attribute. */
static void write_kernel(tw_strbuf *text, const char *name, size_t i, bool with) {
    size_t group = i + (with ? 0 : UNUSED_COUNT + 1);
    tw_strbuf_printf(text,
                     "define amdgpu_kernel void @%s%zu(ptr addrspace(1) %%p) #%zu {\n  call void @unknown()\n"
                     "  ret void\n}\nattributes #%zu = { nounwind",
                     name, i, group, group);
    for (size_t j = 0; j < UNUSED_COUNT; j++)
        if ((j == i) == with) tw_strbuf_printf(text, " \"%s\"", unused[j]);
    tw_strbuf_append(text, " }\n");
}

static void write_unused(tw_strbuf *text, const tw_flavor_info *info) {
    tw_strbuf_append(text, TRIPLE "declare void @unknown()\n");
    for (size_t i = 0; i <= UNUSED_COUNT; i++) {
        write_kernel(text, "with", i, true);
        write_kernel(text, "without", i, false);
    }
    if (info->version)
        tw_strbuf_printf(text, "!llvm.module.flags = !{!0}\n!0 = !{i32 1, !\"%s\", i32 %u}\n",
                         info->version_flag, info->version);
}

static bool is_instruction(const char *line) {
    return !strncmp(line, "\ts_", 3) || !strncmp(line, "\tv_", 3);
}

/* What the kernel is given: its instructions, the registers of its descriptor, the arguments of its metadata.
 */
static void append_setup(tw_strbuf *setup, const char *assembly, const char *name) {
    char label[32], descriptor[48], entry[48];
    snprintf(label, sizeof label, "%s:", name);
    snprintf(descriptor, sizeof descriptor, "\t.amdhsa_kernel %s", name);
    snprintf(entry, sizeof entry, "    .name:           %s", name);
    bool in_body = false, in_descriptor = false;
    tw_strbuf arguments;
    tw_strbuf_init(&arguments, NULL);
    for (const char *line = assembly, *next; *line; line = next) {
        size_t length = strcspn(line, "\n");
        next = line[length] ? line + length + 1 : line + length;
        if (!strncmp(line, label, strlen(label))) in_body = true;
        if (length == strlen(descriptor) && !strncmp(line, descriptor, length)) in_descriptor = true;
        if (!strncmp(line, "\t.section", 9)) in_body = false;
        if (!strncmp(line, "\t.end_amdhsa_kernel", 19)) in_descriptor = false;
        if (!strncmp(line, "  - ", 4)) tw_strbuf_clear(&arguments);
        if (strstr(line, "hidden_") && strstr(line, "hidden_") < line + length)
            tw_strbuf_append_n(&arguments, line, length);
        if (length == strlen(entry) && !strncmp(line, entry, length))
            tw_strbuf_append(setup, tw_strbuf_text(&arguments));
        bool registers = in_descriptor && (!strncmp(line, "\t\t.amdhsa_user_", 15) ||
                                           !strncmp(line, "\t\t.amdhsa_system_", 17));
        if (registers || (in_body && is_instruction(line))) tw_strbuf_append_n(setup, line, length);
    }
    setup->failed |= arguments.failed;
    tw_strbuf_free(&arguments);
}

/* Kernel PREFIX<i> is given something else than the last of its kind. */
static bool differs(const char *assembly, const char *prefix, size_t i, bool *failed) {
    tw_strbuf one, last;
    tw_strbuf_init(&one, NULL);
    tw_strbuf_init(&last, NULL);
    char name[24];
    snprintf(name, sizeof name, "%s%zu", prefix, i);
    append_setup(&one, assembly, name);
    snprintf(name, sizeof name, "%s%zu", prefix, UNUSED_COUNT);
    append_setup(&last, assembly, name);
    bool found = strcmp(tw_strbuf_text(&one), tw_strbuf_text(&last)) != 0;
    *failed |= one.failed || last.failed;
    tw_strbuf_free(&one);
    tw_strbuf_free(&last);
    return found;
}

static tw_status attributes_for(const probe *p, unsigned arch, const char *text, json_t *effects[],
                                tw_strbuf *output, tw_diag *diag) {
    tw_status status = compile(p, PROBE_ASSEMBLY, arch, text, output, diag);
    bool failed = false;
    for (size_t i = 0; i < UNUSED_COUNT && !status; i++) {
        const char *assembly = tw_strbuf_text(output);
        bool effect = differs(assembly, "with", i, &failed) || differs(assembly, "without", i, &failed);
        const char *word = !output->length ? "refused" : effect ? "ok" : "no effect";
        json_object_set_new(effects[i], tw_arch_get((tw_arch)arch)->name, json_string(word));
    }
    return !status && failed ? tw_fail_no_memory(diag) : status;
}

static tw_status attributes(const probe *p, json_t *facts, tw_strbuf *output, tw_diag *diag) {
    json_t *effects[UNUSED_COUNT];
    for (size_t i = 0; i < UNUSED_COUNT; i++)
        effects[i] = by_target();
    tw_strbuf text;
    tw_strbuf_init(&text, NULL);
    write_unused(&text, tw_flavor_info_get(p->set->flavor));
    tw_status status = text.failed ? tw_fail_no_memory(diag) : TW_OK;
    for (unsigned a = 1; a < TW_ARCH_COUNT; a++)
        if (p->served[a] && !status)
            status = attributes_for(p, a, tw_strbuf_text(&text), effects, output, diag);
    tw_strbuf_free(&text);
    for (size_t i = 0; i < UNUSED_COUNT; i++) {
        char fact[64];
        snprintf(fact, sizeof fact, "attribute %s", unused[i]);
        json_object_set_new(facts, fact, effects[i]);
    }
    return status;
}

tw_status probe_facts(const probe *p, json_t **facts, tw_diag *diag) {
    *facts = json_object();
    tw_strbuf output;
    tw_strbuf_init(&output, NULL);
    tw_status status = *facts ? TW_OK : tw_fail_no_memory(diag);
    if (!status) status = data_layout(p, *facts, &output, diag);
    if (!status) status = bfloat(p, *facts, &output, diag);
    if (!status) status = flush(p, *facts, &output, diag);
    if (!status) status = atomics(p, "atomic_fadd f32", "float", *facts, &output, diag);
    if (!status) status = atomics(p, "atomic_fadd v2f16", "<2 x half>", *facts, &output, diag);
    if (!status) status = atomics(p, "atomic_fadd v2bf16", "<2 x bfloat>", *facts, &output, diag);
    if (!status) status = attributes(p, *facts, &output, diag);
    tw_strbuf_free(&output);
    return status;
}
