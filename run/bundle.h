/* Bundles: a folder that holds everything a run needs and what it must give, so that another machine or
 * another emulator can replay it without this library's sources. docs/bundle.md is the format's
 * specification. */
#ifndef TW_RUN_BUNDLE_H
#define TW_RUN_BUNDLE_H

#include "ir/type.h"
#include "run/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TW_BUNDLE_VERSION  1
#define TW_BUNDLE_MAX_RANK 8

/* ---- writing ---- */

/* What one buffer must hold in the end: element i of the buffer within bound[i] of expected[i]. */
typedef struct tw_bundle_output {
    uint32_t buffer;  /* index into the plan's buffers */
    tw_scalar format; /* of the elements: any but i1 and i64 */
    uint32_t rank;    /* 1..TW_BUNDLE_MAX_RANK */
    uint64_t shape[TW_BUNDLE_MAX_RANK];
    const double *expected, *bound; /* one an element; bounds are 0 or more */
} tw_bundle_output;

typedef struct tw_bundle_source {
    const tw_plan *plan;
    tw_target target;
    tw_code_object *const *objects; /* as tw_plan_run takes them */
    size_t object_count;
    const tw_plan_host *hosts; /* the inputs are read */
    size_t host_count;
    const tw_bundle_output *outputs; /* at least one */
    size_t output_count;
} tw_bundle_source;

/* Makes the folder where it is missing and writes the files, bundle.json last. Buffers that are no input
 * start as bytes 0xff, a NaN in every float format but the FNUZ ones: what no launch wrote is no result. */
TW_API tw_status tw_bundle_write(const char *directory, const tw_bundle_source *source, tw_diag *diag);

/* ---- reading and replaying ---- */

typedef struct tw_bundle tw_bundle;

/* Reads the whole folder. Untrusted input: every number is checked against the code objects and the sizes of
 * the files, and no file outside the folder is opened. TW_ERR_INVALID names the member: "launches[0].grid[1]
 * must be 1..4294967295 (got 0)". */
TW_API tw_status tw_bundle_read(const char *directory, tw_bundle **out, tw_diag *diag);
TW_API void tw_bundle_free(tw_bundle *bundle); /* NULL is fine */
TW_API tw_target tw_bundle_target(const tw_bundle *bundle);

/* One element that is not what it should be. */
typedef struct tw_bundle_mismatch {
    char buffer[68]; /* its name, cut where it is longer */
    uint64_t index;
    double got, expected, bound;
} tw_bundle_mismatch;

#define TW_BUNDLE_MISMATCHES_KEPT 16

typedef struct tw_bundle_report {
    uint64_t elements, mismatches;
    double worst; /* the largest |got - expected| / bound of the elements with a bound above 0 */
    size_t kept;  /* entries of `first`: min(mismatches, TW_BUNDLE_MISMATCHES_KEPT) */
    tw_bundle_mismatch first[TW_BUNDLE_MISMATCHES_KEPT];
    tw_launch_counts counts; /* of all launches together */
} tw_bundle_report;

/* Runs the launches on fresh buffers and compares. An element passes where |got - expected| <= bound or both
 * are the same infinity; a NaN passes where NaN is expected, and only a NaN does there. TW_ERR_MISMATCH with
 * the first of them in `diag`; `report` (may be NULL) is filled whenever everything ran. A bundle can be
 * replayed any number of times, by any thread. */
TW_API tw_status tw_bundle_replay(const tw_bundle *bundle, tw_device *device, tw_bundle_report *report,
                                  tw_diag *diag);
/* Lines for people. free() it; NULL when memory is out. */
TW_API char *tw_bundle_report_text(const tw_bundle_report *report);

#ifdef __cplusplus
}
#endif
#endif
