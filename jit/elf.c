/* The ELF side of a code object: header, segments, dynamic symbols, relocations, and where the metadata is.
 * libelf walks the tables; nothing that they say is followed before it was checked here. */
#include "jit/code_object_internal.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>

#define EI_ABI_FIRST     2 /* code object version 4 */
#define EI_ABI_LAST      4 /* code object version 6 */
#define OSABI_AMDGPU_HSA 64

static bool inside(uint64_t offset, uint64_t size, uint64_t limit) {
    return offset <= limit && size <= limit - offset;
}

/* e_ident and the fixed fields, from the raw bytes: libelf accepts far more than a code object may be. */
static tw_status read_header(tw_reader *r) {
    const tw_code_object *object = r->object;
    if (object->size < sizeof(Elf64_Ehdr))
        return TW_MALFORMED(r, "a code object must have at least %zu bytes (got %zu)", sizeof(Elf64_Ehdr),
                            object->size);
    Elf64_Ehdr h;
    memcpy(&h, object->bytes, sizeof h);
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0)
        return TW_MALFORMED(r, "the file must begin with the ELF magic number (got 0x%02x%02x%02x%02x)",
                            h.e_ident[0], h.e_ident[1], h.e_ident[2], h.e_ident[3]);
    if (h.e_ident[EI_CLASS] != ELFCLASS64)
        return TW_MALFORMED(r, "the ELF class must be 2, 64-bit (got %u)", h.e_ident[EI_CLASS]);
    if (h.e_ident[EI_DATA] != ELFDATA2LSB)
        return TW_MALFORMED(r, "the ELF data encoding must be 1, little-endian (got %u)", h.e_ident[EI_DATA]);
    if (h.e_ident[EI_VERSION] != EV_CURRENT || h.e_version != EV_CURRENT)
        return TW_MALFORMED(r, "the ELF version must be 1 (got %u and %u)", h.e_ident[EI_VERSION],
                            h.e_version);
    if (h.e_machine != EM_AMDGPU)
        return TW_MALFORMED(r, "the ELF machine must be %u, AMDGPU (got %u)", EM_AMDGPU, h.e_machine);
    if (h.e_ident[EI_OSABI] != OSABI_AMDGPU_HSA)
        return TW_MALFORMED(r, "the OS ABI must be %u, HSA (got %u)", OSABI_AMDGPU_HSA, h.e_ident[EI_OSABI]);
    unsigned abi = h.e_ident[EI_ABIVERSION];
    if (abi < EI_ABI_FIRST || abi > EI_ABI_LAST)
        return TW_MALFORMED(r, "the ABI version must be %u..%u, code object versions 4 to 6 (got %u)",
                            EI_ABI_FIRST, EI_ABI_LAST, abi);
    r->object->abi_version = abi + 2;
    if (h.e_type != ET_DYN)
        return TW_MALFORMED(r, "the ELF type must be %u, a linked shared object (got %u)", ET_DYN, h.e_type);
    if (h.e_phentsize != sizeof(Elf64_Phdr))
        return TW_MALFORMED(r, "a program header must have %zu bytes (got %u)", sizeof(Elf64_Phdr),
                            h.e_phentsize);
    if (h.e_shentsize != sizeof(Elf64_Shdr))
        return TW_MALFORMED(r, "a section header must have %zu bytes (got %u)", sizeof(Elf64_Shdr),
                            h.e_shentsize);
    if (h.e_phoff % 8 || !inside(h.e_phoff, (uint64_t)h.e_phnum * sizeof(Elf64_Phdr), object->size))
        return TW_MALFORMED(
            r,
            "%u program headers must lie in the file, at a multiple of 8 (got offset 0x%" PRIx64
            " in %zu bytes)",
            h.e_phnum, h.e_phoff, object->size);
    if (h.e_shoff % 8 || !inside(h.e_shoff, (uint64_t)h.e_shnum * sizeof(Elf64_Shdr), object->size))
        return TW_MALFORMED(
            r,
            "%u section headers must lie in the file, at a multiple of 8 (got offset 0x%" PRIx64
            " in %zu bytes)",
            h.e_shnum, h.e_shoff, object->size);
    if (!h.e_phnum || h.e_phnum == PN_XNUM)
        return TW_MALFORMED(r, "the number of program headers must be 1..65534 (got %u)", h.e_phnum);
    if (!h.e_shnum || h.e_shnum >= SHN_LORESERVE)
        return TW_MALFORMED(r, "the number of section headers must be 1..%u (got %u)", SHN_LORESERVE - 1,
                            h.e_shnum);
    r->object->elf_flags = h.e_flags;
    return TW_OK;
}

