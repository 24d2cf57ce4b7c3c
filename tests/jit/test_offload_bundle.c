#include "tests/test.h"

#include "jit/offload_bundle.h"
#include "tests/jit/bundle_bytes.h"

#define HIP "hipv4-amdgcn-amd-amdhsa--"

static const bundle_entry entries[] = {{"host-x86_64-unknown-linux-gnu-", ""},
                                       {HIP "gfx1100", "code of gfx1100"},
                                       {HIP "gfx90a:sramecc+:xnack-", "off"},
                                       {HIP "gfx90a:xnack+", "on"},
                                       {"hip-amdgcn-amd-amdhsa--gfx942", "an older kind"},
                                       {"hipv4-amdgcn-amd-amdhsa-unknown-gfx950", "with an environment"},
                                       {"hipv4-spirv64-amd-amdhsa--gfx1201", "another processor"},
                                       {"host-amdgcn-amd-amdhsa--gfx1201", "another kind"},
                                       {HIP "gfx9-generic", "a target that is unknown here"}};
enum { COUNT = sizeof entries / sizeof entries[0] };

static tw_offload_bundle *open_bundle(const uint8_t *bytes, size_t size) {
    tw_offload_bundle *bundle = NULL;
    tw_diag *diag = tw_diag_new(NULL);
    if (tw_offload_bundle_from_bytes(bytes, size, &bundle, diag)) fail_msg("%s", tw_diag_text(diag));
    tw_diag_free(diag);
    return bundle;
}

static void has_all_entries(const tw_offload_bundle *bundle) {
    assert_int_equal(tw_offload_bundle_count(bundle), COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        tw_offload_member member = tw_offload_bundle_at(bundle, i);
        assert_string_equal(member.id, entries[i].id);
        assert_int_equal(member.size, strlen(entries[i].content));
        assert_memory_equal(member.bytes, entries[i].content, member.size);
        assert_int_equal(member.runs, i >= 1 && i <= 5);
    }
    assert_null(tw_offload_bundle_at(bundle, COUNT).id);
}

static void a_plain_bundle_gives_its_entries(void **state) {
    (void)state;
    size_t size;
    uint8_t *bytes = plain_bundle(entries, COUNT, &size);
    assert_true(tw_offload_bundle_detect(bytes, size));
    assert_false(tw_offload_bundle_detect(bytes, 23));
    assert_false(tw_offload_bundle_detect("\177ELF", 4));
    tw_offload_bundle *bundle = open_bundle(bytes, size);
    free(bytes);
    has_all_entries(bundle);
    tw_offload_bundle_free(bundle);
}

static void compressed_bundles_give_the_same(void **state) {
    (void)state;
    size_t size, packed_size;
    uint8_t *bytes = plain_bundle(entries, COUNT, &size);
    for (unsigned version = 1; version <= 3; version++) {
        for (unsigned method = 0; method < 2; method++) {
            uint8_t *packed = compressed_bundle(bytes, size, version, method, &packed_size);
            assert_true(tw_offload_bundle_detect(packed, packed_size));
            if (version > 1) { /* the size in the header ends the bundle, whatever follows it in the file */
                packed = realloc(packed, packed_size + 100);
                assert_non_null(packed);
                memset(packed + packed_size, 0x5a, 100);
                packed_size += 100;
            }
            tw_offload_bundle *bundle = open_bundle(packed, packed_size);
            free(packed);
            has_all_entries(bundle);
            tw_offload_bundle_free(bundle);
        }
    }
    free(bytes);
}

