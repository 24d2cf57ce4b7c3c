/* The interpreter of the tile IR: executes a kernel on the host, by the meaning of the rows of ir/opcodes.def
 * alone. It is the second opinion on what the lowerer and a compiler make of a kernel, not a fast way to run
 * one. */
#ifndef TW_IR_INTERP_H
#define TW_IR_INTERP_H

#include "ir/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The argument of one parameter, in the order of the parameters. */
typedef struct tw_interp_arg {
    void *memory; /* of a pointer: `bytes` bytes of host memory, little-endian as the device has them. The
                     address counts as aligned to 16 bytes, whatever it is on the host. NULL with 0 bytes is
                     fine. */
    size_t bytes;
    uint64_t bits; /* of a scalar: its bits, zero-extended */
} tw_interp_arg;

#define TW_INTERP_MEMORY(pointer, size) ((tw_interp_arg){.memory = (pointer), .bytes = (size)})
#define TW_INTERP_BITS(value)           ((tw_interp_arg){.bits = (value)})

typedef struct tw_interp_options {
    /* Ends with TW_ERR_LIMIT after that many ops; one op counts once for all work-items of a workgroup that
     * execute it together. 0: 100 million. */
    uint64_t max_ops;
} tw_interp_options;

/* Runs `kernel` over grid[0] x grid[1] x grid[2] workgroups, one after the other, x fastest. All work-items
 * of a workgroup execute an op together, so there is one order of events, and the result is the same on every
 * host.
 *
 * TW_ERR_DEVICE with op, work-item and address where the program breaks a rule of docs/ir.md while it runs:
 * an access outside its memory or misaligned, a store to a readonly parameter, a buffer store or atomic out
 * of range, LDS read before it was written, a shuffle from a lane that is not active, a barrier that some
 * work-items do not reach. Memory then holds what was stored up to there. TW_ERR_USAGE where arguments do
 * not fit the kernel, TW_ERR_LIMIT past max_ops or with millions of accesses of copies under way. The
 * kernel is verified first. `options` and `diag` may be NULL. The kernel is only read: any thread. */
TW_API tw_status tw_interp_run(const tw_kernel *kernel, const uint32_t grid[3], const tw_interp_arg *args,
                               size_t arg_count, const tw_interp_options *options, tw_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
