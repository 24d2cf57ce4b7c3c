/* The parts of the code-object reader: ELF (elf.c), metadata (metadata.c), the object itself (code_object.c).
 * Both readers work on untrusted bytes: they check every offset before they follow it. */
#ifndef TW_JIT_CODE_OBJECT_INTERNAL_H
#define TW_JIT_CODE_OBJECT_INTERNAL_H

#include <stdatomic.h>
#include <string.h>

#include "jit/code_object.h"
#include "support/arena.h"
#include "support/fail.h"

/* Nothing legitimate comes near; it bounds what a hostile header can make us or a loader allocate. */
#define TW_CODE_OBJECT_MAX_BYTES  ((uint64_t)1 << 30)
#define TW_CODE_OBJECT_MAX_MEMORY ((uint64_t)1 << 30) /* span of the loaded segments */
#define TW_KERNARG_MAX_BYTES      ((uint32_t)1 << 20)

/* The target-dependent fields of the ELF header's e_flags, for ABI versions 2 and later.
 * Source: LLVM's "User Guide for AMDGPU Backend", tables on e_flags. */
#define TW_EF_MACH            0x0ffu
#define TW_EF_XNACK_SHIFT     8 /* two bits each: 0 unsupported, 1 any, 2 off, 3 on */
#define TW_EF_SRAMECC_SHIFT   10
#define TW_NT_AMDGPU_METADATA 32

struct tw_code_object {
    atomic_uint references;
    uint8_t *bytes;
    size_t size;
    tw_arena arena; /* everything below */
    tw_target target;
    uint32_t elf_flags;
    unsigned abi_version;
    const char *target_id;
    tw_kernel_info *kernels;
    size_t kernel_count;
    const tw_kernel_info **kernels_by_name; /* sorted */
    tw_segment *segments;
    size_t segment_count;
    tw_symbol *symbols;
    size_t symbol_count;
    const tw_symbol **symbols_by_name; /* sorted */
    const char **undefined;
    size_t undefined_count;
    tw_relocation *relocations;
    size_t relocation_count;
    const uint8_t *metadata; /* the descriptor of the NT_AMDGPU_METADATA note, in `bytes` */
    size_t metadata_size;
};

/* What a reader needs to fail with the name of its input in front. */
typedef struct tw_reader {
    tw_code_object *object;
    tw_diag *diag;
    const char *where;
} tw_reader;

#define TW_MALFORMED(reader, ...) \
    tw_fail_at((reader)->diag, TW_ERR_INVALID, (reader)->where, 0, 0, __VA_ARGS__)

/* Fills target, segments, symbols, undefined symbols, relocations and `metadata`. */
tw_status tw_elf_read(tw_reader *reader);
/* Fills the kernels and target_id from `metadata`; needs what tw_elf_read found. */
tw_status tw_metadata_read(tw_reader *reader);

/* The segment with the file's byte at a virtual address, or NULL. */
const tw_segment *tw_code_object_segment_of(const tw_code_object *object, uint64_t address);
/* `size` bytes at a virtual address in the file-backed part of one segment, or NULL. */
const uint8_t *tw_code_object_at(const tw_code_object *object, uint64_t address, uint64_t size);
const tw_symbol *tw_code_object_symbol_named(const tw_code_object *object, const char *name);
/* The same as tw_code_object_from_bytes, with a name for the diagnostics. */
tw_status tw_code_object_from_named_bytes(const void *bytes, size_t size, const char *where,
                                          tw_code_object **out, tw_diag *diag);

#endif
