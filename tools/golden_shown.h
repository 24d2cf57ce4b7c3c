/* Goldens to read: DIRECTORY/shown/ holds a few of the texts as plain files. Their names say which:
 * the golden's key with '_' for spaces and '.' between its parts, and .tir or .ll at the end. To show another
 * one, make an empty file of its name and record. */
#ifndef TW_TOOLS_GOLDEN_SHOWN_H
#define TW_TOOLS_GOLDEN_SHOWN_H

#include "tools/golden_file.h"

typedef struct cli_shown {
    size_t files, different;
} cli_shown;

/* Compares each file with its golden; with `write`, writes what differs. A file that no golden has the name
 * of is different, and is left alone. */
tw_status cli_goldens_shown(const char *directory, const cli_goldens *goldens, bool write, cli_shown *out,
                            tw_diag *diag);

#endif
