/* Kernels for test_exec.sh. */
#define KERNEL extern "C" __attribute__((global)) void
#define ID                                                                     \
    (__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + \
     __builtin_amdgcn_workitem_id_x())

KERNEL vadd(const float *a, const float *b, float *c, int n) {
    unsigned i = ID;
    if (i < (unsigned)n) c[i] = a[i] + b[i];
}

struct parameters {
    long long wide;
    float scale;
    unsigned char bytes[4];
};

/* All kinds of arguments, bit by bit. */
KERNEL arguments(unsigned long long *out, int i, long long l, float f, double d, struct parameters p,
                 const int *q, int last) {
    if (ID) return;
    out[0] = (unsigned)i;
    out[1] = (unsigned long long)l;
    out[2] = __builtin_bit_cast(unsigned, f);
    out[3] = __builtin_bit_cast(unsigned long long, d);
    out[4] = (unsigned long long)p.wide;
    out[5] = __builtin_bit_cast(unsigned, p.scale);
    out[6] = p.bytes[0] | p.bytes[1] << 8 | p.bytes[2] << 16 | (unsigned)p.bytes[3] << 24;
    out[7] = (unsigned long long)q;
    out[8] = (unsigned)last;
}

/* In place, reversed in each workgroup through dynamic LDS. */
extern __attribute__((shared)) unsigned lds[];
KERNEL reverse(unsigned *a, unsigned *b) {
    unsigned t = __builtin_amdgcn_workitem_id_x(), n = __builtin_amdgcn_workgroup_size_x();
    lds[t] = a[ID];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    b[ID] = lds[n - 1 - t];
}

/* Reads dwords of the kernarg segment from `first` on, past its end too. */
KERNEL past_end(unsigned *out, int first) {
    const __attribute__((address_space(4))) unsigned *args =
        (const __attribute__((address_space(4))) unsigned *)__builtin_amdgcn_kernarg_segment_ptr();
    out[0] = args[first];
}

/* Three aligned dwords of a segment of three, which gfx9 loads as four. */
KERNEL three(unsigned *out, int n) {
    typedef unsigned triple __attribute__((ext_vector_type(3)));
    triple v = *(const __attribute__((address_space(4))) triple *)__builtin_amdgcn_kernarg_segment_ptr();
    __asm__ volatile("" ::"s"(v)); /* all of it */
    out[0] = v.z;
}

/* One store and one load of LDS a work-item, a dword or four wide, at a stride. */
typedef unsigned vector __attribute__((ext_vector_type(4)));

#define LDS __attribute__((address_space(3)))

KERNEL strides(unsigned *out, int stride) {
    __attribute__((shared)) static unsigned room[32 * 64];
    unsigned t = __builtin_amdgcn_workitem_id_x();
    volatile LDS unsigned *place = (volatile LDS unsigned *)&room[t * stride];
    *place = t;
    out[t] = *place;
}

KERNEL wide(unsigned *out, int stride) {
    __attribute__((shared)) static vector room[4 * 64];
    unsigned t = __builtin_amdgcn_workitem_id_x();
    volatile LDS vector *place = (volatile LDS vector *)&room[t * stride];
    *place = (vector){t, t, t, t};
    vector v = *place;
    out[t] = v.x;
}

/* Scratch, through an array that is indexed by what a kernel is given, and calls by pointers to it. */
__attribute__((device)) __attribute__((noinline)) unsigned sum(const unsigned *values, int n) {
    unsigned total = 0;
    for (int i = 0; i < n; i++)
        total += values[i];
    return total;
}

KERNEL scratch(unsigned *out, int n) {
    unsigned t = __builtin_amdgcn_workitem_id_x(), values[16];
    for (int i = 0; i < 16; i++)
        values[i] = t * (unsigned)i;
    __attribute__((shared)) static unsigned room[16];
    if (t < 16) room[t] = t;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    out[t] = sum(t & 1 ? values : (const unsigned *)room, n);
}

/* The implicit arguments of code object version 5 and later, as they lie behind the explicit ones. */
KERNEL hidden(unsigned *out) {
    const unsigned char __attribute__((address_space(4))) *at =
        (const unsigned char __attribute__((address_space(4))) *)__builtin_amdgcn_implicitarg_ptr();
    if (ID || __builtin_amdgcn_workitem_id_y() || __builtin_amdgcn_workgroup_id_y() ||
        __builtin_amdgcn_workgroup_id_z())
        return;
    if (out[0]) lds[0] = 1; /* so that there is dynamic LDS to tell of */
    for (int i = 0; i < 3; i++) {
        out[i] = *(const __attribute__((address_space(4))) unsigned *)(at + 4 * i); /* block counts */
        out[3 + i] =
            *(const __attribute__((address_space(4))) unsigned short *)(at + 12 + 2 * i); /* group sizes */
        out[6 + i] =
            *(const __attribute__((address_space(4))) unsigned short *)(at + 18 + 2 * i); /* remainders */
        out[9 + i] =
            *(const __attribute__((address_space(4))) unsigned *)(at + 40 + 8 * i); /* global offsets */
    }
    out[12] = *(const __attribute__((address_space(4))) unsigned short *)(at + 64); /* dimensions */
    out[13] = *(const __attribute__((address_space(4))) unsigned *)(at + 120);      /* dynamic LDS */
}

#if defined(__GFX9__)
#define BUFFER_WORD3 0x00027000
#elif defined(__gfx1250__)
#define BUFFER_WORD3 0
#else
#define BUFFER_WORD3 0x31004000
#endif

/* A store and an atomic through a buffer resource of `bytes` bytes: some lanes are out of its range. */
KERNEL ranged(unsigned *out, int bytes) {
    unsigned t = __builtin_amdgcn_workitem_id_x();
    __amdgpu_buffer_rsrc_t rsrc = __builtin_amdgcn_make_buffer_rsrc(out, 0, bytes, BUFFER_WORD3);
    __builtin_amdgcn_raw_buffer_store_b32(t + 1, rsrc, t * 4, 0, 0);
}

KERNEL ranged_atomic(unsigned *out, unsigned *old, int bytes) {
    unsigned t = __builtin_amdgcn_workitem_id_x();
    __amdgpu_buffer_rsrc_t rsrc = __builtin_amdgcn_make_buffer_rsrc(out, 0, bytes, BUFFER_WORD3);
    old[t] = (unsigned)__builtin_amdgcn_raw_ptr_buffer_atomic_add_i32((int)t + 1, rsrc, t * 4, 0, 0) + 7;
}

/* More bytes by value than a launch makes zeros for. */
struct large {
    unsigned words[1100];
};
KERNEL by_value(unsigned *out, struct large p) { out[0] = p.words[1099]; }
