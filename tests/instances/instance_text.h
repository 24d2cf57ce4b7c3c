/* Instances from one line of words. */
#ifndef TW_TESTS_INSTANCES_INSTANCE_TEXT_H
#define TW_TESTS_INSTANCES_INSTANCE_TEXT_H

#include <stdio.h>
#include <string.h>

#include "instances/instance.h"
#include "tests/test.h"

static inline void read_instance(const char *line, tw_instance *out) {
    char text[1024];
    const char *words[64];
    size_t count = 0;
    assert_true(strlen(line) < sizeof text);
    strcpy(text, line);
    for (char *save, *at = strtok_r(text, " ", &save); at; at = strtok_r(NULL, " ", &save))
        words[count++] = at;
    tw_diag *diag = tw_diag_new(NULL);
    if (tw_instance_parse(words, count, out, diag)) fail_msg("%s: %s", line, tw_diag_text(diag));
    tw_diag_free(diag);
}

#endif
