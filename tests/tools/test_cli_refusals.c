/* Every row of tests/refusals.def through the command: the exit code and the row's exact text. Usage:
 * TILEWRIGHT */
#include "tests/test.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const char *command_path;

/* A problem is refused by what plans it, everything else already by what builds. */
enum { WORDS, SPEC, PLAN };
static const struct row {
    const char *id;
    int kind;
    const char *target, *words, *text;
} rows[] = {
#define REFUSAL(id, kind, target, words, text) {id, kind, target, words, text},
#include "tests/refusals.def"
#undef REFUSAL
};

static bool refuses(const struct row *row) {
    char line[2048], output[4096], expected[2048];
    snprintf(line, sizeof line, "'%s' %s %s --arch %s 2>&1 >/dev/null", command_path,
             row->kind == PLAN ? "run" : "emit-ir", row->words, row->target);
    snprintf(expected, sizeof expected, "error: %s\n", row->text);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    size_t length = fread(output, 1, sizeof output - 1, pipe);
    output[length] = '\0';
    int status = pclose(pipe);
    int code = row->kind == WORDS ? 2 : 1; /* a command line that cannot be read */
    if (WIFEXITED(status) && WEXITSTATUS(status) == code && !strcmp(output, expected)) return true;
    print_error("%s: status %d\n  expected %s  got      %s", row->id, status, expected, output);
    return false;
}

static void every_refusal_reaches_the_user(void **state) {
    (void)state;
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        wrong += !refuses(&rows[i]);
    assert_int_equal(wrong, 0);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    command_path = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_refusal_reaches_the_user)};
    return cmocka_run_group_tests_name("cli_refusals", tests, NULL, NULL);
}
