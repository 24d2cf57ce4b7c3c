#include "tools/profile.h"

#include <stdio.h>

void cli_add_counts(json_t *row, const tw_launch_counts *c) {
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {{"instructions", c->wave_instructions},
                  {"workgroups", c->workgroups},
                  {"valu", c->valu},
                  {"salu", c->salu},
                  {"matrix", c->matrix},
                  {"vmem", c->vmem},
                  {"smem", c->smem},
                  {"lds", c->lds},
                  {"branch", c->branch},
                  {"wait", c->waits},
                  {"other", c->other},
                  {"bytes_read", c->global_bytes_read},
                  {"bytes_written", c->global_bytes_written},
                  {"scalar_read", c->scalar_bytes_read},
                  {"scratch_read", c->scratch_bytes_read},
                  {"scratch_written", c->scratch_bytes_written},
                  {"lds_read", c->lds_bytes_read},
                  {"lds_written", c->lds_bytes_written},
                  {"lds_conflicts", c->lds_bank_conflicts}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        json_object_set_new(row, counts[i].name, json_integer((json_int_t)counts[i].value));
    if (c->nanoseconds)
        json_object_set_new(row, "instructions_per_second",
                            json_real((double)c->wave_instructions * 1e9 / (double)c->nanoseconds));
}

json_t *cli_launch_row(const char *kernel, tw_dim3 grid, tw_dim3 block, const tw_launch_counts *c,
                       bool profile) {
    char grid_text[40], block_text[40];
    snprintf(grid_text, sizeof grid_text, "%u,%u,%u", grid.x, grid.y, grid.z);
    snprintf(block_text, sizeof block_text, "%u,%u,%u", block.x, block.y, block.z);
    json_t *row = json_pack("{s:o, s:s, s:s, s:I, s:I, s:f}", "kernel", cli_text(kernel), "grid", grid_text,
                            "block", block_text, "waves", (json_int_t)c->waves, "instructions",
                            (json_int_t)c->wave_instructions, "ms", (double)c->nanoseconds / 1e6);
    if (row && profile) cli_add_counts(row, c);
    return row;
}

int cli_print_launches(const cli_output *output, json_t *rows, bool profile) {
    static const cli_column columns[] = {{"kernel", "kernel"},
                                         {"grid", "grid"},
                                         {"block", "block"},
                                         {"waves", "waves"},
                                         {"instructions", "instructions"},
                                         {"ms", "ms"},
                                         {NULL, NULL}};
    if (!profile) return cli_print_table(output, columns, rows);
    int code = CLI_OK;
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        putchar('\n');
        if (cli_print_object(output, json_incref(row)) != CLI_OK) code = CLI_FAILED;
    }
    json_decref(rows);
    return code;
}
