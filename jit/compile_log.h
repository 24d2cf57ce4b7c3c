/* What compilers print, as diagnostics. */
#ifndef TW_JIT_COMPILE_LOG_H
#define TW_JIT_COMPILE_LOG_H

#include "support/diag.h"

/* Takes a log apart, which it writes into: a line "FILE:LINE:COLUMN: error: TEXT" or "PROGRAM: error: TEXT"
 * is an error (TW_ERR_COMPILE), warnings and notes likewise, and "LLVM ERROR: TEXT" an error. All else
 * belongs to one of those: source lines with a caret, which nobody can place without the file, and stack
 * dumps. Errors that name a line come from "kernel.ll", the rest from `identity`. Returns the number of
 * errors. */
size_t tw_compile_log_report(char *log, const char *identity, tw_diag *diag);

#endif
