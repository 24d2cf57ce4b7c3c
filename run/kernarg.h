/* Kernarg segments and the shape of launches, checked against the metadata of the code object. */
#ifndef TW_RUN_KERNARG_H
#define TW_RUN_KERNARG_H

#include "run/device.h"

/* What a launch asks for, arguments apart. */
typedef struct tw_launch_shape {
    tw_dim3 grid;  /* workgroups */
    tw_dim3 block; /* work-items of a workgroup */
    uint32_t dynamic_lds;
    uint32_t private_base, shared_base; /* high halves of the flat apertures, where a device has them */
} tw_launch_shape;

/* Whether code made for `code` runs on `device`: the same processor, and no feature that is set the other
 * way. */
bool tw_target_runs_on(tw_target code, tw_target device);

/* The kernel, or NULL with a diagnostic (TW_ERR_NOT_FOUND) that lists the names there are. */
const tw_kernel_info *tw_kernel_find(const tw_code_object *object, const char *name, tw_diag *diag);

/* TW_ERR_INVALID with the rule where kernel or target cannot run this shape. */
tw_status tw_launch_check(const tw_kernel_info *kernel, tw_target target, const tw_launch_shape *shape,
                          tw_diag *diag);

/* Explicit arguments are those that the caller of a kernel gives: the ones that are not hidden. */
size_t tw_kernarg_explicit_count(const tw_kernel_info *kernel);
const tw_arg_info *tw_kernarg_explicit_at(const tw_kernel_info *kernel, size_t index); /* NULL past the end */
/* Bytes up to the end of the last one. A kernel whose metadata lists no argument at all is assembly with a
 * private layout: then the whole segment. */
uint32_t tw_kernarg_explicit_size(const tw_kernel_info *kernel);

/* Packs explicit arguments into `bytes` (tw_kernarg_explicit_size of them, padding zeroed). The place of a
 * buffer's address stays zero. TW_ERR_USAGE for a wrong number, kind or size; TW_ERR_INVALID for metadata
 * that places an argument outside the segment. */
tw_status tw_kernarg_pack(const tw_kernel_info *kernel, const tw_launch_arg *args, size_t count,
                          uint8_t *bytes, tw_diag *diag);

/* Writes a device address in the kernarg segment's byte order. */
void tw_kernarg_put_address(uint8_t *bytes, uint64_t address);

/* The whole segment: explicit bytes, then the hidden arguments. `segment` and `known` have
 * kernel->kernarg_size bytes; known[i] tells whether anybody gave segment[i] a value: padding has none. */
tw_status tw_kernarg_fill(const tw_kernel_info *kernel, const tw_launch_shape *shape, const uint8_t *bytes,
                          size_t size, uint8_t *segment, uint8_t *known, tw_diag *diag);

#endif
