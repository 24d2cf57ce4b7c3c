/* The code-object reader: what it says of real objects, and what it says of broken ones. */
#include "tests/test.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "jit/compiler.h"
#include "tests/jit/compiler_and_diag.h"
#include "tests/jit/kernels.h"

static tw_code_object *compile(const char *text, const char *target_name) {
    tw_target target;
    tw_code_object *object;
    tw_diag_clear(diag);
    assert_int_equal(tw_target_parse(target_name, &target, diag), TW_OK);
    if (tw_compile_llvm_ir(compiler, text, strlen(text), target, NULL, &object, diag))
        fail_msg("%s", tw_diag_text(diag));
    return object;
}

static void facts_of_a_small_kernel(void **state) {
    (void)state;
    tw_code_object *object = compile(KERNEL_STORE, "gfx1250");
    assert_string_equal(tw_code_object_target_id(object), "amdgcn-amd-amdhsa--gfx1250");
    assert_int_equal(tw_code_object_abi_version(object), 6);
    assert_int_equal(tw_code_object_kernel_count(object), 1);
    const tw_kernel_info *k = tw_code_object_kernel(object, "store");
    assert_ptr_equal(k, tw_code_object_kernel_at(object, 0));
    assert_null(tw_code_object_kernel(object, "stor"));
    assert_null(tw_code_object_kernel_at(object, 1));
    assert_string_equal(k->symbol, "store.kd");
    assert_int_equal(k->kernarg_size, 12);
    assert_int_equal(k->explicit_kernarg_size, 12);
    assert_int_equal(k->kernarg_align, 8);
    assert_int_equal(k->wave_size, 32);
    assert_int_equal(k->max_workgroup, 64);
    assert_int_equal(k->required_workgroup[0], 64);
    assert_int_equal(k->required_workgroup[1], 1);
    assert_int_equal(k->lds_bytes, 0);
    assert_int_equal(k->scratch_bytes, 0);
    assert_int_equal(k->vgpr_spills, 0);
    assert_in_range(k->vgprs, 1, 8);
    assert_int_equal(k->arg_count, 2);
    assert_string_equal(k->args[0].name, "x");
    assert_int_equal(k->args[0].kind, TW_ARG_GLOBAL_BUFFER);
    assert_int_equal(k->args[0].size, 8);
    assert_string_equal(k->args[1].value_kind, "by_value");
    assert_int_equal(k->args[1].offset, 8);
    /* The descriptor's own kernarg size, and its code is where the segments say. */
    assert_int_equal(k->descriptor[8], 12);
    bool executable = false;
    for (size_t i = 0; i < tw_code_object_segment_count(object); i++) {
        tw_segment s = tw_code_object_segment_at(object, i);
        if (k->entry_address >= s.address && k->entry_address + k->code_bytes <= s.address + s.file_size)
            executable = s.executable;
    }
    assert_true(executable);
    assert_true(k->code_bytes >= 8);
    assert_int_equal(tw_code_object_undefined_count(object), 0);
    tw_code_object_release(object);
}

static void hidden_arguments_are_told_apart(void **state) {
    (void)state;
    tw_code_object *object =
        compile("target triple = \"amdgcn-amd-amdhsa\"\n"
                "declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()\n"
                "define amdgpu_kernel void @k(ptr addrspace(1) %x, ptr addrspace(3) %l) {\n"
                "  %h = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()\n"
                "  %v = load i32, ptr addrspace(4) %h\n"
                "  store i32 %v, ptr addrspace(1) %x\n"
                "  store i32 1, ptr addrspace(3) %l\n  ret void\n}\n",
                "gfx942");
    const tw_kernel_info *k = tw_code_object_kernel(object, "k");
    assert_int_equal(k->explicit_kernarg_size, 12);
    assert_true(k->kernarg_size > 12);
    assert_int_equal(k->args[1].kind, TW_ARG_DYNAMIC_LDS);
    assert_int_equal(k->args[2].kind, TW_ARG_HIDDEN);
    assert_string_equal(k->args[2].value_kind, "hidden_block_count_x");
    tw_code_object_release(object);
}

