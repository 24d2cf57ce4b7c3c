/* LDS banks: how many cycles lanes that meet in a bank cost. A model, which docs/emulator.md describes:
 * kernels are laid out by it, and the emulator counts by it. */
#ifndef TW_ARCH_LDS_BANKS_H
#define TW_ARCH_LDS_BANKS_H

#include <stdint.h>

enum { TW_LDS_LANES = 32, TW_LDS_MAX_BANKS = 64 };

/* Cycles beyond those of an access without conflicts, of `bytes` (1 to 16) a lane at `offset` bytes. Bit l of
 * `active`: lane l takes part; offsets of others are not read. `banks` is a power of two, 64 at most. */
unsigned tw_lds_bank_conflicts(unsigned banks, const uint32_t offset[TW_LDS_LANES], uint32_t active,
                               unsigned bytes);

#endif
