/* What the suites of the kernel cache share: a folder for each test, and a code object to keep in it. */
#ifndef TW_TESTS_JIT_CACHE_FIXTURE_H
#define TW_TESTS_JIT_CACHE_FIXTURE_H

#include "tests/test.h"

#include "jit/cache_internal.h"
#include "tests/jit/kernels.h"

extern tw_compiler *compiler;
extern tw_code_object *reference; /* KERNEL_STORE for gfx1201, compiled without a cache */
extern const uint8_t *content;    /* its bytes */
extern size_t content_size;
extern tw_target target;

/* Of one test: */
extern tw_diag *diag;
extern char folder[64];
extern tw_cache *cache;
extern const tw_cache_key key_a, key_b;

int open_compiler(void **state);
int close_compiler(void **state);
int begin(void **state);
int end(void **state);
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

/* The test's folder, opened; begin() does so with the default limit. */
void open_cache(uint64_t limit);
void path_of(const tw_cache_key *key, char path[192]);
void write_file(const char *path, const void *bytes, size_t size);
void set_age(const char *path, int64_t seconds);
size_t read_entry(const tw_cache_key *key, uint8_t **bytes); /* the file; free() it */

bool is_reference(const tw_code_object *object);
void store(const tw_cache_key *key);     /* the reference's bytes */
tw_status load(const tw_cache_key *key); /* fails the test where a hit is not the reference */
tw_cache_key reference_key(void);
void only_key(const char *in, tw_cache_key *key); /* of the folder's one entry */
/* Compiles the reference through a cache; true for a hit. Anything but its bytes fails the test. */
bool compile(tw_cache *through, tw_compile_times *times);

tw_cache_stats stats_now(void);
void assert_stats(uint64_t entries, uint64_t damaged, uint64_t untrusted, uint64_t temporary);

#endif