/* Code object versions 4, 5 and 6, target features, and the wave size of a kernel that chose it. */
static void versions_and_targets(void **state) {
    (void)state;
    static const struct {
        const char *target, *id;
        unsigned version;
    } rows[] = {
        {"gfx90a", "amdgcn-amd-amdhsa--gfx90a", 4},
        {"gfx90a:xnack-", "amdgcn-amd-amdhsa--gfx90a:xnack-", 5},
        {"gfx90a:sramecc+:xnack+", "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack+", 6},
        {"gfx942:sramecc-", "amdgcn-amd-amdhsa--gfx942:sramecc-", 5},
        {"gfx950", "amdgcn-amd-amdhsa--gfx950", 6},
        {"gfx1100", "amdgcn-amd-amdhsa--gfx1100", 4},
        {"gfx1100:wave64", "amdgcn-amd-amdhsa--gfx1100", 5},
        {"gfx1151", "amdgcn-amd-amdhsa--gfx1151", 5},
        {"gfx1200", "amdgcn-amd-amdhsa--gfx1200", 6},
        {"gfx1201", "amdgcn-amd-amdhsa--gfx1201", 6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "%s!llvm.module.flags = !{!1}\n!1 = !{i32 1, !\"amdhsa_code_object_version\", i32 %u}\n",
                 KERNEL_STORE, rows[i].version * 100);
        tw_code_object *object = compile(text, rows[i].target);
        tw_target wanted;
        assert_int_equal(tw_target_parse(rows[i].target, &wanted, NULL), TW_OK);
        assert_true(tw_target_equal(tw_code_object_target(object), wanted));
        assert_string_equal(tw_code_object_target_id(object), rows[i].id);
        assert_int_equal(tw_code_object_abi_version(object), rows[i].version);
        tw_code_object_release(object);
    }
}

static void symbols_and_relocations(void **state) {
    (void)state;
    tw_code_object *object = compile(KERNEL_TWO_WITH_VARIABLES, "gfx1201");
    assert_int_equal(tw_code_object_kernel_count(object), 2);
    assert_non_null(tw_code_object_kernel(object, "one"));
    assert_non_null(tw_code_object_kernel(object, "another"));
    uint64_t table = 0, place = 0;
    for (size_t i = 0; i < tw_code_object_symbol_count(object); i++) {
        tw_symbol s = tw_code_object_symbol_at(object, i);
        if (!strcmp(s.name, "table")) table = s.address, assert_int_equal(s.size, 16);
        if (!strcmp(s.name, "place")) place = s.address;
        assert_int_equal(s.is_function, !strcmp(s.name, "one") || !strcmp(s.name, "another"));
    }
    assert_true(table && place);
    bool found = false;
    for (size_t i = 0; i < tw_code_object_relocation_count(object); i++) {
        tw_relocation r = tw_code_object_relocation_at(object, i);
        if (r.address != place) continue;
        found = true;
        assert_int_equal(r.type, 3); /* R_AMDGPU_ABS64 */
        assert_string_equal(r.symbol, "table");
        assert_int_equal(r.symbol_address, table);
    }
    assert_true(found);
    tw_code_object_release(object);
}

/* One byte or word of a real object changed, and the whole text that the reader answers. */
typedef struct patch {
    size_t offset, size;
    uint64_t value;
    tw_status status;
    const char *text;
} patch;

#define HEADER(field) offsetof(Elf64_Ehdr, field), sizeof(((Elf64_Ehdr *)0)->field)
#define IDENT(index)  offsetof(Elf64_Ehdr, e_ident) + (index), 1

