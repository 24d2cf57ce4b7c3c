/* Kernels that map a function over an array, against the same function compiled for the host. */
#include "tests/emu/harness.h"

#include <string.h>

#include "tests/emu/kernels/half_functions.h"

enum { N = 300 };

static void make_input(quad *in) {
    /* Bit patterns that integers and floats have trouble with, then random ones. */
    static const u32 EDGES[] = {0,           1,           0xffffffffu, 0x7fffffffu, 0x80000000u,
                                0x7f800000u, 0xff800000u, 0x00800000u, 0x007fffffu, 0x3f800000u,
                                0xbf800000u, 0x7f7fffffu, 0x00000002u, 0x4b000000u};
    enum { EDGE_COUNT = sizeof EDGES / sizeof EDGES[0] };
    uint32_t seed = 4711;
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 4; k++) {
            uint32_t r = harness_random(&seed);
            in[i].w[k] = r % 4 == 0 ? EDGES[r / 4 % EDGE_COUNT]
                                    : harness_random(&seed) >> (r / 64 % 3 == 0 ? r / 256 % 32 : 0);
        }
    }
}

static void check_map(harness *h, const char *kernel, quad (*function)(quad)) {
    static quad in[N], out[N];
    make_input(in);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), dout = harness_buffer(h, "out", NULL, sizeof out);
    RUN(h, kernel, 3, 128, PTR(dout), PTR(din), I32(N));
    harness_read(h, dout, out, sizeof out);
    for (int i = 0; i < N; i++) {
        quad want = function(in[i]);
        if (!memcmp(&want, &out[i], sizeof want)) continue;
        fail_msg("item %d: in %08x %08x %08x %08x, got %08x %08x %08x %08x, want %08x %08x %08x %08x", i,
                 in[i].w[0], in[i].w[1], in[i].w[2], in[i].w[3], out[i].w[0], out[i].w[1], out[i].w[2],
                 out[i].w[3], want.w[0], want.w[1], want.w[2], want.w[3]);
    }
}

#define CHECK(name) \
    static void check_##name(harness *h) { check_map(h, #name, fn_##name); }
FUNCTION_LIST(CHECK)
FUNCTION_LIST_FLOAT(CHECK)
FUNCTION_LIST_HALF(CHECK)

int main(void) {
#define INTEGER_CASE(name) {#name, "integers", check_##name},
#define FLOAT_CASE(name)   {#name, "floats", check_##name},
#define HALF_CASE(name)    {#name, "halves", check_##name},
    static const harness_case CASES[] = {FUNCTION_LIST(INTEGER_CASE) FUNCTION_LIST_FLOAT(FLOAT_CASE)
                                             FUNCTION_LIST_HALF(HALF_CASE)};
    return harness_main(CASES, sizeof CASES / sizeof CASES[0]);
}
