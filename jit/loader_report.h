/* What a program loads, as the dynamic loader tells it: the loader alone knows where it finds a library. */
#ifndef TW_JIT_LOADER_REPORT_H
#define TW_JIT_LOADER_REPORT_H

#include "support/strbuf.h"

/* This process's environment with the wish for a report (LD_DEBUG of glibc's ld.so), which passes through
 * scripts to what they start. Free the array with free(); NULL where memory is out. */
const char **tw_loader_environment(void);
/* Moves the report out of what a program printed to standard error. Appends the paths of programs and
 * libraries, each with its terminator and once; a program without a folder is looked up in $PATH. Returns
 * whether there was a report. */
bool tw_loader_take_report(char *words, tw_strbuf *paths);
void tw_loader_add_path(tw_strbuf *paths, const char *path, size_t length);

#endif
