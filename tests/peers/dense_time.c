#include "tests/peers/dense_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/fail.h"
#include "tests/peers/stopwatch.h"

void dense_time_heading(void) {
    puts("| target | filter | library, first | library | `tilewright compile` | clang | Triton, warm |\n"
         "|---|---|---|---|---|---|---|");
}

/* The form with the most taps a workgroup. */
static int form_of(const dense_case *c) {
    if (!strncmp(c->name, "stem", 4)) return 2;
    return c->filter > 1;
}

static tw_status time_clang(const dense_case *c, unsigned repeat, double *out, tw_diag *diag) {
    char type[24], filter[24], stride[24], form[24];
    snprintf(type, sizeof type, "-DPEER_T=%s", c->dtype);
    snprintf(filter, sizeof filter, "-DPEER_K=%d", c->filter);
    snprintf(stride, sizeof stride, "-DPEER_STRIDE=%d", c->stride);
    snprintf(form, sizeof form, "-DPEER_FORM=%d", form_of(c));
    const char *const defines[] = {type, filter, stride, form, NULL};
    return stopwatch_clang(c->target, defines, repeat, out, diag);
}

/* Triton's compiles run in one process, which reports each; the last form's first configuration is what is
 * wanted. */
static tw_status time_triton(const dense_case *c, const char *python, unsigned repeat, double *out,
                             tw_diag *diag) {
    char folder[] = "/tmp/dense-XXXXXX", times[16], list[64];
    if (!mkdtemp(folder)) return tw_fail(diag, TW_ERR_IO, "%s cannot be made", folder);
    snprintf(times, sizeof times, "%u", repeat);
    const char *words[] = {python,   PEER_SCRIPT, "--save",   folder, "--case",  c->name, "--dtype",
                           c->dtype, "--first",   "--repeat", times,  c->target, NULL};
    double process = 0;
    dense_peer *peers = NULL;
    size_t count = 0;
    tw_status status = stopwatch_process(words, 1, &process, diag);
    if (!status) status = dense_peers_of(c, folder, &peers, &count, diag);
    for (size_t i = 0; !status && i < count; i++) {
        if (!peers[i].triton) continue;
        *out = peers[i].compile_ms;
        unlink(peers[i].path);
    }
    free(peers);
    snprintf(list, sizeof list, "%s/triton.list", folder);
    unlink(list);
    rmdir(folder);
    return status;
}

static void print_time(double ms) {
    if (ms > 0)
        printf(" %.0f |", ms);
    else
        printf(" not here |");
}

tw_status dense_time(const dense_case *c, const tw_instance *instance, const char *command,
                     const char *python, unsigned repeat, tw_diag *diag) {
    double first = 0, library = 0, process = 0, clang = 0, triton = 0;
    tw_status status = stopwatch_library(instance, c->target, repeat, &first, &library, diag);
    if (!status) status = stopwatch_command(instance, c->target, command, repeat, &process, diag);
    if (!status && PEER_CLANG[0] != '\0') status = time_clang(c, repeat, &clang, diag);
    if (!status && python) status = time_triton(c, python, repeat, &triton, diag);
    if (status) return status;
    printf("| %s | %s |", c->target, c->name);
    print_time(first);
    print_time(library);
    print_time(process);
    print_time(clang);
    print_time(triton);
    putchar('\n');
    fflush(stdout);
    return TW_OK;
}
