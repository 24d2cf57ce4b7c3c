/* The programs of one LLVM release: a set that tools/toolchains prepared, or what the system has installed.
 */
#ifndef TW_TOOLS_TOOLSET_H
#define TW_TOOLS_TOOLSET_H

#include "lower/flavor.h"
#include "support/strbuf.h"

typedef struct toolset {
    tw_flavor flavor;
    char folder[448], llc[512], opt[512], nm[512];
    char version[288]; /* "LLVM 21.1.8, Debian package llvm-toolchain-21 1:21.1.8-2" */
} toolset;

/* TW_ERR_NOT_FOUND where the set is not there. */
tw_status toolset_find(tw_flavor flavor, toolset *out, tw_diag *diag);
/* The same without asking for the version. */
tw_status toolset_locate(tw_flavor flavor, toolset *out, tw_diag *diag);

#endif