static void broken_headers_are_named(void **state) {
    (void)state;
    static const patch patches[] = {
        {IDENT(0), 0x7e, TW_ERR_INVALID, "the file must begin with the ELF magic number (got 0x7e454c46)"},
        {IDENT(EI_CLASS), 1, TW_ERR_INVALID, "the ELF class must be 2, 64-bit (got 1)"},
        {IDENT(EI_DATA), 2, TW_ERR_INVALID, "the ELF data encoding must be 1, little-endian (got 2)"},
        {IDENT(EI_VERSION), 0, TW_ERR_INVALID, "the ELF version must be 1 (got 0 and 1)"},
        {IDENT(EI_OSABI), 0, TW_ERR_INVALID, "the OS ABI must be 64, HSA (got 0)"},
        {IDENT(EI_ABIVERSION), 1, TW_ERR_INVALID,
         "the ABI version must be 2..4, code object versions 4 to 6 (got 1)"},
        {IDENT(EI_ABIVERSION), 5, TW_ERR_INVALID,
         "the ABI version must be 2..4, code object versions 4 to 6 (got 5)"},
        {HEADER(e_machine), 62, TW_ERR_INVALID, "the ELF machine must be 224, AMDGPU (got 62)"},
        {HEADER(e_type), 1, TW_ERR_INVALID, "the ELF type must be 3, a linked shared object (got 1)"},
        {HEADER(e_phentsize), 32, TW_ERR_INVALID, "a program header must have 56 bytes (got 32)"},
        {HEADER(e_shentsize), 40, TW_ERR_INVALID, "a section header must have 64 bytes (got 40)"},
        {HEADER(e_phnum), 0, TW_ERR_INVALID, "the number of program headers must be 1..65534 (got 0)"},
        {HEADER(e_shnum), 0, TW_ERR_INVALID, "the number of section headers must be 1..65279 (got 0)"},
        {HEADER(e_flags), 0x52f, TW_ERR_UNSUPPORTED,
         "the processor must be one of the supported targets (got EF_AMDGPU_MACH 0x02f)"},
        {HEADER(e_flags), 0x54e, TW_ERR_INVALID,
         "metadata: amdhsa.target must name the processor of the ELF header, gfx1201 (got "
         "amdgcn-amd-amdhsa--gfx1250)"},
    };
    tw_code_object *object = compile(KERNEL_STORE, "gfx1250"), *again;
    size_t size;
    const void *bytes = tw_code_object_bytes(object, &size);
    uint8_t *copy = malloc(size);
    for (size_t i = 0; i < sizeof patches / sizeof patches[0]; i++) {
        memcpy(copy, bytes, size);
        memcpy(copy + patches[i].offset, &patches[i].value, patches[i].size);
        tw_diag_clear(diag);
        assert_int_equal(tw_code_object_from_bytes(copy, size, &again, diag), patches[i].status);
        assert_string_equal(tw_diag_first_error(diag), patches[i].text);
        assert_null(again);
    }
    free(copy);
    tw_code_object_release(object);
}

/* The tables of a real object: program headers, section headers and what they lead to. */
typedef struct tables {
    uint8_t *bytes;
    size_t size;
    Elf64_Ehdr *header;
    Elf64_Phdr *load[4]; /* in order */
    Elf64_Shdr *dynsym, *dynstr, *rela;
} tables;

static tables find_tables(uint8_t *bytes, size_t size) {
    tables t = {.bytes = bytes, .size = size, .header = (Elf64_Ehdr *)bytes};
    Elf64_Phdr *segments = (Elf64_Phdr *)(bytes + t.header->e_phoff);
    Elf64_Shdr *sections = (Elf64_Shdr *)(bytes + t.header->e_shoff);
    for (size_t i = 0, n = 0; i < t.header->e_phnum && n < 4; i++)
        if (segments[i].p_type == PT_LOAD) t.load[n++] = &segments[i];
    for (size_t i = 0; i < t.header->e_shnum; i++) {
        if (sections[i].sh_type == SHT_DYNSYM) t.dynsym = &sections[i];
        if (sections[i].sh_type == SHT_RELA) t.rela = &sections[i];
    }
    t.dynstr = &sections[t.dynsym->sh_link];
    return t;
}

static void segment_past_the_file(tables *t) { t->load[1]->p_offset = t->size; }
static void segment_larger_in_file(tables *t) { t->load[0]->p_memsz = t->load[0]->p_filesz - 1; }
static void segment_past_memory(tables *t) { t->load[2]->p_memsz = 1ull << 40; }
static void segment_wraps(tables *t) { t->load[2]->p_vaddr = UINT64_MAX; }
static void segments_overlap(tables *t) { t->load[1]->p_vaddr = t->load[0]->p_vaddr; }
static void no_segment(tables *t) {
    for (int i = 0; i < 4; i++)
        if (t->load[i]) t->load[i]->p_type = PT_NULL;
}
static void symbols_past_the_file(tables *t) { t->dynsym->sh_offset = t->size; }
static void symbols_of_another_size(tables *t) { t->dynsym->sh_entsize = 16; }
static void symbols_cut(tables *t) { t->dynsym->sh_size -= 1; }
static void symbols_without_names(tables *t) { t->dynsym->sh_link = 0; }
static void no_symbols(tables *t) { t->dynsym->sh_type = SHT_PROGBITS; }
static void names_without_an_end(tables *t) { t->dynstr->sh_size -= 1; }
static void names_past_the_file(tables *t) { t->dynstr->sh_offset = UINT64_MAX; }
static void name_past_the_names(tables *t) {
    ((Elf64_Sym *)(t->bytes + t->dynsym->sh_offset))[1].st_name = (Elf64_Word)t->dynstr->sh_size;
}
static Elf64_Rela *first_relocation(tables *t) { return (Elf64_Rela *)(t->bytes + t->rela->sh_offset); }
static void relocation_symbol(tables *t) { first_relocation(t)->r_info = ELF64_R_INFO(1000, 3); }
static void relocation_place(tables *t) { first_relocation(t)->r_offset = 0x100000; }
static void relocation_size(tables *t) { t->rela->sh_entsize = 16; }
static void relocation_kind(tables *t) { t->rela->sh_type = SHT_REL; }
static void relocations_past_the_file(tables *t) { t->rela->sh_offset = t->size - 8; }
static void relocations_overlap(tables *t) {
    t->rela->sh_offset = 0; /* two tables of nearly the whole file */
    t->rela->sh_size = t->size / 24 * 24;
    t->dynstr[-1] = *t->rela;
}

