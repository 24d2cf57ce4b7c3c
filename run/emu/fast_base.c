/* Fast handlers for any host. */
#define FAST_HANDLERS tw_emu_fast_base
#include "run/emu/fast_body.h"
