/* The handlers that instruction records point at, and what they share. */
#ifndef TW_RUN_EMU_EXEC_H
#define TW_RUN_EMU_EXEC_H

#include "run/emu/rows.h"
#include "run/emu/schedule.h"

typedef enum emu_space {
    EMU_SPACE_GLOBAL = 0,
    EMU_SPACE_FLAT,
    EMU_SPACE_SCRATCH,
    EMU_SPACE_BUFFER
} emu_space;

typedef enum emu_access {
    EMU_ACCESS_LOAD = 0,
    EMU_ACCESS_STORE,
    EMU_ACCESS_LOAD2,
    EMU_ACCESS_STORE2,
    EMU_ACCESS_LOAD2ST64,
    EMU_ACCESS_STORE2ST64
} emu_access;

typedef enum emu_atomic {
    EMU_ATOMIC_SWAP = 0,
    EMU_ATOMIC_CMPSWAP, /* data is the pair (new, compare) */
    EMU_ATOMIC_CMPSWAP_F32,
    EMU_ATOMIC_CMPSTORE, /* two operands: new, compare */
    EMU_ATOMIC_CMPSTORE_F32,
    EMU_ATOMIC_CMPSTORE_F64,
    EMU_ATOMIC_CMPST, /* two operands: compare, new */
    EMU_ATOMIC_CMPST_F32,
    EMU_ATOMIC_CMPST_F64,
    EMU_ATOMIC_MSKOR, /* two operands: mask, new bits */
    EMU_ATOMIC_WRAP,  /* two operands */
    EMU_ATOMIC_ADD,
    EMU_ATOMIC_SUB,
    EMU_ATOMIC_RSUB,
    EMU_ATOMIC_SMIN,
    EMU_ATOMIC_UMIN,
    EMU_ATOMIC_SMAX,
    EMU_ATOMIC_UMAX,
    EMU_ATOMIC_AND,
    EMU_ATOMIC_OR,
    EMU_ATOMIC_XOR,
    EMU_ATOMIC_INC,
    EMU_ATOMIC_DEC,
    EMU_ATOMIC_SUB_CLAMP,
    EMU_ATOMIC_COND_SUB,
    EMU_ATOMIC_ADD_F32,
    EMU_ATOMIC_ADD_F64,
    EMU_ATOMIC_MIN_F32,
    EMU_ATOMIC_MAX_F32,
    EMU_ATOMIC_MIN_F64,
    EMU_ATOMIC_MAX_F64,
    EMU_ATOMIC_PK_ADD_F16,
    EMU_ATOMIC_PK_ADD_BF16,
    EMU_ATOMIC_ARRIVE /* at a barrier in LDS */
} emu_atomic;

/* emu_row.arg of memory rows. */
#define EMU_MEM_ARG(space, what, bytes) ((uint16_t)((space) | (what) << 2 | (bytes) << 8))
static inline emu_space emu_mem_space(const emu_row *row) { return (emu_space)(row->arg & 3); }
static inline unsigned emu_mem_what(const emu_row *row) { return row->arg >> 2 & 63; }
static inline unsigned emu_mem_bytes(const emu_row *row) { return row->arg >> 8; }

/* Whether the data of an atomic is a pair of values. */
static inline bool emu_atomic_is_pair(unsigned operation) {
    return operation == EMU_ATOMIC_CMPSWAP || operation == EMU_ATOMIC_CMPSWAP_F32;
}

/* What waves say to the rest of the machine. */
typedef enum emu_message {
    EMU_MESSAGE_OTHER = 0,
    EMU_MESSAGE_DEALLOC_VGPRS,
    EMU_MESSAGE_GET_REALTIME
} emu_message;

typedef enum emu_branch {
    EMU_BRANCH_ALWAYS = 0,
    EMU_BRANCH_SCC0,
    EMU_BRANCH_SCC1,
    EMU_BRANCH_VCCZ,
    EMU_BRANCH_VCCNZ,
    EMU_BRANCH_EXECZ,
    EMU_BRANCH_EXECNZ,
    EMU_BRANCH_CALL
} emu_branch;

/* Where a lane of a group of lanes takes a value from. */
enum { EMU_GROUP_BCAST = 0, EMU_GROUP_UP, EMU_GROUP_DOWN, EMU_GROUP_XOR };
/* Which register number of a relative move M0 adds to; of a pair, bits 9:0 to the source, 25:16 to the
 * result. */
enum { EMU_RELATIVE_SOURCE = 1, EMU_RELATIVE_RESULT = 2, EMU_RELATIVE_BOTH = 3, EMU_RELATIVE_PAIR = 4 };
/* What an s_set_gpr_idx_* does. */
enum { EMU_INDEX_OFF = 0, EMU_INDEX_ON, EMU_INDEX_MODE, EMU_INDEX_INDEX };

