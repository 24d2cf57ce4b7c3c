/* Decoding: control flow is followed from where execution enters, so that data between functions is never
 * read as code. */
#include "run/emu/code.h"

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "run/emu/fast.h"
#include "run/emu/poll.h"

typedef struct function {
    const char *name;
    uint64_t address, size;
} function;

struct emu_code {
    emu_binder binder;
    uint64_t address;
    const uint8_t *bytes;
    size_t size;
    LLVMDisasmContextRef disassembler;
    pthread_mutex_t lock; /* of everything below */
    emu_inst **at;        /* one a dword; NULL: not decoded */
    function *functions;
    size_t function_count, function_capacity;
    emu_inst **branches; /* decoded by the call at hand */

    size_t branch_count, branch_capacity;
    bool polls;       /* a loop in it waits for another wave */
    emu_inst outside; /* what executing an address without code runs into */
};

/* 16-bit registers are printed with their half on targets that address halves. */
static const char *features(tw_target target, tw_isa isa) {
    if (isa == TW_ISA_GFX9) return "";
    return target.wave_size == 64 ? "+real-true16,+wavefrontsize64,-wavefrontsize32" : "+real-true16";
}

emu_code *tw_emu_code_new(tw_target target, const emu_table *table, uint64_t address, const uint8_t *bytes,
                          size_t size, tw_diag *diag) {
    const tw_arch_info *arch = tw_arch_get(target.arch);
    emu_code *code = calloc(1, sizeof *code);
    if (!code || !arch) goto no_memory;
    pthread_mutex_init(&code->lock, NULL);
    tw_arena_init(&code->binder.arena, &tw_allocator_default);
    code->binder.target = target;
    code->binder.isa = arch->isa;
    code->binder.table = table;
    code->address = address;
    code->bytes = bytes;
    code->size = size;
    code->outside = (emu_inst){.exec = tw_emu_exec_undecodable, .text = "", .cls = EMU_CLASS_OTHER};
    code->at = calloc(size / 4 + 1, sizeof *code->at);
    if (!code->at) goto no_memory;
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    code->disassembler = LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", arch->name,
                                                     features(target, arch->isa), NULL, 0, NULL, NULL);
    if (!code->disassembler) {
        tw_emu_code_free(code);
        tw_fail(diag, TW_ERR_UNSUPPORTED, "LLVM has no disassembler for the target (got %s)", arch->name);
        return NULL;
    }
    return code;
no_memory:
    tw_emu_code_free(code);
    tw_fail_no_memory(diag);
    return NULL;
}

void tw_emu_code_free(emu_code *code) {
    if (!code) return;
    if (code->disassembler) LLVMDisasmDispose(code->disassembler);
    pthread_mutex_destroy(&code->lock);
    tw_arena_free(&code->binder.arena);
    free(code->binder.constants);
    free(code->functions);
    free(code->branches);
    free(code->at);
    free(code);
}

tw_status tw_emu_code_function(emu_code *code, const char *name, uint64_t address, uint64_t size) {
    if (code->function_count == code->function_capacity) {
        size_t capacity = code->function_capacity ? 2 * code->function_capacity : 16;
        function *more = realloc(code->functions, capacity * sizeof *more);
        if (!more) return TW_ERR_NO_MEMORY;
        code->functions = more;
        code->function_capacity = capacity;
    }
    const char *copy = tw_arena_strndup(&code->binder.arena, name, strlen(name));
    if (!copy) return TW_ERR_NO_MEMORY;
    code->functions[code->function_count++] = (function){copy, address, size};
    return TW_OK;
}

const char *tw_emu_code_where(const emu_code *code, uint64_t address, uint64_t *offset) {
    for (size_t i = 0; i < code->function_count; i++) {
        const function *f = &code->functions[i];
        if (address >= f->address && address - f->address < f->size) {
            *offset = address - f->address;
            return f->name;
        }
    }
    *offset = address - code->address;
    return "";
}

static bool holds(const emu_code *code, uint64_t address) {
    return address >= code->address && address - code->address < code->size &&
           (address - code->address) % 4 == 0;
}

static void add_branch(emu_code *code, emu_inst *branch) {
    if (code->branch_count == code->branch_capacity) {
        size_t capacity = code->branch_capacity ? 2 * code->branch_capacity : 64;
        emu_inst **more = realloc(code->branches, capacity * sizeof *more);
        if (!more) {
            code->binder.failed = true;
            return;
        }
        code->branches = more;
        code->branch_capacity = capacity;
    }
    code->branches[code->branch_count++] = branch;
}

static emu_inst **place_of(emu_code *code, uint64_t address) {
    return &code->at[(address - code->address) / 4];
}

/* Control does not come to the instruction behind this one. */
static bool ends_run(const emu_inst *i) {
    if (i->exec == tw_emu_exec_endpgm || i->exec == tw_emu_exec_undecodable) return true;
    if (i->exec == tw_emu_exec_setpc) return i->row->arg == 0;
    return i->exec == tw_emu_exec_branch && i->row->arg == EMU_BRANCH_ALWAYS;
}

/* An encoding that LLVM must not see: reported, where it is executed, by its words. */
static size_t refuse(emu_code *code, const uint8_t *bytes, const char *reason, emu_inst *out) {
    char text[64];
    uint32_t word[2];
    memcpy(word, bytes, sizeof word);
    snprintf(text, sizeof text, ".long 0x%08x, 0x%08x", word[0], word[1]);
    out->text = tw_arena_strndup(&code->binder.arena, text, strlen(text));
    if (!out->text) code->binder.failed = true;
    out->exec = tw_emu_exec_unknown;
    out->fn.any = reason;
    out->size = sizeof word;
    return sizeof word;
}

