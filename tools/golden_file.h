/* What is recorded of the goldens: golden/hashes.txt, a line each (what a review reads), and
 * golden/texts.zst, the texts themselves, so that a difference can be shown. */
#ifndef TW_TOOLS_GOLDEN_FILE_H
#define TW_TOOLS_GOLDEN_FILE_H

#include "tools/cli.h"

/* One text: the tile IR or the LLVM IR of a pin, or the words of a refusal. */
typedef struct cli_golden {
    char *key;  /* "direct_wgrad_depthwise kh=3 ... | gfx1250 | llvm22" */
    char *text; /* terminated */
    size_t length;
    bool refused; /* the text is a diagnostic */
    char hash[CLI_HASH_SIZE];
} cli_golden;

typedef struct cli_goldens {
    cli_golden *items; /* sorted by key once read or finished */
    size_t count, capacity;
} cli_goldens;

/* Takes key and text (malloc'ed). */
tw_status cli_goldens_add(cli_goldens *goldens, char *key, char *text, size_t length, bool refused,
                          tw_diag *diag);
void cli_goldens_sort(cli_goldens *goldens);
const cli_golden *cli_goldens_find(const cli_goldens *goldens, const char *key); /* sorted ones */
void cli_goldens_free(cli_goldens *goldens);

/* Reads hashes and texts; a hash that its text does not have is TW_ERR_INVALID. */
tw_status cli_goldens_read(const char *directory, cli_goldens *out, tw_diag *diag);
/* Writes both files, each through a temporary name. */
tw_status cli_goldens_write(const char *directory, const cli_goldens *goldens, tw_diag *diag);

#endif
