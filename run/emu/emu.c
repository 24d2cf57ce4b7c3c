/* The emulator as its users hold it: memory from the host's side, modules. */
#include "run/emu/emu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/emu/device.h"
#include "support/fail.h"

tw_status tw_emu_new(tw_target target, tw_emu **out, tw_diag *diag) {
    *out = NULL;
    const tw_arch_info *arch = tw_arch_get(target.arch);
    if (!arch)
        return tw_fail(diag, TW_ERR_USAGE, "target must be one that arch/ lists (got %d)", (int)target.arch);
    tw_emu *emu = calloc(1, sizeof *emu);
    if (!emu) return tw_fail_no_memory(diag);
    emu->target = target;
    emu->isa = arch->isa;
    emu->table = tw_emu_table_new();
    if (!emu->table || tw_emu_memory_init(&emu->memory, NULL) != TW_OK) {
        tw_emu_free(emu);
        return tw_fail_no_memory(diag);
    }
    /* A disassembler that cannot be made is an error here, not at the first launch. */
    emu_code *probe = tw_emu_code_new(target, emu->table, 0, NULL, 0, diag);
    if (!probe) {
        tw_emu_free(emu);
        return TW_ERR_UNSUPPORTED;
    }
    tw_emu_code_free(probe);
    *out = emu;
    return TW_OK;
}

void tw_emu_free(tw_emu *emu) {
    if (!emu) return;
    while (emu->modules)
        tw_emu_unload(emu->modules);
    tw_emu_memory_free(&emu->memory);
    tw_emu_table_free(emu->table);
    free(emu);
}

/* ---- memory ---- */

tw_status tw_emu_alloc(tw_emu *emu, size_t bytes, const char *name, uint64_t *address, tw_diag *diag) {
    emu_buffer *buffer;
    tw_status status = tw_emu_memory_alloc(&emu->memory, bytes, name, &buffer, diag);
    if (status == TW_OK) *address = buffer->address;
    return status;
}

tw_status tw_emu_release(tw_emu *emu, uint64_t address, tw_diag *diag) {
    emu_buffer *buffer = tw_emu_memory_near(&emu->memory, address);
    if (!buffer || buffer->freed || buffer->address != address || buffer->read_only)
        return tw_fail(diag, TW_ERR_USAGE, "address must be the start of a buffer (got 0x%llx)",
                       (unsigned long long)address);
    tw_emu_memory_release(buffer);
    return TW_OK;
}

static emu_buffer *host_range(const tw_emu *emu, uint64_t address, size_t bytes, tw_diag *diag) {
    emu_buffer *buffer = tw_emu_memory_near(&emu->memory, address);
    if (buffer && !buffer->freed && tw_emu_buffer_holds(buffer, address, bytes)) return buffer;
    tw_fail(diag, TW_ERR_USAGE, "the range must lie in one buffer (got %zu bytes at 0x%llx)", bytes,
            (unsigned long long)address);
    return NULL;
}

static void mark_known(emu_buffer *buffer, uint64_t offset, size_t bytes) {
    if (!bytes) return;
    if (!buffer->all_known) memset(buffer->known + offset, 0xff, bytes);
    if (offset == 0 && bytes == buffer->bytes) buffer->all_known = true;
}

tw_status tw_emu_write(tw_emu *emu, uint64_t address, const void *from, size_t bytes, tw_diag *diag) {
    emu_buffer *buffer = host_range(emu, address, bytes, diag);
    if (!buffer) return TW_ERR_USAGE;
    uint64_t offset = address - buffer->address;
    if (bytes) memcpy(buffer->data + offset, from, bytes);
    mark_known(buffer, offset, bytes);
    return TW_OK;
}

