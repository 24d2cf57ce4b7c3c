/* All kernels, as one translation unit: a code object a target and level. */
#include "tests/hip/groups.h"
