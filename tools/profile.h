/* What a launch executed, as the commands that run kernels print it. */
#ifndef TW_TOOLS_PROFILE_H
#define TW_TOOLS_PROFILE_H

#include "tools/cli.h"

/* Adds everything that was counted to a row. */
void cli_add_counts(json_t *row, const tw_launch_counts *counts);
/* One launch as an object: kernel, shape, waves, instructions, ms; with `profile` everything that was
 * counted. */
json_t *cli_launch_row(const char *kernel, tw_dim3 grid, tw_dim3 block, const tw_launch_counts *counts,
                       bool profile);
/* Prints an array of such rows as text: a table, or with `profile` one block a launch. Takes the reference.
 */
int cli_print_launches(const cli_output *output, json_t *rows, bool profile);

#endif
