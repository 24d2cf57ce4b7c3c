/* The groups of kernels. */
#include "tests/hip/integers.h"
#include "tests/hip/scans.h"
#include "tests/hip/sorts.h"
#include "tests/hip/text.h"
