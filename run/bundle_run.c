#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/bundle_internal.h"
#include "run/element.h"
#include "support/fail.h"
#include "support/number_text.h"
#include "support/strbuf.h"

/* What is on the device during one replay. */
typedef struct replay {
    const tw_bundle *bundle;
    tw_device *device;
    tw_buffer **buffers;
    tw_module **modules;
    tw_bundle_report *report;
    tw_diag *diag;
} replay;

static tw_status make_buffers(replay *r) {
    tw_status status = TW_OK;
    for (size_t i = 0; !status && i < r->bundle->buffer_count; i++) {
        const tw_bundle_buffer *buffer = &r->bundle->buffers[i];
        size_t bytes = (size_t)buffer->bytes;
        status = tw_buffer_new_named(r->device, bytes, buffer->name, &r->buffers[i], r->diag);
        if (status) break;
        status = buffer->data ? tw_buffer_write(r->buffers[i], 0, buffer->data, bytes, r->diag)
                              : tw_buffer_fill(r->buffers[i], 0, buffer->fill, bytes, r->diag);
    }
    return status;
}

static tw_status load_modules(replay *r) {
    tw_status status = TW_OK;
    for (size_t i = 0; !status && i < r->bundle->object_count; i++)
        status = tw_module_load(r->device, r->bundle->objects[i].object, &r->modules[i], r->diag);
    return status;
}

/* All members are uint64_t: one that comes to be is added up, too. */
enum { COUNTS = sizeof(tw_launch_counts) / sizeof(uint64_t) };

static void add_counts(tw_launch_counts *sum, const tw_launch_counts *one) {
    uint64_t to[COUNTS], from[COUNTS];
    memcpy(to, sum, sizeof to);
    memcpy(from, one, sizeof from);
    for (size_t i = 0; i < COUNTS; i++)
        to[i] += from[i];
    memcpy(sum, to, sizeof to);
}

static tw_status run_launch(replay *r, const tw_bundle_launch *launch) {
    tw_status status = TW_OK;
    for (size_t i = 0; !status && i < launch->zeroed_count; i++) {
        tw_buffer *buffer = r->buffers[launch->zeroed[i]];
        status = tw_buffer_fill(buffer, 0, 0, tw_buffer_size(buffer), r->diag);
    }
    if (!status)
        status = tw_plan_kernarg_launch(&launch->kernarg, r->modules[launch->object], launch->kernel,
                                        &launch->shape, r->buffers, r->diag);
    tw_launch_counts counts = tw_device_last_counts(r->device);
    add_counts(&r->report->counts, &counts);
    return status;
}

static bool passes(double got, double expected, double bound) {
    if (isnan(expected) || isnan(got)) return isnan(expected) && isnan(got);
    return got == expected || fabs(got - expected) <= bound;
}

static void compare(replay *r, const tw_bundle_output *output, const uint8_t *bytes, uint64_t elements) {
    tw_bundle_report *report = r->report;
    for (uint64_t i = 0; i < elements; i++) {
        double got = tw_element_get(output->format, bytes, (size_t)i);
        double expected = output->expected[i], bound = output->bound[i];
        double share = bound > 0 ? fabs(got - expected) / bound : 0;
        if (share > report->worst) report->worst = share;
        if (passes(got, expected, bound)) continue;
        if (report->mismatches++ >= TW_BUNDLE_MISMATCHES_KEPT) continue;
        tw_bundle_mismatch *kept = &report->first[report->kept++];
        *kept = (tw_bundle_mismatch){.index = i, .got = got, .expected = expected, .bound = bound};
        snprintf(kept->buffer, sizeof kept->buffer, "%s", r->bundle->buffers[output->buffer].name);
    }
    report->elements += elements;
}

