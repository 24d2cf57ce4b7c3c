/* Several lowered kernels as one module of LLVM IR: one compile costs less than many. */
#ifndef TW_TESTS_FUZZ_MERGE_H
#define TW_TESTS_FUZZ_MERGE_H

#include "support/strbuf.h"

/* Appends the text of kernel number `index`; the first call writes the head of the module. Attribute groups
 * and metadata nodes get numbers of their own, declarations stand once, in a text of
 * their own that the caller appends. The kernels' names, and those of their
 * LDS arrays, must differ. */
void fuzz_merge(tw_strbuf *out, tw_strbuf *declarations, const char *text, unsigned index);

#endif
