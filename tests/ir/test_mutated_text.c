/* 10,000 damaged texts: the parser refuses each with words, or takes it and prints a stable form. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "tests/ir/check_text.h"

#define RUNS      10000
#define SEEDS_MAX 64
#define TEXT_MAX  65536

static uint64_t random_state = 0x243F6A8885A308D3u;

static size_t below(size_t limit) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return limit ? (size_t)(random_state >> 20) % limit : 0;
}

typedef struct piece {
    size_t at, length;
} piece;

static bool in_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '%' || c == '@';
}

/* A token at a random place: a word with its sigil, or one character. */
static piece random_token(const char *text, size_t length) {
    piece p = {below(length), 1};
    if (!length || !in_word(text[p.at])) return p;
    while (p.at && in_word(text[p.at - 1]))
        p.at--;
    while (p.at + p.length < length && in_word(text[p.at + p.length]))
        p.length++;
    return p;
}

/* A whole line at a random place. */
static piece random_line(const char *text, size_t length) {
    piece p = {below(length), 0};
    while (p.at && text[p.at - 1] != '\n')
        p.at--;
    while (p.at + p.length < length && (!p.length || text[p.at + p.length - 1] != '\n'))
        p.length++;
    return p;
}

/* Puts `count` bytes of `from` in the place of `where`. */
static size_t replace(char *text, size_t length, piece where, const char *from, size_t count) {
    char *copy = malloc(count + 1);
    assert_non_null(copy);
    memcpy(copy, from, count);
    if (length - where.length + count > TEXT_MAX) count = where.length;
    memmove(text + where.at + count, text + where.at + where.length, length - where.at - where.length);
    memcpy(text + where.at, copy, count);
    free(copy);
    return length - where.length + count;
}

static size_t mutate(char *text, size_t length, const char *other, size_t other_length) {
    if (!length) return 0;
    bool lines = below(3) == 0;
    piece a = lines ? random_line(text, length) : random_token(text, length);
    piece b = lines ? random_line(text, length) : random_token(text, length);
    piece c = lines ? random_line(other, other_length) : random_token(other, other_length);
    switch (below(8)) {
    case 0: text[a.at] ^= (char)(1 << below(8)); return length;
    case 1: text[a.at] = (char)below(256); return length;
    case 2: return replace(text, length, a, "", 0);                                /* delete */
    case 3: return replace(text, length, (piece){a.at, 0}, text + a.at, a.length); /* double */
    case 4: return replace(text, length, a, text + b.at, b.length);                /* copy over */
    case 5: { /* swap, the later one first */
        piece first = a.at < b.at ? a : b, second = a.at < b.at ? b : a;
        if (first.at + first.length > second.at) return length;
        char *kept = malloc(first.length + 1);
        assert_non_null(kept);
        memcpy(kept, text + first.at, first.length);
        char *moved = malloc(second.length + 1);
        assert_non_null(moved);
        memcpy(moved, text + second.at, second.length);
        length = replace(text, length, second, kept, first.length);
        length = replace(text, length, first, moved, second.length);
        free(moved);
        free(kept);
        return length;
    }
    case 6: return replace(text, length, a, other + c.at, c.length); /* splice */
    default: return below(8) ? length : a.at;                        /* cut */
    }
}

static void damaged_texts_are_refused_or_stable(void **state) {
    (void)state;
    char *seeds[SEEDS_MAX];
    size_t lengths[SEEDS_MAX], count = 0, accepted = 0;
    while (count < SEEDS_MAX && (seeds[count] = check_text_seed(count, &lengths[count])))
        count++;
    assert_true(count > 4);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(check_text(seeds[i], lengths[i]), CHECK_ACCEPTED);
    char *text = malloc(TEXT_MAX);
    for (unsigned run = 0; run < RUNS; run++) {
        size_t which = below(count), other = below(count), length = lengths[which];
        memcpy(text, seeds[which], length);
        for (size_t edits = 1 + below(3); edits; edits--)
            length = mutate(text, length, seeds[other], lengths[other]);
        char *exact = malloc(length + !length); /* so that a sanitizer sees a read past the end */
        memcpy(exact, text, length);
        check_outcome outcome = check_text(exact, length);
        free(exact);
        assert_int_not_equal(outcome, CHECK_FAILED);
        accepted += outcome == CHECK_ACCEPTED;
    }
    /* Were all refused, the second half of the property would not have been tried. */
    assert_true(accepted > RUNS / 50);
    print_message("%zu of %d accepted\n", accepted, RUNS);
    free(text);
    for (size_t i = 0; i < count; i++)
        free(seeds[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(damaged_texts_are_refused_or_stable)};
    return cmocka_run_group_tests_name("mutated_text", tests, NULL, NULL);
}
