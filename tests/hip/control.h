/* Control flow: calls, recursion, function pointers, dispatch, interpreters, loops that lanes leave one by
 * one. */
#include "tests/hip/kernel.h"

#ifdef __HIP__

/* Objects in private memory, calls through tables of functions. */
struct shape {
    u32 a, b;
    DEVICE shape(u32 x, u32 y) : a(x), b(y) {}
    virtual DEVICE u32 area() const { return 0; }
    virtual DEVICE u32 corners() const { return 4; }
};
struct box : shape {
    DEVICE box(u32 x, u32 y) : shape(x, y) {}
    DEVICE u32 area() const override { return a * b; }
};
struct wedge : shape {
    DEVICE wedge(u32 x, u32 y) : shape(x, y) {}
    DEVICE u32 area() const override { return a * b / 2; }
    DEVICE u32 corners() const override { return 3; }
};
struct star final : shape {
    u32 points;
    DEVICE star(u32 x, u32 y, u32 p) : shape(x, y), points(p) {}
    DEVICE u32 area() const override { return a * b * points; }
    DEVICE u32 corners() const override { return 2 * points; }
};
GROUP_KERNEL(virtual_dispatch) {
    u32 a = in[G] & 0xff, b = in[G] >> 8 & 0xff, sum = 0;
    UNUSED_N;
    box x(a, b);
    wedge y(b, a + 1);
    star z(a, b, in[G] >> 30);
    const shape *all[4] = {&x, &y, &z, &x};
    for (u32 i = 0; i < 8; i++) {
        const shape *s = all[in[G] >> 2 * i & 3];
        sum = sum * 5 + s->area() + s->corners();
    }
    out[G] = sum;
}
template <u32 N> struct polynomial {
    u32 c[N];
    DEVICE u32 operator()(u32 x) const {
        u32 r = 0;
        for (u32 i = N; i-- > 0;)
            r = r * x + c[i];
        return r;
    }
};
GROUP_KERNEL(closures) {
    UNUSED_N;
    u32 v = in[G];
    polynomial<5> p = {{v, v >> 3, v >> 7, 1, 3}};
    auto twice = [&](auto f, u32 x) { return f(f(x)); };
    auto add = [v](u32 x) { return x * 3 + v; };
    out[G] = twice(p, 7) ^ twice(add, v) ^ twice([&](u32 x) { return p(x) + add(x); }, 2);
}

#else

REFERENCE(virtual_dispatch) {
    for (u32 i = 0; i < n; i++) {
        u32 a = in[i] & 0xff, b = in[i] >> 8 & 0xff, p = in[i] >> 30;
        for (u32 k = 0; k < 8; k++) {
            u32 which = in[i] >> 2 * k & 3;
            u32 area = which == 1 ? b * (a + 1) / 2 : which == 2 ? a * b * p : a * b;
            out[i] = out[i] * 5 + area + (which == 1 ? 3 : which == 2 ? 2 * p : 4);
        }
    }
}
static u32 polynomial_at(u32 v, u32 x) {
    return v + (v >> 3) * x + (v >> 7) * x * x + x * x * x + 3 * x * x * x * x;
}
static u32 both_at(u32 v, u32 x) { return polynomial_at(v, x) + 3 * x + v; }
REFERENCE(closures) {
    for (u32 i = 0; i < n; i++) {
        u32 v = in[i];
        out[i] = polynomial_at(v, polynomial_at(v, 7)) ^ ((v * 3 + v) * 3 + v) ^ both_at(v, both_at(v, 2));
    }
}

#endif

CALL u32 step_add(u32 a, u32 b) { return a + b; }
CALL u32 step_xor(u32 a, u32 b) { return a ^ b * 3; }
CALL u32 step_turn(u32 a, u32 b) { return rotl(a, b); }
CALL u32 step_mix(u32 a, u32 b) { return step_add(step_xor(a, b), step_turn(b, a)); }
typedef u32 (*step_fn)(u32, u32);
BODY(function_pointers) {
    step_fn steps[4] = {step_add, step_xor, step_turn, step_mix};
    u32 v = in[G], r = G;
    UNUSED_N;
    for (u32 i = 0; i < 6; i++)
        r = steps[v >> 2 * i & 3](r, v >> i);
    out[G] = r;
}

