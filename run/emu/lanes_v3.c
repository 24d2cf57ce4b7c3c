/* Lane functions for x86-64 hosts with AVX2, FMA and F16C. */
#if defined(__x86_64__) && defined(__GNUC__)
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* loops that call the C library stay as they are */
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt"))), \
                             apply_to = function)
#else
#pragma GCC optimize("O3")
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")
#endif
#define LANES_F16C
#define LANES_TABLE tw_emu_lanes_v3
#include "run/emu/lanes.h"
#ifdef __clang__
#pragma clang attribute pop
#endif
#else
typedef int lanes_v3_is_for_x86_64;
#endif