/* Decodes the instruction at `address` into `out`; how many bytes it has. */
static size_t decode_one(emu_code *code, uint64_t address, emu_inst *out) {
    uint8_t window[32] = {0};
    size_t offset = address - code->address, rest = code->size - offset;
    char text[512];
    memcpy(window, code->bytes + offset, rest < sizeof window ? rest : sizeof window);
    memset(out, 0, sizeof *out);
    out->pc = address;
    out->cls = EMU_CLASS_OTHER;
    const char *unsafe = tw_emu_unsafe_encoding(code->binder.isa, window);
    if (unsafe) return refuse(code, window, unsafe, out);
    size_t size =
        LLVMDisasmInstruction(code->disassembler, window, rest < 20 ? rest : 20, address, text, sizeof text);
    if (size == 0 || size > rest) {
        out->exec = tw_emu_exec_undecodable;
        out->text = "";
        return 4;
    }
    const char *start = text + strspn(text, " \t");
    char *copy = tw_arena_strndup(&code->binder.arena, start, strlen(start));
    if (!copy) {
        code->binder.failed = true;
        return size;
    }
    for (char *c = copy; *c; c++)
        if (*c == '\t') *c = ' ';
    out->text = copy;
    tw_emu_bind(&code->binder, copy, window, out);
    if (!code->binder.failed) out->exec = tw_emu_fast_handler(out);
    out->size = (uint8_t)size;
    return size;
}

/* Decodes from `address` to where control leaves, or meets what is decoded already: there a link record leads
 * on, since records of one run lie side by side. */
static void decode_run(emu_code *code, uint64_t address) {
    enum { CHUNK = 64 };
    emu_inst *chunk = NULL;
    unsigned used = 0;
    while (!code->binder.failed) {
        /* The last record of a chunk is always a link. */
        if (!chunk || used + 1 == CHUNK) {
            emu_inst *next = TW_ARENA_NEW(&code->binder.arena, emu_inst, CHUNK);
            if (!next) {
                code->binder.failed = true;
                return;
            }
            if (chunk)
                chunk[used] = (emu_inst){.exec = tw_emu_exec_link, .target = next, .text = "", .pc = address};
            chunk = next;
            used = 0;
        }
        if (!holds(code, address)) {
            chunk[used] = (emu_inst){.exec = tw_emu_exec_undecodable, .text = "", .pc = address};
            return;
        }
        emu_inst **place = place_of(code, address);
        if (*place) {
            chunk[used] = (emu_inst){.exec = tw_emu_exec_link, .target = *place, .text = "", .pc = address};
            return;
        }
        emu_inst *i = &chunk[used++];
        size_t size = decode_one(code, address, i);
        if (code->binder.failed) return;
        *place = i;
        if (i->exec == tw_emu_exec_branch) add_branch(code, i);
        if (ends_run(i)) return;
        address += size;
    }
}

static void lead_to_target(emu_code *code, emu_inst *branch) {
    uint64_t to = branch->pc + 4 + (uint64_t)(branch->imm * 4);
    branch->target = &code->outside;
    if (!holds(code, to)) return;
    if (!*place_of(code, to)) decode_run(code, to);
    branch->target = *place_of(code, to);
}

/* The instruction that ends where this one begins; NULL: none is known. */
static emu_inst *before(emu_code *code, const emu_inst *i) {
    enum { LONGEST = 20 };
    for (uint64_t size = 4; size <= LONGEST && i->pc - code->address >= size; size += 4) {
        emu_inst *previous = *place_of(code, i->pc - size);
        if (previous) return previous->size == size ? previous : NULL;
    }
    return NULL;
}

/* A branch back over a few instructions: does the loop wait for another wave? */
static void look_for_polls(emu_code *code, const emu_inst *branch) {
    emu_inst *loop[EMU_POLL_LOOP];
    unsigned count = 0;
    if (!branch->target || !branch->target->size || branch->target->pc > branch->pc) return;
    for (uint64_t pc = branch->target->pc; pc <= branch->pc; pc += loop[count - 1]->size) {
        emu_inst *i = *place_of(code, pc);
        if (count == EMU_POLL_LOOP || !i || !i->size) return;
        loop[count++] = i;
    }
    if (loop[count - 1] != branch || !tw_emu_mark_polls(loop, count)) return;
    __atomic_store_n(&code->polls, true, __ATOMIC_RELAXED);
    emu_inst *i = before(code, loop[0]);
    for (unsigned k = 0; k < EMU_POLL_LOOP && i && tw_emu_mark_first_look(i, loop, count); k++)
        i = before(code, i);
}

bool tw_emu_code_polls(const emu_code *code) { return __atomic_load_n(&code->polls, __ATOMIC_RELAXED); }

const emu_inst *tw_emu_code_at(emu_code *code, uint64_t address) {
    if (!holds(code, address)) return &code->outside;
    pthread_mutex_lock(&code->lock);
    if (!*place_of(code, address)) {
        decode_run(code, address);
        for (size_t k = 0; k < code->branch_count && !code->binder.failed; k++)
            lead_to_target(code, code->branches[k]);
        for (size_t k = 0; k < code->branch_count && !code->binder.failed; k++)
            look_for_polls(code, code->branches[k]);
        code->branch_count = 0;
    }
    const emu_inst *i = code->binder.failed ? NULL : *place_of(code, address);
    pthread_mutex_unlock(&code->lock);
    return i;
}
