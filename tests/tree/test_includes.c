/* Reads every #include "..." of the tree and refuses an arrow that runs the wrong way, a public header that
 * reaches an internal one, and a path that does not name a file from the top of the tree. */
#include "tests/test.h"

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Data flows from left to right, includes go from right to left. */
static const char *const layers[] = {"support", "arch", "ir", "lower", "jit", "run", "instances", "tools"};
enum { LAYER_COUNT = sizeof layers / sizeof layers[0], OUTSIDE = LAYER_COUNT, UNKNOWN = -1 };

/* tests and docs stand right of everything; a folder that is in no list is a mistake. */
static int rank_of(const char *path) {
    size_t length = strcspn(path, "/");
    for (int i = 0; i < LAYER_COUNT; i++)
        if (strlen(layers[i]) == length && !strncmp(layers[i], path, length)) return i;
    if (!strncmp(path, "tests/", 6) || !strncmp(path, "docs/", 5) || !strcmp(path, "tilewright.h"))
        return OUTSIDE;
    return UNKNOWN;
}

typedef struct tree {
    const char *root;
    char *public_headers; /* "|support/diag.h|..." of the install_headers lists */
    size_t files, includes, failures;
    char first_failure[512];
} tree;

static bool is_public(const tree *t, const char *path) {
    char key[256];
    snprintf(key, sizeof key, "|%s|", path);
    return !strcmp(path, "tilewright.h") || (t->public_headers && strstr(t->public_headers, key));
}

static bool file_exists(const tree *t, const char *path) {
    char full[512];
    struct stat info;
    snprintf(full, sizeof full, "%s/%s", t->root, path);
    return !stat(full, &info) && S_ISREG(info.st_mode);
}

/* NULL, or why `from` may not include `to`. */
static const char *refusal(const tree *t, const char *from, const char *to) {
    if (!file_exists(t, to)) return "names no file, seen from the top of the tree";
    int source = rank_of(from), target = rank_of(to);
    if (source == UNKNOWN || target == UNKNOWN) return "belongs to no known folder";
    bool umbrella = !strcmp(to, "tilewright.h");
    if (target > source || (umbrella && source != OUTSIDE)) return "runs against the order of the folders";
    if (is_public(t, from) && !is_public(t, to))
        return "is internal, and the header that includes it is public";
    return NULL;
}

static void complain(tree *t, const char *from, unsigned line, const char *to, const char *why) {
    char text[512];
    snprintf(text, sizeof text, "%s:%u: \"%s\" %s", from, line, to, why);
    if (!t->failures++) memcpy(t->first_failure, text, sizeof text);
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = calloc(1, (size_t)size + 1);
    if (text && fread(text, 1, (size_t)size, file) != (size_t)size) text[0] = 0;
    fclose(file);
    return text;
}

static void scan_text(tree *t, const char *from, const char *text) {
    unsigned line = 1;
    for (const char *at = text; *at; line++) {
        const char *end = at + strcspn(at, "\n");
        const char *p = at + strspn(at, " \t");
        if (*p == '#') {
            p++;
            p += strspn(p, " \t");
            if (!strncmp(p, "include", 7)) {
                p += 7;
                p += strspn(p, " \t");
                size_t length = *p == '"' ? strcspn(p + 1, "\"\n") : 0;
                char to[256];
                if (length && length < sizeof to) {
                    memcpy(to, p + 1, length);
                    to[length] = 0;
                    t->includes++;
                    const char *why = refusal(t, from, to);
                    if (why) complain(t, from, line, to, why);
                }
            }
        }
        at = *end ? end + 1 : end;
    }
}

/* Appends the files of each install_headers(...) call in a folder's meson.build. */
static void collect_public(tree *t, const char *folder) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s/meson.build", t->root, folder);
    char *text = read_file(path);
    for (char *call = text ? strstr(text, "install_headers(") : NULL; call;
         call = strstr(call + 1, "install_headers(")) {
        char *close = strchr(call, ')');
        for (char *quote = strchr(call, '\''); quote && close && quote < close; quote = strchr(quote, '\'')) {
            size_t length = strcspn(++quote, "'");
            bool header = length > 2 && !strncmp(quote + length - 2, ".h", 2);
            if (header || (length > 4 && !strncmp(quote + length - 4, ".def", 4))) {
                size_t used = strlen(t->public_headers);
                char *grown = realloc(t->public_headers, used + length + strlen(folder) + 4);
                assert_non_null(grown);
                sprintf(grown + used, "|%s/%.*s|", folder, (int)length, quote);
                t->public_headers = grown;
            }
            quote += length + 1;
        }
    }
    free(text);
}

static tree *walked; /* nftw has no user pointer */

