/* --compiler, in the same words for every command that compiles. */
#ifndef TW_TOOLS_COMPILER_OPTION_H
#define TW_TOOLS_COMPILER_OPTION_H

#include <argp.h>

#include "jit/compiler.h"

typedef struct cli_compiler {
    tw_compiler_kind kind;
    const char *path; /* of a comgr library or a folder of tools, or NULL */
} cli_compiler;

#define CLI_COMPILER_OPTION(default_word)                                                    \
    {                                                                                        \
        "compiler", 'c', "COMPILER", 0,                                                      \
            "auto, llvm, comgr, comgr:LIBRARY, or tools:FOLDER with opt, llc and ld.lld of " \
            "an LLVM release (default: " default_word ")",                                   \
            0                                                                                \
    }

/* On a wrong word the process ends as argp_error does. The path points into `text`. */
void cli_compiler_parse(const char *text, cli_compiler *out, struct argp_state *state);
tw_status cli_compiler_open(const cli_compiler *option, tw_compiler **out, tw_diag *diag);

#endif
