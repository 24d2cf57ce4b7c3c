#include "tools/toolset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "jit/child_process.h"
#include "support/fail.h"

#define LIMIT 30000 /* ms */

static bool is_program(const char *path) { return !access(path, X_OK); }

/* The folder in which tools/toolchains keeps its sets. */
static void cache_folder(char *out, size_t size) {
    const char *given = getenv("TILEWRIGHT_TOOLCHAINS"), *cache = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    if (given && *given) {
        snprintf(out, size, "%s", given);
    } else if (cache && *cache) {
        snprintf(out, size, "%s/tilewright-toolchains", cache);
    } else {
        snprintf(out, size, "%s/.cache/tilewright-toolchains", home ? home : "");
    }
}

static bool has_programs(toolset *set, const char *folder) {
    snprintf(set->folder, sizeof set->folder, "%s", folder);
    snprintf(set->llc, sizeof set->llc, "%s/llc", folder);
    snprintf(set->opt, sizeof set->opt, "%s/opt", folder);
    snprintf(set->nm, sizeof set->nm, "%s/llvm-nm", folder);
    return is_program(set->llc) && is_program(set->opt) && is_program(set->nm);
}

tw_status toolset_locate(tw_flavor flavor, toolset *out, tw_diag *diag) {
    *out = (toolset){.flavor = flavor};
    char cache[400], folder[448];
    cache_folder(cache, sizeof cache);
    snprintf(folder, sizeof folder, "%s/%s", cache, tw_flavor_name(out->flavor));
    if (has_programs(out, folder)) return TW_OK;
    snprintf(folder, sizeof folder, "/usr/lib/llvm-%d/bin", (int)out->flavor);
    if (has_programs(out, folder)) return TW_OK;
    return tw_fail(
        diag, TW_ERR_NOT_FOUND,
        "the tool set must be set up by tools/toolchains or installed in /usr/lib/llvm-%d (got %s)",
        (int)out->flavor, tw_flavor_name(out->flavor));
}

/* The root that llc comes from: what stands before /usr/lib/llvm-N/bin/llc in its path, or in the script that
 * starts it. */
static void root_of(const toolset *set, char *root, size_t size) {
    char text[4096] = "", program[64];
    snprintf(program, sizeof program, "/usr/lib/llvm-%d/bin/llc", (int)set->flavor);
    snprintf(text, sizeof text, "%s", set->llc);
    if (!strstr(text, program)) {
        FILE *file = fopen(set->llc, "re");
        if (file) text[fread(text, 1, sizeof text - 1, file)] = '\0';
        if (file) fclose(file);
    }
    char *end = strstr(text, program);
    if (end) *end = '\0';
    const char *quote = strrchr(text, '"');
    snprintf(root, size, "%s", end ? quote ? quote + 1 : text : "");
}

/* "llvm-toolchain-21 (1:21.1.8-2) unstable; ..." is the first line of the package's list of changes. */
static void package_version(const toolset *set, char *out, size_t size) {
    char root[512], path[640], line[160] = "", name[64], version[80];
    root_of(set, root, sizeof root);
    snprintf(path, sizeof path, "%s/usr/share/doc/llvm-%d/changelog.Debian.gz", root, (int)set->flavor);
    gzFile file = gzopen(path, "r");
    if (!file) return;
    if (gzgets(file, line, sizeof line) && sscanf(line, "%63s (%79[^)])", name, version) == 2)
        snprintf(out, size, ", Debian package %s %s", name, version);
    gzclose(file);
}

static tw_status read_version(toolset *set, tw_diag *diag) {
    tw_child child = {.arguments = (const char *[]){set->llc, "--version", NULL},
                      .limits.milliseconds = LIMIT};
    tw_status status = tw_child_run(&child, diag);
    const char *mark = "LLVM version ";
    const char *found = status ? NULL : strstr((const char *)child.output, mark);
    if (!status && !found) status = tw_fail(diag, TW_ERR_IO, "%s does not tell its version", set->llc);
    if (!status) {
        char number[32], package[192] = "";
        package_version(set, package, sizeof package);
        snprintf(number, sizeof number, "%.*s", (int)strcspn(found + strlen(mark), " \n"),
                 found + strlen(mark));
        snprintf(set->version, sizeof set->version, "LLVM %s%s", number, package);
    }
    free(child.output);
    free(child.words);
    return status;
}

tw_status toolset_find(tw_flavor flavor, toolset *out, tw_diag *diag) {
    tw_status status = toolset_locate(flavor, out, diag);
    return status ? status : read_version(out, diag);
}
