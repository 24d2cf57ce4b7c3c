#include "tools/source.h"

#include <stdlib.h>
#include <string.h>

#include "ir/lex.h"
#include "support/fail.h"
#include "tools/cli.h"

static const struct argp_option source_options[] = {
    {"arch", 'a', "TARGET", 0,
     "the target, e.g. gfx1201, gfx90a:xnack- (default: the tile IR's own, " CLI_DEFAULT_TARGET
     " for instances)",
     0},
    {0}};

static error_t parse_source(int key, char *argument, struct argp_state *state) {
    cli_source *source = state->input;
    switch (key) {
    case 'a': cli_parse_target(argument, &source->target, state); return 0;
    case ARGP_KEY_ARG:
        if (source->word_count == CLI_MAX_WORDS) argp_error(state, "too many words");
        source->words[source->word_count++] = argument;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp cli_source_argp = {.options = source_options, .parser = parse_source};

static bool names_file(const char *word) {
    size_t length = strlen(word);
    return !strcmp(word, "-") || strchr(word, '/') || (length > 4 && !strcmp(word + length - 4, ".tir"));
}

tw_status cli_source_open(cli_source *source, tw_diag *diag) {
    if (source->word_count == 0)
        return tw_fail(
            diag, TW_ERR_USAGE,
            "an instance or a tile IR file is needed (missing); 'tilewright list' shows instances");
    source->is_text = names_file(source->words[0]);
    if (source->is_text && source->word_count > 1)
        return tw_fail(diag, TW_ERR_USAGE, "a tile IR file has no keys, and stands alone (got %s)",
                       source->words[1]);
    tw_status status = TW_OK;
    if (!source->is_text && !source->target.arch)
        status = tw_target_parse(CLI_DEFAULT_TARGET, &source->target, diag);
    if (status != TW_OK) return status;
    if (source->is_text)
        return cli_read_file_up_to(source->words[0], TW_TEXT_MAX_BYTES, &source->text, &source->length, diag);
    status = tw_instance_parse(source->words, source->word_count, &source->instance, diag);
    return status == TW_OK || status == TW_ERR_NO_MEMORY ? status : TW_ERR_USAGE;
}

void cli_source_close(cli_source *source) {
    free(source->text);
    source->text = NULL;
}

tw_kernel *cli_source_kernel(cli_source *source, tw_context *ctx) {
    if (!source->is_text) return tw_instance_build(ctx, &source->instance, source->target);
    tw_parse_options options = {.source = source->words[0],
                                .target = source->target.arch ? &source->target : NULL};
    tw_kernel *kernel = NULL;
    return tw_kernel_parse(ctx, source->text, source->length, &options, &kernel) == TW_OK ? kernel : NULL;
}
