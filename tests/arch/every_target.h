/* All targets with each of their wave sizes, for tests that go through them. */
#ifndef TW_TESTS_ARCH_EVERY_TARGET_H
#define TW_TESTS_ARCH_EVERY_TARGET_H

#include "arch/target.h"
#include "tests/test.h"

static const char *const every_target[] = {"gfx90a",         "gfx942",  "gfx950",         "gfx1100",
                                           "gfx1100:wave64", "gfx1151", "gfx1151:wave64", "gfx1200",
                                           "gfx1200:wave64", "gfx1201", "gfx1201:wave64", "gfx1250"};
#define EVERY_TARGET (sizeof every_target / sizeof every_target[0])

static inline tw_target target(const char *text) {
    tw_target t;
    assert_int_equal(tw_target_parse(text, &t, NULL), TW_OK);
    return t;
}

#endif