static void members_are_chosen_as_hip_does(void **state) {
    (void)state;
    static const struct {
        const char *device, *content; /* NULL: none */
    } rows[] = {{"gfx1100", "code of gfx1100"},
                {"gfx1151", NULL},
                {"gfx1201", NULL},
                {"gfx942", "an older kind"},
                {"gfx942:sramecc+:xnack-", "an older kind"},
                {"gfx950", "with an environment"},
                {"gfx90a:sramecc+:xnack-", "off"},
                {"gfx90a:sramecc-:xnack-", NULL},
                {"gfx90a:sramecc+:xnack+", "on"},
                {"gfx90a:sramecc-:xnack+", "on"},
                {"gfx90a:xnack+", "on"},
                {"gfx90a", "off"}};
    size_t size;
    uint8_t *bytes = plain_bundle(entries, COUNT, &size);
    tw_offload_bundle *bundle = open_bundle(bytes, size);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tw_target target;
        tw_offload_member member;
        tw_diag *diag = tw_diag_new(NULL);
        assert_int_equal(tw_target_parse(rows[i].device, &target, NULL), TW_OK);
        tw_status status = tw_offload_bundle_select(bundle, target, &member, diag);
        assert_int_equal(status, rows[i].content ? TW_OK : TW_ERR_NOT_FOUND);
        if (rows[i].content) {
            assert_int_equal(member.size, strlen(rows[i].content));
            assert_memory_equal(member.bytes, rows[i].content, member.size);
        } else {
            assert_non_null(strstr(tw_diag_first_error(diag), rows[i].device));
            assert_non_null(strstr(tw_diag_first_error(diag), HIP "gfx90a:xnack+"));
        }
        tw_diag_free(diag);
    }
    tw_offload_bundle_free(bundle);
    free(bytes);
}

static void the_member_that_names_more_features_wins(void **state) {
    (void)state;
    static const bundle_entry both[] = {{HIP "gfx942", "any"}, {HIP "gfx942:xnack+", "xnack"}};
    size_t size;
    uint8_t *bytes = plain_bundle(both, 2, &size);
    tw_offload_bundle *bundle = open_bundle(bytes, size);
    tw_target target;
    tw_offload_member member;
    assert_int_equal(tw_target_parse("gfx942:xnack+", &target, NULL), TW_OK);
    assert_int_equal(tw_offload_bundle_select(bundle, target, &member, NULL), TW_OK);
    assert_int_equal(member.size, 5);
    assert_int_equal(tw_target_parse("gfx942:xnack-", &target, NULL), TW_OK);
    assert_int_equal(tw_offload_bundle_select(bundle, target, &member, NULL), TW_OK);
    assert_int_equal(member.size, 3);
    tw_offload_bundle_free(bundle);
    free(bytes);
}

/* One edit of a good bundle, and what the reader says. */
typedef struct damage {
    size_t at, bytes;
    uint64_t value;
    size_t cut; /* bytes that remain; 0: all */
    tw_status status;
    const char *text;
} damage;

static void refuse(const uint8_t *good, size_t size, const damage *d) {
    size_t length = d->cut ? d->cut : size;
    uint8_t *bytes = malloc(length); /* of the exact size, so that a sanitizer sees a read past it */
    assert_non_null(bytes);
    memcpy(bytes, good, length);
    if (d->bytes) put_number(bytes + d->at, d->value, (unsigned)d->bytes);
    tw_diag *diag = tw_diag_new(NULL);
    tw_offload_bundle *bundle = (tw_offload_bundle *)bytes;
    tw_status status = tw_offload_bundle_from_bytes(bytes, length, &bundle, diag);
    if (status != d->status || bundle || !strstr(tw_diag_first_error(diag), d->text))
        fail_msg("offset %zu: status %d, %s\n  expected %s", d->at, status, tw_diag_first_error(diag),
                 d->text);
    tw_diag_free(diag);
    free(bytes);
}

