/* Fast handlers for x86-64 hosts with AVX2, FMA and F16C. */
#if defined(__x86_64__) && defined(__GNUC__)
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt"))), \
                             apply_to = function)
#else
#pragma GCC optimize("O3")
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")
#endif
#define LANES_F16C
#define FAST_HANDLERS tw_emu_fast_v3
#include "run/emu/fast_body.h"
#ifdef __clang__
#pragma clang attribute pop
#endif
#else
typedef int fast_v3_is_for_x86_64;
#endif
