/* Loops of block copies for x86-64 hosts with AVX2, FMA and F16C. */
#if defined(__x86_64__) && defined(__GNUC__)
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt"))), \
                             apply_to = function)
#else
#pragma GCC optimize("O3")
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")
#endif
#define BLOCK_LOOPS tw_emu_block_v3
#include "run/emu/block_loops.h"
#ifdef __clang__
#pragma clang attribute pop
#endif
#else
typedef int block_v3_is_for_x86_64;
#endif
