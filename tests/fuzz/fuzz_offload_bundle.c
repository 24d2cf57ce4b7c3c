/* The reader of offload bundles, and all that its accessors hand out, on hostile bytes. */
#include "jit/offload_bundle.h"
#include "tests/fuzz/fuzz.h"
#include "tests/jit/bundle_bytes.h"

static volatile unsigned char sink;

static void touch(const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        sink ^= at[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tw_offload_bundle *bundle;
    tw_offload_member member;
    tw_target target;
    if (tw_offload_bundle_from_bytes(data, size, &bundle, NULL)) return 0;
    for (size_t i = 0; i < tw_offload_bundle_count(bundle); i++) {
        member = tw_offload_bundle_at(bundle, i);
        touch(member.id, strlen(member.id));
        touch(member.bytes, member.size);
    }
    if (!tw_target_parse("gfx90a:xnack-", &target, NULL) &&
        !tw_offload_bundle_select(bundle, target, &member, NULL) && !member.runs)
        abort();
    tw_offload_bundle_free(bundle);
    return 0;
}

uint8_t *tw_fuzz_seed(size_t index, size_t *size) {
    static const bundle_entry entries[] = {{"host-x86_64-unknown-linux-gnu-", ""},
                                           {"hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", "some code"},
                                           {"hipv4-amdgcn-amd-amdhsa--gfx1100", "more code"}};
    size_t plain_size;
    if (index > 6) return NULL;
    uint8_t *plain = plain_bundle(entries, 3, &plain_size);
    *size = plain_size;
    if (!index) return plain;
    uint8_t *packed =
        compressed_bundle(plain, plain_size, (unsigned)(index - 1) % 3 + 1, (unsigned)(index - 1) / 3, size);
    free(plain);
    return packed;
}
