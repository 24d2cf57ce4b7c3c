/* Code objects: the ELF files that AMD's loader takes, and what their metadata says. */
#ifndef TW_JIT_CODE_OBJECT_H
#define TW_JIT_CODE_OBJECT_H

#include "arch/target.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_code_object tw_code_object;

/* What the metadata says of one kernel argument (".args" of amdhsa.kernels). */
typedef enum tw_arg_kind {
    TW_ARG_BY_VALUE = 0,
    TW_ARG_GLOBAL_BUFFER,
    TW_ARG_DYNAMIC_LDS, /* "dynamic_shared_pointer" */
    TW_ARG_HIDDEN,      /* any "hidden_..." */
    TW_ARG_OTHER        /* images, samplers, pipes, queues */
} tw_arg_kind;

typedef struct tw_arg_info {
    const char *name;       /* "" where the metadata has none */
    const char *value_kind; /* as in the metadata, "global_buffer", "hidden_block_count_x", ... */
    tw_arg_kind kind;
    uint32_t offset, size;
} tw_arg_info;

/* What is known of one kernel, from the metadata and from its 64-byte kernel descriptor. */
typedef struct tw_kernel_info {
    const char *name;   /* the function: what a launch names */
    const char *symbol; /* of the descriptor: name + ".kd" */
    uint32_t kernarg_size, kernarg_align;
    uint32_t explicit_kernarg_size; /* the end of the last argument that is not hidden */
    uint32_t vgprs, agprs, sgprs;
    uint32_t vgpr_spills, sgpr_spills;
    uint32_t scratch_bytes; /* private segment of one work-item */
    uint32_t lds_bytes;     /* static group segment */
    uint32_t wave_size;
    uint32_t max_workgroup;
    uint32_t required_workgroup[3]; /* 0 where the metadata has none */
    bool uses_dynamic_stack;
    bool uniform_workgroup;
    uint64_t descriptor_address; /* virtual address of the kernel descriptor */
    uint64_t entry_address;      /* virtual address of the first instruction */
    uint64_t code_bytes;         /* size of the function's symbol */
    uint8_t descriptor[64];
    const tw_arg_info *args;
    size_t arg_count;
} tw_kernel_info;

/* Reads `size` bytes (copied). Untrusted input: anything malformed gives TW_ERR_INVALID and a diagnostic. */
TW_API tw_status tw_code_object_from_bytes(const void *bytes, size_t size, tw_code_object **out,
                                           tw_diag *diag);
TW_API tw_status tw_code_object_read(const char *path, tw_code_object **out, tw_diag *diag);
/* Writes through a temporary name in the same folder, then renames: where it fails, an old file stays.
 * Symbolic links are followed; devices and pipes are written to as they are. */
TW_API tw_status tw_code_object_write(const tw_code_object *object, const char *path, tw_diag *diag);
/* Immutable once made: threads may share it. The count starts at 1; the last release frees it. NULL is fine.
 */
TW_API tw_code_object *tw_code_object_retain(tw_code_object *object);
TW_API void tw_code_object_release(tw_code_object *object);

/* All pointers below live as long as the object. */
TW_API const void *tw_code_object_bytes(const tw_code_object *object, size_t *size);
TW_API tw_target tw_code_object_target(const tw_code_object *object);
TW_API const char *tw_code_object_target_id(const tw_code_object *object); /* "amdgcn-amd-amdhsa--gfx1250" */
TW_API unsigned tw_code_object_abi_version(const tw_code_object *object); /* 4, 5 or 6: code object version */
TW_API size_t tw_code_object_kernel_count(const tw_code_object *object);
TW_API const tw_kernel_info *tw_code_object_kernel_at(const tw_code_object *object, size_t index);
TW_API const tw_kernel_info *tw_code_object_kernel(const tw_code_object *object,
                                                   const char *name); /* or NULL */
/* Undefined symbols: a code object that has any does not run. */
TW_API size_t tw_code_object_undefined_count(const tw_code_object *object);
TW_API const char *tw_code_object_undefined_at(const tw_code_object *object, size_t index);

/* What a loader needs: the PT_LOAD segments and the dynamic relocations. */
typedef struct tw_segment {
    uint64_t address, memory_size;
    const uint8_t *bytes;
    uint64_t file_size;
    bool writable, executable;
} tw_segment;
TW_API size_t tw_code_object_segment_count(const tw_code_object *object);
TW_API tw_segment tw_code_object_segment_at(const tw_code_object *object, size_t index);

typedef struct tw_relocation {
    uint64_t address;
    uint32_t type;      /* R_AMDGPU_* */
    const char *symbol; /* "" for relative ones */
    uint64_t symbol_address;
    int64_t addend;
} tw_relocation;
TW_API size_t tw_code_object_relocation_count(const tw_code_object *object);
TW_API tw_relocation tw_code_object_relocation_at(const tw_code_object *object, size_t index);

/* Symbols of the dynamic table that have an address: functions and variables. */
typedef struct tw_symbol {
    const char *name;
    uint64_t address, size;
    bool is_function;
} tw_symbol;
TW_API size_t tw_code_object_symbol_count(const tw_code_object *object);
TW_API tw_symbol tw_code_object_symbol_at(const tw_code_object *object, size_t index);

#ifdef __cplusplus
}
#endif
#endif
