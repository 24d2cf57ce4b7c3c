/* Which kernels of other compilers there are for a case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fail.h"
#include "tests/peers/dense.h"

typedef struct list {
    dense_peer *peers;
    size_t count;
} list;

static tw_status append(list *l, const dense_peer *peer, tw_diag *diag) {
    dense_peer *more = realloc(l->peers, (l->count + 1) * sizeof *more);
    if (!more) return tw_fail_no_memory(diag);
    l->peers = more;
    l->peers[l->count++] = *peer;
    return TW_OK;
}

/* Forms of dense.hip. What a target's tiles are stands there, too. */
static const struct {
    const char *form, *cases[3];
    int tile_k, tile_c, narrow; /* narrow: the tile of targets with too few registers for it */
} forms[] = {{"tap", {"3x3", "1x1"}, 64, 64, 64},
             {"taps", {"3x3"}, 64, 64, 32},
             {"flat", {"stem3", "stem7"}, 64, 32, 32}};

static tw_status add_hip(list *l, const dense_case *c, tw_target target, tw_diag *diag) {
    const bool narrow = !strcmp(c->target, "gfx1201"),
               deep = !strcmp(c->target, "gfx950") || !strcmp(c->target, "gfx1250");
    tw_status status = TW_OK;
    for (size_t f = 0; !status && f < sizeof forms / sizeof forms[0]; f++)
        for (size_t i = 0; !status && i < 3 && forms[f].cases[i]; i++) {
            if (strcmp(forms[f].cases[i], c->name)) continue;
            dense_peer p = {.kernel = "peer_wgrad",
                            .tile_k = narrow && forms[f].narrow < forms[f].tile_c ? forms[f].narrow
                                                                                  : forms[f].tile_k,
                            .tile_c = narrow ? forms[f].narrow : forms[f].tile_c,
                            .threads = 4 * (int)target.wave_size,
                            .products = 16 * 16 * (deep ? 32 : 16)};
            snprintf(p.label, sizeof p.label, "%s", forms[f].form);
            snprintf(p.path, sizeof p.path, "%s/dense.%s.%s.%s.%s.hsaco", PEER_FOLDER, c->target, c->name,
                     c->dtype, p.label);
            status = append(l, &p, diag);
        }
    return status;
}

/* One line of the list that the script writes; false: of another case. */
static bool read_line(const char *line, const char *folder, const dense_case *c, tw_target target,
                      dense_peer *out) {
    char arch[16], name[16], dtype[8], matrix[32], file[256];
    int warps;
    unsigned rows = 0, columns = 0, depth = 0;
    *out = (dense_peer){.triton = true};
    if (sscanf(line, "%15s %15s %7s %63s %d %d %d %u %lf %31s %31s %255s", arch, name, dtype, out->label,
               &out->tile_k, &out->tile_c, &warps, &out->dynamic_lds, &out->compile_ms, matrix, out->kernel,
               file) != 12)
        return false;
    out->threads = warps * (int)target.wave_size;
    if (sscanf(matrix, "%ux%ux%u", &rows, &columns, &depth) == 3) out->products = rows * columns * depth;
    snprintf(out->path, sizeof out->path, "%.200s/%s", folder, file);
    return !strcmp(arch, c->target) && !strcmp(name, c->name) && !strcmp(dtype, c->dtype);
}

static tw_status add_triton(list *l, const dense_case *c, tw_target target, const char *folder,
                            tw_diag *diag) {
    char path[512], line[512];
    snprintf(path, sizeof path, "%s/triton.list", folder);
    FILE *file = fopen(path, "r");
    if (!file) return tw_fail(diag, TW_ERR_NOT_FOUND, "%s cannot be read", path);
    tw_status status = TW_OK;
    while (!status && fgets(line, sizeof line, file)) {
        dense_peer p;
        if (read_line(line, folder, c, target, &p)) status = append(l, &p, diag);
    }
    fclose(file);
    return status;
}

tw_status dense_peers_of(const dense_case *c, const char *triton, dense_peer **out, size_t *count,
                         tw_diag *diag) {
    list l = {0};
    tw_target target;
    tw_status status = tw_target_parse(c->target, &target, diag);
    if (!status && PEER_CLANG[0] != '\0') status = add_hip(&l, c, target, diag);
    if (!status && triton) status = add_triton(&l, c, target, triton, diag);
    *out = l.peers;
    *count = l.count;
    return status;
}

bool dense_same_form(const dense_peer *a, const dense_peer *b) {
    size_t length = strcspn(a->label, "-");
    return a->triton == b->triton && length == strcspn(b->label, "-") && !strncmp(a->label, b->label, length);
}
