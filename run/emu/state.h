/* What the parts of the emulator share: operands, instruction records, waves, workgroups. */
#ifndef TW_RUN_EMU_STATE_H
#define TW_RUN_EMU_STATE_H

#include <string.h>

#include "run/emu/emu.h"
#include "run/emu/memory.h"
#include "support/arena.h"
#include "support/fail.h"

/* Vector code works on blocks of 32 lanes: a wave64 has two. */
#define EMU_LANES 32u
/* Of a workgroup: 1024 work-items. */
#define EMU_MAX_WAVES 32u

/* Numbers of scalar registers in emu_wave.s. Names with a second word are pairs. */
enum {
    EMU_S_VCC = 106,
    EMU_S_TTMP = 108, /* ttmp0..ttmp15 */
    EMU_S_M0 = 124,
    EMU_S_EXEC = 126,
    EMU_S_FLAT_SCRATCH = 128,
    EMU_S_XNACK_MASK = 130,
    EMU_S_NULL = 132, /* writes land here and nobody reads them: room for the widest load */
    EMU_S_COUNT = 164
};

/* The type of an operand: how many registers, what a literal or an inline constant means, which modifiers
 * exist, and which denormal mode it obeys. */
typedef enum emu_type {
    T_NONE = 0,
    T_B16,  /* 16 bits: integers and bit patterns */
    T_F16,  /* half */
    T_BF16, /* bfloat16 */
    T_B32,
    T_F32,
    T_P16,   /* two 16-bit integers */
    T_PF16,  /* two halves */
    T_PBF16, /* two bfloat16 */
    T_B64,
    T_F64,
    T_PF32, /* two floats in a register pair */
    T_P32,  /* two 32-bit integers in a register pair */
    T_B96,
    T_B128,
    T_MASK, /* a lane mask: an SGPR, or a pair in wave64 */
    T_MIX,  /* v_fma_mix: an f32, or a half that op_sel picks */
    T_MIXB, /* the same with bfloat16 */
    T_COUNT
} emu_type;

typedef enum emu_operand_kind {
    EMU_OPERAND_NONE = 0,
    EMU_OPERAND_VGPR,
    EMU_OPERAND_SGPR,
    EMU_OPERAND_CONST,
    EMU_OPERAND_SCC,
    EMU_OPERAND_VCCZ,
    EMU_OPERAND_EXECZ
} emu_operand_kind;

enum {
    EMU_NEG = 1,      /* of packed types: of the low half */
    EMU_ABS = 2,      /* of packed types unused */
    EMU_NEG_HI = 4,   /* packed: of the high half */
    EMU_HALF = 8,     /* op_sel: the (low) result takes the high half of the register */
    EMU_HALF_HI = 16, /* packed: the high result takes the low half; of T_MIX: the source is 16 bits */
    EMU_SEXT = 32     /* SDWA: the selected part is sign extended */
};

/* SDWA selections, and byte_sel of the fp8 conversions. */
typedef enum emu_sel {
    EMU_SEL_DWORD = 0,
    EMU_SEL_BYTE_0,
    EMU_SEL_BYTE_1,
    EMU_SEL_BYTE_2,
    EMU_SEL_BYTE_3,
    EMU_SEL_WORD_0,
    EMU_SEL_WORD_1
} emu_sel;

typedef struct emu_operand {
    uint8_t kind; /* emu_operand_kind */
    uint8_t type; /* emu_type */
    uint8_t words;
    uint8_t mods; /* EMU_NEG... */
    uint8_t sel;  /* emu_sel */
    uint8_t slot; /* which VGPR offset of the wave applies: 0..2 sources, 3 destination */
    uint16_t reg;
    uint32_t bits[2];      /* of a constant */
    const uint32_t *lanes; /* the constant for 32 lanes, words one behind the other */
} emu_operand;

typedef struct emu_inst emu_inst;
typedef struct emu_row emu_row;
typedef struct emu_group emu_group;
typedef struct emu_launch_state emu_launch_state;

typedef void (*emu_exec_fn)(tw_emu_wave *w, const emu_inst *i);
/* One block of 32 lanes: `d` and the sources point at the first word; word n lies 32 * n further. `m` is the
 * lane mask operand, or the wave's mode bits where the row has none. What it returns: for compares and
 * carries a lane mask; for float arithmetic, lanes whose result is a NaN. `d` may be one of the sources. */
typedef uint32_t (*emu_lane_fn)(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                                uint32_t m);
/* A scalar operation: sources in, result out, SCC in and out. */
typedef uint64_t (*emu_scalar_fn)(uint64_t a, uint64_t b, uint64_t c, unsigned *scc);

/* Instruction classes. */
typedef enum emu_class {
    EMU_CLASS_VALU = 0,
    EMU_CLASS_SALU,
    EMU_CLASS_VMEM,
    EMU_CLASS_SMEM,
    EMU_CLASS_LDS,
    EMU_CLASS_MATRIX,
    EMU_CLASS_BRANCH,
    EMU_CLASS_WAIT,
    EMU_CLASS_OTHER,
    EMU_CLASS_COUNT
} emu_class;

