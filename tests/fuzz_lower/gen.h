/* What the files of the generator share. */
#ifndef TW_TESTS_FUZZ_GEN_H
#define TW_TESTS_FUZZ_GEN_H

#include "ir/uniform.h"
#include "tests/fuzz_lower/fuzz_case.h"

/* A value that ops may use. */
typedef struct gen_value {
    tw_value value;
    const tw_type *type;
    uint8_t level; /* tw_uniformity, as far as the generator follows it */
    bool open;     /* may hold a NaN whose bits are left open */
    /* pointers and resources: */
    uint32_t param; /* of global ones: the parameter's index */
    uint32_t low;   /* elements that are surely before the pointer, */
    uint32_t room;  /* and from it on, including its own */
    uint32_t bytes; /* of a resource */
} gen_value;

#define GEN_POOL   512
#define GEN_TYPES  6
#define MAX_ARRAYS 6

typedef struct gen {
    tw_random random;
    fuzz_case *c;
    tw_kernel *kernel;
    const tw_arch_info *arch;
    tw_block *block;
    gen_value pool[GEN_POOL];
    uint32_t count;
    tw_value params[FUZZ_ROLE_COUNT][TW_SCALAR_COUNT];
    uint32_t param_index[FUZZ_ROLE_COUNT][TW_SCALAR_COUNT]; /* of buffers, where params[][] is set */
    const tw_type *favourites[GEN_TYPES];
    gen_value tid, global_tid;
    uint32_t items, total; /* work-items of a workgroup, of the grid */
    bool whole_waves;      /* the workgroup is */
    uint8_t together;      /* tw_uniformity of who is here: all of the wave, all of the workgroup */
    uint32_t depth;        /* regions */
    uint32_t loops;
    uint32_t arrays; /* LDS arrays so far */
    uint32_t ops_left;
    bool failed;                       /* memory is out */
    tw_op *out_sizes[TW_SCALAR_COUNT]; /* constants with the bytes of FUZZ_OUT buffers: set at the end */
} gen;

static inline uint32_t gen_below(gen *g, uint32_t limit) {
    return (uint32_t)tw_random_below(&g->random, limit);
}
static inline bool gen_chance(gen *g, uint32_t percent) { return gen_below(g, 100) < percent; }

/* ---- gen.c ---- */

/* Appends an op with the attributes as given (NULL: all missing), and its result to the pool. False, and no
 * op, where a rule refuses it. `out` may be NULL. */
bool gen_emit(gen *g, tw_opcode opcode, const tw_type *type, const gen_value *operands, uint32_t count,
              const tw_attr *attrs, gen_value *out);
/* The same with one attribute, an integer. */
bool gen_emit_int(gen *g, tw_opcode opcode, const tw_type *type, const gen_value *operands, uint32_t count,
                  int64_t attr, gen_value *out);
gen_value gen_constant(gen *g, const tw_type *type, uint64_t bits);
gen_value gen_i32(gen *g, uint32_t value);
gen_value gen_binary(gen *g, tw_opcode opcode, gen_value a, gen_value b);
/* Some value of the type, of at least that uniformity. */
gen_value gen_value_of(gen *g, const tw_type *type, uint8_t level);
/* Some i32 in 0 .. limit - 1 that is a multiple of `step`, a power of two. */
gen_value gen_index(gen *g, uint32_t limit, uint32_t step, uint8_t level);
/* The value with NaNs of known bits. */
gen_value gen_closed(gen *g, gen_value x);
const tw_type *gen_type(gen *g, tw_type_class type_class); /* some type of the class */
tw_scalar gen_storage_scalar(gen *g);
const tw_type *gen_any_type(gen *g);
void gen_add_scalars(gen *g);                /* scalar parameters */
uint64_t gen_bits(gen *g, tw_scalar scalar); /* of some element: often a corner of its format */
/* The buffer of that role; a value with id 0 where there is no place for one more parameter. */
gen_value gen_buffer(gen *g, fuzz_role role, tw_scalar scalar);
void gen_push(gen *g, gen_value v);
void gen_store_result(gen *g, gen_value v); /* makes the value show in memory */
/* `count` elements of a FUZZ_OUT, FUZZ_NEAR or FUZZ_SUM buffer; the first one's number. UINT32_MAX when full.
 */
uint32_t gen_reserve(gen *g, fuzz_role role, tw_scalar scalar, uint32_t count);

/* ---- gen_rows.c ---- */

void gen_ops(gen *g, uint32_t count);

/* ---- gen_memory.c: false where nothing came of it ---- */
bool gen_memory_op(gen *g, const tw_op_info *row);
bool gen_lds_op(gen *g, const tw_op_info *row);
/* A value of the type, loaded from an input. */
bool gen_load(gen *g, const tw_type *type, gen_value *out);
/* Stores data in a slot of the work-item's own. */
bool gen_store_own(gen *g, fuzz_role role, gen_value data);
bool gen_ptr_offset(gen *g);
gen_value gen_plus(gen *g, gen_value x, uint32_t n);
gen_value gen_times(gen *g, gen_value x, uint32_t n);
/* The index, in 32 or 64 bits: global accesses take either. */
gen_value gen_maybe_wide(gen *g, gen_value index);
/* A resource of the buffer, new or made before. */
bool gen_resource(gen *g, fuzz_role role, tw_scalar scalar, gen_value *out);
bool gen_all_are_here(const gen *g); /* all of the workgroup: barriers may stand */
/* In two halves, with work between them, where the target has such. */
bool gen_barrier(gen *g, tw_fence fence);
bool gen_new_array(gen *g, tw_scalar scalar, uint32_t count, gen_value *out);

/* ---- gen_tiles.c ---- */
bool gen_is_tile_op(const tw_op_info *row);
bool gen_tile_op(gen *g, const tw_op_info *row); /* false where nothing came of it */

/* ---- gen_control.c ---- */
bool gen_for(gen *g);
bool gen_if(gen *g);

#endif
