/* --compiler and --no-cache, in the same words for every command that compiles. */
#ifndef TW_TOOLS_COMPILER_OPTION_H
#define TW_TOOLS_COMPILER_OPTION_H

#include <argp.h>

#include "jit/compiler.h"
#include "lower/flavor.h"

typedef struct cli_compiler {
    tw_compiler_kind kind;
    const char *path; /* of a comgr library or a folder of tools, or NULL */
    tw_flavor set;    /* of a tool set, or 0 */
} cli_compiler;

#define CLI_COMPILER_OPTION(default_word)                                                           \
    {"compiler",                                                                                    \
     'c',                                                                                           \
     "COMPILER",                                                                                    \
     0,                                                                                             \
     "auto, llvm, comgr, comgr:LIBRARY, tools:FOLDER with opt, llc and ld.lld of an LLVM release, " \
     "or llvm15 ... llvm24 for those that tools/toolchains unpacked (default: " default_word ")",   \
     0},                                                                                            \
    {                                                                                               \
        "toolchain", 0, NULL, OPTION_ALIAS, NULL, 0                                                 \
    }

/* For commands that use the kernel cache. */
enum { CLI_OPTION_NO_CACHE = 0x4000 };
#define CLI_NO_CACHE_OPTION \
    { "no-cache", CLI_OPTION_NO_CACHE, NULL, 0, "neither look into the kernel cache nor store there", 0 }

/* On a wrong word the process ends as argp_error does. The path points into `text`. */
void cli_compiler_parse(const char *text, cli_compiler *out, struct argp_state *state);
tw_status cli_compiler_open(const cli_compiler *option, tw_compiler **out, tw_diag *diag);

#endif
