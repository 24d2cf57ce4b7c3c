/* The kernels in a guide. */
#ifndef TW_TESTS_IR_DOC_BLOCK_H
#define TW_TESTS_IR_DOC_BLOCK_H

#include <stddef.h>

/* The text of block number `index` between "```tir" and "```" in the file, malloc'ed; NULL past the last. */
char *doc_block(const char *path, size_t index);

#endif
