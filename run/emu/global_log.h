/* The notes of a workgroup, as global_race.c writes and global_merge.c reads them. */
#ifndef TW_RUN_EMU_GLOBAL_LOG_H
#define TW_RUN_EMU_GLOBAL_LOG_H

#include "run/emu/global_race.h"

/* Kinds of accesses, which are also sets of bytes. */
enum {
    EMU_NOTE_READ = 1,
    EMU_NOTE_WRITE = 2,  /* a store; with EMU_NOTE_ATOMIC one that may be an atomic */
    EMU_NOTE_ATOMIC = 4, /* a change that others see at once */
    EMU_NOTE_SYNC = 8    /* a look at what others change: plain accesses there are part of a protocol */
};

/* Lane l of `lanes` touches `bytes` bytes at first + stride * l. */
typedef struct emu_global_note {
    const emu_buffer *buffer;
    int64_t first;
    const emu_inst *inst;
    uint32_t lanes, bytes;
    int32_t stride;
    int16_t lane; /* of the first bit of `lanes`; -1: no lane */
    uint8_t kind;
    uint8_t wave : 7, ordered : 1; /* behind an acquire */
} emu_global_note;

typedef struct emu_global_notes {
    uint64_t number;
    tw_dim3 id;
    emu_global_note *note;
    size_t count, released; /* those before `released` come before an atomic */
    bool incomplete;
} emu_global_notes;

const emu_global_notes *tw_emu_global_log_notes(const emu_global_log *log);

#endif
