/* What the subcommands of tilewright share: the table of commands, option parsing, tables as text or JSON,
 * diagnostics. */
#ifndef TW_TOOLS_CLI_H
#define TW_TOOLS_CLI_H

#include <argp.h>
#include <jansson.h>

#include "run/device.h"
#include "support/diag.h"

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

/* argv[0] is "tilewright NAME". Returns an exit code. */
typedef struct cli_command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} cli_command;

/* One subcommand a row: name, summary, function cmd_<ident>. */
#define CLI_COMMANDS(X)                                                                    \
    X("list", list, "instances, their keys and defaults")                                  \
    X("arch", arch, "what is known of the targets")                                        \
    X("intrinsics", intrinsics, "which LLVM intrinsics work where, as measured")           \
    X("emit-ir", emit_ir, "tile IR, LLVM IR or ISA of an instance or a tile IR file")      \
    X("compile", compile, "compile to a code object, with statistics")                     \
    X("run", run, "run an instance's plan on a device and check its numbers")              \
    X("exec", exec, "run a kernel of any code object or offload bundle")                   \
    X("replay", replay, "run and check a bundle")                                          \
    X("golden", golden, "check or record the hashes of the lowered text")                  \
    X("identity", identity, "check that every way to a kernel gives the same code object") \
    X("cache", cache, "the kernel cache: stat, verify, prune")                             \
    X("bench", bench, "measure front end, compile, cache and emulator")

#define CLI_DECLARE(text, ident, summary) int cmd_##ident(int argc, char **argv);
CLI_COMMANDS(CLI_DECLARE)
#undef CLI_DECLARE

/* Options that every command with a table has: give CLI_TABLE_CHILD in the argp's children, and a cli_output
 * as the child's input (state->child_inputs[0]) while handling ARGP_KEY_INIT. */
typedef struct cli_output {
    bool json;
} cli_output;
extern const struct argp cli_output_argp;

/* Parses; on --help and on errors the process ends with 0 or 2 as argp does. */
void cli_parse(const struct argp *argp, int argc, char **argv, void *input);
#define CLI_DEFAULT_TARGET "gfx1250"
/* The target that an option or a word names; a usage error where it names none. */
void cli_parse_target(const char *text, tw_target *target, struct argp_state *state);
/* Writes out what was printed; CLI_FAILED, and the reason is kept, where it does not arrive. */
int cli_flush(void);
/* The same at the end, with an error on standard error. Returns `code`, but CLI_FAILED instead of CLI_OK. */
int cli_end_output(int code);
/* A usage error: prints "tilewright NAME: TEXT" and the hint to --help; returns CLI_USAGE. */
int cli_usage(const char *command, const char *format, ...) TW_PRINTF(2, 3);

/* One column: the key of the row objects, and the heading. */
typedef struct cli_column {
    const char *key, *heading;
} cli_column;

/* Prints an array of objects: as JSON (the whole objects) or as aligned text (the given columns,
 * NULL-terminated). Takes the reference to `rows`. Returns an exit code. */
int cli_print_table(const cli_output *output, const cli_column *columns, json_t *rows);
/* Prints a single object: as JSON, or one "key value" a line. Takes the reference. */
int cli_print_object(const cli_output *output, json_t *object);

/* A text from outside as JSON, which is UTF-8: other bytes become replacement characters. NULL without
 * memory. */
json_t *cli_text(const char *text);
/* A number as JSON, which has no infinities and no NaN: those become words. */
json_t *cli_real(double value);

/* Prints what the list holds to standard error, in colour on a terminal, and clears it. */
void cli_print_diag(tw_diag *diag);
/* Prints, and turns a status into an exit code: usage errors of the API stay failures, not usage. */
int cli_finish(tw_status status, tw_diag *diag);

bool cli_color(int descriptor); /* a terminal, and NO_COLOR is not set */

/* The whole file, terminated, malloc'ed; "-" is standard input. TW_ERR_LIMIT where it has more than `limit`
 * bytes: no more is read, so a device that never ends is no trap. */
tw_status cli_read_file_up_to(const char *path, size_t limit, char **text, size_t *length, tw_diag *diag);
tw_status cli_read_file(const char *path, char **text, size_t *length, tw_diag *diag); /* as far as memory */
/* Writes to `path` as tw_file_write does: where it fails, an old file stays. "-" or NULL: standard output. */
tw_status cli_write_file(const char *path, const void *bytes, size_t length, tw_diag *diag);

/* The device for a target; TW_ERR_USAGE where the name is none: "auto" (NULL too) and "emu" get the target,
 * "hip:N" and full names stay as they are. */
tw_status cli_open_device(const char *name, tw_target target, tw_device **out, tw_diag *diag);

/* SHA-256 in lower-case hexadecimal. */
#define CLI_HASH_SIZE 65
void cli_hash(const void *bytes, size_t size, char hash[CLI_HASH_SIZE]);

/* Nanoseconds of the monotonic clock. */
uint64_t cli_now(void);

/* "12", "64K", "1G": bytes. */
bool cli_parse_size(const char *text, uint64_t *out);
bool cli_parse_u64(const char *text, uint64_t *out);

#endif