tw_status tw_emu_read(const tw_emu *emu, uint64_t address, void *to, size_t bytes, tw_diag *diag) {
    const emu_buffer *buffer = host_range(emu, address, bytes, diag);
    if (!buffer) return TW_ERR_USAGE;
    uint64_t offset = address - buffer->address;
    uint8_t *out = to;
    if (buffer->all_known) {
        if (bytes) memcpy(out, buffer->data + offset, bytes);
        return TW_OK;
    }
    /* Bits that nobody wrote read as the poison that a kernel would see. */
    static const uint8_t POISON[4] = {EMU_POISON & 0xff, EMU_POISON >> 8 & 0xff, EMU_POISON >> 16 & 0xff,
                                      EMU_POISON >> 24};
    for (size_t k = 0; k < bytes; k++) {
        uint8_t known = buffer->known[offset + k];
        out[k] = (uint8_t)((buffer->data[offset + k] & known) | (POISON[(offset + k) & 3] & ~known));
    }
    return TW_OK;
}

tw_status tw_emu_fill(tw_emu *emu, uint64_t address, uint8_t value, size_t bytes, tw_diag *diag) {
    emu_buffer *buffer = host_range(emu, address, bytes, diag);
    if (!buffer) return TW_ERR_USAGE;
    uint64_t offset = address - buffer->address;
    if (bytes) memset(buffer->data + offset, value, bytes);
    mark_known(buffer, offset, bytes);
    return TW_OK;
}

void tw_emu_describe_address(const emu_memory *memory, uint64_t address, char *out, size_t size) {
    const emu_buffer *b = tw_emu_memory_near(memory, address);
    if (!b) {
        snprintf(out, size, "near no buffer");
        return;
    }
    if (b->freed) {
        snprintf(out, size, "in '%s', which was freed", b->name);
        return;
    }
    if (address < b->address)
        snprintf(out, size, "%llu bytes before '%s' (%zu bytes at 0x%llx)",
                 (unsigned long long)(b->address - address), b->name, b->bytes,
                 (unsigned long long)b->address);
    else if (address - b->address < b->bytes)
        snprintf(out, size, "%llu bytes before the end of '%s' (%zu bytes at 0x%llx)",
                 (unsigned long long)(b->bytes - (address - b->address)), b->name, b->bytes,
                 (unsigned long long)b->address);
    else
        snprintf(out, size, "%llu bytes past the end of '%s' (%zu bytes at 0x%llx)",
                 (unsigned long long)(address - b->address - b->bytes), b->name, b->bytes,
                 (unsigned long long)b->address);
}

/* ---- modules ---- */

enum { R_AMDGPU_ABS64 = 3, R_AMDGPU_RELATIVE64 = 13 };

static tw_status relocate(tw_emu_module *module, tw_diag *diag) {
    for (size_t i = 0; i < tw_code_object_relocation_count(module->object); i++) {
        tw_relocation r = tw_code_object_relocation_at(module->object, i);
        uint64_t value = module->bias + (uint64_t)r.addend;
        if (r.type == R_AMDGPU_ABS64)
            value += r.symbol_address;
        else if (r.type != R_AMDGPU_RELATIVE64)
            return tw_fail(diag, TW_ERR_UNSUPPORTED,
                           "the emulator does not know this relocation (got type %u of '%s')", r.type,
                           r.symbol);
        uint64_t at = r.address - module->first;
        if (r.address < module->first || at > module->image->bytes - sizeof value)
            return tw_fail(diag, TW_ERR_INVALID, "a relocation lies outside of the segments (got 0x%llx)",
                           (unsigned long long)r.address);
        memcpy(module->image->data + at, &value, sizeof value);
    }
    return TW_OK;
}

static tw_status place_segments(tw_emu_module *module, tw_diag *diag) {
    tw_code_object *object = module->object;
    uint64_t first = UINT64_MAX, last = 0, code_first = UINT64_MAX, code_last = 0;
    for (size_t i = 0; i < tw_code_object_segment_count(object); i++) {
        tw_segment s = tw_code_object_segment_at(object, i);
        if (s.address < first) first = s.address;
        if (s.address + s.memory_size > last) last = s.address + s.memory_size;
        if (!s.executable) continue;
        if (s.address < code_first) code_first = s.address;
        if (s.address + s.memory_size > code_last) code_last = s.address + s.memory_size;
    }
    if (code_first >= code_last || last - first > 1ull << 32)
        return tw_fail(diag, TW_ERR_INVALID,
                       "a code object needs an executable segment of at most 4 GiB (got %llu bytes)",
                       (unsigned long long)(last - first));
    first &= ~0xfffull;
    tw_status status =
        tw_emu_memory_alloc(&module->emu->memory, last - first, "code object", &module->image, diag);
    if (status != TW_OK) return status;
    module->first = first;
    module->bias = module->image->address - first;
    for (size_t i = 0; i < tw_code_object_segment_count(object); i++) {
        tw_segment s = tw_code_object_segment_at(object, i);
        if (s.file_size) memcpy(module->image->data + (s.address - first), s.bytes, s.file_size);
    }
    memset(module->image->known, 0xff, module->image->bytes);
    module->image->all_known = true;
    module->code_address = code_first;
    module->code_bytes = code_last - code_first;
    return relocate(module, diag);
}

