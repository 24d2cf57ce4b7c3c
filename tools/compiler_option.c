#include "tools/compiler_option.h"

#include <string.h>

#include "tools/toolset.h"

void cli_compiler_parse(const char *text, cli_compiler *out, struct argp_state *state) {
    static const char *const words[] = {"auto", "llvm", "comgr"};
    static const struct {
        const char *word;
        tw_compiler_kind kind;
    } with_path[] = {{"comgr:", TW_COMPILER_COMGR}, {"tools:", TW_COMPILER_TOOLS}};
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!strcmp(text, words[i])) {
            *out = (cli_compiler){.kind = (tw_compiler_kind)i};
            return;
        }
    for (unsigned i = 0; i < sizeof with_path / sizeof with_path[0]; i++) {
        size_t length = strlen(with_path[i].word);
        if (strncmp(text, with_path[i].word, length) != 0 || !text[length]) continue;
        *out = (cli_compiler){.kind = with_path[i].kind, .path = text + length};
        return;
    }
    tw_flavor flavor;
    if (!tw_flavor_parse(text, &flavor, NULL)) {
        *out = (cli_compiler){.kind = TW_COMPILER_TOOLS, .set = flavor};
        return;
    }
    argp_error(
        state,
        "--compiler must be auto, llvm, comgr, comgr:LIBRARY, tools:FOLDER or a flavor as llvm21 (got %s)",
        text);
}

tw_status cli_compiler_open(const cli_compiler *option, tw_compiler **out, tw_diag *diag) {
    if (option->set) {
        toolset set;
        tw_status status = toolset_locate(option->set, &set, diag);
        return status ? status : tw_compiler_open_path(option->kind, set.folder, out, diag);
    }
    return option->path ? tw_compiler_open_path(option->kind, option->path, out, diag)
                        : tw_compiler_open(option->kind, out, diag);
}
