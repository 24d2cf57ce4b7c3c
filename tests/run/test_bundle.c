/* Bundles: what is written, what is refused, and how results are compared. The replays here are on a HIP
 * runtime that runs nothing, so that a buffer holds in the end what it was given. */
#include "tests/test.h"

#include <dlfcn.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/bundle_internal.h"
#include "tests/run/kernels.h"

typedef struct fixture {
    char folder[64];
    tw_diag *diag;
    tw_code_object *object;
    tw_plan *plan;
    float x[16], y[16];
    double expected[4], bound[4];
    tw_plan_host hosts[3];
    tw_bundle_output outputs[2];
    tw_bundle_source source;
} fixture;

static int begin(void **state) {
    fixture *f = calloc(1, sizeof *f);
    strcpy(f->folder, "/tmp/tilewright-bundle-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    setenv("TILEWRIGHT_HIP", FAKE_HIP, 1);
    setenv("FAKE_HIP_ARCHS", "gfx942", 1);
    f->diag = tw_diag_new(NULL);
    f->object = compile_kernel(kernel_slabs, "gfx942");
    f->plan = tw_plan_new("slabs");
    uint32_t x = tw_plan_add_buffer(f->plan, "x", TW_PLAN_INPUT, sizeof f->x);
    uint32_t slab = tw_plan_add_buffer(f->plan, "slab", TW_PLAN_SCRATCH, 256);
    uint32_t y = tw_plan_add_buffer(f->plan, "y", TW_PLAN_INOUT, sizeof f->y);
    tw_plan_add_launch(f->plan, 0, "add", (tw_dim3){2, 1, 1}, (tw_dim3){64, 1, 1}, 1024);
    tw_plan_zero(f->plan, slab);
    tw_plan_arg_buffer(f->plan, "x", x, 4);
    tw_plan_arg_buffer(f->plan, "slab", slab, 0);
    tw_plan_arg_i32(f->plan, "n", 100);
    tw_plan_add_launch(f->plan, 0, "fold", (tw_dim3){1, 1, 1}, (tw_dim3){64, 1, 1}, 0);
    tw_plan_arg_buffer(f->plan, "slab", slab, 0);
    tw_plan_arg_buffer(f->plan, "out", y, 0);
    for (int i = 0; i < 16; i++) {
        f->x[i] = (float)i;
        f->y[i] = (float)(i + 1);
    }
    for (int i = 0; i < 4; i++) {
        f->expected[i] = i + 1;
        f->bound[i] = 0.5;
    }
    f->hosts[x] = (tw_plan_host){f->x, NULL};
    f->hosts[y] = (tw_plan_host){f->y, f->y};
    f->outputs[0] = (tw_bundle_output){y, TW_F32, 2, {2, 2}, f->expected, f->bound};
    f->source = (tw_bundle_source){.plan = f->plan,
                                   .target = tw_code_object_target(f->object),
                                   .objects = &f->object,
                                   .object_count = 1,
                                   .hosts = f->hosts,
                                   .host_count = 3,
                                   .outputs = f->outputs,
                                   .output_count = 1};
    *state = f;
    return 0;
}

static int drop(const char *path, const struct stat *info, int type, struct FTW *where) {
    (void)info, (void)type, (void)where;
    return remove(path);
}

static int end(void **state) {
    fixture *f = *state;
    nftw(f->folder, drop, 16, FTW_PHYS | FTW_DEPTH);
    tw_plan_free(f->plan);
    tw_code_object_release(f->object);
    tw_diag_free(f->diag);
    free(f);
    return 0;
}

static void write_bundle(fixture *f) {
    if (tw_bundle_write(f->folder, &f->source, f->diag)) fail_msg("%s", tw_diag_text(f->diag));
}

static char *path_of(const fixture *f, const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    return path;
}

static char *slurp(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    *size = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    return text;
}

static void put(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* ---- writing ---- */

static const char canonical[] =
    "{\n"
    " \"format\": \"tilewright-bundle\",\n"
    " \"version\": 1,\n"
    " \"target\": \"gfx942\",\n"
    " \"buffers\": [\n"
    "  {\"name\": \"x\", \"bytes\": 64, \"file\": \"x.bin\"},\n"
    "  {\"name\": \"slab\", \"bytes\": 256, \"fill\": 255},\n"
    "  {\"name\": \"y\", \"bytes\": 64, \"file\": \"y.bin\"}\n"
    " ],\n"
    " \"launches\": [\n"
    "  {\"code_object\": \"k0.hsaco\", \"kernel\": \"add\", \"grid\": [2, 1, 1],\n"
    "   \"block\": [64, 1, 1], \"dynamic_lds\": 1024, \"zero\": [\"slab\"],\n"
    "   \"kernarg\": \"0000000000000000000000000000000064000000\",\n"
    "   \"pointers\": [{\"offset\": 0, \"buffer\": \"x\", \"byte_offset\": 4},\n"
    "                {\"offset\": 8, \"buffer\": \"slab\", \"byte_offset\": 0}]},\n"
    "  {\"code_object\": \"k0.hsaco\", \"kernel\": \"fold\", \"grid\": [1, 1, 1],\n"
    "   \"block\": [64, 1, 1], \"dynamic_lds\": 0, \"zero\": [],\n"
    "   \"kernarg\": \"00000000000000000000000000000000\",\n"
    "   \"pointers\": [{\"offset\": 0, \"buffer\": \"slab\", \"byte_offset\": 0},\n"
    "                {\"offset\": 8, \"buffer\": \"y\", \"byte_offset\": 0}]}\n"
    " ],\n"
    " \"outputs\": [\n"
    "  {\"buffer\": \"y\", \"dtype\": \"f32\", \"shape\": [2, 2],\n"
    "   \"expected\": \"y.expected.f64\", \"bound\": \"y.bound.f64\"}\n"
    " ]\n"
    "}\n";

/* Without the white space outside of strings. */
static void squeeze(const char *text, char *out) {
    bool quoted = false;
    for (; *text; text++) {
        quoted ^= *text == '"';
        if (quoted || !strchr(" \n", *text)) *out++ = *text;
    }
    *out = 0;
}

static void a_bundle_says_all_that_a_run_needs(void **state) {
    fixture *f = *state;
    write_bundle(f);
    size_t size;
    char *text = slurp(path_of(f, "bundle.json"), &size);
    char got[4096], wanted[4096];
    squeeze(text, got);
    squeeze(canonical, wanted);
    assert_string_equal(got, wanted);
    free(text);
    text = slurp(path_of(f, "x.bin"), &size);
    assert_int_equal(size, 64);
    assert_memory_equal(text, f->x, 64);
    free(text);
    text = slurp(path_of(f, "y.expected.f64"), &size);
    assert_int_equal(size, 32);
    assert_memory_equal(text, f->expected, 32);
    free(text);
    text = slurp(path_of(f, "k0.hsaco"), &size);
    size_t object_size;
    const void *bytes = tw_code_object_bytes(f->object, &object_size);
    assert_int_equal(size, object_size);
    assert_memory_equal(text, bytes, size);
    free(text);
}

static void the_writer_checks_its_source(void **state) {
    fixture *f = *state;
    static const double nan_bound[4] = {0, 0, NAN, 0};
    static const struct {
        unsigned rank;
        uint64_t shape0;
        uint32_t buffer;
        tw_scalar format;
        const double *bound;
        const char *text;
    } cases[] = {
        {0, 2, 2, TW_F32, NULL, "outputs[0] must have a rank of 1..8 (got 0)"},
        {9, 2, 2, TW_F32, NULL, "outputs[0] must have a rank of 1..8 (got 9)"},
        {2, 9, 2, TW_F32, NULL, "outputs[0] must fit in its buffer of 64 bytes (got 18 elements of 4)"},
        {2, UINT64_MAX, 2, TW_F32, NULL,
         "outputs[0] must fit in its buffer of 64 bytes (got 18446744073709551615 elements of 4)"},
        {2, 2, 3, TW_F32, NULL, "outputs[0] must be one of the plan's 3 buffers (got index 3)"},
        {2, 2, 2, TW_I64, NULL,
         "outputs[0] must have elements of a format with a whole value (got format 4)"},
        {2, 2, 2, TW_F32, nan_bound,
         "outputs[0] must have bounds of 0 or more (got another value at element 2)"},
        {2, 2, 2, TW_F32, NULL, "outputs[0] needs expected values and bounds (got NULL)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        f->outputs[0] = (tw_bundle_output){cases[i].buffer,      cases[i].format, cases[i].rank,
                                           {cases[i].shape0, 2}, f->expected,     cases[i].bound};
        assert_int_not_equal(tw_bundle_write(f->folder, &f->source, f->diag), TW_OK);
        assert_string_equal(tw_diag_first_error(f->diag), cases[i].text);
        tw_diag_clear(f->diag);
        assert_int_equal(access(path_of(f, "bundle.json"), F_OK), -1);
    }
    f->source.output_count = 0;
    assert_int_equal(tw_bundle_write(f->folder, &f->source, f->diag), TW_ERR_USAGE);
    assert_string_equal(tw_diag_first_error(f->diag), "a bundle must have at least 1 output (got 0)");
    tw_diag_clear(f->diag);
    f->source.output_count = 1;
    assert_int_equal(tw_bundle_write("/nonexistent/folder", &f->source, f->diag), TW_ERR_IO);
    assert_string_equal(tw_diag_first_error(f->diag),
                        "the folder /nonexistent/folder cannot be made (No such file or directory)");
}

/* ---- reading ---- */

/* The canonical text with the first `from` replaced by `to`. */
static char *edited(const char *from, const char *to) {
    const char *at = strstr(canonical, from);
    if (!at) fail_msg("the text has no %s", from);
    char *text = malloc(sizeof canonical + strlen(to) + 1);
    sprintf(text, "%.*s%s%s", (int)(at - canonical), canonical, to, at + strlen(from));
    return text;
}

static void expect_refusal(fixture *f, const char *from, const char *to, const char *wanted) {
    char *text = edited(from, to);
    tw_bundle *bundle = (tw_bundle *)1;
    tw_status status = tw_bundle_parse(text, strlen(text), f->folder, &bundle, f->diag);
    if (!status) fail_msg("%s was accepted for %s", to, from);
    assert_null(bundle);
    assert_string_equal(tw_diag_first_error(f->diag), wanted);
    tw_diag_clear(f->diag);
    free(text);
}

static void every_member_is_checked(void **state) {
    fixture *f = *state;
    static const struct {
        const char *from, *to, *text;
    } cases[] = {
        {"\"tilewright-bundle\"", "\"zip\"", "format must be \"tilewright-bundle\" (got \"zip\")"},
        {"\"version\": 1", "\"version\": 2", "version must be at most 1 for this reader (got 2)"},
        {"\"version\": 1", "\"version\": 0", "version must be an integer 1..1 (got 0)"},
        {"\"version\": 1", "\"version\": \"1\"", "version must be an integer 1..1 (got \"1\")"},
        {"\"version\": 1", "\"v\": 1", "version must be an integer 1..1 (got none)"},
        {"\"gfx942\"", "\"gfx1\"",
         "target must be one of gfx90a, gfx942, gfx950, gfx1100, gfx1151, gfx1200, gfx1201, gfx1250 (got "
         "gfx1)"},
        {"\"gfx942\"", "942", "target must be a string (got 942)"},
        {"\"gfx942\"", "\"gfx950\"",
         "launches[0].code_object must be code for the bundle's target (got amdgcn-amd-amdhsa--gfx942)"},
        {"\"buffers\": [", "\"buffers\": [1,", "buffers[0] must be an object (got 1)"},
        {"\"buffers\"", "\"b\"", "buffers must be an array of 1 to 4096 entries (got none)"},
        {"\"name\": \"x\"", "\"name\": \"\"", "buffers[0].name must be a string (got \"\")"},
        {"\"name\": \"slab\"", "\"name\": \"x\"", "buffers[1].name must be there once (got \"x\")"},
        {"\"bytes\": 64", "\"bytes\": 64.0",
         "buffers[0].bytes must be an integer 0..1099511627776 (got 64.0)"},
        {"\"bytes\": 64", "\"bytes\": -1", "buffers[0].bytes must be an integer 0..1099511627776 (got -1)"},
        {"\"bytes\": 64", "\"bytes\": 1099511627777",
         "buffers[0].bytes must be an integer 0..1099511627776 (got 1099511627777)"},
        {"\"bytes\": 64", "\"bytes\": 63", "file x.bin must have 63 bytes (got 64)"},
        {"\"fill\": 255", "\"fill\": 256", "buffers[1].fill must be an integer 0..255 (got 256)"},
        {", \"fill\": 255", "",
         "buffers[1] must have a file or a fill (got {\"name\":\"slab\",\"bytes\":256})"},
        {"\"fill\": 255", "\"fill\": 255, \"file\": \"x.bin\"",
         "buffers[1] must have a file or a fill (got "
         "{\"name\":\"slab\",\"bytes\":256,\"fill\":255,\"file\":\"x.bin\"})"},
        {"\"x.bin\"", "\"/etc/hostname\"",
         "a file must be a relative path inside the bundle's folder (got /etc/hostname)"},
        {"\"x.bin\"", "\"../x.bin\"",
         "a file must be a relative path inside the bundle's folder (got ../x.bin)"},
        {"\"x.bin\"", "\"a/../../x.bin\"",
         "a file must be a relative path inside the bundle's folder (got a/../../x.bin)"},
        {"\"x.bin\"", "\"./x.bin\"",
         "a file must be a relative path inside the bundle's folder (got ./x.bin)"},
        {"\"x.bin\"", "\"x.bin/\"", "a file must be a relative path inside the bundle's folder (got x.bin/)"},
        {"\"x.bin\"", "\"no.bin\"", "file no.bin cannot be opened (No such file or directory)"},
        {"\"launches\"", "\"l\"", "launches must be an array of 1 to 4096 entries (got none)"},
        {"\"k0.hsaco\"", "\"x.bin\"", NULL},
        {"\"k0.hsaco\"", "\"none.hsaco\"", "file none.hsaco cannot be opened (No such file or directory)"},
        {"\"add\"", "\"sub\"", "the kernel must be one of the code object's: add, fold (got sub)"},
        {"[2, 1, 1]", "[2, 1]", "launches[0].grid must be an array of 3 integers (got [2,1])"},
        {"[2, 1, 1]", "[2, 0, 1]", "launches[0].grid[1] must be an integer 1..4294967295 (got 0)"},
        {"[2, 1, 1]", "[2, 1, 4294967296]",
         "launches[0].grid[2] must be an integer 1..4294967295 (got 4294967296)"},
        {"[64, 1, 1]", "[64, true, 1]", "launches[0].block[1] must be an integer 1..4294967295 (got true)"},
        {"[64, 1, 1]", "[65, 1, 1]", "a workgroup of this kernel has at most 64 work-items (got 65)"},
        {"1024", "65537",
         "static and dynamic LDS together must be at most 65536 bytes on gfx942 (got 65537)"},
        {"1024", "4294967296", "launches[0].dynamic_lds must be an integer 0..4294967295 (got 4294967296)"},
        {"[\"slab\"]", "[\"slap\"]", "launches[0].zero[0] must be the name of a buffer (got \"slap\")"},
        {"[\"slab\"]", "\"slab\"", "launches[0].zero must be an array of up to 4096 entries (got \"slab\")"},
        {"64000000\"", "640000\"",
         "launches[0].kernarg must be the kernel's 20 bytes of explicit arguments in hex (got "
         "\"00000000000000000000000000000000640000\")"},
        {"64000000\"", "6400000000000000000000000000000000000000\"",
         "launches[0].kernarg must be the kernel's 20 bytes of explicit arguments in hex (got "
         "\"00000000000000000000000000000000640000000000000000000000000)"},
        {"64000000\"", "6400000g\"",
         "launches[0].kernarg must be hexadecimal digits (got \"000000000000000000000000000000006400000g\")"},
        {"64000000\"", "6400000000000001\"",
         "launches[0].kernarg must be zero behind the kernel's explicit arguments (got "
         "\"000000000000000000000000000000006400000000000001\")"},
        {"\"offset\": 8", "\"offset\": 13",
         "launches[0].pointers[1].offset must be an integer 0..12 (got 13)"},
        {"\"offset\": 8, ", "", "launches[0].pointers[1].offset must be an integer 0..12 (got none)"},
        {"\"byte_offset\": 4", "\"byte_offset\": 65",
         "launches[0].pointers[0].byte_offset must be an integer 0..64 (got 65)"},
        {"{\"offset\": 8", "5, {\"offset\": 8",
         "launches[0].pointers[1].offset must be an integer 0..12 (got none)"},
        {"\"buffer\": \"x\"", "\"buffer\": 0",
         "launches[0].pointers[0].buffer must be the name of a buffer (got 0)"},
        {"\"outputs\"", "\"o\"", "outputs must be an array of 1 to 4096 entries (got none)"},
        {"\"buffer\": \"y\", \"dtype\"", "\"buffer\": \"z\", \"dtype\"",
         "outputs[0].buffer must be the name of a buffer (got \"z\")"},
        {"\"f32\"", "\"i64\"", "outputs[0].dtype must be the name of an element format (got \"i64\")"},
        {"\"f32\"", "\"float\"", "outputs[0].dtype must be the name of an element format (got \"float\")"},
        {"[2, 2]", "[]", "outputs[0].shape must be an array of 1 to 8 integers (got [])"},
        {"[2, 2]", "[1,1,1,1,1,1,1,1,1]",
         "outputs[0].shape must be an array of 1 to 8 integers (got [1,1,1,1,1,1,1,1,1])"},
        {"[2, 2]", "[2, -2]", "outputs[0].shape[1] must be an integer 0..1099511627776 (got -2)"},
        {"[2, 2]", "[17]", "outputs[0] must fit in its buffer of 64 bytes (got 17 elements of 4)"},
        {"[2, 2]", "[1099511627776, 1099511627776]",
         "outputs[0] must fit in its buffer of 64 bytes (got 18446744073709551615 elements of 4)"},
        {"[2, 2]", "[1099511627776, 4194304]",
         "outputs[0] must fit in its buffer of 64 bytes (got 4611686018427387904 elements of 4)"},
        {"[2, 2]", "[5]", "file y.expected.f64 must have 40 bytes (got 32)"},
        {"\"y.bound.f64\"", "\"bad.f64\"",
         "outputs[0].bound must be 0 or more (got another value at element 3)"},
        {"{\n", "[{\n", "the file must be JSON (got: ']' expected near end of file)"},
        {"\"target\"", "\"version\"", "the file must be JSON (got: duplicate object key near '\"version\"')"},
    };
    write_bundle(f);
    const double bad[4] = {0, 0, 0, -1};
    put(path_of(f, "bad.f64"), bad, sizeof bad);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *wanted = cases[i].text;
        if (!wanted) { /* the code-object reader's own words */
            char *text = edited(cases[i].from, cases[i].to);
            tw_bundle *bundle;
            assert_int_equal(tw_bundle_parse(text, strlen(text), f->folder, &bundle, f->diag),
                             TW_ERR_INVALID);
            tw_diag_clear(f->diag);
            free(text);
            continue;
        }
        expect_refusal(f, cases[i].from, cases[i].to, wanted);
    }
}

static void what_may_be_left_out_may_be_left_out(void **state) {
    fixture *f = *state;
    static const char *const cases[][2] = {
        {", \"byte_offset\": 4", ""},
        {"\"dynamic_lds\": 0, ", ""},
        {"\"zero\": [],", ""},
        {"\"zero\": [\"slab\"],", ""},
        {"64000000\"", "6400000000000000\""}, /* the zeros that round up a struct */
        {"\"version\": 1", "\"version\": 1, \"comment\": [\"not for this reader\"]"},
    };
    write_bundle(f);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = edited(cases[i][0], cases[i][1]);
        tw_bundle *bundle;
        if (tw_bundle_parse(text, strlen(text), f->folder, &bundle, f->diag))
            fail_msg("%s", tw_diag_text(f->diag));
        assert_int_equal(bundle->launches[0].kernarg.pointers[0].byte_offset, i == 0 ? 0 : 4);
        tw_bundle_free(bundle);
        free(text);
    }
}

