#include "tests/arch/llvm_tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/strbuf.h"

bool have_llc(void) {
    if (getenv("TW_LLC_22")) return true;
    print_message("llc-22 is not installed\n");
    return false;
}

void need_llc(void) {
    if (!have_llc()) skip();
}

char *llc(tw_target target, const char *input) {
    const tw_arch_info *info = tw_arch_get(target.arch);
    const char *wave = target.wave_size == info->wave_size ? "" : "+wavefrontsize64";
    char path[] = "/tmp/tilewright-test-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, input, strlen(input)), (ssize_t)strlen(input));
    close(file);

    tw_strbuf text;
    tw_strbuf_init(&text, NULL);
    tw_strbuf_printf(&text, "'%s' -mtriple=amdgcn-amd-amdhsa -mcpu=%s -mattr=%s -o - - < %s",
                     getenv("TW_LLC_22"), info->name, wave, path);
    FILE *pipe = popen(tw_strbuf_text(&text), "r");
    assert_non_null(pipe);
    tw_strbuf_clear(&text);
    char part[4096];
    size_t got;
    while ((got = fread(part, 1, sizeof part, pipe)) > 0)
        tw_strbuf_append_n(&text, part, got);
    int status = pclose(pipe);
    unlink(path);
    assert_int_equal(status, 0);
    char *output = tw_strbuf_take(&text, NULL);
    assert_non_null(output);
    return output;
}

unsigned kernel_metadata(const char *assembly, const char *name, const char *key) {
    char line[80];
    snprintf(line, sizeof line, ".name:           %s\n", name);
    const char *at = strstr(assembly, line);
    assert_non_null(at);
    at = strstr(at, key);
    assert_non_null(at);
    return (unsigned)strtoul(at + strlen(key), NULL, 10);
}

const char no_inputs[] =
    "attributes #0 = { \"amdgpu-no-implicitarg-ptr\" \"amdgpu-no-dispatch-ptr\" \"amdgpu-no-queue-ptr\" "
    "\"amdgpu-no-dispatch-id\" \"amdgpu-no-workgroup-id-x\" \"amdgpu-no-workgroup-id-y\" "
    "\"amdgpu-no-workgroup-id-z\" \"amdgpu-no-workitem-id-x\" \"amdgpu-no-workitem-id-y\" "
    "\"amdgpu-no-workitem-id-z\" }\n";
