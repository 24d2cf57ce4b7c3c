#include "instances/instance.h"

#include <stdio.h>
#include <string.h>

#include "instances/family.h"

#define FAMILY(name) extern const tw_family tw_family_##name;
#include "instances/families.def"
#undef FAMILY

static const tw_family *const families[] = {
#define FAMILY(name) &tw_family_##name,
#include "instances/families.def"
#undef FAMILY
};
enum { FAMILY_COUNT = sizeof families / sizeof families[0] };

size_t tw_family_count(void) { return FAMILY_COUNT; }
const tw_family *tw_family_at(size_t index) { return index < FAMILY_COUNT ? families[index] : NULL; }

const tw_family *tw_family_find(const char *name) {
    for (size_t i = 0; i < FAMILY_COUNT; i++)
        if (!strcmp(families[i]->name, name)) return families[i];
    return NULL;
}

const char *tw_family_name(const tw_family *family) { return family->name; }
const char *tw_family_doc(const tw_family *family) { return family->doc; }
tw_field_table tw_family_spec_fields(const tw_family *family) { return family->spec; }
tw_field_table tw_family_problem_fields(const tw_family *family) { return family->problem; }
const tw_family *tw_family_reduce(const tw_family *family) { return family->reduce; }

void tw_instance_init(const tw_family *family, tw_instance *out) {
    memset(out, 0, sizeof *out);
    out->family = family;
    tw_field_defaults(family->spec, out->spec);
    tw_field_defaults(family->problem, out->problem);
    if (family->reduce) family->derive_reduce(out, out->reduce);
}

tw_instance tw_instance_of(const tw_family *family, const void *spec, const void *problem) {
    tw_instance instance;
    tw_instance_init(family, &instance);
    if (spec) memcpy(instance.spec, spec, family->spec.count * sizeof instance.spec[0]);
    if (problem) memcpy(instance.problem, problem, family->problem.count * sizeof instance.problem[0]);
    if (family->reduce) family->derive_reduce(&instance, instance.reduce);
    return instance;
}

tw_status tw_instance_validate(const tw_instance *instance, tw_target target, tw_diag *diag) {
    const tw_family *family = instance->family;
    if (!tw_arch_get(target.arch))
        return tw_fail(diag, TW_ERR_USAGE, "the target must name an architecture (got %d)", (int)target.arch);
    tw_status status = tw_field_check(family->spec, instance->spec, diag);
    return status ? status : family->validate(instance->spec, target, diag);
}

void tw_instance_label(const tw_instance *instance, char buffer[TW_LABEL_MAX]) {
    tw_field_table table = instance->family->spec;
    size_t used = (size_t)snprintf(buffer, TW_LABEL_MAX, "%s", instance->family->name);
    for (uint32_t i = 0; i < table.count && used < TW_LABEL_MAX; i++) {
        char value[TW_FIELD_VALUE_MAX];
        tw_field_write(&table.fields[i], instance->spec[i], value);
        used += (size_t)snprintf(buffer + used, TW_LABEL_MAX - used, "%s%s", table.fields[i].label, value);
    }
}

tw_kernel *tw_instance_build(tw_context *ctx, const tw_instance *instance, tw_target target) {
    if (tw_instance_validate(instance, target, tw_context_diag(ctx))) return NULL;
    char label[TW_LABEL_MAX];
    tw_instance_label(instance, label);
    return instance->family->build(ctx, instance->spec, target, label);
}

/* ---- the tuning grid ---- */

static bool apply_words(const char *words, tw_instance *out) {
    for (const char *at = words; *at;) {
        size_t length = strcspn(at, " ");
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (tw_instance_set(out, word, NULL)) return false;
        at += length + (at[length] == ' ');
    }
    return true;
}

/* The instance at `index` of the whole product of axes. */
static bool grid_point(const tw_family *family, size_t index, tw_instance *out) {
    tw_instance_init(family, out);
    size_t axis_count = 0, rest = index;
    while (family->axes[axis_count])
        axis_count++;
    for (size_t a = axis_count; a-- > 0;) {
        size_t count = 0;
        while (family->axes[a][count])
            count++;
        if (!apply_words(family->axes[a][rest % count], out)) return false;
        rest /= count;
    }
    return rest == 0;
}

static bool is_in_grid(const tw_instance *instance, tw_target target) {
    const tw_family *family = instance->family;
    if (tw_instance_validate(instance, target, NULL)) return false;
    return !family->in_grid || family->in_grid(instance->spec, target);
}

bool tw_family_grid_next(const tw_family *family, tw_target target, size_t *cursor, tw_instance *out) {
    while (grid_point(family, *cursor, out)) {
        ++*cursor;
        if (is_in_grid(out, target)) return true;
    }
    return false;
}

bool tw_family_grid(const tw_family *family, tw_target target, size_t index, tw_instance *out) {
    size_t cursor = 0;
    while (tw_family_grid_next(family, target, &cursor, out))
        if (index-- == 0) return true;
    return false;
}
