/* Recorded hashes of code objects, one file an exact compiler version: DIRECTORY/identity/VERSION.txt, lines
 * "HASH TARGET WORDS". Tools and LLVM in the process share the file of their release, for they make the same
 * bytes. */
#ifndef TW_TOOLS_BASELINE_H
#define TW_TOOLS_BASELINE_H

#include "support/strbuf.h"
#include "tools/cli.h"

typedef struct cli_baseline {
    tw_strbuf lines;
} cli_baseline;

/* The compiler's identity in a form that file names take, "comgr-2.4-llvm-15.0.6"; free() it. NULL when
 * memory is out. */
char *cli_identity_name(const char *identity);
/* Makes DIRECTORY/NAME where it is missing, and fails where nothing can be written there: to be called before
 * the long work whose results go there. */
tw_status cli_record_folder(const char *directory, const char *name, tw_diag *diag);
void cli_baseline_init(cli_baseline *out);
/* Empty where there is no such file. */
tw_status cli_baseline_read(const char *directory, const char *identity, cli_baseline *out, tw_diag *diag);
void cli_baseline_add(cli_baseline *baseline, const char *hash, const char *target, const char *words);
bool cli_baseline_find(const cli_baseline *baseline, const char *target, const char *words,
                       char hash[CLI_HASH_SIZE]);
tw_status cli_baseline_write(const char *directory, const char *identity, const cli_baseline *baseline,
                             tw_diag *diag);
void cli_baseline_free(cli_baseline *baseline);

#endif
