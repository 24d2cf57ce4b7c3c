/* Kernels for test_exec.sh. */
#define KERNEL extern "C" __attribute__((global)) void
#define ID     (__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x())

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
KERNEL arguments(unsigned long long *out, int i, long long l, float f, double d, struct parameters p, const int *q,
                 int last) {
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