static void notes_overlap(tables *t) {
    Elf64_Phdr *segments = (Elf64_Phdr *)(t->bytes + t->header->e_phoff);
    for (size_t i = 0; i < t->header->e_phnum; i++)
        if (segments[i].p_type == PT_PHDR || segments[i].p_type == PT_DYNAMIC)
            segments[i] = (Elf64_Phdr){.p_type = PT_NOTE, .p_filesz = t->size, .p_align = 4};
}

static void two_metadata_notes(tables *t) {
    Elf64_Phdr *segments = (Elf64_Phdr *)(t->bytes + t->header->e_phoff), *note = segments;
    while (note->p_type != PT_NOTE)
        note++;
    for (size_t i = 0; i < t->header->e_phnum; i++)
        if (segments[i].p_type == PT_DYNAMIC) segments[i] = *note;
}
static void two_symbol_tables(tables *t) { t->dynsym[1] = *t->dynsym; }

/* The first symbol whose name ends in ".kd". */
static Elf64_Sym *descriptor_symbol(tables *t) {
    Elf64_Sym *symbol = (Elf64_Sym *)(t->bytes + t->dynsym->sh_offset);
    const char *names = (const char *)t->bytes + t->dynstr->sh_offset;
    while (!strstr(names + symbol->st_name, ".kd"))
        symbol++;
    return symbol;
}
static void move_entry(tables *t, int64_t by) {
    uint64_t address = descriptor_symbol(t)->st_value;
    Elf64_Phdr *load = t->load[0]; /* that of constant data */
    int64_t *distance = (int64_t *)(t->bytes + load->p_offset + (address - load->p_vaddr) + 16);
    *distance += by;
}
static void descriptor_unaligned(tables *t) { descriptor_symbol(t)->st_value += 8; }
static void descriptor_outside(tables *t) { descriptor_symbol(t)->st_value = 0x1000000; }
static void entry_unaligned(tables *t) { move_entry(t, 4); }
static void entry_outside(tables *t) { move_entry(t, 0x100000); }
static void entry_in_data(tables *t) { t->load[1]->p_flags = PF_R; }

