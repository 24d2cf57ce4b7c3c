/* Lane functions for any host. */
#define LANES_TABLE tw_emu_lanes_base
#include "run/emu/lanes.h"