static void files_are_regular_and_inside(void **state) {
    fixture *f = *state;
    write_bundle(f);
    char outside[] = "/tmp/tilewright-outside-XXXXXX", *target = strdup(path_of(f, "link.bin"));
    int fd = mkstemp(outside);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, f->x, 64), 64);
    close(fd);
    assert_int_equal(symlink(outside, target), 0);
    expect_refusal(f, "\"x.bin\"", "\"link.bin\"", "file link.bin cannot be opened (it is a symbolic link)");
    assert_int_equal(symlink("/tmp", path_of(f, "sub")), 0);
    char inner[96], wanted[160];
    snprintf(inner, sizeof inner, "\"sub/%s\"", outside + strlen("/tmp/"));
    snprintf(wanted, sizeof wanted, "file sub/%s cannot be opened (Not a directory)",
             outside + strlen("/tmp/"));
    expect_refusal(f, "\"x.bin\"", inner, wanted);
    assert_int_equal(mkfifo(path_of(f, "fifo"), 0600), 0);
    expect_refusal(f, "\"x.bin\"", "\"fifo\"", "a file must be a regular one (got fifo)");
    assert_int_equal(mkdir(path_of(f, "real"), 0700), 0);
    expect_refusal(f, "\"x.bin\"", "\"real\"", "a file must be a regular one (got real)");
    /* A folder below is fine. */
    put(path_of(f, "real/x.bin"), f->x, 64);
    char *text = edited("\"x.bin\"", "\"real/x.bin\"");
    tw_bundle *bundle;
    assert_int_equal(tw_bundle_parse(text, strlen(text), f->folder, &bundle, NULL), TW_OK);
    tw_bundle_free(bundle);
    free(text);
    unlink(outside);
    free(target);
}

