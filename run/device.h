/* Devices: where code objects run. "emu:gfx1250" is the emulator inside this library, "hip:0" a GPU, "auto" a
 * GPU where there is one that serves the target and the emulator elsewhere. */
#ifndef TW_RUN_DEVICE_H
#define TW_RUN_DEVICE_H

#include "jit/code_object.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_device tw_device;
typedef struct tw_buffer tw_buffer;
typedef struct tw_module tw_module;

/* "emu:TARGET", "hip:N", "auto" or "auto:TARGET" (the target is needed to fall back to the emulator).
 * TW_ERR_NOT_FOUND with the reason where there is no driver or no device. Threads may share a device;
 * launches on one device are executed one after the other. */
TW_API tw_status tw_device_open(const char *name, tw_device **out, tw_diag *diag);
/* Frees what is left of its modules and buffers too. NULL is fine. */
TW_API void tw_device_close(tw_device *device);
TW_API const char *tw_device_name(const tw_device *device); /* "emu:gfx1250" */
TW_API tw_target tw_device_target(const tw_device *device);

/* Memory of `bytes` bytes (0 is fine: a buffer that nothing may touch), uninitialised. Freed by
 * tw_buffer_free or with the device. */
TW_API tw_status tw_buffer_new(tw_device *device, size_t bytes, tw_buffer **out, tw_diag *diag);
/* The same with a name (copied; may be NULL) by which reports of the emulator call the buffer. */
TW_API tw_status tw_buffer_new_named(tw_device *device, size_t bytes, const char *name, tw_buffer **out,
                                     tw_diag *diag);
TW_API void tw_buffer_free(tw_buffer *buffer); /* NULL is fine */
TW_API size_t tw_buffer_size(const tw_buffer *buffer);
/* Copies; TW_ERR_USAGE where offset + bytes is past the end. */
TW_API tw_status tw_buffer_write(tw_buffer *buffer, size_t offset, const void *from, size_t bytes,
                                 tw_diag *diag);
TW_API tw_status tw_buffer_read(const tw_buffer *buffer, size_t offset, void *to, size_t bytes,
                                tw_diag *diag);
TW_API tw_status tw_buffer_fill(tw_buffer *buffer, size_t offset, uint8_t value, size_t bytes, tw_diag *diag);

/* The module keeps a reference to the code object. TW_ERR_UNSUPPORTED where the code object is for another
 * target, TW_ERR_COMPILE where it has an undefined symbol. */
TW_API tw_status tw_module_load(tw_device *device, tw_code_object *object, tw_module **out, tw_diag *diag);
TW_API void tw_module_unload(tw_module *module); /* NULL is fine */
/* Lives as long as the module: retain it to keep it longer. */
TW_API tw_code_object *tw_module_code_object(const tw_module *module);
TW_API tw_device *tw_module_device(const tw_module *module);

typedef struct tw_dim3 {
    uint32_t x, y, z;
} tw_dim3;

typedef enum tw_launch_arg_kind {
    TW_LAUNCH_BUFFER = 0,
    TW_LAUNCH_I32,
    TW_LAUNCH_I64,
    TW_LAUNCH_F32,
    TW_LAUNCH_F64,
    TW_LAUNCH_BYTES,
    TW_LAUNCH_NULL
} tw_launch_arg_kind;

/* One explicit argument. Kind and size are checked against the metadata of the code object, never guessed. */
typedef struct tw_launch_arg {
    tw_launch_arg_kind kind;
    union {
        struct {
            tw_buffer *buffer;
            size_t offset;
        } buffer; /* the address `offset` bytes into the buffer */
        int32_t i32;
        int64_t i64;
        float f32;
        double f64;
        struct {
            const void *data;
            size_t size;
        } bytes; /* a by-value struct; `data` must live until the call returns */
    } as;
} tw_launch_arg;

#define TW_BUFFER_ARG(b) ((tw_launch_arg){TW_LAUNCH_BUFFER, {.buffer = {(b), 0}}})
#define TW_I32_ARG(v)    ((tw_launch_arg){TW_LAUNCH_I32, {.i32 = (v)}})
#define TW_I64_ARG(v)    ((tw_launch_arg){TW_LAUNCH_I64, {.i64 = (v)}})
#define TW_F32_ARG(v)    ((tw_launch_arg){TW_LAUNCH_F32, {.f32 = (v)}})

/* Runs kernel `name` over `grid` workgroups of `block` work-items and waits for it. TW_ERR_NOT_FOUND where
 * the code object has no such kernel; TW_ERR_USAGE for a number, kind or size of arguments that the kernel
 * does not have, or a buffer of another device; TW_ERR_INVALID for a grid, block or LDS size that kernel or
 * target cannot run: all before anything runs. A report of the emulator or an error of the driver is
 * TW_ERR_DEVICE. */
TW_API tw_status tw_launch(tw_module *module, const char *name, tw_dim3 grid, tw_dim3 block,
                           const tw_launch_arg *args, size_t arg_count, tw_diag *diag);

/* An address to write into raw kernarg bytes: `byte_offset` bytes into the buffer. */
typedef struct tw_kernarg_pointer {
    uint32_t kernarg_offset;
    tw_buffer *buffer;
    uint64_t byte_offset;
} tw_kernarg_pointer;

/* The same with dynamic LDS and the explicit arguments as raw bytes, as long as the kernel's are; `pointers`
 * are patched into a copy. */
TW_API tw_status tw_launch_raw(tw_module *module, const char *name, tw_dim3 grid, tw_dim3 block,
                               uint32_t dynamic_lds, const void *kernarg, size_t kernarg_size,
                               const tw_kernarg_pointer *pointers, size_t pointer_count, tw_diag *diag);

/* What the last launch on this device executed; all but the time is zero on devices that do not count. */
typedef struct tw_launch_counts {
    uint64_t wave_instructions;
    uint64_t valu, salu, vmem, smem, lds, matrix, branch, other;
    uint64_t global_bytes_read, global_bytes_written, lds_bytes_read, lds_bytes_written;
    uint64_t lds_bank_conflicts; /* extra cycles; the model stands in docs/emulator.md */
    uint64_t waves, workgroups;
    uint64_t nanoseconds; /* host time */
    uint64_t waits;       /* s_waitcnt, s_wait_*, s_delay_alu: instructions */
    uint64_t scalar_bytes_read;
    uint64_t scratch_bytes_read, scratch_bytes_written;
} tw_launch_counts;
TW_API tw_launch_counts tw_device_last_counts(const tw_device *device);

#ifdef __cplusplus
}
#endif
#endif