tw_status tw_emu_module_code(tw_emu_module *module, unsigned wave_size, emu_code **out, tw_diag *diag) {
    emu_code **code = &module->code[wave_size == 64];
    *out = *code;
    if (*code) return TW_OK;
    tw_target target = module->emu->target;
    target.wave_size = (uint8_t)wave_size;
    *code = tw_emu_code_new(target, module->emu->table, module->bias + module->code_address,
                            module->image->data + (module->code_address - module->first), module->code_bytes,
                            diag);
    if (!*code) return TW_ERR_NO_MEMORY;
    for (size_t i = 0; i < tw_code_object_symbol_count(module->object); i++) {
        tw_symbol s = tw_code_object_symbol_at(module->object, i);
        if (!s.is_function) continue;
        if (tw_emu_code_function(*code, s.name, module->bias + s.address, s.size) != TW_OK)
            return tw_fail_no_memory(diag);
    }
    *out = *code;
    return TW_OK;
}

tw_status tw_emu_load(tw_emu *emu, tw_code_object *object, tw_emu_module **out, tw_diag *diag) {
    *out = NULL;
    tw_target target = tw_code_object_target(object);
    if (target.arch != emu->target.arch)
        return tw_fail(diag, TW_ERR_UNSUPPORTED, "the code object must be for %s (got %s)",
                       tw_arch_get(emu->target.arch)->name, tw_code_object_target_id(object));
    if (tw_code_object_undefined_count(object))
        return tw_fail(diag, TW_ERR_COMPILE, "a code object with an undefined symbol does not run (got '%s')",
                       tw_code_object_undefined_at(object, 0));
    tw_emu_module *module = calloc(1, sizeof *module);
    if (!module) return tw_fail_no_memory(diag);
    module->emu = emu;
    module->object = tw_code_object_retain(object);
    module->next = emu->modules;
    emu->modules = module;
    tw_status status = place_segments(module, diag);
    if (status != TW_OK) {
        tw_emu_unload(module);
        return status;
    }
    *out = module;
    return TW_OK;
}

void tw_emu_unload(tw_emu_module *module) {
    if (!module) return;
    tw_emu_module **link = &module->emu->modules;
    while (*link != module)
        link = &(*link)->next;
    *link = module->next;
    tw_emu_code_free(module->code[0]);
    tw_emu_code_free(module->code[1]);
    if (module->image) tw_emu_memory_release(module->image);
    tw_code_object_release(module->object);
    free(module);
}

tw_status tw_emu_symbol(const tw_emu_module *module, const char *name, uint64_t *address, uint64_t *size,
                        tw_diag *diag) {
    for (size_t i = 0; i < tw_code_object_symbol_count(module->object); i++) {
        tw_symbol s = tw_code_object_symbol_at(module->object, i);
        if (strcmp(s.name, name)) continue;
        *address = module->bias + s.address;
        if (size) *size = s.size;
        return TW_OK;
    }
    return tw_fail(diag, TW_ERR_NOT_FOUND, "the code object has no such symbol (got '%s')", name);
}

void tw_emu_apertures(const tw_emu *emu, uint32_t *private_base, uint32_t *shared_base) {
    bool wide = emu->isa == TW_ISA_GFX1250;
    *private_base = (uint32_t)((wide ? EMU_PRIVATE_APERTURE_GFX1250 : EMU_PRIVATE_APERTURE) >> 32);
    *shared_base = (uint32_t)(EMU_SHARED_APERTURE >> 32);
}
