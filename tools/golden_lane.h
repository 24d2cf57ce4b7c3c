/* 'tilewright golden --execute': one compiler's lane, measured, and compared with its record or recorded. */
#ifndef TW_TOOLS_GOLDEN_LANE_H
#define TW_TOOLS_GOLDEN_LANE_H

#include "tools/cli.h"
#include "tools/compiler_option.h"

typedef struct cli_lane_options {
    const char *directory, *filter; /* the filter may be NULL */
    tw_target only;                 /* none: all */
    cli_compiler compiler;
    unsigned jobs;
    bool record;
    const cli_output *output;
} cli_lane_options;

/* Returns an exit code: failed where a row failed, differs from its record, or where there is no row. */
int cli_golden_lane(const cli_lane_options *options, tw_diag *diag);

#endif
