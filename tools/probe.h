/* Measures which intrinsics a tool set has: every form that lower/intrinsics.def and tools/probe_forms.def
 * name, for every target, in modules of LLVM IR that opt verifies, llc compiles and llvm-nm looks through. */
#ifndef TW_TOOLS_PROBE_H
#define TW_TOOLS_PROBE_H

#include <jansson.h>

#include "lower/measured.h"
#include "tools/toolset.h"

#define PROBE_NAME_MAX 96

/* One intrinsic with one signature. */
typedef struct probe_case {
    const char *key;
    const tw_intrinsic_row *row; /* NULL: a form that no row uses */
    const char *generic;         /* the row's name where $ stands for a type; NULL */
    unsigned wave_size;          /* 64: measured in waves of 64 where the target has a choice */
    char name[PROBE_NAME_MAX], result[48], arguments[160];
    bool known, verified; /* LLVM knows the name; takes the signature */
    uint32_t immediates;  /* bits: arguments that must be constants */
    tw_measured at[TW_ARCH_COUNT];
} probe_case;

typedef struct probe {
    const toolset *set;
    probe_case *cases;
    size_t count;
    bool served[TW_ARCH_COUNT]; /* llc knows the processor */
} probe;

/* All cases, sorted, nothing measured. */
tw_status probe_cases(probe_case **cases, size_t *count, tw_diag *diag);

/* ---- modules (tools/probe_module.c) ---- */

/* How many arguments; `index`-th type copied to `type` (64 bytes) when it is not NULL. */
unsigned probe_argument(const char *arguments, unsigned index, char type[64]);
/* Declarations alone, or with a kernel @p<number> for each case that calls it. */
void probe_module(tw_strbuf *text, const probe_case *cases, const size_t *list, size_t count, tw_arch arch,
                  bool calls);

/* ---- measuring ---- */

/* Runs a program of the set on `text`, and appends what it writes; no file is made. */
typedef enum probe_step {
    PROBE_DECLARE,
    PROBE_VERIFY,
    PROBE_COMPILE,
    PROBE_ASSEMBLY,
    PROBE_MACHINE
} probe_step;
typedef enum probe_end { PROBE_GOOD, PROBE_REFUSED, PROBE_CRASHED, PROBE_LATE } probe_end;
tw_status probe_run(const probe *p, probe_step step, tw_arch arch, const char *text, tw_strbuf *output,
                    probe_end *end, tw_diag *diag);

/* Measures all cases. */
tw_status probe_measure(const toolset *set, unsigned jobs, json_t **file, tw_diag *diag);

#endif