static tw_feature_mode feature_of(uint32_t bits) {
    return bits == 3 ? TW_FEATURE_ON : bits == 2 ? TW_FEATURE_OFF : TW_FEATURE_ANY;
}

static tw_status read_target(tw_reader *r) {
    uint32_t flags = r->object->elf_flags;
    const tw_arch_info *arch = tw_arch_by_elf_mach(flags & TW_EF_MACH);
    if (!arch)
        return tw_fail_at(r->diag, TW_ERR_UNSUPPORTED, r->where, 0, 0,
                          "the processor must be one of the supported targets (got EF_AMDGPU_MACH 0x%03x)",
                          flags & TW_EF_MACH);
    r->object->target = (tw_target){.arch = arch->arch, .wave_size = arch->wave_size};
    if (arch->has_xnack) r->object->target.xnack = (uint8_t)feature_of(flags >> TW_EF_XNACK_SHIFT & 3);
    if (arch->has_sramecc) r->object->target.sramecc = (uint8_t)feature_of(flags >> TW_EF_SRAMECC_SHIFT & 3);
    return TW_OK;
}

static tw_status read_segment(tw_reader *r, const Elf64_Phdr *p, size_t index) {
    tw_code_object *object = r->object;
    if (!inside(p->p_offset, p->p_filesz, object->size))
        return TW_MALFORMED(
            r, "segment %zu must lie in the file of %zu bytes (got offset 0x%" PRIx64 ", size 0x%" PRIx64 ")",
            index, object->size, p->p_offset, p->p_filesz);
    if (p->p_filesz > p->p_memsz)
        return TW_MALFORMED(r,
                            "segment %zu must not have more bytes in the file than in memory, 0x%" PRIx64
                            " (got 0x%" PRIx64 ")",
                            index, p->p_memsz, p->p_filesz);
    if (!inside(p->p_vaddr, p->p_memsz, TW_CODE_OBJECT_MAX_MEMORY))
        return TW_MALFORMED(r,
                            "segment %zu must end at or below 0x%" PRIx64 " (got address 0x%" PRIx64
                            ", size 0x%" PRIx64 ")",
                            index, TW_CODE_OBJECT_MAX_MEMORY, p->p_vaddr, p->p_memsz);
    if (object->segment_count) {
        const tw_segment *last = &object->segments[object->segment_count - 1];
        if (p->p_vaddr < last->address + last->memory_size)
            return TW_MALFORMED(r,
                                "segment %zu must begin at or above the end of the one before, 0x%" PRIx64
                                " (got 0x%" PRIx64 ")",
                                index, last->address + last->memory_size, p->p_vaddr);
    }
    object->segments[object->segment_count++] = (tw_segment){
        .address = p->p_vaddr,
        .memory_size = p->p_memsz,
        .bytes = object->bytes + p->p_offset,
        .file_size = p->p_filesz,
        .writable = (p->p_flags & PF_W) != 0,
        .executable = (p->p_flags & PF_X) != 0,
    };
    return TW_OK;
}

/* `total`: the bytes of all note segments so far. Many that overlap would be read many times. */
static tw_status find_metadata(tw_reader *r, Elf *elf, const Elf64_Phdr *p, size_t index, uint64_t *total) {
    tw_code_object *object = r->object;
    if (!inside(p->p_offset, p->p_filesz, object->size))
        return TW_MALFORMED(r,
                            "note segment %zu must lie in the file of %zu bytes (got offset 0x%" PRIx64
                            ", size 0x%" PRIx64 ")",
                            index, object->size, p->p_offset, p->p_filesz);
    *total += p->p_filesz;
    if (*total > object->size)
        return TW_MALFORMED(r,
                            "note segments must not overlap (got %" PRIu64 " bytes in a file of %zu bytes)",
                            *total, object->size);
    if (!p->p_filesz) return TW_OK;
    Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)p->p_offset, p->p_filesz,
                                          p->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
    if (!data) return TW_MALFORMED(r, "note segment %zu is malformed: %s", index, elf_errmsg(-1));
    GElf_Nhdr note;
    size_t name, descriptor, at = 0;
    while ((at = gelf_getnote(data, at, &note, &name, &descriptor)) > 0) {
        if (note.n_type != TW_NT_AMDGPU_METADATA || note.n_namesz != sizeof "AMDGPU" ||
            !inside(name, note.n_namesz, data->d_size) ||
            memcmp((const char *)data->d_buf + name, "AMDGPU", sizeof "AMDGPU") != 0)
            continue;
        if (!inside(descriptor, note.n_descsz, data->d_size))
            return TW_MALFORMED(r, "the metadata note must lie in its segment of %zu bytes (got size %u)",
                                data->d_size, note.n_descsz);
        if (object->metadata) return TW_MALFORMED(r, "a code object must have one metadata note (got 2)");
        /* A rawchunk may be a copy that dies with `elf`: point into the object's own bytes. */
        object->metadata = object->bytes + p->p_offset + descriptor;
        object->metadata_size = note.n_descsz;
    }
    return TW_OK;
}

