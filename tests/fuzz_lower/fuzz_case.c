/* Whole kernels, and the memory they run on. */
#include "tests/fuzz_lower/gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/eval.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- the kernel ---- */

/* Pieces that memory holds: 1 to 16 bytes. */
void gen_store_result(gen *g, gen_value v) {
    if (v.type->kind != TW_TYPE_SCALAR && v.type->kind != TW_TYPE_VECTOR) return;
    gen_value operands[2] = {v, v};
    if (v.type->scalar == TW_I1) {
        if (!gen_emit(g, TW_OP_ZEXT, tw_type_vector(TW_I8, v.type->lanes), operands, 1, NULL, &v)) return;
        operands[0] = operands[1] = v;
    }
    if (tw_type_in_class(v.type, T_DATA)) {
        gen_store_own(g, FUZZ_OUT, v);
        return;
    }
    unsigned most = 128 / tw_scalar_bits(v.type->scalar), width = 1;
    while (width * 2 <= most && width * 2 <= v.type->lanes)
        width *= 2;
    for (unsigned lane = 0; lane < v.type->lanes; lane += width) {
        int64_t *lanes = tw_arena_alloc(&g->kernel->arena, width, sizeof *lanes);
        if (!lanes) return;
        for (unsigned i = 0; i < width; i++)
            lanes[i] = (int64_t)(lane + i) % (2 * v.type->lanes);
        tw_attr attr = {.kind = TW_ATTR_INTS, .as.ints = {lanes, width}};
        gen_value piece;
        bool made = width == 1 ? gen_emit_int(g, TW_OP_VECTOR_EXTRACT, NULL, operands, 1, lane, &piece)
                               : gen_emit(g, TW_OP_VECTOR_SHUFFLE, tw_type_vector(v.type->scalar, width),
                                          operands, 2, &attr, &piece);
        if (made) gen_store_own(g, FUZZ_OUT, piece);
    }
}

static gen_value id(gen *g, tw_opcode opcode, int64_t dim) {
    gen_value v = {0};
    gen_emit_int(g, opcode, NULL, NULL, 0, dim, &v);
    return v;
}

/* Flat numbers of the work-item in its workgroup and in the grid. */
static void prologue(gen *g, const uint32_t block[3]) {
    gen_value flat = id(g, TW_OP_WORKITEM_ID, 0), group = id(g, TW_OP_WORKGROUP_ID, 0);
    uint32_t stride = block[0], groups = g->c->grid[0];
    for (int dim = 1; dim < 3; dim++) {
        if (block[dim] > 1) {
            gen_value at = gen_binary(g, TW_OP_MUL, id(g, TW_OP_WORKITEM_ID, dim), gen_i32(g, stride));
            flat = gen_binary(g, TW_OP_ADD, flat, at);
        }
        if (g->c->grid[dim] > 1) {
            gen_value at = gen_binary(g, TW_OP_MUL, id(g, TW_OP_WORKGROUP_ID, dim), gen_i32(g, groups));
            group = gen_binary(g, TW_OP_ADD, group, at);
        }
        stride *= block[dim];
        groups *= g->c->grid[dim];
    }
    g->tid = flat;
    gen_value base = gen_binary(g, TW_OP_MUL, group, gen_i32(g, stride));
    g->global_tid = gen_binary(g, TW_OP_ADD, base, flat);
}

static void draw_shape(gen *g, tw_kernel_options *options, uint32_t grid[3]) {
    static const uint8_t sizes[] = {1, 7, 16, 31, 32, 32, 33, 64, 64, 64, 65, 96, 128, 128};
    *options = (tw_kernel_options){.workgroup_size = sizes[gen_below(g, COUNT(sizes))]};
    if (gen_chance(g, 15)) {
        options->workgroup_size = 1u + gen_below(g, 16);
        options->workgroup_size_y = 1u + gen_below(g, 4);
        options->workgroup_size_z = 1u + gen_below(g, 2);
    }
    if (gen_chance(g, 10)) {
        options->workgroup_size = 8;
        options->workgroup_size_y = 4;
        options->workgroup_size_z = 2;
    }
    if (gen_chance(g, 15)) options->min_waves_per_eu = 1u + gen_below(g, 4);
    if (options->min_waves_per_eu && gen_chance(g, 50))
        options->max_waves_per_eu = options->min_waves_per_eu + gen_below(g, 3);
    options->flush_f32_denormals = gen_chance(g, 25);
    grid[0] = 1u + gen_below(g, 3);
    grid[1] = gen_chance(g, 15) ? 2 : 1;
    grid[2] = gen_chance(g, 10) ? 2 : 1;
    uint32_t y = options->workgroup_size_y ? options->workgroup_size_y : 1,
             z = options->workgroup_size_z ? options->workgroup_size_z : 1;
    g->items = options->workgroup_size * y * z;
    while (g->items * grid[0] * grid[1] * grid[2] > 256 && (grid[0] > 1 || grid[1] > 1 || grid[2] > 1)) {
        unsigned dim = grid[2] > 1 ? 2 : grid[1] > 1 ? 1 : 0;
        grid[dim]--;
    }
    g->total = g->items * grid[0] * grid[1] * grid[2];
}

