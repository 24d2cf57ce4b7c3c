/* A bundle in memory. */
#ifndef TW_RUN_BUNDLE_INTERNAL_H
#define TW_RUN_BUNDLE_INTERNAL_H

#include "run/bundle.h"
#include "run/plan_internal.h"
#include "support/arena.h"

/* Limits of what is read; docs/bundle.md states them. */
#define TW_BUNDLE_MAX_JSON   ((uint64_t)16 << 20)
#define TW_BUNDLE_MAX_OBJECT ((uint64_t)256 << 20)
#define TW_BUNDLE_MAX_BYTES  ((uint64_t)1 << 40)
#define TW_BUNDLE_MAX_COUNT  4096

typedef struct tw_bundle_buffer {
    const char *name;
    uint64_t bytes;
    const uint8_t *data; /* NULL: `fill` repeated */
    uint8_t fill;
} tw_bundle_buffer;

typedef struct tw_bundle_object {
    const char *file;
    tw_code_object *object;
} tw_bundle_object;

typedef struct tw_bundle_launch {
    uint32_t object;
    const char *kernel;
    tw_launch_shape shape;
    const uint32_t *zeroed;
    size_t zeroed_count;
    tw_plan_kernarg kernarg; /* in the bundle's arena */
} tw_bundle_launch;

struct tw_bundle {
    tw_arena arena;
    tw_target target;
    tw_bundle_buffer *buffers;
    size_t buffer_count;
    tw_bundle_object *objects; /* room for one a launch */
    size_t object_count;
    tw_bundle_launch *launches;
    size_t launch_count;
    tw_bundle_output *outputs;
    size_t output_count;
};

/* tw_bundle_read with the text of bundle.json given; files are still read from the folder. */
tw_status tw_bundle_parse(const char *text, size_t length, const char *directory, tw_bundle **out,
                          tw_diag *diag);

/* The elements of a shape, or TW_ERR_INVALID where rank, shape or format are out of range or where they do
 * not fit in `bytes`. `place` says which output it is. */
tw_status tw_bundle_elements(const tw_bundle_output *output, uint64_t bytes, const char *place,
                             uint64_t *elements, tw_diag *diag);

/* Reads a file below the folder into the arena, without following a link. `path` is untrusted. Where `*size`
 * is not SIZE_MAX the file must have that size; else it is set, and `limit` holds. */
tw_status tw_bundle_file(tw_arena *arena, const char *directory, const char *path, uint64_t limit,
                         size_t *size, uint8_t **bytes, tw_diag *diag);

#endif
