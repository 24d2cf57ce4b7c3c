/* Runs one of LLVM's tools on a text and gives what it printed. */
#ifndef TW_TESTS_ARCH_LLVM_TOOL_H
#define TW_TESTS_ARCH_LLVM_TOOL_H

#include "tests/test.h"

/* `variable` is the environment variable that names the program (tests/arch/meson.build sets it where the
 * tool is installed). The result, standard output alone, belongs to the caller: free() it. Skips the calling
 * test where there is no such tool, and fails it where the tool fails. */
char *llvm_tool(const char *variable, const char *arguments, const char *input);
/* The same for llc 22, for a processor with the features of `mattr`. */
char *llc(const char *cpu, const char *mattr, const char *input);

#endif