CALL u32 hanoi(u32 disks, u32 from, u32 to, u32 hash) {
    if (disks == 0) return hash;
    hash = hanoi(disks - 1, from, 3 - from - to, hash);
    hash = hash * 31 + disks * 9 + from * 3 + to;
    return hanoi(disks - 1, 3 - from - to, to, hash);
}
BODY(towers) {
    UNUSED_N;
    out[G] = hanoi(in[G] % 6, 0, 2, in[G]);
}

/* A grammar of sums, products and parentheses, parsed by functions that call each other. */
typedef struct parser {
    u32 bits[2], at, depth;
} parser;
FN u32 next_token(parser *p) {
    u32 t = p->bits[p->at / 16 & 1] >> p->at % 16 * 2 & 3;
    p->at++;
    return p->at > 30 || p->depth > 5 ? 0 : t;
}
CALL u32 parse_sum(parser *p);
CALL u32 parse_atom(parser *p) {
    u32 t = next_token(p);
    if (t != 3) return t + p->at;
    p->depth++;
    u32 v = parse_sum(p);
    p->depth--;
    return v * 2;
}
CALL u32 parse_product(parser *p) {
    u32 v = parse_atom(p);
    while (next_token(p) == 2)
        v *= parse_atom(p) + 1;
    return v;
}
CALL u32 parse_sum(parser *p) {
    u32 v = parse_product(p);
    while (next_token(p) == 1)
        v += parse_product(p);
    return v;
}
BODY(recursive_parser) {
    parser p;
    UNUSED_N;
    p.bits[0] = in[2 * G];
    p.bits[1] = in[2 * G + 1];
    p.at = p.depth = 0;
    out[2 * G] = parse_sum(&p);
    out[2 * G + 1] = p.at;
}

/* Twenty operations, a stack and jumps: each lane runs its own program. */
BODY(bytecode) {
    u32 stack[8] = {1, 2, 3, 4, 5, 6, 7, 8}, top = 2, pc = 0, fuel = 40;
    UNUSED_N;
    while (fuel-- && pc < 16) {
        u32 op = in[G * 4 + pc / 4] >> pc % 4 * 8 & 255, *t = &stack[top & 7], *u = &stack[(top - 1) & 7];
        pc++;
        switch (op % 20) {
        case 0: *t += *u; break;
        case 1: *t -= *u; break;
        case 2: *t *= *u; break;
        case 3: *t = *u ? *t / *u : 0; break;
        case 4: *t ^= *u; break;
        case 5: *t = ~*t; break;
        case 6: stack[++top & 7] = op; break;
        case 7: top--; break;
        case 8: stack[(top + 1) & 7] = *t, top++; break;
        case 9: pc += *t & 1; break;
        case 10: pc = *t > *u ? pc / 2 : pc; break;
        case 11: *t = rotl(*t, op); break;
        case 12: *t = *t > *u; break;
        case 13: {
            u32 v = *t;
            *t = *u;
            *u = v;
            break;
        }
        case 14: *t = (u32)__builtin_popcount(*t); break;
        case 15: *t |= *u << 3; break;
        case 16: *t = stack[*t & 7]; break;
        case 17: stack[*t & 7] = *u; break;
        case 18: *t = (u32)((i32)*t >> 3); break;
        default: fuel = fuel > 5 ? fuel - 5 : 0; break;
        }
    }
    u32 r = top * 7 + pc;
    for (u32 i = 0; i < 8; i++)
        r = r * 33 + stack[i];
    out[G] = r;
}

/* A loop that starts in its middle. */
BODY(duffs_device) {
    u32 count = in[G] % 40 + 1, turns = (count + 7) / 8, v = in[G];
    UNUSED_N;
    switch (count % 8) {
    case 0:
        do {
            v = v * 5 + 1;
            __attribute__((fallthrough));
        case 7: v ^= v >> 3; __attribute__((fallthrough));
        case 6: v += 7; __attribute__((fallthrough));
        case 5: v = rotl(v, 5); __attribute__((fallthrough));
        case 4: v ^= 0x55; __attribute__((fallthrough));
        case 3: v *= 3; __attribute__((fallthrough));
        case 2: v -= turns; __attribute__((fallthrough));
        case 1: v ^= v << 1;
        } while (--turns);
    }
    out[G] = v;
}

