/* What a call can come to. The status says which kind of failure it was; the text, with the rule and the
 * offending value, is in the diagnostics (support/diag.h). */
#ifndef TW_SUPPORT_STATUS_H
#define TW_SUPPORT_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TW_API              __attribute__((visibility("default")))
#define TW_PRINTF(fmt, var) __attribute__((format(printf, fmt, var)))
#define TW_NODISCARD        __attribute__((warn_unused_result))
#else
#define TW_API
#define TW_PRINTF(fmt, var)
#define TW_NODISCARD
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Moves whenever a public struct, a status or an opcode number changes. */
#define TW_ABI_VERSION 2

/* Numbers are part of the ABI: append only. */
typedef enum tw_status {
    TW_OK = 0,
    TW_ERR_NO_MEMORY = 1,   /* an allocation failed; the objects involved can still be freed */
    TW_ERR_USAGE = 2,       /* the API was called against its contract (NULL, wrong order, foreign value) */
    TW_ERR_INVALID = 3,     /* the input (program, spec, text, file) breaks a rule */
    TW_ERR_UNSUPPORTED = 4, /* well formed, but this target, flavor, compiler or device cannot do it */
    TW_ERR_NOT_FOUND = 5,   /* no such file, kernel, library, device, instance */
    TW_ERR_IO = 6,          /* the operating system refused a read or a write */
    TW_ERR_COMPILE = 7,     /* the compiler or the linker refused, or left an undefined symbol */
    TW_ERR_DEVICE = 8,      /* the device reported an error while it ran (emulator reports included) */
    TW_ERR_MISMATCH = 9,    /* a comparison with what was expected failed */
    TW_ERR_LIMIT = 10,      /* a documented limit was reached (size, depth, time) */
} tw_status;

/* A short constant name, "ok", "no memory", ...; never NULL. Any thread. */
TW_API const char *tw_status_name(tw_status status);

#ifdef __cplusplus
}
#endif
#endif
