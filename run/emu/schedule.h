/* Workgroups while they run, and the launch that they belong to. */
#ifndef TW_RUN_EMU_SCHEDULE_H
#define TW_RUN_EMU_SCHEDULE_H

#include "run/emu/code.h"
#include "run/emu/state.h"

/* What kind of thing is reported (reports.def). */
typedef enum emu_report_kind {
#define REPORT(kind, name, severity, when) EMU_REPORT_##kind,
#include "run/emu/reports.def"
#undef REPORT
    EMU_REPORT_COUNT
} emu_report_kind;

typedef struct emu_report_row {
    const char *name;
    bool note; /* tells of something that is no error */
} emu_report_row;
extern const emu_report_row tw_emu_report_rows[EMU_REPORT_COUNT];

/* One report, before it becomes a diagnostic. */
typedef struct emu_report {
    uint64_t workgroup;
    const emu_inst *inst;
    const char *format; /* of the message: equal where the same check found it */
    const char *where;  /* the function */
    bool fatal, note;
    uint32_t order; /* among those of its workgroup */
    char text[512];
} emu_report;

#define EMU_GROUP_REPORTS  32
#define EMU_NAMED_BARRIERS 16 /* numbered from 1 */

typedef struct emu_named_barrier {
    uint32_t members, arrived;
    uint32_t clock[EMU_MAX_WAVES], passed[EMU_MAX_WAVES]; /* lds_race.c */
} emu_named_barrier;

typedef struct emu_lds_dword emu_lds_dword;   /* lds_race.c */
typedef struct emu_copies emu_copies;         /* copy.c */
typedef struct emu_global_log emu_global_log; /* global_race.c */

struct emu_group {
    emu_launch_state *launch;
    tw_dim3 id;
    uint64_t number; /* in launch order */
    tw_emu_wave *waves;
    uint32_t wave_count;
    uint8_t *lds, *lds_known;
    emu_lds_dword *lds_dwords; /* NULL: races are not looked for */
    uint32_t last_times[EMU_MAX_WAVES], barrier_clock[EMU_MAX_WAVES], passed_clock[EMU_MAX_WAVES];
    uint32_t shared_clock[EMU_MAX_WAVES];
    bool polls; /* waves wait for each other through LDS (poll.h): each store counts as a time of its own */
    uint32_t lds_bytes;
    uint32_t arrived;       /* waves at the barrier */
    uint32_t cluster_phase; /* how often the barrier of the cluster was complete */
    emu_named_barrier named[EMU_NAMED_BARRIERS + 1];
    emu_global_log *global_log;                  /* NULL: races between workgroups are not looked for */
    emu_copies *copies;                          /* NULL: no wave of this group made one yet */
    uint32_t copies_in_flight, stores_in_flight; /* the second counts copies to memory */
    bool in_turn;                                /* all workgroups before this one are complete */
    bool stop, traced_out;                       /* a report ends the launch; a trace does */
    emu_report reports[EMU_GROUP_REPORTS];
    uint32_t report_count;
    uint64_t bytes_read, bytes_written, lds_read, lds_written, bank_conflicts;
    uint64_t scalar_read, scratch_read, scratch_written;
    uint64_t scratch_offset; /* where the scratch of this group's waves begins */
    uint32_t *registers;     /* values and unknown bits of all waves */
    uint8_t *flags;
};

/* What a launch needs to know at run time. */
struct emu_launch_state {
    emu_memory *memory;
    emu_code *code;
    const tw_emu_launch *options;
    const tw_kernel_info *kernel;
    const emu_inst *entry;
    tw_target target;
    tw_isa isa;
    uint32_t features; /* tw_arch_feature bits */
    bool check_unknown, check_alignment, strict_alignment, strict_stores, check_lds_races, check_global_races,
        check_buffer_range, check_lds_range;
    uint8_t halves; /* of a wave: 1 or 2 blocks of 32 lanes */
    uint32_t lds_bytes, lds_banks, waves_per_group, work_items;
    uint64_t groups, budget;
    emu_buffer *kernarg, *packet, *scratch;
    uint32_t scratch_bytes;  /* a work-item */
    uint32_t vgprs, agprs;   /* allocated */
    uint32_t named_barriers; /* allocated */
    uint32_t file_registers; /* that an instruction can name */
    uint32_t rsrc1, rsrc2, rsrc3;
    uint16_t properties, preload;
    struct emu_turns *turns;
};

/* Adds a report about the instruction at hand. `lane` is -1 where no lane is meant. The wave goes on. */
void tw_emu_report(tw_emu_wave *w, int lane, emu_report_kind kind, const char *format, ...) TW_PRINTF(4, 5);
/* A report, and the launch cannot go on. */
void tw_emu_fatal(tw_emu_wave *w, int lane, emu_report_kind kind, const char *format, ...) TW_PRINTF(4, 5);
/* The same where the host has no memory left: of no kind. */
void tw_emu_no_memory(tw_emu_wave *w);
/* Where and by whom, and of what kind, added to a message: fills `where`, `note` and `text`. */
void tw_emu_report_text(const emu_launch_state *launch, tw_dim3 id, unsigned wave, int lane,
                        emu_report_kind kind, const char *message, emu_report *out);
/* Where `address` lies, in words: "12 bytes past the end of 'x' (1024 bytes at 0x...)". */
void tw_emu_describe_address(const emu_memory *memory, uint64_t address, char *out, size_t size);

/* Blocks until every earlier workgroup is complete: what happens after it in this workgroup happens as if
 * workgroups ran one after the other. */
void tw_emu_wait_turn(tw_emu_wave *w);

/* Memory for workgroups of a launch; a group is used again for the next workgroup. NULL: no memory. */
emu_group *tw_emu_group_new(emu_launch_state *launch);
void tw_emu_group_free(emu_group *group);
/* Runs workgroup `number` to its end. */
void tw_emu_group_run(emu_group *group, uint64_t number);

/* First state of a wave, from the kernel descriptor (wave.c). */
void tw_emu_wave_start(tw_emu_wave *w, emu_group *group, uint32_t index);

#endif
