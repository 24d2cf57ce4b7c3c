/* Runs llc 22 on a text and gives what it printed. */
#ifndef TW_TESTS_ARCH_LLVM_TOOL_H
#define TW_TESTS_ARCH_LLVM_TOOL_H

#include "arch/target.h"
#include "tests/test.h"

/* Whether there is an llc 22: the environment variable TW_LLC_22 names it, and is set by
 * tests/arch/meson.build where it is installed. A suite that needs it ends with SUITE_SKIPPED where it is
 * missing. */
bool have_llc(void);
#define SUITE_SKIPPED 77
/* Skips the calling test where it is missing. Called first, before a test owns memory. */
void need_llc(void);
/* LLVM IR to assembly. The text belongs to the caller: free() it. Fails the test where llc fails. */
char *llc(tw_target target, const char *input);
/* The number after `key`, one that sorts after ".name:", in the metadata of kernel `name`. */
unsigned kernel_metadata(const char *assembly, const char *name, const char *key);

/* Attributes (#0) of a kernel that is given nothing in registers but its kernarg address. */
extern const char no_inputs[];

#endif