static void a_damaged_file_is_refused(void **state) {
    fixture *f = *state;
    tw_bundle *bundle;
    assert_int_equal(tw_bundle_read(f->folder, &bundle, f->diag), TW_ERR_NOT_FOUND);
    assert_string_equal(tw_diag_first_error(f->diag),
                        "file bundle.json cannot be opened (No such file or directory)");
    tw_diag_clear(f->diag);
    write_bundle(f);
    assert_int_equal(tw_bundle_read(f->folder, &bundle, f->diag), TW_OK);
    assert_int_equal(tw_bundle_target(bundle).arch, TW_ARCH_GFX942);
    tw_bundle_free(bundle);
    assert_int_equal(truncate(path_of(f, "y.bin"), 60), 0);
    assert_int_equal(tw_bundle_read(f->folder, &bundle, f->diag), TW_ERR_INVALID);
    assert_string_equal(tw_diag_first_error(f->diag), "file y.bin must have 64 bytes (got 60)");
}

/* ---- replaying ---- */

static tw_status replay(fixture *f, tw_bundle_report *report) {
    tw_device *device;
    tw_bundle *bundle;
    write_bundle(f);
    assert_int_equal(tw_device_open("hip:0", &device, f->diag), TW_OK);
    assert_int_equal(tw_bundle_read(f->folder, &bundle, f->diag), TW_OK);
    tw_status status = tw_bundle_replay(bundle, device, report, f->diag);
    /* A second time gives the same. */
    tw_bundle_report again;
    assert_int_equal(tw_bundle_replay(bundle, device, &again, NULL), status);
    assert_int_equal(again.mismatches, report->mismatches);
    tw_bundle_free(bundle);
    tw_device_close(device);
    return status;
}

