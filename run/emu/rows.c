/* The .def files as one table, and the look-up by name. */
#include "run/emu/rows.h"

#include <stdlib.h>

#include "run/emu/copy.h"
#include "run/emu/matrix.h"
#include "run/emu/scaled.h"
#include "run/emu/transposed.h"

enum {
    FL = EMU_ROW_FLOAT | EMU_ROW_MODES,
    FM = EMU_ROW_MODES,
    TR = EMU_ROW_FLUSH,
    RD = EMU_ROW_READS_DST,
    VCC = EMU_ROW_VCC_IN,
    KEEP = EMU_ROW_KEEP_HALF,
    HI = EMU_ROW_HIGH_HALF,
    IMM = EMU_ROW_IMM_MASK,
    SGN = EMU_ROW_SIGNS,
    F8 = EMU_ROW_FP8,
    BYTE = EMU_ROW_FP8 | EMU_ROW_BYTE_OUT,
    QUO = EMU_ROW_QUOTIENT,
    STEP = EMU_ROW_STEP,
    PROD = EMU_ROW_PRODUCT,
    SI = EMU_ROW_READS_SCC,
    K16 = EMU_ROW_K16,
    KU = EMU_ROW_KU16,
    /* of memory rows */
    SG = EMU_ROW_SIGNED,
    LO = EMU_ROW_D16_LO,
    ORD = EMU_ROW_ORDERED,
    ST = EMU_ROW_STORE,
    CL = EMU_ROW_CLUSTER,
    DMA = EMU_ROW_DMA,
    TID = EMU_ROW_TID,
    RTN = 1 << 19,
    BUF = 1 << 20,
    SCR = 1 << 28
};
enum { T__ = T_NONE };

/* ---- scalar functions ---- */

#include "run/emu/lane_math.h"

#define GET__(x)   0
#define GET_B32(x) ((uint32_t)(x))
#define GET_B64(x) ((uint64_t)(x))
#define GET_F32(x) as_f32((uint32_t)(x))
#define GET_F16(x) half_to_f32((uint32_t)(x)&0xffffu)
#define PUT__(e)   (uint64_t)(e)
#define PUT_B32(e) (uint64_t)(e)
#define PUT_B64(e) (uint64_t)(e)
#define PUT_F32(e) f32_bits(fixed_nan((float)(e), (float)A, (float)B, (float)C))
#define PUT_F16(e) scalar_half(fixed_nan((float)(e), (float)A, (float)B, (float)C))

/* The first NaN source made quiet, or the NaN of an invalid operation. */
LM float fixed_nan(float r, float a, float b, float c) {
    if (r == r) return r;
    return a != a ? quiet(a) : b != b ? quiet(b) : c != c ? quiet(c) : as_f32(0x7fc00000u);
}

LM uint64_t scalar_half(float f) {
    int direction = fegetround();
    return direction == FE_TONEAREST ? f32_to_half_nearest(f) : f32_to_half_directed(f, direction);
}

#define SCALAR_FUNCTION(name, dst, A_, B_, C_, E, K)                                   \
    static uint64_t scalar_##name(uint64_t a, uint64_t b, uint64_t c, unsigned *scc) { \
        (void)a, (void)b, (void)c;                                                     \
        const unsigned IN = *scc;                                                      \
        const __auto_type A = GET_##A_(a);                                             \
        const __auto_type B = GET_##B_(b);                                             \
        const __auto_type C = GET_##C_(c);                                             \
        (void)IN, (void)A, (void)B, (void)C;                                           \
        const uint64_t R = PUT_##dst(E);                                               \
        *scc = (K) != 0;                                                               \
        return R;                                                                      \
    }
#define S(name, dst, A_, B_, C_, flags, E)     SCALAR_FUNCTION(name, dst, A_, B_, C_, E, IN)
#define SC(name, dst, A_, B_, C_, flags, E, K) SCALAR_FUNCTION(name, dst, A_, B_, C_, E, K)
#define SX(name, type, E)                      SCALAR_FUNCTION(name, type, type, type, _, E, R != 0)
#define SW(name, type, E)                      SCALAR_FUNCTION(name, type, type, type, _, E, R != 0)
#include "run/emu/sop.def"
#undef S
#undef SC
#undef SX
#undef SW

/* ---- the rows ---- */