static void broken_tables_are_named(void **state) {
    (void)state;
    static const struct {
        void (*change)(tables *);
        const char *text; /* the beginning: the rest depends on the linker's layout */
    } rows[] = {
        {segment_past_the_file, "segment 2 must lie in the file of "},
        {segment_larger_in_file, "segment 1 must not have more bytes in the file than in memory, 0x"},
        {segment_past_memory, "segment 3 must end at or below 0x40000000 (got address 0x"},
        {segment_wraps, "segment 3 must end at or below 0x40000000 (got address 0xffffffffffffffff, size 0x"},
        {segments_overlap, "segment 2 must begin at or above the end of the one before, 0x"},
        {no_segment, "a code object must have a segment to load (got 0)"},
        {symbols_past_the_file, "section 2 must lie in the file of "},
        {symbols_of_another_size, "dynamic symbols must have 24 bytes each (got 16 in a table of 168)"},
        {symbols_cut, "dynamic symbols must have 24 bytes each (got 24 in a table of 167)"},
        {symbols_without_names, "the dynamic symbol table must be linked to a string table (got section 0)"},
        {no_symbols, "a code object must have a dynamic symbol table (got none)"},
        {names_without_an_end, "a string table must end with a zero byte (got "},
        {names_past_the_file, "section "},
        {name_past_the_names, "the name of dynamic symbol 1 must lie in the string table of "},
        {relocation_symbol, "relocation 0 must name one of 7 dynamic symbols (got 1000)"},
        {relocation_place, "relocation 0 must patch 8 bytes that a segment holds (got address 0x100000)"},
        {relocation_size, "relocations must have 24 bytes each (got 16 in a table of 48)"},
        {relocation_kind, "relocations must be of the form with addends, type 4 (got type 9 in section "},
        {relocations_past_the_file, "section "},
        {relocations_overlap, "relocation tables must not overlap (got "},
        {two_metadata_notes, "a code object must have one metadata note (got 2)"},
        {two_symbol_tables, "a code object must have one dynamic symbol table (got sections 2 and 3)"},
        {descriptor_unaligned, "the descriptor of kernel "},
        {descriptor_outside, "the descriptor of kernel "},
        {entry_unaligned, "kernel one must begin in an executable segment, at a multiple of 256 (got 0x"},
        {entry_outside, "kernel one must begin in an executable segment, at a multiple of 256 (got 0x"},
        {entry_in_data, "kernel one must begin in an executable segment, at a multiple of 256 (got 0x"},
        {notes_overlap, "note segments must not overlap (got "},
    };
    tw_code_object *object = compile(KERNEL_TWO_WITH_VARIABLES, "gfx1201"), *again;
    size_t size;
    const void *bytes = tw_code_object_bytes(object, &size);
    uint8_t *copy = malloc(size);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        memcpy(copy, bytes, size);
        tables t = find_tables(copy, size);
        rows[i].change(&t);
        tw_diag_clear(diag);
        assert_int_equal(tw_code_object_from_bytes(copy, size, &again, diag), TW_ERR_INVALID);
        if (strncmp(tw_diag_first_error(diag), rows[i].text, strlen(rows[i].text)) != 0)
            fail_msg("wanted: %s\ngot: %s", rows[i].text, tw_diag_first_error(diag));
    }
    free(copy);
    tw_code_object_release(object);
}

/* Names that end alike may share their bytes, but each is read: a small file could cost any time. */
static void names_of_shared_bytes_are_limited(void **state) {
    (void)state;
    enum { NAMES = 4096 };
    tw_code_object *object = compile(KERNEL_TWO_WITH_VARIABLES, "gfx1201"), *again;
    size_t size;
    const void *bytes = tw_code_object_bytes(object, &size);
    uint8_t *copy = malloc(size + NAMES);
    memcpy(copy, bytes, size);
    memset(copy + size, 'a', NAMES - 1);
    copy[size + NAMES - 1] = 0;
    tables t = find_tables(copy, size);
    t.dynstr->sh_offset = size;
    t.dynstr->sh_size = NAMES;
    Elf64_Sym *symbols = (Elf64_Sym *)(copy + t.dynsym->sh_offset);
    for (size_t i = 0; i < t.dynsym->sh_size / sizeof *symbols; i++)
        symbols[i].st_name = (Elf64_Word)i;
    char text[96];
    snprintf(text, sizeof text, "names of dynamic symbols must have at most %zu bytes together (got more)",
             size + NAMES);
    tw_diag_clear(diag);
    assert_int_equal(tw_code_object_from_bytes(copy, size + NAMES, &again, diag), TW_ERR_INVALID);
    assert_string_equal(tw_diag_first_error(diag), text);
    free(copy);
    tw_code_object_release(object);
}

/* Relocations among all segments that a file can have: milliseconds, where a search from the first segment on
 * took half a minute. */
