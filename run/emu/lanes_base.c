/* Lane functions for any host. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* loops that call the C library stay as they are */
#endif
#define LANES_TABLE tw_emu_lanes_base
#include "run/emu/lanes.h"