static void damaged_bundles_are_refused(void **state) {
    (void)state;
    static const bundle_entry one[] = {{HIP "gfx942", "content"}};
    /* 24 magic, 24..31 count, 32 offset, 40 size, 48 length, 56 id of 31 bytes, 87 content of 7 bytes. */
    static const damage plain[] = {
        {0, 1, 'x', 0, TW_ERR_INVALID, "a bundle begins with __CLANG_OFFLOAD_BUNDLE__ (got something else)"},
        {0, 0, 0, 31, TW_ERR_INVALID, "a bundle has at least 32 bytes (got 31)"},
        {24, 8, 1025, 0, TW_ERR_INVALID, "a bundle has at most 1024 entries (got 1025)"},
        {24, 8, 2, 0, TW_ERR_INVALID, "entry 1 must lie in the bundle"},
        {0, 0, 0, 55, TW_ERR_INVALID, "entry 0 must lie in the bundle"},
        {32, 8, 94, 0, TW_ERR_INVALID, "entry 0 must lie in the 94 bytes of the bundle (got 7 at offset 94)"},
        {32, 8, UINT64_MAX, 0, TW_ERR_INVALID, "(got 7 at offset 18446744073709551615)"},
        {40, 8, 8, 0, TW_ERR_INVALID, "(got 8 at offset 87)"},
        {40, 8, UINT64_MAX - 86, 0, TW_ERR_INVALID, "(got 18446744073709551529 at offset 87)"},
        {48, 8, 0, 0, TW_ERR_INVALID, "must have 1..512 bytes in the bundle (got 0)"},
        {48, 8, 39, 0, TW_ERR_INVALID, "must have 1..512 bytes in the bundle (got 39)"},
        {48, 8, UINT64_MAX, 0, TW_ERR_INVALID, "(got 18446744073709551615)"},
        {60, 1, 0, 0, TW_ERR_INVALID, "must have no zero byte (got one in 31 bytes)"},
    };
    static const damage packed[] = {
        {0, 0, 0, 7, TW_ERR_INVALID, "a header of at least 20 bytes (got 7)"},
        {0, 0, 0, 31, TW_ERR_INVALID, "of version 3 has a header of 32 bytes (got 31)"},
        {4, 2, 0, 0, TW_ERR_UNSUPPORTED, "must be 1..3 (got 0)"},
        {4, 2, 4, 0, TW_ERR_UNSUPPORTED, "must be 1..3 (got 4)"},
        {6, 2, 2, 0, TW_ERR_UNSUPPORTED, "0 (zlib) or 1 (zstd) (got 2)"},
        {6, 2, 0, 0, TW_ERR_INVALID, "must give 94 bytes (got damaged data)"},
        {8, 8, 31, 0, TW_ERR_INVALID, "of its file (got 31)"},
        {8, 8, UINT64_MAX, 0, TW_ERR_INVALID, "of its file (got 18446744073709551615)"},
        {16, 8, 95, 0, TW_ERR_INVALID, "must give 95 bytes (got 94)"},
        {16, 8, 93, 0, TW_ERR_INVALID, "must give 93 bytes (got "},
        {16, 8, (1 << 30) + 1, 0, TW_ERR_INVALID, "at most 1073741824 bytes (got 1073741825)"},
        {32, 4, 0, 0, TW_ERR_INVALID, "must give 94 bytes (got "},
    };
    size_t size, packed_size;
    uint8_t *bytes = plain_bundle(one, 1, &size);
    assert_int_equal(size, 94);
    uint8_t *zstd = compressed_bundle(bytes, size, 3, 1, &packed_size);
    /* Bytes that do not begin as a bundle does are refused too. */
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        refuse(bytes, size, &plain[i]);
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++)
        refuse(zstd, packed_size, &packed[i]);
    free(zstd);
    /* What is compressed must be a plain bundle. */
    zstd = compressed_bundle((const uint8_t *)"hello", 5, 2, 0, &packed_size);
    damage nothing = {0, 0, 0, 0, TW_ERR_INVALID, "a bundle begins with"};
    refuse(zstd, packed_size, &nothing);
    free(zstd);
    free(bytes);
}

static void missing_pointers_are_usage_errors(void **state) {
    (void)state;
    tw_offload_bundle *bundle;
    assert_int_equal(tw_offload_bundle_from_bytes("", 0, NULL, NULL), TW_ERR_USAGE);
    assert_int_equal(tw_offload_bundle_from_bytes(NULL, 0, &bundle, NULL), TW_ERR_USAGE);
    assert_null(bundle);
    assert_false(tw_offload_bundle_detect(NULL, 0));
    tw_offload_bundle_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_plain_bundle_gives_its_entries),
                                       cmocka_unit_test(compressed_bundles_give_the_same),
                                       cmocka_unit_test(members_are_chosen_as_hip_does),
                                       cmocka_unit_test(the_member_that_names_more_features_wins),
                                       cmocka_unit_test(damaged_bundles_are_refused),
                                       cmocka_unit_test(missing_pointers_are_usage_errors)};
    return cmocka_run_group_tests_name("offload_bundle", tests, NULL, NULL);
}