static void many_segments_and_relocations_take_no_time(void **state) {
    (void)state;
    enum { SEGMENTS = 65000, RELOCATIONS = 500000 };
    tw_code_object *object = compile(KERNEL_TWO_WITH_VARIABLES, "gfx1201"), *again;
    size_t size, count = 0;
    const void *bytes = tw_code_object_bytes(object, &size);
    size_t segments_at = (size + 7) & ~(size_t)7,
           relocations_at = segments_at + SEGMENTS * sizeof(Elf64_Phdr),
           total = relocations_at + RELOCATIONS * sizeof(Elf64_Rela);
    uint8_t *copy = calloc(1, total);
    memcpy(copy, bytes, size);
    tables t = find_tables(copy, size);
    Elf64_Phdr *old = (Elf64_Phdr *)(copy + t.header->e_phoff);
    Elf64_Phdr *segments = (Elf64_Phdr *)(copy + segments_at);
    for (; count + t.header->e_phnum < SEGMENTS; count++)
        segments[count] = (Elf64_Phdr){.p_type = PT_LOAD}; /* empty, before all others */
    memcpy(segments + count, old, t.header->e_phnum * sizeof *old);
    t.header->e_phoff = segments_at;
    t.header->e_phnum = SEGMENTS;
    for (size_t i = 0; i < RELOCATIONS; i++)
        ((Elf64_Rela *)(copy + relocations_at))[i] = *first_relocation(&t);
    t.rela->sh_offset = relocations_at;
    t.rela->sh_size = RELOCATIONS * sizeof(Elf64_Rela);
    tw_diag_clear(diag);
    clock_t start = clock();
    if (tw_code_object_from_bytes(copy, total, &again, diag)) fail_msg("%s", tw_diag_text(diag));
    assert_in_range((clock() - start) / CLOCKS_PER_SEC, 0, 4);
    assert_int_equal(tw_code_object_relocation_count(again), RELOCATIONS);
    assert_non_null(tw_code_object_kernel(again, "another"));
    tw_code_object_release(again);
    free(copy);
    tw_code_object_release(object);
}

static uint8_t *find_bytes(uint8_t *bytes, size_t size, const char *text) {
    uint8_t *at = memmem(bytes, size, text, strlen(text));
    assert_non_null(at);
    return at + strlen(text);
}

/* The value behind a key of the metadata, one byte of MessagePack, replaced. */
static void broken_metadata_is_named(void **state) {
    (void)state;
    static const struct {
        const char *key;
        uint8_t value;
        const char *text;
    } patches[] = {
        {".kernarg_segment_size", 8,
         "metadata of store: argument 1 must end in the kernarg segment of 8 bytes (got 12)"},
        {".kernarg_segment_align", 3,
         "metadata of store: .kernarg_segment_align must be a power of two (got 3)"},
        {".kernarg_segment_align", 0, "metadata of store: .kernarg_segment_align must be in 1..4096 (got 0)"},
        {".wavefront_size", 48, "metadata of store: .wavefront_size must be 32 or 64 (got 48)"},
        {".vgpr_count", 0xc0,
         "metadata of store: .vgpr_count must be an integer in 0..65535 (got another type)"},
        {".max_flat_workgroup_size", 0,
         "metadata of store: .max_flat_workgroup_size must be in 1..1024 (got 0)"},
        {".symbol", 0xa0, NULL},
        {"amdhsa.kernels", 0x9f, NULL},
        {"amdhsa.kernels", 0xdd, NULL}, /* an array of 2^31 or so */
    };
    tw_code_object *object = compile(KERNEL_STORE, "gfx1250"), *again;
    size_t size;
    const void *bytes = tw_code_object_bytes(object, &size);
    uint8_t *copy = malloc(size);
    for (size_t i = 0; i < sizeof patches / sizeof patches[0]; i++) {
        memcpy(copy, bytes, size);
        *find_bytes(copy, size, patches[i].key) = patches[i].value;
        tw_diag_clear(diag);
        assert_int_equal(tw_code_object_from_bytes(copy, size, &again, diag), TW_ERR_INVALID);
        if (patches[i].text) {
            assert_string_equal(tw_diag_first_error(diag), patches[i].text);
        } else {
            assert_non_null(
                strstr(tw_diag_first_error(diag), "the metadata note must be one MessagePack object"));
        }
    }
    /* A descriptor symbol that is not there. */
    memcpy(copy, bytes, size);
    uint8_t *name = memmem(copy, size, "store.kd", 8);
    memcpy(name, "storx.kd", 8);
    tw_diag_clear(diag);
    assert_int_equal(tw_code_object_from_bytes(copy, size, &again, diag), TW_ERR_INVALID);
    assert_string_equal(tw_diag_first_error(diag),
                        "the descriptor of kernel store must be a dynamic symbol (got no storx.kd)");
    free(copy);
    tw_code_object_release(object);
}

/* An array of objects of one byte each, up to `end`. */
static void fill_with_nils(uint8_t *at, const uint8_t *end) {
    size_t count = (size_t)(end - at) - 3;
    *at++ = 0xdc;
    *at++ = (uint8_t)(count >> 8);
    *at++ = (uint8_t)count;
    memset(at, 0xc0, count);
}

