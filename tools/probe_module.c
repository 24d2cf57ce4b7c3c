/* The text of the modules by which tools/probe.c measures. */
#include <string.h>

#include "tools/probe.h"

unsigned probe_argument(const char *arguments, unsigned index, char type[64]) {
    unsigned number = 0;
    for (const char *at = arguments; *at; number++) {
        size_t length = strcspn(at, ",");
        if (type && number == index) snprintf(type, 64, "%.*s", (int)length, at);
        at += length;
        at += strspn(at, ", ");
    }
    return number;
}

/* Constants other than 0: bytes of a load, and the barrier of the workgroup. */
static const char *immediate(const probe_case *c, unsigned argument, const char *type) {
    if (strstr(c->name, "load.lds") && argument == 2) return "4";
    if (strstr(c->name, "s.barrier.")) return "-1";
    return strcmp(type, "i1") ? "0" : "false";
}

/* Offsets and descriptors that instructions take from scalar registers: the same in all lanes. And operands
 * of WMMA, which LLVM 15 gets wrong where they come straight from memory (docs/llvm-bugs.md). */
static bool takes_parameters(const probe_case *c) {
    return strstr(c->name, ".wmma.") || strstr(c->name, "buffer.") || strstr(c->name, "tensor.") ||
           strstr(c->name, ".lds");
}

typedef enum source { FROM_PARAMETER, FROM_MEMORY, FROM_CONSTANT } source;

static source source_of(const probe_case *c, unsigned argument, const char *type) {
    if (c->immediates >> argument & 1) return FROM_CONSTANT;
    return takes_parameters(c) || !strncmp(type, "ptr", 3) ? FROM_PARAMETER : FROM_MEMORY;
}

static void write_declarations(tw_strbuf *text, const probe_case *cases, const size_t *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const probe_case *c = &cases[list[i]];
        tw_strbuf_printf(text, "declare %s @%s(%s)\n", c->result, c->name, c->arguments);
    }
}

static void write_kernel(tw_strbuf *text, const probe_case *c, size_t number, unsigned attributes) {
    char type[64];
    unsigned arguments = probe_argument(c->arguments, 0, NULL);
    tw_strbuf_printf(text, "define amdgpu_kernel void @p%zu(ptr addrspace(1) %%out, ptr addrspace(1) %%in",
                     number);
    for (unsigned i = 0; i < arguments; i++) {
        probe_argument(c->arguments, i, type);
        if (source_of(c, i, type) == FROM_PARAMETER) tw_strbuf_printf(text, ", %s %%a%u", type, i);
    }
    tw_strbuf_printf(text, ") #%u {\n  %%id = call i32 @llvm.amdgcn.workitem.id.x()\n", attributes);
    for (unsigned i = 0; i < arguments; i++) {
        probe_argument(c->arguments, i, type);
        if (source_of(c, i, type) == FROM_MEMORY)
            tw_strbuf_printf(text,
                             "  %%p%u = getelementptr %s, ptr addrspace(1) %%in, i32 %%id\n"
                             "  %%a%u = load %s, ptr addrspace(1) %%p%u\n",
                             i, type, i, type, i);
    }
    bool has_result = strcmp(c->result, "void") != 0;
    tw_strbuf_printf(text, "  %scall %s @%s(", has_result ? "%r = " : "", c->result, c->name);
    for (unsigned i = 0; i < arguments; i++) {
        probe_argument(c->arguments, i, type);
        tw_strbuf_printf(text, "%s%s ", i ? ", " : "", type);
        if (source_of(c, i, type) == FROM_CONSTANT) {
            tw_strbuf_append(text, immediate(c, i, type));
        } else {
            tw_strbuf_printf(text, "%%a%u", i);
        }
    }
    tw_strbuf_append(text, ")\n");
    if (has_result) tw_strbuf_printf(text, "  store %s %%r, ptr addrspace(1) %%out\n", c->result);
    tw_strbuf_append(text, "  ret void\n}\n");
}

void probe_module(tw_strbuf *text, const probe_case *cases, const size_t *list, size_t count, tw_arch arch,
                  bool calls) {
    const tw_arch_info *info = tw_arch_get(arch);
    tw_strbuf_append(text, "target triple = \"amdgcn-amd-amdhsa\"\n");
    write_declarations(text, cases, list, count);
    if (!calls) return;
    bool has_id = false;
    for (size_t i = 0; i < count; i++)
        has_id |= !strcmp(cases[list[i]].name, "llvm.amdgcn.workitem.id.x");
    if (!has_id) tw_strbuf_append(text, "declare i32 @llvm.amdgcn.workitem.id.x()\n");
    for (size_t i = 0; i < count; i++) {
        bool wide = cases[list[i]].wave_size == 64 && info && info->features & TW_ARCH_HAS_WAVE64_CHOICE;
        write_kernel(text, &cases[list[i]], list[i], wide);
    }
    tw_strbuf_append(
        text, "attributes #0 = { nounwind }\n"
              "attributes #1 = { nounwind \"target-features\"=\"-wavefrontsize32,+wavefrontsize64\" }\n");
}
