/* fuzz_X [--runs N] [--seed N] [FILE...]: runs the target on each FILE as it is; without files, on its seeds
 * and on N mutations of them. The same numbers give the same inputs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

static uint64_t random_state;

static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * 0x2545f4914f6cdd1du;
}

static size_t below(size_t limit) { return limit ? (size_t)(next_random() >> 16) % limit : 0; }

/* Values at which lengths and offsets go wrong. */
static uint64_t edge_value(void) {
    static const uint64_t values[] = {0,          1,         0x7f,       0x80,       0xff,
                                      0x7fff,     0xffff,    0x7fffffff, 0x80000000, 0xffffffff,
                                      UINT64_MAX, INT64_MAX, 1u << 30};
    return values[below(sizeof values / sizeof values[0])];
}

static void copy_within(uint8_t *data, size_t size, size_t to) {
    size_t from = below(size), room = size - (from > to ? from : to);
    memmove(data + to, data + from, below((room < 64 ? room : 64) + 1));
}

/* Changes `data` in place; returns the new size, which is never larger. */
static size_t mutate(uint8_t *data, size_t size) {
    for (size_t edits = 1 + below(6); edits && size; edits--) {
        size_t at = below(size), rest = size - at;
        uint64_t value = edge_value();
        switch (below(6)) {
        case 0: data[at] ^= (uint8_t)(1u << below(8)); break;
        case 1: data[at] = (uint8_t)next_random(); break;
        case 2: memcpy(data + at, &value, rest < 4 ? rest : 4); break;
        case 3: memcpy(data + at, &value, rest < 8 ? rest : 8); break;
        case 4: copy_within(data, size, at); break;
        case 5:
            if (below(8) == 0) size = at;
            break;
        }
    }
    return size;
}

/* The target gets a block of exactly `size` bytes, so that a sanitizer sees the first byte past it. */
static void run_copy(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) exit(1);
    if (size) memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void run_seed(const uint8_t *seed, size_t size, unsigned long runs) {
    uint8_t *work = malloc(size ? size : 1);
    if (!work) exit(1);
    run_copy(seed, size);
    for (unsigned long i = 0; i < runs; i++) {
        memcpy(work, seed, size);
        run_copy(work, mutate(work, size));
    }
    free(work);
}

static int run_file(const char *path) {
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (file && fseek(file, 0, SEEK_END) == 0) size = ftell(file);
    if (size < 0) {
        perror(path);
        return 1;
    }
    rewind(file);
    uint8_t *data = malloc((size_t)size + 1);
    size_t got = data ? fread(data, 1, (size_t)size, file) : 0;
    fclose(file);
    run_copy(data, got);
    free(data);
    return got == (size_t)size ? 0 : 1;
}

int main(int argc, char **argv) {
    unsigned long runs = 1000, seed = 1, seeds = 0;
    int first = 1, failed = 0;
    while (first + 1 < argc && !strncmp(argv[first], "--", 2)) {
        unsigned long value = strtoul(argv[first + 1], NULL, 10);
        if (!strcmp(argv[first], "--runs")) {
            runs = value;
        } else if (!strcmp(argv[first], "--seed")) {
            seed = value;
        } else {
            fprintf(stderr, "usage: %s [--runs N] [--seed N] [FILE...]\n", argv[0]);
            return 2;
        }
        first += 2;
    }
    random_state = seed * 0x9e3779b97f4a7c15u + 1;
    for (int i = first; i < argc; i++)
        failed |= run_file(argv[i]);
    if (first < argc) return failed;
    uint8_t *data;
    size_t size;
    for (; (data = tw_fuzz_seed(seeds, &size)); seeds++) {
        run_seed(data, size, runs);
        free(data);
    }
    printf("%lu seeds, %lu mutations of each\n", seeds, runs);
    return seeds ? 0 : 1; /* nothing tried is no success */
}