static int visit(const char *path, const struct stat *info, int type, struct FTW *where) {
    (void)info;
    if (type == FTW_D && where->level > 0 &&
        (path[where->base] == '.' || !strncmp(path + where->base, "build", 5)))
        return FTW_SKIP_SUBTREE;
    const char *dot = strrchr(path, '.');
    static const char *const kinds[] = {".c", ".h", ".cpp", ".def", ".inc"};
    bool wanted = false;
    for (size_t i = 0; dot && i < sizeof kinds / sizeof kinds[0]; i++)
        wanted |= !strcmp(dot, kinds[i]);
    if (type != FTW_F || !wanted) return FTW_CONTINUE;
    char *text = read_file(path);
    assert_non_null(text);
    walked->files++;
    scan_text(walked, path + strlen(walked->root) + 1, text);
    free(text);
    return FTW_CONTINUE;
}

static void walk(tree *t, const char *root) {
    *t = (tree){.root = root, .public_headers = calloc(1, 1)};
    assert_non_null(t->public_headers);
    for (int i = 0; i < LAYER_COUNT; i++)
        collect_public(t, layers[i]);
    walked = t;
    assert_int_equal(nftw(root, visit, 16, FTW_PHYS | FTW_ACTIONRETVAL), 0);
    free(t->public_headers);
    t->public_headers = NULL;
}

static void includes_of_the_tree_run_right_to_left(void **state) {
    (void)state;
    tree t;
    walk(&t, SOURCE_ROOT);
    if (t.failures) fail_msg("%zu wrong includes, the first: %s", t.failures, t.first_failure);
    assert_true(t.files > 15 && t.includes > 20);
}

static void put(const char *root, const char *path, const char *text) {
    char full[512];
    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *slash = strchr(full + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int drop(const char *path, const struct stat *info, int type, struct FTW *where) {
    (void)info, (void)type, (void)where;
    return remove(path);
}

/* One tree that is right, then one wrong file at a time. */
static void wrong_arrows_are_caught(void **state) {
    (void)state;
    static const struct {
        const char *path, *text, *failure;
    } cases[] = {
        {"run/fine.c", "#include \"support/a.h\"\n#include <stdio.h>\n", ""},
        {"tests/run/fine.c", "#include \"tools/t.h\"\n#include \"tilewright.h\"\n", ""},
        {"support/bad.c", "\n  #  include \"run/r.h\"\n",
         "support/bad.c:2: \"run/r.h\" runs against the order of the folders"},
        {"jit/bad.c", "#include \"run/r.h\"",
         "jit/bad.c:1: \"run/r.h\" runs against the order of the folders"},
        {"run/bad.def", "#include \"tools/t.h\"\n",
         "run/bad.def:1: \"tools/t.h\" runs against the order of the folders"},
        {"tools/bad.c", "#include \"tests/u.h\"\n",
         "tools/bad.c:1: \"tests/u.h\" runs against the order of the folders"},
        {"ir/bad.c", "#include \"tilewright.h\"\n",
         "ir/bad.c:1: \"tilewright.h\" runs against the order of the folders"},
        {"run/bad.c", "#include \"r.h\"\n",
         "run/bad.c:1: \"r.h\" names no file, seen from the top of the tree"},
        {"other/bad.c", "#include \"support/a.h\"\n",
         "other/bad.c:1: \"support/a.h\" belongs to no known folder"},
        {"run/r.h", "#include \"run/internal.h\"\n",
         "run/r.h:1: \"run/internal.h\" is internal, and the header that includes it is public"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char root[] = "/tmp/tilewright-includes-XXXXXX";
        assert_non_null(mkdtemp(root));
        put(root, "tilewright.h", "#include \"support/a.h\"\n");
        put(root, "support/meson.build", "install_headers('a.h', subdir: 'tilewright/support')\n");
        put(root, "support/a.h", "\n");
        put(root, "run/meson.build", "x = files('internal.h')\ninstall_headers(\n  'r.h',\n  subdir: 'x')\n");
        put(root, "run/r.h", "#include \"support/a.h\"\n");
        put(root, "run/internal.h", "#include \"run/r.h\"\n");
        put(root, "tools/t.h", "#include \"run/internal.h\"\n");
        put(root, "tests/u.h", "#include \"run/internal.h\"\n");
        put(root, cases[i].path, cases[i].text);
        tree t;
        walk(&t, root);
        assert_string_equal(t.first_failure, cases[i].failure);
        assert_int_equal(t.failures, cases[i].failure[0] ? 1 : 0);
        assert_int_equal(nftw(root, drop, 16, FTW_PHYS | FTW_DEPTH), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(includes_of_the_tree_run_right_to_left),
        cmocka_unit_test(wrong_arrows_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
