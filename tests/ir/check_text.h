/* What must hold for any bytes given to the parser; shared by a test and a fuzzer. */
#ifndef TW_TESTS_IR_CHECK_TEXT_H
#define TW_TESTS_IR_CHECK_TEXT_H

#include "ir/kernel.h"

typedef enum check_outcome { CHECK_REFUSED = 0, CHECK_ACCEPTED, CHECK_FAILED } check_outcome;

/* Parses `text`: refused with a diagnostic, or accepted by the verifier and printed to a form that reads back
 * as itself, and the passes keep what it computes. What failed is printed. */
check_outcome check_text(const char *text, size_t length);
/* The canonical texts of the kernels of tests/ir/all_ops.h for gfx1250, then for gfx950, malloc'ed; NULL past
 * the last. */
char *check_text_seed(size_t index, size_t *length);

#endif