static void generate(gen *g) {
    const tw_kernel_options *o = &g->kernel->options;
    uint32_t block[3] = {o->workgroup_size, o->workgroup_size_y ? o->workgroup_size_y : 1,
                         o->workgroup_size_z ? o->workgroup_size_z : 1};
    g->block = &g->kernel->body;
    for (unsigned i = 0; i < GEN_TYPES; i++)
        g->favourites[i] = gen_any_type(g);
    gen_add_scalars(g);
    prologue(g, block);
    uint32_t first = g->count;
    g->ops_left = 60;
    gen_ops(g, 4 + gen_below(g, 20));
    /* The last values are those that depend on the most. */
    for (uint32_t i = g->count, shown = 0; i > first && shown < 10; i--, shown++)
        gen_store_result(g, g->pool[i - 1]);
    tw_op *end = tw_op_new(g->kernel, TW_OP_RETURN, 0, 0);
    if (end) tw_block_append(&g->kernel->body, end);
    fuzz_ops_made[TW_OP_RETURN]++;
    g->failed = g->failed || !end;
    for (unsigned s = 0; s < TW_SCALAR_COUNT; s++)
        if (g->out_sizes[s])
            g->out_sizes[s]->attrs[0].as.i =
                (int64_t)g->c->params[g->param_index[FUZZ_OUT][s]].count * (tw_scalar_bits((tw_scalar)s) / 8);
}

static void print_kernel(const fuzz_case *c) {
    char *text = NULL;
    if (!tw_kernel_to_text(c->kernel, &text, NULL, NULL)) fprintf(stderr, "%s", text);
    free(text);
}

fuzz_case *fuzz_case_new(uint64_t seed, tw_target target) {
    fuzz_case *c = calloc(1, sizeof *c);
    gen *g = calloc(1, sizeof *g);
    if (!c || !g) goto failed;
    c->seed = seed;
    c->ctx = tw_context_new(NULL);
    if (!c->ctx) goto failed;
    g->c = c;
    g->arch = tw_arch_get(target.arch);
    tw_random_seed(&g->random, seed);
    tw_kernel_options options;
    draw_shape(g, &options, c->grid);
    c->items = g->items;
    g->whole_waves = g->items % target.wave_size == 0;
    g->together = TW_UNIFORM_IN_WORKGROUP;
    char name[32];
    snprintf(name, sizeof name, "k%llu", (unsigned long long)seed);
    c->kernel = g->kernel = tw_kernel_new(c->ctx, name, strlen(name), target, &options);
    if (!c->kernel) goto failed;
    generate(g);
    if (g->failed) goto failed;
    if (tw_kernel_verify(c->kernel, tw_context_diag(c->ctx))) {
        fprintf(stderr, "seed %llu: the generator made an invalid kernel: %s", (unsigned long long)seed,
                tw_context_diagnostics(c->ctx));
        print_kernel(c);
        goto failed;
    }
    free(g);
    return c;
failed:
    free(g);
    fuzz_case_free(c);
    return NULL;
}

void fuzz_case_free(fuzz_case *c) {
    if (!c) return;
    tw_context_free(c->ctx);
    free(c);
}

fuzz_case *fuzz_case_from_text(const fuzz_case *model, const char *text, size_t length) {
    fuzz_case *c = malloc(sizeof *c);
    if (!c) return NULL;
    *c = *model;
    c->ctx = tw_context_new(NULL);
    c->kernel = NULL;
    if (!c->ctx || tw_kernel_parse(c->ctx, text, length, NULL, &c->kernel)) {
        if (c->ctx)
            fprintf(stderr, "seed %llu: %s", (unsigned long long)model->seed, tw_context_diagnostics(c->ctx));
        fuzz_case_free(c);
        return NULL;
    }
    return c;
}

/* ---- memory ---- */

static size_t bytes_of(const fuzz_param *p) { return (size_t)p->count * (tw_scalar_bits(p->scalar) / 8); }

/* Inputs are full of corners; outputs hold a pattern that shows what was not written; sums begin at 0. */
static void fill(const fuzz_case *c, uint32_t index, uint8_t *bytes) {
    const fuzz_param *p = &c->params[index];
    unsigned size = tw_scalar_bits(p->scalar) / 8;
    gen g = {0};
    tw_random_seed(&g.random, c->seed * 64 + index);
    for (uint32_t i = 0; i < p->count; i++) {
        uint64_t bits = p->role == FUZZ_IN    ? gen_bits(&g, p->scalar)
                        : p->role == FUZZ_SUM ? 0
                                              : 0x3535353535353535;
        for (unsigned b = 0; b < size; b++)
            bytes[i * size + b] = (uint8_t)(bits >> 8 * b);
    }
}

bool fuzz_memory_new(const fuzz_case *c, fuzz_memory *out) {
    *out = (fuzz_memory){0};
    for (uint32_t i = 0; i < c->param_count; i++) {
        if (c->params[i].role == FUZZ_SCALAR) continue;
        out->size[i] = bytes_of(&c->params[i]);
        out->bytes[i] = malloc(out->size[i] + 1);
        if (!out->bytes[i]) {
            fuzz_memory_free(out);
            return false;
        }
        fill(c, i, out->bytes[i]);
    }
    return true;
}

void fuzz_memory_free(fuzz_memory *m) {
    for (uint32_t i = 0; i < FUZZ_MAX_PARAMS; i++)
        free(m->bytes[i]);
    *m = (fuzz_memory){0};
}