/* A list of such objects must not make us take a kernel's memory, or an argument's, for each. */
static void lists_longer_than_their_bytes_allow_are_refused(void **state) {
    (void)state;
    tw_code_object *object = compile(KERNEL_STORE, "gfx1201"), *again;
    size_t size;
    const void *bytes = tw_code_object_bytes(object, &size);
    uint8_t *copy = malloc(size);
    memcpy(copy, bytes, size);
    uint8_t *end = find_bytes(copy, size, ".group_segment_fixed_size") - 26;
    fill_with_nils(find_bytes(copy, size, ".args"), end);
    tw_diag_clear(diag);
    assert_int_equal(tw_code_object_from_bytes(copy, size, &again, diag), TW_ERR_INVALID);
    assert_non_null(strstr(tw_diag_first_error(diag), "metadata of store: .args must have at most "));
    memcpy(copy, bytes, size);
    uint8_t *note = find_bytes(copy, size, "amdhsa.kernels") - 16; /* its map of three keys comes first */
    uint32_t note_size;
    memcpy(&note_size, note - 16, sizeof note_size);
    static const char head[] = "\x82\xad"
                               "amdhsa.target\xba"
                               "amdgcn-amd-amdhsa--gfx1201\xae"
                               "amdhsa.kernels";
    memcpy(note, head, sizeof head - 1);
    fill_with_nils(note + sizeof head - 1, note + note_size);
    tw_diag_clear(diag);
    assert_int_equal(tw_code_object_from_bytes(copy, size, &again, diag), TW_ERR_INVALID);
    assert_non_null(strstr(tw_diag_first_error(diag), "metadata: amdhsa.kernels must have at most "));
    free(copy);
    tw_code_object_release(object);
}

static void deep_metadata_is_refused(void **state) {
    (void)state;
    tw_code_object *object = compile(KERNEL_STORE, "gfx1201"), *again;
    size_t size;
    const void *bytes = tw_code_object_bytes(object, &size);
    uint8_t *copy = malloc(size);
    memcpy(copy, bytes, size);
    uint8_t *note = find_bytes(copy, size, "amdhsa.kernels") - 16;
    uint32_t note_size;
    memcpy(&note_size, note - 16, sizeof note_size);
    note[0] = 0x92;
    memset(note + 1, 0x91, 16); /* one level too many */
    note[17] = 0xc0;
    note[18] = 0xda; /* a string up to the end */
    note[19] = (uint8_t)((note_size - 21) >> 8);
    note[20] = (uint8_t)(note_size - 21);
    tw_diag_clear(diag);
    assert_int_equal(tw_code_object_from_bytes(copy, size, &again, diag), TW_ERR_INVALID);
    assert_non_null(strstr(tw_diag_first_error(diag), "must be one MessagePack object of "));
    memmove(note + 15, note + 17, 2); /* two less: then it is no map, but deep enough it is */
    note[17] = (uint8_t)((note_size - 19) >> 8);
    note[18] = (uint8_t)(note_size - 19);
    tw_diag_clear(diag);
    assert_int_equal(tw_code_object_from_bytes(copy, size, &again, diag), TW_ERR_INVALID);
    assert_string_equal(tw_diag_first_error(diag),
                        "the metadata note must be a MessagePack map (got another type)");
    memcpy(copy, bytes, size);
    find_bytes(copy, size, ".symbol\xa8stor")[0] = 0;
    tw_diag_clear(diag);
    assert_int_equal(tw_code_object_from_bytes(copy, size, &again, diag), TW_ERR_INVALID);
    assert_string_equal(tw_diag_first_error(diag),
                        "metadata of kernel 0: .symbol must have no zero byte (got one in 8 bytes)");
    free(copy);
    tw_code_object_release(object);
}

static void duplicate_kernels_are_refused(void **state) {
    (void)state;
    tw_code_object *object = compile("target triple = \"amdgcn-amd-amdhsa\"\n"
                                     "define amdgpu_kernel void @aaa() {\n  ret void\n}\n"
                                     "define amdgpu_kernel void @aab() {\n  ret void\n}\n",
                                     "gfx950"),
                   *again;
    size_t size;
    const void *bytes = tw_code_object_bytes(object, &size);
    uint8_t *copy = malloc(size);
    memcpy(copy, bytes, size);
    uint8_t *name = memmem(copy, size,
                           "\xa3"
                           "aab",
                           4);
    assert_non_null(name);
    name[3] = 'a';
    tw_diag_clear(diag);
    assert_int_equal(tw_code_object_from_bytes(copy, size, &again, diag), TW_ERR_INVALID);
    assert_string_equal(tw_diag_first_error(diag), "kernel names must be unique (got aaa twice)");
    free(copy);
    tw_code_object_release(object);
}