enum {
    EMU_I_MODS = 1,      /* sources need more than a pointer: modifiers, DPP, SDWA, halves */
    EMU_I_RESULT = 2,    /* the result needs more than a store: clamp, omod, half or byte of a register */
    EMU_I_CARRY_OUT = 4, /* d2 is a lane mask */
    EMU_I_READS_DST = 8, /* the old value of d is source `c` */
    EMU_I_DPP = 16,
    EMU_I_BOUND_CTRL = 32, /* DPP: lanes without a source read 0 instead of being off */
    EMU_I_FETCH_INACTIVE = 64,
    EMU_I_CLAMP = 128,
    EMU_I_KEEP_HALF = 256, /* a 16-bit result leaves the other half of the register alone */
    EMU_I_HIGH_HALF = 512, /* a 16-bit result goes to the high half */
    EMU_I_RETURN = 1024,   /* an atomic that gives the old value */
    EMU_I_OFFEN = 2048,
    EMU_I_IDXEN = 4096,
    EMU_I_LDS = 8192,
    EMU_I_SCALE = 16384,   /* scale_offset */
    EMU_I_TO_EXEC = 32768, /* v_cmpx */
    EMU_I_ALIASED = 65536, /* the result overwrites a source */
    EMU_I_POLLS = 1 << 18, /* a load of a loop that waits for another wave (poll.c) */
    EMU_I_SCOPED = 1 << 17 /* meets other workgroups: a cache policy of at least the device's scope */
};

struct emu_inst {
    emu_exec_fn exec;
    union {
        emu_lane_fn lane;
        emu_scalar_fn scalar;
        const void *any;
    } fn;
    const emu_inst *target; /* of a branch; of a link record: where the code goes on */
    const emu_inst *dual;   /* VOPD: the second half */
    uint32_t flags;
    uint8_t cls;
    uint8_t sources;
    uint8_t omod;       /* 0, 1: *2, 2: *4, 3: /2 */
    uint8_t dst_sel;    /* emu_sel */
    uint8_t dst_unused; /* SDWA: 0 pad with zeros, 1 sign extend, 2 preserve */
    uint8_t row_mask, bank_mask;
    uint8_t size;     /* bytes of the encoding */
    int16_t mask_reg; /* the lane mask: an SGPR; -1: mode bits, -2: imm, -3: imm2 by halves */
    emu_operand d, d2, s[4];
    const uint8_t *dpp; /* 64 lane numbers: where source 0 comes from; 255: nowhere */
    int64_t imm;        /* offset, branch distance, immediate */
    int64_t imm2;
    const emu_row *row;
    const char *text;
    uint64_t pc;
};

/* One row of an instruction table (the .def files). */
struct emu_row {
    const char *name;
    uint8_t bind;   /* emu_bind: how operands stand in the text */
    uint8_t cls;    /* emu_class */
    uint8_t dst;    /* emu_type */
    uint8_t src[3]; /* emu_type */
    uint16_t lane;  /* number of the lane function */
    uint16_t arg;   /* what the handler wants to know */
    uint32_t flags; /* EMU_ROW_* */
    emu_exec_fn exec;
    emu_scalar_fn scalar;
};

enum {
    EMU_ROW_MODES = 1,      /* denormal and rounding modes of the types apply */
    EMU_ROW_FLOAT = 2,      /* and the NaN rule: a NaN source comes out quiet, an invalid operation is +NaN */
    EMU_ROW_FLUSH = 4,      /* f32 denormals are zero whatever the mode */
    EMU_ROW_READS_DST = 8,  /* the destination is also the last source */
    EMU_ROW_VCC_IN = 16,    /* vcc is the mask, without standing in the text */
    EMU_ROW_KEEP_HALF = 32, /* 16-bit result: the other half stays, on every target */
    EMU_ROW_HIGH_HALF = 64, /* 16-bit result: goes to the high half */
    EMU_ROW_IMM_MASK = 128, /* the immediate is the mask */
    EMU_ROW_SIGNS = 256,    /* neg_lo of sources 0 and 1 says that they are signed, and is the mask */
    EMU_ROW_MASK_OUT = 512, /* a lane mask is the second result */
    EMU_ROW_READS_SCC = 1024,
    EMU_ROW_WRITES_SCC = 2048,
    EMU_ROW_K16 = 4096,  /* the last source is a signed 16-bit immediate */
    EMU_ROW_KU16 = 8192, /* ... an unsigned one */
    EMU_ROW_SIGNED = 1 << 14,
    EMU_ROW_STORE = 1 << 15,
    EMU_ROW_D16_LO = 1 << 16,
    EMU_ROW_D16_HI = 1 << 17,
    EMU_ROW_CLUSTER = 1 << 21,    /* a load for all workgroups of a cluster */
    EMU_ROW_DMA = 1 << 22,        /* LDS addresses from M0 on */
    EMU_ROW_TRANSPOSED = 1 << 23, /* lanes exchange what they loaded; `lane` says how */
    EMU_ROW_FP8 = 1 << 24,        /* byte_sel picks a byte, "clamp" is no range */
    EMU_ROW_BYTE_OUT = 1 << 25,   /* the result is a byte of its register */
    EMU_ROW_TID = 1 << 26,        /* lanes lie side by side, from a scalar address on */
    EMU_ROW_BLOCK = 1 << 27,      /* M0 says which of 32 registers */
    EMU_ROW_QUOTIENT = 1 << 28,   /* denormals of the first source count, whatever the mode */
    EMU_ROW_STEP = 1 << 29,       /* ... of all sources */
    EMU_ROW_PRODUCT = 1 << 30,    /* a product, or one and a sum, that may be tiny before it is a denormal */
    EMU_ROW_ORDERED = 1 << 18     /* an atomic whose outcome depends on the order of workgroups */
};