static tw_status read_segments(tw_reader *r, Elf *elf) {
    tw_code_object *object = r->object;
    size_t count;
    if (elf_getphdrnum(elf, &count))
        return TW_MALFORMED(r, "program headers are malformed: %s", elf_errmsg(-1));
    const Elf64_Phdr *headers = elf64_getphdr(elf);
    if (!headers) return TW_MALFORMED(r, "program headers are malformed: %s", elf_errmsg(-1));
    object->segments = TW_ARENA_NEW(&object->arena, tw_segment, count);
    if (!object->segments) return tw_fail_no_memory(r->diag);
    uint64_t notes = 0;
    for (size_t i = 0; i < count; i++) {
        tw_status status = TW_OK;
        if (headers[i].p_type == PT_LOAD) status = read_segment(r, &headers[i], i);
        if (headers[i].p_type == PT_NOTE) status = find_metadata(r, elf, &headers[i], i, &notes);
        if (status) return status;
    }
    if (!object->segment_count) return TW_MALFORMED(r, "a code object must have a segment to load (got 0)");
    if (!object->metadata)
        return TW_MALFORMED(r, "a code object must have an AMDGPU metadata note, type %d (got none)",
                            TW_NT_AMDGPU_METADATA);
    return TW_OK;
}

/* The raw bytes of a section whose extent was checked. */
static tw_status section_bytes(tw_reader *r, const Elf64_Shdr *s, size_t index, const uint8_t **bytes) {
    if (s->sh_type == SHT_NOBITS || !inside(s->sh_offset, s->sh_size, r->object->size))
        return TW_MALFORMED(
            r, "section %zu must lie in the file of %zu bytes (got offset 0x%" PRIx64 ", size 0x%" PRIx64 ")",
            index, r->object->size, s->sh_offset, s->sh_size);
    *bytes = r->object->bytes + s->sh_offset;
    return TW_OK;
}

typedef struct dynamic_symbols {
    size_t section; /* 0: none seen */
    const uint8_t *bytes;
    size_t count;
    const char *strings;
    size_t strings_size;
} dynamic_symbols;

static tw_status symbol_at(tw_reader *r, const dynamic_symbols *table, size_t index, Elf64_Sym *out,
                           const char **name) {
    memcpy(out, table->bytes + index * sizeof *out, sizeof *out);
    if (out->st_name >= table->strings_size)
        return TW_MALFORMED(
            r, "the name of dynamic symbol %zu must lie in the string table of %zu bytes (got offset %u)",
            index, table->strings_size, out->st_name);
    *name = table->strings + out->st_name;
    return TW_OK;
}

static int compare_symbols(const void *a, const void *b) {
    return strcmp((*(const tw_symbol *const *)a)->name, (*(const tw_symbol *const *)b)->name);
}

/* Names that end alike may share their bytes. Each is read all the same, so `left`, the bytes that all names
 * may have, bounds the time that sorting them takes. */
static tw_status spend_name(tw_reader *r, const char *name, size_t *left) {
    size_t length = strnlen(name, *left + 1);
    if (length > *left)
        return TW_MALFORMED(r, "names of dynamic symbols must have at most %zu bytes together (got more)",
                            r->object->size);
    *left -= length;
    return TW_OK;
}

