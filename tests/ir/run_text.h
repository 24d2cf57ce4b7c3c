/* Runs a kernel given as text with the interpreter. */
#ifndef TW_TESTS_IR_RUN_TEXT_H
#define TW_TESTS_IR_RUN_TEXT_H

#include "ir/interp.h"

#define ONE_GROUP ((const uint32_t[3]){1, 1, 1})

/* The text must parse. The diagnostics go to `message`, which may be NULL. */
tw_status run_text(const char *text, const uint32_t grid[3], const tw_interp_arg *args, size_t arg_count,
                   const tw_interp_options *options, char message[512]);

#endif