typedef enum emu_wave_state {
    EMU_WAVE_READY = 0,
    EMU_WAVE_BARRIER, /* waits for the workgroup */
    EMU_WAVE_DONE,
    EMU_WAVE_FAILED
} emu_wave_state;

/* Bits of emu_wave.mode as the lane functions get them. */
enum {
    EMU_MODE_IEEE = 1,
    EMU_MODE_DX10_CLAMP = 2,
    EMU_MODE_FP16_OVFL = 4,
    EMU_MODE_FNUZ = 8 /* fp8 */,
    EMU_MODE_RDNA4 = 16 /* of fp8: one NaN; infinities stay */
};

/* Bits of a denormal mode: denormals count as sources, as results. */
enum { EMU_DENORM_IN = 1, EMU_DENORM_OUT = 2 };

struct tw_emu_wave {
    const emu_inst *pc; /* the next instruction */
    uint32_t *v[2];     /* VGPRs (behind them AGPRs) of lanes 0..31 and 32..63, 32 words a register */
    uint32_t *u[2];     /* which of their bits are unknown */
    uint8_t *vflag;     /* per VGPR: 0 all bits known, EMU_VFLAG_... */
    uint32_t msb[5];    /* words added to a VGPR's place, by operand slot; the last one stays 0 */
    uint32_t s[EMU_S_COUNT];
    uint32_t su[EMU_S_COUNT]; /* unknown bits */
    unsigned scc, scc_unknown;
    uint32_t lane_mode; /* EMU_MODE_* */
    uint32_t mode;      /* the MODE register */
    bool slow_float;    /* a mode that lane functions do not have built in */
    uint8_t halves;     /* 1 or 2 */
    uint8_t state;      /* emu_wave_state */
    bool shadow;        /* unknown bits are tracked */
    bool gpr_index_on;
    uint16_t index; /* in the workgroup */
    uint32_t vgprs; /* allocated, AGPRs apart */
    uint64_t executed, budget;
    uint64_t lanes_exist; /* the work-items that the workgroup has in this wave */
    uint64_t counts[EMU_CLASS_COUNT];
    emu_group *group;
    emu_launch_state *launch;
    const emu_inst *current;
    emu_buffer *last_buffer;                /* where the last global access went */
    uint64_t scratch_offset;                /* of this wave in the scratch buffer */
    uint32_t time, clock[EMU_MAX_WAVES];    /* lds_race.c */
    bool barrier_signalled, barrier_passed; /* a split barrier: signal sent; all signals there */
    bool named_passed;                      /* the named barrier that the wave joined is complete */
    uint8_t joined;                         /* a named barrier; 0: none */
    int8_t waits_for;                       /* the number of the barrier that it waits for */
    uint32_t cluster_phase;                 /* how often it has passed the barrier of the cluster */
    bool yield;                             /* let the other waves run */
    const void *storing; /* the bytes that a lane's plain store is about to write; NULL: not at hand */
};

enum { EMU_VFLAG_KNOWN = 0, EMU_VFLAG_UNKNOWN = 1, EMU_VFLAG_MISSING = 2 };

/* AGPRs follow the VGPRs in one file. */
#define EMU_AGPR_BASE 256u

/* What memory that nobody wrote reads as: a NaN in every float format. */
/* Flat addresses in these 4 GiB are LDS and scratch. */
#define EMU_SHARED_APERTURE          0x0001000000000000ull
#define EMU_PRIVATE_APERTURE         0x0002000000000000ull
#define EMU_PRIVATE_APERTURE_GFX1250 (1ull << 58)

#define EMU_POISON 0x7fc17fc1u

static inline uint64_t emu_exec_mask(const tw_emu_wave *w) {
    return w->s[EMU_S_EXEC] | (uint64_t)w->s[EMU_S_EXEC + 1] << 32;
}

#endif
