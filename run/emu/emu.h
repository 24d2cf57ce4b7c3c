/* The emulator: executes the machine code of code objects, wave by wave, and reports what a GPU would hide.
 * Internal to the library: run/device.h is what users see. */
#ifndef TW_RUN_EMU_EMU_H
#define TW_RUN_EMU_EMU_H

#include "run/device.h"

/* One emulated device of one target. Calls on one emulator are made by one thread at a time. */
typedef struct tw_emu tw_emu;
/* A code object in the memory of an emulator. */
typedef struct tw_emu_module tw_emu_module;

/* TW_ERR_UNSUPPORTED where LLVM has no disassembler for the target. */
tw_status tw_emu_new(tw_target target, tw_emu **out, tw_diag *diag);
/* Frees modules and buffers too. NULL is fine. */
void tw_emu_free(tw_emu *emu);

/* ---- memory ----
 * Device addresses are not host pointers: 48-bit numbers, aligned to 256 bytes, with gaps between buffers
 * that nothing may touch. The bytes of a new buffer are uninitialised until the host or a kernel writes them.
 */

/* `name` (copied; NULL or "" is fine) is how reports call the buffer. `bytes` may be 0. */
tw_status tw_emu_alloc(tw_emu *emu, size_t bytes, const char *name, uint64_t *address, tw_diag *diag);
/* TW_ERR_USAGE where `address` is not the start of a live buffer. */
tw_status tw_emu_release(tw_emu *emu, uint64_t address, tw_diag *diag);
/* Any range inside one buffer; TW_ERR_USAGE otherwise. */
tw_status tw_emu_write(tw_emu *emu, uint64_t address, const void *from, size_t bytes, tw_diag *diag);
tw_status tw_emu_read(const tw_emu *emu, uint64_t address, void *to, size_t bytes, tw_diag *diag);
tw_status tw_emu_fill(tw_emu *emu, uint64_t address, uint8_t value, size_t bytes, tw_diag *diag);

/* The high halves of the flat addresses that are scratch and LDS; the low halves are 0. */
void tw_emu_apertures(const tw_emu *emu, uint32_t *private_base, uint32_t *shared_base);

/* ---- code ---- */

/* Places the segments, applies the relocations. Keeps a reference to the object. TW_ERR_UNSUPPORTED for a
 * code object of another target, TW_ERR_COMPILE where it has undefined symbols. */
tw_status tw_emu_load(tw_emu *emu, tw_code_object *object, tw_emu_module **out, tw_diag *diag);
void tw_emu_unload(tw_emu_module *module); /* NULL is fine */
/* Where a symbol of the dynamic table lies in device memory; TW_ERR_NOT_FOUND. */
tw_status tw_emu_symbol(const tw_emu_module *module, const char *name, uint64_t *address, uint64_t *size,
                        tw_diag *diag);

/* ---- launch ---- */

/* Checks that a launch can switch off; all are on by default. */
typedef enum tw_emu_check {
    TW_EMU_CHECK_UNINITIALISED = 1 << 0, /* registers, LDS, memory: a branch, address or mask made of them */
    TW_EMU_CHECK_ALIGNMENT = 1 << 1, /* where the hardware has no unaligned access: atomics, scalar loads */
    TW_EMU_CHECK_LDS_RACES = 1 << 2,
    TW_EMU_CHECK_GLOBAL_RACES = 1 << 3,
    TW_EMU_CHECK_BUFFER_RANGE = 1 << 4, /* buffer stores and atomics out of range, which hardware drops */
    TW_EMU_CHECK_LDS_RANGE = 1 << 5,    /* LDS addresses from 2^31 - 1 on, by which generators mask lanes */
    TW_EMU_CHECK_ALL = 63
} tw_emu_check;

/* Checks that a launch can switch on: true of the kernels of this project, not of all that compilers make. */
typedef enum tw_emu_strict_check {
    TW_EMU_STRICT_ALIGNMENT = 1 << 0, /* every access is a multiple of its size, up to a dword */
    TW_EMU_STRICT_STORES = 1 << 1 /* no store is a relaxed atomic one where machine code does not say so */
} tw_emu_strict_check;

typedef struct tw_emu_wave tw_emu_wave;

