#include "tests/arch/llvm_tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/strbuf.h"

char *llvm_tool(const char *variable, const char *arguments, const char *input) {
    const char *program = getenv(variable);
    if (!program) {
        print_message("%s is not set: the tool is not installed\n", variable);
        skip();
    }
    char path[] = "/tmp/tilewright-test-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, input, strlen(input)), (ssize_t)strlen(input));
    close(file);

    tw_strbuf text;
    tw_strbuf_init(&text, NULL);
    tw_strbuf_printf(&text, "'%s' %s < %s", program, arguments, path);
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

char *llc(const char *cpu, const char *mattr, const char *input) {
    char arguments[200];
    snprintf(arguments, sizeof arguments, "-mtriple=amdgcn-amd-amdhsa -mcpu=%s -mattr=%s -o - -", cpu, mattr);
    return llvm_tool("TW_LLC_22", arguments, input);
}
