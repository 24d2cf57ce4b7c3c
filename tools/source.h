/* What a command works on: an instance, given by words, or a tile IR file. */
#ifndef TW_TOOLS_SOURCE_H
#define TW_TOOLS_SOURCE_H

#include <argp.h>

#include "instances/instance.h"
#include "ir/kernel.h"

enum { CLI_MAX_WORDS = 64 };

/* Options and words that choose a kernel and a target: a child parser (cli_source_argp) fills it; zero it
 * first. */
typedef struct cli_source {
    const char *words[CLI_MAX_WORDS];
    size_t word_count;
    tw_target target; /* --arch; an instance gets one where it was not given, a text keeps its own */
    /* set by cli_source_open */
    bool is_text;
    char *text;
    size_t length;
    tw_instance instance;
} cli_source;

extern const struct argp cli_source_argp;
#define CLI_SOURCE_ARGS_DOC "INSTANCE [KEY=VALUE...]\nFILE.tir"

/* Reads the words (and the file). TW_ERR_USAGE where there are none or where they cannot be read. */
tw_status cli_source_open(cli_source *source, tw_diag *diag);
void cli_source_close(cli_source *source);
/* Builds or parses the kernel, for the instance's or text's target. NULL with diagnostics in the context. */
tw_kernel *cli_source_kernel(cli_source *source, tw_context *ctx);

#endif