static tw_status check_outputs(replay *r) {
    for (size_t i = 0; i < r->bundle->output_count; i++) {
        const tw_bundle_output *output = &r->bundle->outputs[i];
        uint64_t elements = 0;
        tw_status status = tw_bundle_elements(output, r->bundle->buffers[output->buffer].bytes, "outputs",
                                              &elements, r->diag);
        if (status) return status;
        size_t bytes = (size_t)elements * tw_element_bytes(output->format);
        uint8_t *memory = malloc(bytes ? bytes : 1);
        status = memory ? tw_buffer_read(r->buffers[output->buffer], 0, memory, bytes, r->diag)
                        : tw_fail_no_memory(r->diag);
        if (!status) compare(r, output, memory, elements);
        free(memory);
        if (status) return status;
    }
    return TW_OK;
}

static tw_status fail_mismatch(const tw_bundle_report *report, tw_diag *diag) {
    const tw_bundle_mismatch *first = &report->first[0];
    char got[TW_DOUBLE_TEXT_MAX], expected[TW_DOUBLE_TEXT_MAX], bound[TW_DOUBLE_TEXT_MAX];
    tw_format_double(first->got, got);
    tw_format_double(first->expected, expected);
    tw_format_double(first->bound, bound);
    return tw_fail_at(
        diag, TW_ERR_MISMATCH, first->buffer, 0, 0,
        "%llu of %llu elements differ, the first is element %llu: it must be within %s of %s (got %s)",
        (unsigned long long)report->mismatches, (unsigned long long)report->elements,
        (unsigned long long)first->index, bound, expected, got);
}

tw_status tw_bundle_replay(const tw_bundle *bundle, tw_device *device, tw_bundle_report *report,
                           tw_diag *diag) {
    tw_bundle_report own;
    if (!report) report = &own;
    *report = (tw_bundle_report){0};
    if (!bundle || !device)
        return tw_fail(diag, TW_ERR_USAGE, "tw_bundle_replay needs a bundle and a device (got NULL)");
    replay r = {.bundle = bundle,
                .device = device,
                .buffers = calloc(bundle->buffer_count + 1, sizeof(tw_buffer *)),
                .modules = calloc(bundle->object_count + 1, sizeof(tw_module *)),
                .report = report,
                .diag = diag};
    tw_status status = r.buffers && r.modules ? load_modules(&r) : tw_fail_no_memory(diag);
    if (!status) status = make_buffers(&r);
    for (size_t i = 0; !status && i < bundle->launch_count; i++)
        status = run_launch(&r, &bundle->launches[i]);
    if (!status) status = check_outputs(&r);
    if (!status && report->mismatches) status = fail_mismatch(report, diag);
    for (size_t i = 0; r.buffers && i < bundle->buffer_count; i++)
        tw_buffer_free(r.buffers[i]);
    for (size_t i = 0; r.modules && i < bundle->object_count; i++)
        tw_module_unload(r.modules[i]);
    free(r.buffers);
    free(r.modules);
    return status;
}

char *tw_bundle_report_text(const tw_bundle_report *report) {
    tw_strbuf out;
    char got[TW_DOUBLE_TEXT_MAX], expected[TW_DOUBLE_TEXT_MAX], bound[TW_DOUBLE_TEXT_MAX];
    tw_strbuf_init(&out, NULL);
    tw_format_double(report->worst, got);
    tw_strbuf_printf(&out, "%llu elements, %llu mismatches, largest error %s of its bound\n",
                     (unsigned long long)report->elements, (unsigned long long)report->mismatches, got);
    for (size_t i = 0; i < report->kept; i++) {
        const tw_bundle_mismatch *m = &report->first[i];
        tw_format_double(m->got, got);
        tw_format_double(m->expected, expected);
        tw_format_double(m->bound, bound);
        tw_strbuf_printf(&out, "%s[%llu]: got %s, expected %s, bound %s\n", m->buffer,
                         (unsigned long long)m->index, got, expected, bound);
    }
    if (report->mismatches > report->kept)
        tw_strbuf_printf(&out, "and %llu more\n", (unsigned long long)(report->mismatches - report->kept));
    return tw_strbuf_take(&out, NULL);
}