BODY(nested_breaks) {
    u32 a = in[G], found = 0, tries = 0;
    UNUSED_N;
    for (u32 i = 0; i < 8; i++) {
        for (u32 k = 0; k < 8; k++) {
            if ((a >> k & 7) == i) continue;
            for (u32 m = 0; m < 4; m++) {
                tries++;
                if ((a >> (i + k + m) & 15) == 9) goto next;
                if (tries > 90 + (a & 31)) goto done;
                found += m ^ k;
            }
            if (found % 7 == 3) break;
        }
    next:
        if (found > 300) break;
    }
done:
    out[2 * G] = found;
    out[2 * G + 1] = tries;
}

typedef struct wide_struct {
    u32 w[12];
    u8 tag;
    u64 key;
} wide_struct;
CALL wide_struct stir(wide_struct s, u32 by) {
    for (u32 i = 0; i < 12; i++)
        s.w[i] = s.w[(i + by) % 12] + i;
    s.tag = (u8)(s.tag + by);
    s.key = s.key * s.tag + s.w[by % 12];
    return s;
}
BODY(structs_by_value) {
    wide_struct s;
    UNUSED_N;
    for (u32 i = 0; i < 12; i++)
        s.w[i] = in[G + i];
    s.tag = (u8)in[G];
    s.key = in[G + 1];
    for (u32 i = 0; i < 3; i++)
        s = stir(s, i + G % 5);
    u32 r = s.tag;
    for (u32 i = 0; i < 12; i++)
        r = r * 7 + s.w[i];
    out[3 * G] = r;
    put64(out + 3 * G + 1, s.key);
}

/* Fourteen arguments do not all fit in registers. */
CALL u64 many_arguments(u32 a, u64 b, u8 c, i16 d, u32 e, u64 f, u32 g, u32 h, u64 i, i8 j, u32 k, u32 l,
                        u64 m, u32 o) {
    return a + b * 3 + c * 5 + (u64)(i64)d * 7 + e * 11ull + f * 13 + g * 17ull + h * 19ull + i * 23 +
           (u64)(i64)j * 29 + k * 31ull + l * 37ull + m * 41 + o;
}
BODY(long_argument_lists) {
    u32 a = in[G], b = a * 3, c = rotl(a, 9);
    UNUSED_N;
    put64(out + 2 * G, many_arguments(a, b, (u8)c, (i16)a, c, wide(a, b), b, c, wide(c, a), (i8)b, a ^ c,
                                      c + 1, wide(b, b), 5));
}

/* An array that no register file holds, and addresses only the program knows. */
BODY(large_private_array) {
    u16 a[200];
    UNUSED_N;
    for (u32 i = 0; i < 200; i++)
        a[i] = (u16)(in[G] >> (i & 15));
    u32 at = in[G] % 200, sum = 0;
    for (u32 i = 0; i < 30; i++) {
        a[at] = (u16)(a[at] * 5 + i);
        sum += a[at];
        at = (at + a[(at * 7 + 3) % 200]) % 200;
    }
    out[G] = sum << 8 ^ at;
}

BODY(volatile_values) {
    volatile u32 v[4] = {in[G], 1, 2, 3};
    volatile u8 small = 0;
    UNUSED_N;
    for (u32 i = 0; i < 5; i++) {
        v[i & 3] = v[(i + 1) & 3] + v[i & 3];
        small = (u8)(small + v[i & 3]);
    }
    out[G] = v[0] ^ v[1] << 8 ^ small;
}

/* Nodes in a private pool, linked in order of their values. */
typedef struct node {
    u32 value;
    struct node *next;
} node;
BODY(linked_list) {
    node pool[10], *head = 0;
    UNUSED_N;
    for (u32 i = 0; i < 10; i++) {
        node **p = &head;
        pool[i].value = in[G * 10 + i];
        while (*p && (*p)->value < pool[i].value)
            p = &(*p)->next;
        pool[i].next = *p;
        *p = &pool[i];
    }
    u32 r = 0;
    for (const node *p = head; p; p = p->next)
        r = r * 131 + (p->value >> 7);
    out[G] = r;
}
