/* The command: finds the subcommand and hands over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli.h"

static const cli_command commands[] = {
#define CLI_ROW(text, ident, summary) {text, summary, cmd_##ident},
    CLI_COMMANDS(CLI_ROW)
#undef CLI_ROW
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_help(FILE *to) {
    fputs("Usage: tilewright COMMAND [ARGUMENT...]\n"
          "Generates, checks and runs AMD GPU kernels.\n\nCommands:\n",
          to);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fputs("\n'tilewright COMMAND --help' tells more of each. Exit codes: 0 good, 1 failed, 2 usage.\n", to);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        print_help(stderr);
        return CLI_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_help(stdout);
        return cli_end_output(CLI_OK);
    }
    if (!strcmp(argv[1], "--version")) {
        puts("tilewright " TW_VERSION_TEXT);
        return cli_end_output(CLI_OK);
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(argv[1], commands[i].name)) continue;
        char name[64];
        snprintf(name, sizeof name, "tilewright %s", commands[i].name);
        argv[1] = name;
        static char help[] = "--help"; /* which argp calls -? */
        if (argc == 3 && !strcmp(argv[2], "-h")) argv[2] = help;
        return cli_end_output(commands[i].run(argc - 1, argv + 1));
    }
    fprintf(stderr, "tilewright: no command '%s'. 'tilewright --help' lists them.\n", argv[1]);
    return CLI_USAGE;
}