/* Vector units: valu.c, cross.c */
void tw_emu_exec_vector(tw_emu_wave *w, const emu_inst *i);      /* plain operands */
void tw_emu_exec_vector_full(tw_emu_wave *w, const emu_inst *i); /* modifiers, DPP, SDWA, halves, carries */
void tw_emu_exec_compare(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_dual(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_readfirstlane(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_readlane(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_writelane(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_mbcnt(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_permlane16(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_permlane16_var(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_permlane_group(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_permlane64(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_permlane_swap(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_swap(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_swaprel(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_swap_half(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_mqsad(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_swizzle(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_permute(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_bpermute(tw_emu_wave *w, const emu_inst *i);

/* Registers that are named by a number in M0: relative.c */
void tw_emu_exec_movrel(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_scalar_movrel(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_gpr_index(tw_emu_wave *w, const emu_inst *i);

/* Conversions with a scale: scaled.c */
void tw_emu_exec_scaled(tw_emu_wave *w, const emu_inst *i);

/* Matrix units: matrix.c */
void tw_emu_exec_matrix(tw_emu_wave *w, const emu_inst *i);

/* Scalar unit and control: salu.c, control.c */
void tw_emu_exec_scalar(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_saveexec(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_wrexec(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_branch(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_nop(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_endpgm(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_getpc(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_add_pc(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_setpc(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_barrier(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_barrier_signal(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_barrier_wait(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_barrier_init(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_barrier_join(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_barrier_state(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_barrier_wakeup(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_acquire(tw_emu_wave *w, const emu_inst *i); /* global_race.c */
void tw_emu_exec_sleep(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_sendmsg(tw_emu_wave *w, const emu_inst *i); /* imm: emu_message */
void tw_emu_exec_trap(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_getreg(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_setreg(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_mode_bits(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_vgpr_msb(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_clock(tw_emu_wave *w, const emu_inst *i);
/* Records that are no instruction: code that goes on elsewhere, the end of code, what nobody knows. */
void tw_emu_exec_link(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_unknown(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_undecodable(tw_emu_wave *w, const emu_inst *i);

/* Copies between memory and LDS: copy.c, copy_lanes.c, tensor.c */
void tw_emu_exec_copy(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_tensor(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_wait(tw_emu_wave *w, const emu_inst *i); /* imm: operations that may go on, imm2: counter */
void tw_emu_exec_wait_all(tw_emu_wave *w, const emu_inst *i);

/* Memory: vmem.c, vmem_block.c, lds.c, lds_exchange.c, smem.c */
void tw_emu_exec_smem(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_smem_store(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_smem_atomic(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_vmem_load(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_vmem_store(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_vmem_atomic(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_vmem_block(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_cluster_load(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_lds_load(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_lds_store(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_lds_count(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_lds_atomic(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_lds_exchange(tw_emu_wave *w, const emu_inst *i);
void tw_emu_exec_lds_condxchg(tw_emu_wave *w, const emu_inst *i);

/* ---- helpers ---- */

/* The new value of an atomic on `bytes` bytes; `other` is the second operand of those that have one. */
uint64_t tw_emu_atomic_result(unsigned operation, unsigned bytes, uint64_t old, uint64_t data,
                              uint64_t other);

/* Does one to host memory, at once for all threads; the old value. */
uint64_t tw_emu_atomic_host(uint8_t *at, unsigned operation, unsigned bytes, uint64_t data, uint64_t other);

/* A scalar operand: up to 64 bits, and which of them are unknown. */
uint64_t tw_emu_scalar_read(const tw_emu_wave *w, const emu_operand *o, uint64_t *unknown);
void tw_emu_scalar_write(tw_emu_wave *w, const emu_operand *o, uint64_t value, uint64_t unknown);
/* EXEC with what hangs on it. Unknown bits are reported. */
void tw_emu_write_exec(tw_emu_wave *w, uint64_t value, uint64_t unknown);
/* Takes over MODE: host rounding, flags for the lane functions. */
void tw_emu_mode_changed(tw_emu_wave *w);

/* A vector operand of one block of 32 lanes, modifiers and DPP applied. `unknown` picks the shadow file.
 * `tmp` has room for the operand's words. */
const uint32_t *tw_emu_vector_source(tw_emu_wave *w, const emu_inst *i, const emu_operand *o, unsigned half,
                                     bool unknown, uint32_t *tmp);
/* Stores words of active lanes; `unknown` (NULL: all bits known) goes to the shadow. */
void tw_emu_vector_store(tw_emu_wave *w, const emu_operand *d, unsigned word, unsigned half, uint32_t mask,
                         const uint32_t *value, const uint32_t *unknown);
/* Whether any source VGPR may have unknown bits. */
bool tw_emu_vector_unknown(const tw_emu_wave *w, const emu_operand *o);

static inline uint32_t *emu_vgpr(const tw_emu_wave *w, const emu_operand *o, unsigned half) {
    return w->v[half] + o->reg * EMU_LANES + w->msb[o->slot];
}
static inline uint32_t *emu_vgpr_unknown(const tw_emu_wave *w, const emu_operand *o, unsigned half) {
    return w->u[half] + o->reg * EMU_LANES + w->msb[o->slot];
}
static inline uint8_t *emu_vgpr_flag(const tw_emu_wave *w, const emu_operand *o) {
    return w->vflag + o->reg + w->msb[o->slot] / EMU_LANES;
}
static inline uint32_t emu_exec_half(const tw_emu_wave *w, unsigned half) { return w->s[EMU_S_EXEC + half]; }

/* Whether vcc is zero depends on unknown bits only where no known bit decides. */
static inline bool emu_vcc_undecided(const tw_emu_wave *w) {
    uint32_t known = 0, unknown = 0;
    for (unsigned half = 0; half < w->halves; half++) {
        unknown |= w->su[EMU_S_VCC + half];
        known |= w->s[EMU_S_VCC + half] & ~w->su[EMU_S_VCC + half];
    }
    return unknown && !known;
}

#endif
