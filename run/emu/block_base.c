/* Loops of block copies for any host. */
#define BLOCK_LOOPS tw_emu_block_base
#include "run/emu/block_loops.h"
