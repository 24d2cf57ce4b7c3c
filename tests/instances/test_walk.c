/* How images are walked under filters of one tap. */
#include "tests/test.h"

#include "instances/wgrad_walk.h"

enum { SPAN = 32, REACH = 8 };

typedef struct shape {
    int64_t h, w;
} shape;

static shape reshape(tw_dense dense, tw_wgrad_problem problem, tw_dense_walk walk, tw_dense_sizes z) {
    const tw_stage_shape stage = {.span = SPAN, .reach = REACH};
    walk.x = walk.dy = &stage;
    z.walk_h = z.walk_ho = problem.h;
    z.walk_w = z.walk_wo = problem.w;
    tw_dense_reshape(&dense, &problem, &walk, &z);
    assert_int_equal(z.walk_h, z.walk_ho);
    assert_int_equal(z.walk_w, z.walk_wo);
    return (shape){z.walk_h, z.walk_w};
}

static const tw_dense one_tap = {.kh = 1, .kw = 1, .stride = 1};

static void the_fewest_rows_of_strips(void **state) {
    (void)state;
    static const struct {
        shape image;
        int32_t channels;
        int rows, blocks, begin;
        shape walked;
    } rows[] = {
        {{28, 28}, 64, 1, 1, 0, {1, 784}}, /* 25 strips instead of 28 rows */
        {{28, 28}, 64, 2, 1, 0, {2, 392}}, /* one long row would leave every second row idle */
        {{28, 28}, 64, 1, 1, 1, {28, 28}}, /* 25 strips to begin cost more than 28 rows */
        {{14, 14}, 64, 1, 1, 1, {7, 28}},
        {{56, 56}, 64, 1, 1, 1, {98, 32}},
        {{28, 28}, 64, 1, 4, 0, {28, 28}}, /* four workgroups share the rows */
        {{8, 64}, 64, 1, 1, 0, {8, 64}},   /* nothing is idle */
        {{7, 13}, 64, 1, 1, 0, {1, 91}},
        {{1, 1}, 64, 1, 1, 0, {1, 1}},
        {{14, 14}, 64, 1, 1, 0, {1, 196}},
        {{14, 14}, 10000000, 1, 1, 0, {7, 28}}, /* the kernel counts a row's bytes in an i32 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const shape image = rows[i].image;
        for (int other = 0; other < 2; other++) {
            const tw_wgrad_problem p = {.h = (int32_t)image.h,
                                        .w = (int32_t)image.w,
                                        .c = other ? 8 : rows[i].channels,
                                        .k = other ? rows[i].channels : 8};
            const tw_dense_walk walk = {
                .rows = rows[i].rows, .blocks = rows[i].blocks, .begin = rows[i].begin};
            const shape got = reshape(one_tap, p, walk, (tw_dense_sizes){.ho = image.h, .wo = image.w});
            assert_int_equal(got.h, rows[i].walked.h);
            assert_int_equal(got.w, rows[i].walked.w);
        }
    }
}

static void others_stay_as_they_are(void **state) {
    (void)state;
    static const struct {
        tw_dense dense;
        tw_dense_sizes sizes;
    } rows[] = {
        {{.kh = 3, .kw = 1, .stride = 1}, {.ho = 14, .wo = 14}},
        {{.kh = 1, .kw = 3, .stride = 1}, {.ho = 14, .wo = 14}},
        {{.kh = 1, .kw = 1, .stride = 2}, {.ho = 14, .wo = 14}},
        {{.kh = 1, .kw = 1, .stride = 1}, {.ho = 14, .wo = 14, .pad_h = 1}},
        {{.kh = 1, .kw = 1, .stride = 1}, {.ho = 14, .wo = 14, .pad_w = 1}},
        {{.kh = 1, .kw = 1, .stride = 1}, {.ho = 13, .wo = 14}},
        {{.kh = 1, .kw = 1, .stride = 1}, {.ho = 14, .wo = 13}},
        {{.kh = 1, .kw = 1, .stride = 1}, {.ho = 14, .wo = 14, .empty = true}},
    };
    const tw_wgrad_problem p = {.h = 14, .w = 14, .c = 8, .k = 8};
    const tw_dense_walk walk = {.rows = 1, .blocks = 1};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const shape got = reshape(rows[i].dense, p, walk, rows[i].sizes);
        assert_int_equal(got.h, 14);
        assert_int_equal(got.w, 14);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fewest_rows_of_strips),
        cmocka_unit_test(others_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
