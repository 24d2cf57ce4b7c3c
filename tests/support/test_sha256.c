#include "support/sha256.h"

#include <string.h>

#include "tests/test.h"

static void expect(const void *data, size_t bytes, const char *hex) {
    uint8_t digest[TW_SHA256_BYTES];
    char got[TW_SHA256_HEX_SIZE];
    tw_sha256_of(data, bytes, digest);
    tw_sha256_hex(digest, got);
    assert_string_equal(got, hex);
}

/* The examples of FIPS 180-4 and of NIST's validation programme. */
static void published_vectors(void **state) {
    (void)state;
    expect("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
           "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    expect("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
           "mnopqrstnopqrstu",
           112, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    expect("\xbd", 1, "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b");
    static char million[1000000];
    memset(million, 'a', sizeof million);
    expect(million, sizeof million, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Small steps take the portable code, one large step the processor's instructions where there are any. */
static void the_size_of_the_steps_does_not_matter(void **state) {
    (void)state;
    static uint8_t data[40000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * i + i / 251);
    for (size_t bytes = sizeof data - 130; bytes <= sizeof data; bytes++) {
        uint8_t whole[TW_SHA256_BYTES], parts[TW_SHA256_BYTES];
        tw_sha256_of(data, bytes, whole);
        tw_sha256 sha, fork;
        tw_sha256_init(&sha);
        for (size_t at = 0, step = 1; at < bytes; at += step, step = (step * 7 + 3) % 200) {
            if (step > bytes - at) step = bytes - at;
            tw_sha256_update(&sha, data + at, step);
            fork = sha;
        }
        tw_sha256_final(&sha, parts);
        assert_memory_equal(whole, parts, sizeof whole);
        tw_sha256_final(&fork, parts);
        assert_memory_equal(whole, parts, sizeof whole);
    }
}

static void every_length_around_a_block(void **state) {
    (void)state;
    /* The digest of the digests of 0, 1, .. 199 bytes 0, 1, 2, ..: one value for 200 paddings, from another
     * implementation (coreutils' sha256sum). */
    uint8_t data[200], digest[TW_SHA256_BYTES];
    char hex[TW_SHA256_HEX_SIZE];
    tw_sha256 all;
    tw_sha256_init(&all);
    for (unsigned i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)i;
        tw_sha256_of(data, i, digest);
        tw_sha256_hex(digest, hex);
        tw_sha256_update(&all, hex, 64);
    }
    tw_sha256_final(&all, digest);
    tw_sha256_hex(digest, hex);
    assert_string_equal(hex, "7a38a844c9e159de39f0862ee2e28569a8250831150a3fbf0a59c001129b2fb2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_vectors),
        cmocka_unit_test(the_size_of_the_steps_does_not_matter),
        cmocka_unit_test(every_length_around_a_block),
    };
    return cmocka_run_group_tests_name("support-sha256", tests, NULL, NULL);
}