static void a_replay_that_agrees_passes(void **state) {
    fixture *f = *state;
    tw_bundle_report report;
    f->expected[1] = 2.25;
    assert_int_equal(replay(f, &report), TW_OK);
    assert_int_equal(report.elements, 4);
    assert_int_equal(report.mismatches, 0);
    assert_true(report.worst == 0.5);
    assert_true(report.counts.nanoseconds > 0);
    char *text = tw_bundle_report_text(&report);
    assert_string_equal(text, "4 elements, 0 mismatches, largest error 0.5 of its bound\n");
    free(text);
}

static void elements_are_compared_by_the_rule(void **state) {
    fixture *f = *state;
    static const struct {
        float got;
        double expected, bound;
        bool passes;
    } cases[] = {
        {1, 1.5, 0.5, true},
        {1, 1.5, 0.25, false},
        {1, 1, 0, true},
        {1, 1 + 0x1p-30, 0, false},
        {0, -0.0, 0, true},
        {NAN, NAN, 0, true},
        {NAN, 1, INFINITY, false},
        {1, NAN, INFINITY, false},
        {INFINITY, INFINITY, 0, true},
        {-INFINITY, INFINITY, 1, false},
        {INFINITY, 1e300, 1, false},
        {1, INFINITY, 1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tw_bundle_report report;
        f->y[0] = cases[i].got;
        f->expected[0] = cases[i].expected;
        f->bound[0] = cases[i].bound;
        tw_diag_clear(f->diag);
        assert_int_equal(replay(f, &report), cases[i].passes ? TW_OK : TW_ERR_MISMATCH);
        assert_int_equal(report.mismatches, !cases[i].passes);
    }
}

static void mismatches_are_reported(void **state) {
    fixture *f = *state;
    tw_bundle_report report;
    f->y[3] = 7.5f;
    assert_int_equal(replay(f, &report), TW_ERR_MISMATCH);
    assert_int_equal(report.mismatches, 1);
    assert_int_equal(report.kept, 1);
    assert_int_equal(report.first[0].index, 3);
    assert_string_equal(
        tw_diag_first_error(f->diag),
        "1 of 4 elements differ, the first is element 3: it must be within 0.5 of 4.0 (got 7.5)");
    assert_string_equal(tw_diag_get(f->diag, 0)->where, "y");
}

static void all_mismatches_are_counted_and_the_first_kept(void **state) {
    fixture *f = *state;
    tw_bundle_report report;
    double expected[64], bound[64];
    for (int i = 0; i < 64; i++) {
        expected[i] = 1;
        bound[i] = i;
    }
    /* Nothing runs here: scratch keeps its first bytes, which are no numbers, but for what a launch clears.
     */
    f->outputs[0] = (tw_bundle_output){1, TW_F32, 1, {64}, expected, bound};
    assert_int_equal(replay(f, &report), TW_ERR_MISMATCH);
    assert_int_equal(report.mismatches, 1); /* cleared: |0 - 1| <= bound from element 1 on */
    f->outputs[0] = (tw_bundle_output){1, TW_I8, 1, {64}, expected, bound};
    for (int i = 0; i < 64; i++)
        bound[i] = 0.5;
    tw_diag_clear(f->diag);
    assert_int_equal(replay(f, &report), TW_ERR_MISMATCH);
    assert_int_equal(report.mismatches, 64);
    assert_int_equal(report.kept, 16);
    assert_true(report.worst == 2);
    char *text = tw_bundle_report_text(&report);
    assert_non_null(strstr(text, "64 elements, 64 mismatches, largest error 2.0 of its bound\n"
                                 "slab[0]: got 0.0, expected 1.0, bound 0.5\n"));
    assert_non_null(strstr(text, "slab[15]: got 0.0, expected 1.0, bound 0.5\nand 48 more\n"));
    free(text);
}

/* The address at byte `at` of the first kernarg that the driver got. */
static uint64_t logged_address(const char *log, size_t at) {
    const char *hex = strchr(strstr(log, " kernarg "), ':') + 1 + 2 * at;
    uint64_t address = 0;
    for (int i = 0; i < 8; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        address |= (uint64_t)byte << (8 * i);
    }
    return address;
}

static void pointers_reach_the_kernel_with_their_offsets(void **state) {
    fixture *f = *state;
    tw_device *device;
    tw_bundle *bundle;
    void *library = dlopen(FAKE_HIP, RTLD_NOW | RTLD_LOCAL);
    char *log = dlsym(library, "fake_hip_log");
    write_bundle(f);
    char *text = edited("\"buffer\": \"x\", \"byte_offset\": 4", "\"buffer\": \"slab\", \"byte_offset\": 36");
    assert_int_equal(tw_bundle_parse(text, strlen(text), f->folder, &bundle, NULL), TW_OK);
    assert_int_equal(tw_device_open("hip:0", &device, NULL), TW_OK);
    log[0] = 0;
    assert_int_equal(tw_bundle_replay(bundle, device, NULL, NULL), TW_OK);
    assert_true(logged_address(log, 8) > 0);
    assert_int_equal(logged_address(log, 0), logged_address(log, 8) + 36);
    tw_bundle_free(bundle);
    tw_device_close(device);
    dlclose(library);
    free(text);
}

static void a_buffer_that_no_launch_writes_is_no_result(void **state) {
    fixture *f = *state;
    tw_bundle_report report;
    static const double zero[4], huge[4] = {1e300, 1e300, 1e300, 1e300};
    tw_plan_free(f->plan);
    f->plan = tw_plan_new("unwritten");
    uint32_t out = tw_plan_add_buffer(f->plan, "out", TW_PLAN_OUTPUT, 256);
    tw_plan_add_launch(f->plan, 0, "fold", (tw_dim3){1, 1, 1}, (tw_dim3){64, 1, 1}, 0);
    tw_plan_arg_buffer(f->plan, "slab", out, 0);
    tw_plan_arg_buffer(f->plan, "out", out, 0);
    f->source.plan = f->plan;
    f->source.host_count = 1;
    static const tw_scalar formats[] = {TW_F32, TW_F16, TW_BF16, TW_F8E4M3, TW_F8E5M2};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        f->outputs[0] = (tw_bundle_output){out, formats[i], 1, {4}, zero, huge};
        assert_int_equal(replay(f, &report), TW_ERR_MISMATCH);
        assert_int_equal(report.mismatches, 4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_bundle_says_all_that_a_run_needs, begin, end),
        cmocka_unit_test_setup_teardown(the_writer_checks_its_source, begin, end),
        cmocka_unit_test_setup_teardown(every_member_is_checked, begin, end),
        cmocka_unit_test_setup_teardown(what_may_be_left_out_may_be_left_out, begin, end),
        cmocka_unit_test_setup_teardown(files_are_regular_and_inside, begin, end),
        cmocka_unit_test_setup_teardown(a_damaged_file_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_replay_that_agrees_passes, begin, end),
        cmocka_unit_test_setup_teardown(elements_are_compared_by_the_rule, begin, end),
        cmocka_unit_test_setup_teardown(mismatches_are_reported, begin, end),
        cmocka_unit_test_setup_teardown(all_mismatches_are_counted_and_the_first_kept, begin, end),
        cmocka_unit_test_setup_teardown(pointers_reach_the_kernel_with_their_offsets, begin, end),
        cmocka_unit_test_setup_teardown(a_buffer_that_no_launch_writes_is_no_result, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
