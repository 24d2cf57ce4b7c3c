/* The pinned configurations of goldens and identity: golden/pins.txt, one instance or tile IR file a line. */
#ifndef TW_TOOLS_PINS_H
#define TW_TOOLS_PINS_H

#include "tools/source.h"

typedef struct cli_pin {
    char *words; /* as in the file, single spaces */
    char *storage;
    cli_source source; /* words only: not opened, no target */
} cli_pin;

typedef struct cli_pins {
    cli_pin *pins;
    size_t count;
} cli_pins;

/* Reads DIRECTORY/pins.txt ('#' comments). Tile IR files are taken relative to the folder. Keeps those whose
 * words contain `filter` (NULL: all). TW_ERR_NOT_FOUND where none is left: a check of nothing is no check. */
tw_status cli_pins_read(const char *directory, const char *filter, cli_pins *out, tw_diag *diag);
void cli_pins_free(cli_pins *pins);

/* Sets the source's target and builds or parses the pin's kernel in `ctx`; NULL with diagnostics in the
 * context. */
tw_kernel *cli_pin_kernel(const cli_pin *pin, tw_target target, tw_context *ctx);

#endif