/* Every length of the file, and thousands of changed bytes: any answer but a crash. Run it under ASan. */
static void mutations_never_crash(void **state) {
    (void)state;
    tw_code_object *object = compile(KERNEL_STORE, "gfx90a");
    size_t size, refused = 0, accepted = 0;
    const uint8_t *bytes = tw_code_object_bytes(object, &size);
    uint64_t random = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < size + 6000; i++) {
        size_t length = i < size ? i : size;
        uint8_t *copy = malloc(length ? length : 1); /* exactly: a read past the end is one past the block */
        memcpy(copy, bytes, length);
        unsigned flips = i < size ? 0 : 1 + (unsigned)(i % 8);
        for (unsigned f = 0; f < flips; f++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            size_t at = (size_t)(random >> 32) % length;
            if (i % 3 == 0) at %= 0x400; /* headers and the note more often than code */
            copy[at] = i % 2 ? (uint8_t)random : copy[at] ^ (uint8_t)(1u << (random & 7));
        }
        tw_diag_clear(diag);
        tw_code_object *again;
        tw_status status = tw_code_object_from_bytes(copy, length, &again, diag);
        if (status) {
            refused++;
            assert_true(status == TW_ERR_INVALID || status == TW_ERR_UNSUPPORTED);
            assert_int_equal(tw_diag_count(diag), 1);
        } else {
            accepted++;
            tw_code_object_release(again);
        }
        free(copy);
    }
    /* Most truncations are refused; flips in the code itself are nobody's business here. */
    assert_true(refused > 2000);
    assert_true(accepted > 500);
    tw_code_object_release(object);
}

static void files_round_trip(void **state) {
    (void)state;
    char folder[] = "/tmp/tw-object-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/k.hsaco", folder);
    tw_code_object *object = compile(KERNEL_STORE, "gfx1151"), *again;
    tw_diag_clear(diag);
    assert_int_equal(tw_code_object_read(path, &again, diag), TW_ERR_NOT_FOUND);
    assert_int_equal(tw_code_object_write(object, path, diag), TW_OK);
    assert_int_equal(tw_code_object_write(object, path, diag), TW_OK); /* over an old one */
    assert_int_equal(tw_code_object_read(path, &again, diag), TW_OK);
    size_t size, size_again;
    const void *bytes = tw_code_object_bytes(object, &size);
    const void *bytes_again = tw_code_object_bytes(again, &size_again);
    assert_int_equal(size, size_again);
    assert_memory_equal(bytes, bytes_again, size);
    tw_code_object_release(tw_code_object_retain(again));
    /* A name that cannot be replaced: no temporary file stays beside it. */
    char taken[64];
    snprintf(taken, sizeof taken, "%s/taken", folder);
    assert_int_equal(mkdir(taken, 0700), 0);
    assert_int_equal(tw_code_object_write(object, taken, diag), TW_ERR_IO);
    assert_int_equal(rmdir(taken), 0);
    assert_string_equal(tw_code_object_kernel_at(again, 0)->name, "store");
    tw_code_object_release(again);
    tw_code_object_release(object);
    tw_diag_clear(diag);
    assert_int_equal(tw_code_object_read(folder, &again, diag), TW_ERR_INVALID);
    assert_string_equal(tw_diag_first_error(diag), "must be a regular file");
    unlink(path);
    assert_int_equal(rmdir(folder), 0); /* no temporary file is left */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_of_a_small_kernel),
        cmocka_unit_test(hidden_arguments_are_told_apart),
        cmocka_unit_test(versions_and_targets),
        cmocka_unit_test(symbols_and_relocations),
        cmocka_unit_test(broken_headers_are_named),
        cmocka_unit_test(broken_tables_are_named),
        cmocka_unit_test(names_of_shared_bytes_are_limited),
        cmocka_unit_test(many_segments_and_relocations_take_no_time),
        cmocka_unit_test(deep_metadata_is_refused),
        cmocka_unit_test(lists_longer_than_their_bytes_allow_are_refused),
        cmocka_unit_test(broken_metadata_is_named),
        cmocka_unit_test(duplicate_kernels_are_refused),
        cmocka_unit_test(mutations_never_crash),
        cmocka_unit_test(files_round_trip),
    };
    return cmocka_run_group_tests_name("code object", tests, open_both, close_both);
}
