/* Races between workgroups in global memory.
 *
 * A workgroup notes what it touches; when it and all before it are complete, its notes are held against those
 * of the workgroups before it. So what is found does not depend on which thread was faster. */
#ifndef TW_RUN_EMU_GLOBAL_RACE_H
#define TW_RUN_EMU_GLOBAL_RACE_H

#include "run/emu/access.h"

typedef struct emu_global_shadow emu_global_shadow; /* of all that were compared */

emu_global_log *tw_emu_global_log_new(void); /* NULL: no memory */
void tw_emu_global_log_free(emu_global_log *log);
void tw_emu_global_log_start(emu_global_log *log, const emu_group *g);
uint64_t tw_emu_global_log_number(const emu_global_log *log);
size_t tw_emu_global_log_bytes(const emu_global_log *log);

/* Accesses of the lanes of a block of 32, at their offsets in the buffer. For use where the group has a log.
 */
void tw_emu_global_note_block(tw_emu_wave *w, unsigned half, const emu_buffer *b, const uint64_t *offset,
                              uint32_t lanes, unsigned bytes, emu_intent intent);
emu_global_shadow *tw_emu_global_shadow_new(void); /* NULL: no memory */
void tw_emu_global_shadow_free(emu_global_shadow *shadow);
/* Compares the next workgroup's notes: each place and kind of race once. False when memory ran out. */
typedef bool (*emu_report_fn)(void *user, const emu_report *report);
bool tw_emu_global_merge(emu_launch_state *launch, emu_global_shadow *shadow, const emu_global_log *log,
                         emu_report_fn found, void *user);

#endif
