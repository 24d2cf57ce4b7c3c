#include <string.h>

#include "jit/cache.h"
#include "tools/cli.h"

typedef enum action { ACTION_NONE, ACTION_STAT, ACTION_VERIFY, ACTION_PRUNE } action;

typedef struct options {
    cli_output output;
    action action;
    const char *directory;
    bool repair, has_limit;
    uint64_t limit;
} options;

static const struct argp_option argp_options[] = {
    {"dir", 'd', "DIR", 0,
     "the cache's folder (default: $TILEWRIGHT_CACHE_DIR, $XDG_CACHE_HOME/tilewright, ~/.cache/tilewright)",
     0},
    {"repair", 'r', NULL, 0, "verify: remove damaged entries", 0},
    {"limit", 'l', "BYTES", 0, "prune: keep at most this much (K, M, G; default: the cache's limit)", 0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->output; return 0;
    case 'd': o->directory = argument; return 0;
    case 'r': o->repair = true; return 0;
    case 'l':
        if (!cli_parse_size(argument, &o->limit)) argp_error(state, "--limit takes bytes (got %s)", argument);
        o->has_limit = true;
        return 0;
    case ARGP_KEY_ARG: {
        static const char *const names[] = {"", "stat", "verify", "prune"};
        if (o->action) argp_error(state, "one action at a time (got %s)", argument);
        for (unsigned i = ACTION_STAT; i <= ACTION_PRUNE; i++)
            if (!strcmp(argument, names[i])) o->action = (action)i;
        if (!o->action) argp_error(state, "the action is stat, verify or prune (got %s)", argument);
        return 0;
    }
    case ARGP_KEY_END:
        if (!o->action) argp_error(state, "the action is stat, verify or prune (missing)");
        if (o->repair && o->action != ACTION_VERIFY) argp_error(state, "--repair goes with verify");
        if (o->has_limit && o->action != ACTION_PRUNE) argp_error(state, "--limit goes with prune");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

int cmd_cache(int argc, char **argv) {
    static const struct argp_child children[] = {{&cli_output_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = argp_options,
        .parser = parse,
        .children = children,
        .args_doc = "stat|verify|prune",
        .doc = "Looks into the kernel cache, checks every entry's digest, or makes it smaller. verify fails "
               "(1) where an entry is damaged."};
    options o = {0};
    cli_parse(&argp, argc, argv, &o);
    tw_diag *diag = tw_diag_new(NULL);
    if (!diag) return CLI_FAILED;
    tw_cache *cache = NULL;
    tw_cache_stats stats = {0};
    tw_status status = tw_cache_open(&(tw_cache_options){.directory = o.directory}, &cache, diag);
    if (status == TW_OK) {
        switch (o.action) {
        case ACTION_VERIFY: status = tw_cache_verify(cache, o.repair, &stats, diag); break;
        case ACTION_PRUNE: {
            if (!o.has_limit) {
                status = tw_cache_stat(cache, &stats, diag);
                o.limit = stats.limit_bytes;
            }
            if (status == TW_OK) status = tw_cache_prune(cache, o.limit, &stats, diag);
            break;
        }
        default: status = tw_cache_stat(cache, &stats, diag); break;
        }
    }
    bool damaged = o.action == ACTION_VERIFY && stats.damaged > 0;
    int code = CLI_OK;
    if (status == TW_OK)
        code = cli_print_object(
            &o.output,
            json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I}", "directory", cli_text(tw_cache_directory(cache)),
                      "entries", (json_int_t)stats.entries, "bytes", (json_int_t)stats.bytes, "limit_bytes",
                      (json_int_t)stats.limit_bytes, "damaged", (json_int_t)stats.damaged, "untrusted",
                      (json_int_t)stats.untrusted, "temporary", (json_int_t)stats.temporary));
    tw_cache_close(cache);
    if (cli_finish(status, diag) != CLI_OK) code = CLI_FAILED;
    tw_diag_free(diag);
    return code != CLI_OK || damaged ? CLI_FAILED : CLI_OK;
}