static tw_status keep_symbols(tw_reader *r, const dynamic_symbols *table) {
    tw_code_object *object = r->object;
    size_t left = object->size;
    object->symbols = TW_ARENA_NEW(&object->arena, tw_symbol, table->count);
    object->symbols_by_name = TW_ARENA_NEW(&object->arena, const tw_symbol *, table->count);
    object->undefined = TW_ARENA_NEW(&object->arena, const char *, table->count);
    if (!object->symbols || !object->symbols_by_name || !object->undefined) return tw_fail_no_memory(r->diag);
    for (size_t i = 1; i < table->count; i++) { /* symbol 0 is the null symbol */
        Elf64_Sym symbol;
        const char *name = NULL;
        tw_status status = symbol_at(r, table, i, &symbol, &name);
        if (!status) status = spend_name(r, name, &left);
        if (status) return status;
        unsigned type = ELF64_ST_TYPE(symbol.st_info);
        if (symbol.st_shndx == SHN_UNDEF) {
            object->undefined[object->undefined_count++] = name;
        } else if (type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE) {
            tw_symbol *kept = &object->symbols[object->symbol_count];
            *kept = (tw_symbol){name, symbol.st_value, symbol.st_size, type == STT_FUNC};
            object->symbols_by_name[object->symbol_count++] = kept;
        }
    }
    qsort(object->symbols_by_name, object->symbol_count, sizeof *object->symbols_by_name, compare_symbols);
    return TW_OK;
}

static tw_status open_symbols(tw_reader *r, Elf *elf, const Elf64_Shdr *s, size_t index,
                              dynamic_symbols *table) {
    if (table->section)
        return TW_MALFORMED(r, "a code object must have one dynamic symbol table (got sections %zu and %zu)",
                            table->section, index);
    tw_status status = section_bytes(r, s, index, &table->bytes);
    if (status) return status;
    if (s->sh_entsize != sizeof(Elf64_Sym) || s->sh_size % sizeof(Elf64_Sym))
        return TW_MALFORMED(
            r, "dynamic symbols must have %zu bytes each (got %" PRIu64 " in a table of %" PRIu64 ")",
            sizeof(Elf64_Sym), s->sh_entsize, s->sh_size);
    table->section = index;
    table->count = s->sh_size / sizeof(Elf64_Sym);
    Elf_Scn *linked = s->sh_link ? elf_getscn(elf, s->sh_link) : NULL;
    const Elf64_Shdr *strings = linked ? elf64_getshdr(linked) : NULL;
    if (!strings || strings->sh_type != SHT_STRTAB)
        return TW_MALFORMED(r, "the dynamic symbol table must be linked to a string table (got section %u)",
                            s->sh_link);
    const uint8_t *bytes = NULL;
    status = section_bytes(r, strings, s->sh_link, &bytes);
    if (status) return status;
    table->strings = (const char *)bytes;
    table->strings_size = strings->sh_size;
    if (!table->strings_size || table->strings[table->strings_size - 1])
        return TW_MALFORMED(r, "a string table must end with a zero byte (got %zu bytes without)",
                            table->strings_size);
    return TW_OK;
}

static tw_status keep_relocation(tw_reader *r, const dynamic_symbols *table, const Elf64_Rela *entry,
                                 size_t index) {
    tw_code_object *object = r->object;
    size_t symbol_index = ELF64_R_SYM(entry->r_info);
    tw_relocation *kept = &object->relocations[object->relocation_count];
    *kept = (tw_relocation){.address = entry->r_offset,
                            .type = (uint32_t)ELF64_R_TYPE(entry->r_info),
                            .symbol = "",
                            .addend = entry->r_addend};
    if (symbol_index >= table->count)
        return TW_MALFORMED(r, "relocation %zu must name one of %zu dynamic symbols (got %zu)", index,
                            table->count, symbol_index);
    if (symbol_index) {
        Elf64_Sym symbol;
        tw_status status = symbol_at(r, table, symbol_index, &symbol, &kept->symbol);
        if (status) return status;
        kept->symbol_address = symbol.st_value;
    }
    if (!tw_code_object_at(object, entry->r_offset, 8))
        return TW_MALFORMED(
            r, "relocation %zu must patch 8 bytes that a segment holds (got address 0x%" PRIx64 ")", index,
            entry->r_offset);
    object->relocation_count++;
    return TW_OK;
}

static tw_status read_relocations(tw_reader *r, const dynamic_symbols *table, const Elf64_Shdr *s,
                                  size_t index, size_t capacity) {
    tw_code_object *object = r->object;
    const uint8_t *bytes = NULL;
    tw_status status = section_bytes(r, s, index, &bytes);
    if (status) return status;
    if (!object->relocations) object->relocations = TW_ARENA_NEW(&object->arena, tw_relocation, capacity);
    if (!object->relocations) return tw_fail_no_memory(r->diag);
    for (size_t i = 0; i < s->sh_size / sizeof(Elf64_Rela) && !status; i++) {
        Elf64_Rela entry;
        memcpy(&entry, bytes + i * sizeof entry, sizeof entry);
        status = keep_relocation(r, table, &entry, i);
    }
    return status;
}

