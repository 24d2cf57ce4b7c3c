#include "tests/lower/helpers.h"

#include <stdlib.h>
#include <string.h>

const char *const lower_targets[] = {"gfx90a",  "gfx942",  "gfx950",  "gfx1100",        "gfx1151",
                                     "gfx1200", "gfx1201", "gfx1250", "gfx1100:wave64", "gfx1201:wave64"};
const size_t lower_target_count = sizeof lower_targets / sizeof lower_targets[0];

tw_target target_named(const char *name) {
    tw_target target;
    assert_int_equal(tw_target_parse(name, &target, NULL), TW_OK);
    return target;
}

char *lower_text(const tw_kernel *kernel, tw_flavor flavor, size_t *length) {
    char *text;
    tw_diag *diag = tw_diag_new(NULL);
    if (tw_lower(kernel, flavor, &text, length, diag))
        fail_msg("%s: %s", tw_flavor_name(flavor), tw_diag_text(diag));
    tw_diag_free(diag);
    return text;
}

char *assembly_of(tw_compiler *compiler, const tw_kernel *kernel) {
    size_t length;
    char *text = lower_text(kernel, TW_FLAVOR_LLVM22, &length), *assembly;
    tw_diag *diag = tw_diag_new(NULL);
    if (tw_compile_to_assembly(compiler, text, length, tw_kernel_target(kernel), NULL, &assembly, diag))
        fail_msg("%s: %s\n%s", tw_kernel_name(kernel), tw_diag_text(diag), text);
    tw_diag_free(diag);
    free(text);
    return assembly;
}

tw_kernel *kernel_from_text(tw_context *ctx, const char *text, tw_target target) {
    tw_parse_options options = {.target = &target};
    tw_kernel *kernel;
    if (tw_kernel_parse(ctx, text, strlen(text), &options, &kernel))
        fail_msg("%s\n%s", tw_context_diagnostics(ctx), text);
    return kernel;
}

size_t count_of(const char *text, const char *part) {
    size_t count = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + strlen(part), part))
        count++;
    return count;
}