#define ALIAS(N_, canonical)
#define V(N_, dst_, A_, B_, C_, flags_, E) \
    {.name = #N_,                          \
     .bind = EMU_BIND_VECTOR,              \
     .cls = EMU_CLASS_VALU,                \
     .dst = T_##dst_,                      \
     .src = {T_##A_, T_##B_, T_##C_},      \
     .lane = EMU_LANE_##N_,                \
     .flags = flags_},
#define R2(N_, dst_, A_, B_, C_, flags_, E, K) \
    {.name = #N_,                              \
     .bind = EMU_BIND_VECTOR,                  \
     .cls = EMU_CLASS_VALU,                    \
     .dst = T_##dst_,                          \
     .src = {T_##A_, T_##B_, T_##C_},          \
     .lane = EMU_LANE_##N_,                    \
     .flags = (flags_) | EMU_ROW_MASK_OUT},
#define CMP(N_, A_, B_, E)     \
    {.name = #N_,              \
     .bind = EMU_BIND_COMPARE, \
     .cls = EMU_CLASS_VALU,    \
     .dst = T_MASK,            \
     .src = {T_##A_, T_##B_},  \
     .lane = EMU_LANE_##N_,    \
     .flags = FM},
#define CLAMPED(N_, dst, A_, B_, C_, E)
#define S(N_, dst_, A_, B_, C_, flags_, E) \
    {.name = #N_,                          \
     .bind = EMU_BIND_SCALAR,              \
     .cls = EMU_CLASS_SALU,                \
     .dst = T_##dst_,                      \
     .src = {T_##A_, T_##B_, T_##C_},      \
     .flags = flags_,                      \
     .exec = tw_emu_exec_scalar,           \
     .scalar = scalar_##N_},
#define SC(N_, dst_, A_, B_, C_, flags_, E, K) \
    {.name = #N_,                              \
     .bind = EMU_BIND_SCALAR,                  \
     .cls = EMU_CLASS_SALU,                    \
     .dst = T_##dst_,                          \
     .src = {T_##A_, T_##B_, T_##C_},          \
     .flags = (flags_) | EMU_ROW_WRITES_SCC,   \
     .exec = tw_emu_exec_scalar,               \
     .scalar = scalar_##N_},
#define SX(N_, type, E)            \
    {.name = #N_,                  \
     .bind = EMU_BIND_SCALAR,      \
     .cls = EMU_CLASS_SALU,        \
     .dst = T_##type,              \
     .src = {T_##type},            \
     .exec = tw_emu_exec_saveexec, \
     .scalar = scalar_##N_},
#define SW(N_, type, E)          \
    {.name = #N_,                \
     .bind = EMU_BIND_SCALAR,    \
     .cls = EMU_CLASS_SALU,      \
     .dst = T_##type,            \
     .src = {T_##type},          \
     .exec = tw_emu_exec_wrexec, \
     .scalar = scalar_##N_},
#define MEM(N_, space, kind, bytes, flags_)                                             \
    {.name = #N_,                                                                       \
     .bind = EMU_SPACE_##space == EMU_SPACE_BUFFER ? EMU_BIND_BUFFER : EMU_BIND_GLOBAL, \
     .cls = EMU_CLASS_VMEM,                                                             \
     .flags = HALF_##kind(flags_),                                                      \
     .arg = EMU_MEM_ARG(EMU_SPACE_##space, EMU_ACCESS_##kind, bytes),                   \
     .exec = EXEC_##kind},
/* HI of a memory row is the half of the data register. */
#define HALF_LOAD(f)  (((f) & ~HI) | ((f)&HI ? EMU_ROW_D16_HI : 0))
#define HALF_STORE(f) (HALF_LOAD(f) | EMU_ROW_STORE)
#define EXEC_LOAD     tw_emu_exec_vmem_load
#define EXEC_STORE    tw_emu_exec_vmem_store
#define ATOM(N_, space, operation, bytes, flags_)                                       \
    {.name = #N_,                                                                       \
     .bind = EMU_SPACE_##space == EMU_SPACE_BUFFER ? EMU_BIND_BUFFER : EMU_BIND_GLOBAL, \
     .cls = EMU_CLASS_VMEM,                                                             \
     .flags = flags_,                                                                   \
     .arg = EMU_MEM_ARG(EMU_SPACE_##space, EMU_ATOMIC_##operation, bytes),              \
     .exec = tw_emu_exec_vmem_atomic},
#define DS(N_, kind, bytes, flags_)                   \
    {.name = #N_,                                     \
     .bind = EMU_BIND_LDS,                            \
     .cls = EMU_CLASS_LDS,                            \
     .flags = HALF_LOAD(flags_) | STORES_##kind,      \
     .arg = EMU_MEM_ARG(0, EMU_ACCESS_##kind, bytes), \
     .exec = STORES_##kind ? tw_emu_exec_lds_store : tw_emu_exec_lds_load},
#define STORES_LOAD       0
#define STORES_LOAD2      0
#define STORES_LOAD2ST64  0
#define STORES_STORE      EMU_ROW_STORE
#define STORES_STORE2     EMU_ROW_STORE
#define STORES_STORE2ST64 EMU_ROW_STORE
#define ADDTID(N_, kind)                                         \
    {.name = #N_,                                                \
     .bind = EMU_BIND_GLOBAL,                                    \
     .cls = EMU_CLASS_VMEM,                                      \
     .flags = TID | STORES_##kind,                               \
     .arg = EMU_MEM_ARG(EMU_SPACE_GLOBAL, EMU_ACCESS_##kind, 4), \
     .exec = EXEC_##kind},
#define BLOCK(N_, space, kind)                                    \
    {.name = #N_,                                                 \
     .bind = EMU_BIND_GLOBAL,                                     \
     .cls = EMU_CLASS_VMEM,                                       \
     .flags = EMU_ROW_BLOCK | STORES_##kind,                      \
     .arg = EMU_MEM_ARG(EMU_SPACE_##space, EMU_ACCESS_##kind, 4), \
     .exec = tw_emu_exec_vmem_block},
#define CLUSTER(N_, bytes)                                         \
    {.name = #N_,                                                  \
     .bind = EMU_BIND_GLOBAL,                                      \
     .cls = EMU_CLASS_VMEM,                                        \
     .flags = CL,                                                  \
     .arg = EMU_MEM_ARG(EMU_SPACE_GLOBAL, EMU_ACCESS_LOAD, bytes), \
     .exec = tw_emu_exec_cluster_load},
#define DSX(N_, kind, bytes, handler)                 \
    {.name = #N_,                                     \
     .bind = EMU_BIND_LDS,                            \
     .cls = EMU_CLASS_LDS,                            \
     .dst = T_B64,                                    \
     .arg = EMU_MEM_ARG(0, EMU_ACCESS_##kind, bytes), \
     .exec = tw_emu_exec_lds_##handler},
#define DSA(N_, operation, bytes, flags_)                           \
    {.name = #N_,                                                   \
     .bind = EMU_BIND_LDS,                                          \
     .cls = EMU_CLASS_LDS,                                          \
     .flags = (flags_) & ~RTN,                                      \
     .dst = (flags_)&RTN ? ((bytes) == 8 ? T_B64 : T_B32) : T_NONE, \
     .arg = EMU_MEM_ARG(1, EMU_ATOMIC_##operation, bytes),          \
     .exec = tw_emu_exec_lds_atomic},
#define SPECIAL(N_, class, handler, arg_, dst_, A_, B_, C_, flags_) \
    {.name = #N_,                                                   \
     .bind = EMU_BIND_SPECIAL,                                      \
     .cls = EMU_CLASS_##class,                                      \
     .dst = T_##dst_,                                               \
     .src = {T_##A_, T_##B_, T_##C_},                               \
     .flags = flags_,                                               \
     .arg = arg_,                                                   \
     .exec = tw_emu_exec_##handler},
#define SMEM(N_, bytes, flags_)                                                        \
    {.name = #N_,                                                                      \
     .bind = EMU_BIND_SMEM,                                                            \
     .cls = EMU_CLASS_SMEM,                                                            \
     .flags = (flags_) & ~BUF,                                                         \
     .arg = EMU_MEM_ARG((flags_)&BUF ? EMU_SPACE_BUFFER : EMU_SPACE_GLOBAL, 0, bytes), \
     .exec = tw_emu_exec_smem},
#define SSTORE(N_, bytes, flags_)                                                      \
    {.name = #N_,                                                                      \
     .bind = EMU_BIND_SMEM,                                                            \
     .cls = EMU_CLASS_SMEM,                                                            \
     .flags = EMU_ROW_STORE,                                                           \
     .arg = EMU_MEM_ARG((flags_)&BUF ? EMU_SPACE_BUFFER : EMU_SPACE_GLOBAL, 0, bytes), \
     .exec = tw_emu_exec_smem_store},
#define SATOM(N_, space, operation, bytes)                                 \
    {.name = #N_,                                                          \
     .bind = EMU_BIND_SMEM,                                                \
     .cls = EMU_CLASS_SMEM,                                                \
     .flags = ORD,                                                         \
     .arg = EMU_MEM_ARG(EMU_SPACE_##space, EMU_ATOMIC_##operation, bytes), \
     .exec = tw_emu_exec_smem_atomic},
#define NOP(N_, class) \
    {.name = #N_, .bind = EMU_BIND_NONE, .cls = EMU_CLASS_##class, .exec = tw_emu_exec_nop},
#define BRANCH(N_, when)                                           \
    {.name = #N_,                                                  \
     .bind = EMU_BIND_BRANCH,                                      \
     .cls = EMU_CLASS_BRANCH,                                      \
     .arg = EMU_BRANCH_##when,                                     \
     .dst = EMU_BRANCH_##when == EMU_BRANCH_CALL ? T_B64 : T_NONE, \
     .exec = tw_emu_exec_branch},

#define COPY(N_, bytes, flags_)                                                         \
    {.name = #N_,                                                                       \
     .bind = EMU_BIND_COPY,                                                             \
     .cls = EMU_CLASS_VMEM,                                                             \
     .flags = (flags_) & ~SCR,                                                          \
     .arg = EMU_MEM_ARG((flags_)&SCR ? EMU_SPACE_SCRATCH : EMU_SPACE_GLOBAL, 0, bytes), \
     .exec = tw_emu_exec_copy},
#define TENSOR(N_, flags_)    \
    {.name = #N_,             \
     .bind = EMU_BIND_TENSOR, \
     .cls = EMU_CLASS_VMEM,   \
     .flags = flags_,         \
     .exec = tw_emu_exec_tensor},
#define WAIT(N_, counter)          \
    {.name = #N_,                  \
     .bind = EMU_BIND_WAIT,        \
     .cls = EMU_CLASS_WAIT,        \
     .arg = EMU_COUNTER_##counter, \
     .exec = tw_emu_exec_wait},
#define TRANSPOSED(N_, space, bytes, stem, alignment)              \
    {.name = #N_,                                                  \
     .bind = EMU_BIND_##space,                                     \
     .cls = CLASS_##space,                                         \
     .lane = EMU_TRANSPOSED_##N_,                                  \
     .flags = EMU_ROW_TRANSPOSED,                                  \
     .arg = EMU_MEM_ARG(EMU_SPACE_GLOBAL, EMU_ACCESS_LOAD, bytes), \
     .exec = CLASS_##space == EMU_CLASS_LDS ? tw_emu_exec_lds_load : tw_emu_exec_vmem_load},
#define CLASS_LDS    EMU_CLASS_LDS
#define CLASS_GLOBAL EMU_CLASS_VMEM
#define MATRIX(N_, atom, flags) \
    {.name = #N_,               \
     .bind = EMU_BIND_MATRIX,   \
     .cls = EMU_CLASS_MATRIX,   \
     .arg = EMU_MATRIX_##N_,    \
     .exec = tw_emu_exec_matrix},

#define SCALED(N_, elements, to, from, flags_) \
    {.name = #N_,                              \
     .bind = EMU_BIND_SCALED,                  \
     .cls = EMU_CLASS_VALU,                    \
     .lane = EMU_SCALED_##N_,                  \
     .exec = tw_emu_exec_scaled},

static const emu_row ROWS[] = {
#include "run/emu/copy.def"
#include "run/emu/ds.def"
#include "run/emu/matrix.def"
#include "run/emu/mem.def"
#include "run/emu/scaled.def"
#include "run/emu/sop.def"
#include "run/emu/special.def"
#include "run/emu/transposed.def"
#include "run/emu/vop.def"
#include "run/emu/vop16.def"
#include "run/emu/vop3p.def"
#include "run/emu/vop_fp8.def"
#include "run/emu/vopc.def"
};
#define ROW_COUNT (sizeof ROWS / sizeof ROWS[0])

#undef ALIAS
#undef V
#undef R2
#undef CMP
#undef CLAMPED
#undef S
#undef SC
#undef SX
#undef SW
#undef MEM
#undef ATOM
#undef DS
#undef DSA
#undef DSX
#undef ADDTID
#undef BLOCK
#undef CLUSTER
#undef SPECIAL
#undef SMEM
#undef SSTORE
#undef SATOM
#undef NOP
#undef BRANCH
#undef COPY
#undef TENSOR
#undef WAIT
#undef MATRIX
#undef TRANSPOSED
#undef SCALED

/* Integer rows that know "clamp". */
typedef struct clamped_row {
    uint16_t lane, clamped;
} clamped_row;
#define V(name, dst, A_, B_, C_, flags, E)
#define R2(name, dst, A_, B_, C_, flags, E, K)
#define CMP(name, A_, B_, E)
#define CLAMPED(name, dst, A_, B_, C_, E) {EMU_LANE_##name, EMU_LANE_##name##_clamped},
static const clamped_row CLAMPED_ROWS[] = {
#include "run/emu/vop.def"
#include "run/emu/vop16.def"
#include "run/emu/vop3p.def"
#include "run/emu/vop_fp8.def"
};
#undef V
#undef R2
#undef CMP
#undef CLAMPED

uint16_t tw_emu_clamped_lane(uint16_t lane) {
    for (size_t i = 0; i < sizeof CLAMPED_ROWS / sizeof CLAMPED_ROWS[0]; i++) {
        if (CLAMPED_ROWS[i].lane == lane) return CLAMPED_ROWS[i].clamped;
    }
    return EMU_LANE_NONE;
}

typedef struct alias_row {
    const char *name, *row;
} alias_row;
#define ALIAS(name, row) {#name, #row},
#define MEM(name, space, kind, bytes, flags)
#define ATOM(name, space, operation, bytes, flags)
#define DS(name, kind, bytes, flags)
#define DSA(name, operation, bytes, flags)
#define DSX(name, kind, bytes, handler)
#define ADDTID(name, kind)
#define BLOCK(name, space, kind)
#define CLUSTER(name, bytes)
#define SSTORE(name, bytes, flags)
#define SATOM(name, space, operation, bytes)
#define SPECIAL(name, class, handler, arg, dst, A_, B_, C_, flags)
#define SMEM(name, bytes, flags)
#define NOP(name, class)
#define BRANCH(name, when)
#define MATRIX(name, atom, flags)
static const alias_row ALIASES[] = {
#include "run/emu/alias.def"
#include "run/emu/ds.def"
#include "run/emu/matrix.def"
#include "run/emu/mem.def"
#include "run/emu/special.def"
};

/* ---- look-up ---- */

#define TABLE_SIZE 8192u /* a power of two, several times the number of names */

typedef struct table_entry {
    const char *name;
    const emu_row *row;
} table_entry;

struct emu_table {
    table_entry entry[TABLE_SIZE];
};

static uint32_t hash(const char *name) {
    uint32_t h = 2166136261u;
    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * 16777619u;
    return h ^ h >> 15;
}

static table_entry *slot(emu_table *table, const char *name) {
    uint32_t at = hash(name) % TABLE_SIZE;
    while (table->entry[at].name && strcmp(table->entry[at].name, name))
        at = (at + 1) % TABLE_SIZE;
    return &table->entry[at];
}

emu_table *tw_emu_table_new(void) {
    _Static_assert(ROW_COUNT + sizeof ALIASES / sizeof ALIASES[0] < TABLE_SIZE / 2,
                   "the table needs more room");
    emu_table *table = calloc(1, sizeof *table);
    if (!table) return NULL;
    for (size_t i = 0; i < ROW_COUNT; i++)
        *slot(table, ROWS[i].name) = (table_entry){ROWS[i].name, &ROWS[i]};
    for (size_t i = 0; i < sizeof ALIASES / sizeof ALIASES[0]; i++) {
        const emu_row *row = slot(table, ALIASES[i].row)->row;
        *slot(table, ALIASES[i].name) = (table_entry){ALIASES[i].name, row};
    }
    return table;
}

void tw_emu_table_free(emu_table *table) { free(table); }

const emu_row *tw_emu_table_find(const emu_table *table, const char *mnemonic) {
    uint32_t at = hash(mnemonic) % TABLE_SIZE;
    for (; table->entry[at].name; at = (at + 1) % TABLE_SIZE) {
        if (!strcmp(table->entry[at].name, mnemonic)) return table->entry[at].row;
    }
    return NULL;
}

size_t tw_emu_row_count(void) { return ROW_COUNT; }
const emu_row *tw_emu_row_at(size_t index) { return index < ROW_COUNT ? &ROWS[index] : NULL; }