/* A loader applies relocations of loaded sections only; AMDGPU has no form but RELA. */
static tw_status check_relocation_section(tw_reader *r, const Elf64_Shdr *s, size_t index, size_t *total) {
    if (s->sh_type == SHT_REL || s->sh_type == SHT_RELR)
        return TW_MALFORMED(
            r, "relocations must be of the form with addends, type %u (got type %u in section %zu)", SHT_RELA,
            s->sh_type, index);
    if (s->sh_entsize != sizeof(Elf64_Rela) || s->sh_size % sizeof(Elf64_Rela))
        return TW_MALFORMED(
            r, "relocations must have %zu bytes each (got %" PRIu64 " in a table of %" PRIu64 ")",
            sizeof(Elf64_Rela), s->sh_entsize, s->sh_size);
    if (!inside(s->sh_offset, s->sh_size, r->object->size))
        return TW_MALFORMED(
            r, "section %zu must lie in the file of %zu bytes (got offset 0x%" PRIx64 ", size 0x%" PRIx64 ")",
            index, r->object->size, s->sh_offset, s->sh_size);
    *total += s->sh_size / sizeof(Elf64_Rela);
    if (*total > r->object->size / sizeof(Elf64_Rela))
        return TW_MALFORMED(r, "relocation tables must not overlap (got %zu entries in a file of %zu bytes)",
                            *total, r->object->size);
    return TW_OK;
}

static bool is_loaded_relocations(const Elf64_Shdr *s) {
    return (s->sh_flags & SHF_ALLOC) &&
           (s->sh_type == SHT_RELA || s->sh_type == SHT_REL || s->sh_type == SHT_RELR);
}

static tw_status read_sections(tw_reader *r, Elf *elf) {
    dynamic_symbols table = {0};
    size_t relocations = 0;
    tw_status status = TW_OK;
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn)) && !status;) {
        const Elf64_Shdr *s = elf64_getshdr(scn);
        if (!s) return TW_MALFORMED(r, "section headers are malformed: %s", elf_errmsg(-1));
        if (s->sh_type == SHT_DYNSYM) status = open_symbols(r, elf, s, elf_ndxscn(scn), &table);
        if (is_loaded_relocations(s)) status = check_relocation_section(r, s, elf_ndxscn(scn), &relocations);
    }
    if (!status && !table.section)
        status = TW_MALFORMED(r, "a code object must have a dynamic symbol table (got none)");
    if (!status) status = keep_symbols(r, &table);
    for (Elf_Scn *scn = NULL; !status && (scn = elf_nextscn(elf, scn));) {
        const Elf64_Shdr *s = elf64_getshdr(scn);
        if (is_loaded_relocations(s)) status = read_relocations(r, &table, s, elf_ndxscn(scn), relocations);
    }
    return status;
}

tw_status tw_elf_read(tw_reader *r) {
    tw_status status = read_header(r);
    if (!status) status = read_target(r);
    if (status) return status;
    /* Only tells libelf which version of its interface we speak. */
    if (elf_version(EV_CURRENT) == EV_NONE) return tw_fail(r->diag, TW_ERR_UNSUPPORTED, "libelf is too old");
    Elf *elf = elf_memory((char *)r->object->bytes, r->object->size);
    if (!elf || elf_kind(elf) != ELF_K_ELF) {
        status = TW_MALFORMED(r, "the file is no readable ELF file: %s", elf_errmsg(-1));
    } else {
        status = read_segments(r, elf);
        if (!status) status = read_sections(r, elf);
    }
    elf_end(elf);
    return status;
}

/* They are in order of their addresses, and none begins before the end of the one before. */
const tw_segment *tw_code_object_segment_of(const tw_code_object *object, uint64_t address) {
    size_t low = 0, high = object->segment_count; /* those before `low` begin at or below the address */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (object->segments[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const tw_segment *s = low ? &object->segments[low - 1] : NULL;
    return s && address - s->address < s->file_size ? s : NULL;
}

const uint8_t *tw_code_object_at(const tw_code_object *object, uint64_t address, uint64_t size) {
    const tw_segment *s = tw_code_object_segment_of(object, address);
    return s && inside(address - s->address, size, s->file_size) ? s->bytes + (address - s->address) : NULL;
}

const tw_symbol *tw_code_object_symbol_named(const tw_code_object *object, const char *name) {
    const tw_symbol key = {.name = name}, *wanted = &key;
    const tw_symbol **found = bsearch(&wanted, object->symbols_by_name, object->symbol_count,
                                      sizeof *object->symbols_by_name, compare_symbols);
    return found ? *found : NULL;
}
