/* What differs between releases and is no intrinsic: the columns of lower/flavors.def, measured. */
#ifndef TW_TOOLS_PROBE_FACTS_H
#define TW_TOOLS_PROBE_FACTS_H

#include "tools/probe.h"

/* An object with "data_layout"; "atomic_fadd", by target and type: which hints give an instruction instead of
 * a loop; "attribute ...": whether an attribute of lower/unused.def takes something away from a kernel. */
tw_status probe_facts(const probe *p, json_t **facts, tw_diag *diag);

#endif
