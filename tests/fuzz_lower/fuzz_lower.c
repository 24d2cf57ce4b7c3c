/* fuzz_lower [--seed N] [--count N] [--target T] [--jobs N] [--level 1..3]: kernels N, N + 1, ... for the
 * target, or for each target that the emulator has. --reduce SEED --target T makes a failing kernel small and
 * prints it;
 * --print SEED --target T prints it as it is. The same numbers give the same kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jit/backend.h"
#include "tests/fuzz_lower/reduce.h"

static const char *const all_targets[] = {"gfx90a",  "gfx942",  "gfx950",  "gfx1100",        "gfx1100:wave64",
                                          "gfx1151", "gfx1200", "gfx1201", "gfx1201:wave64", "gfx1250"};

typedef struct settings {
    uint64_t seed, count;
    const char *target;
    unsigned jobs, level;
    bool reduce, print;
} settings;

typedef struct counts {
    uint64_t verdicts[FUZZ_VERDICT_COUNT];
    uint64_t compile_time, interpret_time, run_time;
} counts;

static void report(const fuzz_case *c, uint64_t seed, const char *target, const fuzz_result *result) {
    (void)c;
    printf("%s seed %llu %s:\n%s", target, (unsigned long long)seed, fuzz_verdict_names[result->verdict],
           result->text);
    fflush(stdout);
}

static void run_batch(fuzz_runner *r, const char *target, uint64_t seed, unsigned count, counts *total) {
    fuzz_case *cases[FUZZ_BATCH];
    fuzz_result results[FUZZ_BATCH];
    for (unsigned i = 0; i < count; i++)
        cases[i] = fuzz_case_new(seed + i, r->target);
    fuzz_run(r, cases, count, results);
    for (unsigned i = 0; i < count; i++) {
        total->verdicts[results[i].verdict]++;
        if (results[i].verdict != FUZZ_AGREES) report(cases[i], seed + i, target, &results[i]);
        fuzz_case_free(cases[i]);
    }
}

/* Every jobs-th batch, from batch `job` on. */
static void run_share(const settings *s, const char *target, unsigned job, counts *total) {
    fuzz_runner r;
    if (!fuzz_runner_open(&r, target)) exit(1);
    r.level = s->level;
    for (uint64_t at = (uint64_t)job * FUZZ_BATCH; at < s->count; at += (uint64_t)s->jobs * FUZZ_BATCH) {
        uint64_t left = s->count - at;
        run_batch(&r, target, s->seed + at, left < FUZZ_BATCH ? (unsigned)left : FUZZ_BATCH, total);
    }
    total->compile_time = r.compile_time;
    total->interpret_time = r.interpret_time;
    total->run_time = r.run_time;
    fuzz_runner_close(&r);
}

/* A process for each share: compiles fork, and threads would hold locks while they do. */
static bool run_shares(const settings *s, const char *target, counts *total) {
    int ends[2];
    if (pipe(ends)) return false;
    fflush(stdout);
    for (unsigned job = 0; job < s->jobs; job++) {
        pid_t pid = fork();
        if (pid < 0) return false;
        if (pid) continue;
        counts mine = {0};
        run_share(s, target, job, &mine);
        fflush(stdout);
        _exit(write(ends[1], &mine, sizeof mine) == sizeof mine ? 0 : 1);
    }
    close(ends[1]);
    counts part;
    while (read(ends[0], &part, sizeof part) == sizeof part) {
        for (int v = 0; v < FUZZ_VERDICT_COUNT; v++)
            total->verdicts[v] += part.verdicts[v];
        total->compile_time += part.compile_time;
        total->interpret_time += part.interpret_time;
        total->run_time += part.run_time;
    }
    close(ends[0]);
    bool good = true;
    int status;
    for (unsigned job = 0; job < s->jobs; job++)
        good = wait(&status) >= 0 && WIFEXITED(status) && !WEXITSTATUS(status) && good;
    return good;
}

static bool run_target(const settings *s, const char *target) {
    counts total = {0};
    uint64_t start = tw_now(), ran = 0;
    bool good = run_shares(s, target, &total);
    double seconds = (double)(tw_now() - start) * 1e-9;
    for (int v = 0; v < FUZZ_VERDICT_COUNT; v++)
        ran += total.verdicts[v];
    printf("%-15s %6llu kernels, %6llu agree, %4llu skipped, %4llu wrong; %5.1f/s (compile %.1f s, host %.1f "
           "s, run %.1f s)\n",
           target, (unsigned long long)ran, (unsigned long long)total.verdicts[FUZZ_AGREES],
           (unsigned long long)total.verdicts[FUZZ_SKIPPED],
           (unsigned long long)(ran - total.verdicts[FUZZ_AGREES] - total.verdicts[FUZZ_SKIPPED]),
           (double)ran / seconds, (double)total.compile_time * 1e-9, (double)total.interpret_time * 1e-9,
           (double)total.run_time * 1e-9);
    fflush(stdout);
    return good && ran == s->count && total.verdicts[FUZZ_AGREES] + total.verdicts[FUZZ_SKIPPED] == ran &&
           total.verdicts[FUZZ_AGREES] > 0;
}

static int show(const settings *s) {
    fuzz_runner r;
    fuzz_result result;
    if (!s->target || !fuzz_runner_open(&r, s->target)) return 2;
    r.level = s->level;
    fuzz_case *c = fuzz_case_new(s->seed, r.target);
    if (!c) return 1;
    fuzz_run(&r, &c, 1, &result);
    char *text;
    if (s->print && !tw_kernel_to_text(c->kernel, &text, NULL, NULL)) {
        printf("// grid %u, %u, %u\n%s", c->grid[0], c->grid[1], c->grid[2], text);
        free(text);
    }
    report(c, s->seed, s->target, &result);
    if (s->reduce && result.verdict != FUZZ_AGREES) {
        fuzz_reduce(&r, c, result.verdict);
    } else {
        fuzz_case_free(c);
    }
    fuzz_runner_close(&r);
    return 0;
}

static bool parse(int argc, char **argv, settings *s) {
    *s = (settings){.seed = 1, .count = 64, .jobs = 1};
    for (int i = 1; i + 1 < argc; i += 2) {
        uint64_t number = strtoull(argv[i + 1], NULL, 10);
        if (!strcmp(argv[i], "--seed")) {
            s->seed = number;
        } else if (!strcmp(argv[i], "--count")) {
            s->count = number;
        } else if (!strcmp(argv[i], "--jobs")) {
            s->jobs = number ? (unsigned)number : 1;
        } else if (!strcmp(argv[i], "--level") && number <= 3) {
            s->level = (unsigned)number;
        } else if (!strcmp(argv[i], "--target")) {
            s->target = argv[i + 1];
        } else if (!strcmp(argv[i], "--reduce") || !strcmp(argv[i], "--print")) {
            s->seed = number;
            s->reduce = argv[i][2] == 'r';
            s->print = !s->reduce;
        } else {
            return false;
        }
    }
    return argc % 2 == 1;
}

int main(int argc, char **argv) {
    settings s;
    if (!parse(argc, argv, &s)) {
        fprintf(stderr,
                "usage: %s [--seed N] [--count N] [--target T] [--jobs N] [--level 1..3] [--reduce SEED | "
                "--print SEED]\n",
                argv[0]);
        return 2;
    }
    if (s.reduce || s.print) return show(&s);
    if (s.target) return run_target(&s, s.target) ? 0 : 1;
    bool good = true;
    for (size_t i = 0; i < sizeof all_targets / sizeof all_targets[0]; i++)
        good = run_target(&s, all_targets[i]) && good;
    return good ? 0 : 1;
}