typedef enum tw_emu_file { TW_EMU_SGPR = 0, TW_EMU_VGPR, TW_EMU_AGPR, TW_EMU_SPECIAL } tw_emu_file;
/* A register that an instruction wrote; of a special one (vcc, exec, m0, flat_scratch, scc) the name. */
typedef struct tw_emu_written {
    tw_emu_file file;
    unsigned index;
    const char *name;
} tw_emu_written;

/* One instruction, before or after it is executed. Pointers are valid during the callback. */
typedef struct tw_emu_trace_event {
    const char *kernel;
    const char *function; /* that holds the instruction; "" where none does */
    uint64_t pc;          /* device address */
    uint64_t offset;      /* from the start of the function that holds it */
    const char *text;     /* "v_add_f32_e32 v0, v1, v2" */
    tw_dim3 workgroup;
    uint32_t wave; /* of the workgroup */
    uint64_t exec; /* before it */
    tw_emu_wave *state;
    const tw_emu_written *writes; /* after it: what it wrote */
    size_t write_count;
} tw_emu_trace_event;
/* Return false to end the launch (TW_ERR_LIMIT). Called with one thread only: a trace runs serially. */
typedef bool (*tw_emu_trace_fn)(void *user, const tw_emu_trace_event *event);

/* What a trace callback may look at. Registers that the wave does not have read as 0. */
uint32_t tw_emu_wave_sgpr(const tw_emu_wave *wave, unsigned index);
uint32_t tw_emu_wave_vgpr(const tw_emu_wave *wave, unsigned index, unsigned lane);
uint32_t tw_emu_wave_agpr(const tw_emu_wave *wave, unsigned index, unsigned lane);
/* The bits of it that nobody wrote. Lanes count for VGPRs and AGPRs only. */
uint32_t tw_emu_wave_unknown(const tw_emu_wave *wave, tw_emu_file file, unsigned index, unsigned lane);
unsigned tw_emu_wave_lanes(const tw_emu_wave *wave);                      /* 32 or 64 */
unsigned tw_emu_wave_count(const tw_emu_wave *wave, tw_emu_file file);    /* registers that the wave has */
const uint8_t *tw_emu_wave_lds(const tw_emu_wave *wave, uint32_t *bytes); /* of its workgroup */
/* "vcc", "exec", "m0", "flat_scratch", "scc", "pc"; 0 for other names. */
uint64_t tw_emu_wave_special(const tw_emu_wave *wave, const char *name);
uint64_t tw_emu_wave_special_unknown(const tw_emu_wave *wave, const char *name);

typedef struct tw_emu_launch {
    const tw_kernel_info *kernel; /* of the module's code object */
    tw_dim3 grid;                 /* workgroups */
    tw_dim3 block;                /* work-items of a workgroup */
    uint32_t dynamic_lds;         /* bytes behind the kernel's static LDS */
    const void *kernarg;          /* the whole segment, hidden arguments included */
    size_t kernarg_size;
    const uint8_t
        *kernarg_known;       /* one byte a kernarg byte: 0 = nobody gave it a value. NULL: all are known */
    unsigned threads;         /* 0: as many as the machine has; the result does not depend on it */
    uint64_t budget;          /* instructions that one wave may execute; 0: 2^32 */
    unsigned disabled_checks; /* tw_emu_check bits */
    unsigned strict_checks;   /* tw_emu_strict_check bits */
    unsigned max_reports;     /* the launch ends after so many; 0: 8 */
    tw_emu_trace_fn trace;    /* before each instruction; NULL: none */
    tw_emu_trace_fn traced;   /* after it; NULL: none */
    void *trace_user;
} tw_emu_launch;

/* Runs the grid to its end. TW_OK without a report; TW_ERR_DEVICE when a check failed or an instruction is
 * not known: each report is one error in `diag` that names kernel, pc, instruction, workgroup, wave, lane and
 * address. TW_ERR_USAGE and TW_ERR_UNSUPPORTED for launches that the kernel or the target cannot have.
 * `counts` (may be NULL) is filled in every case. */
tw_status tw_emu_run(tw_emu_module *module, const tw_emu_launch *launch, tw_launch_counts *counts,
                     tw_diag *diag);

#endif
