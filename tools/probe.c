#include "tools/probe.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "jit/child_process.h"
#include "support/fail.h"
#include "tools/probe_facts.h"

#define LIMIT 30000 /* ms, of each process */

/* ---- processes ---- */

static probe_end end_of(const tw_child *child) {
    if (child->timed_out) return PROBE_LATE;
    if (child->exit_code == 0) return PROBE_GOOD;
    /* LLVM ends itself by a signal after it has said why. */
    bool in_words = strstr(child->words, "LLVM ERROR:") || strstr(child->words, "error:");
    return child->end_signal && !in_words ? PROBE_CRASHED : PROBE_REFUSED;
}

static tw_status run_program(tw_child *child, tw_strbuf *output, probe_end *end, tw_diag *diag) {
    child->limits.milliseconds = LIMIT;
    tw_status status = tw_child_run(child, diag);
    if (!status && child->exit_code == TW_CHILD_NOT_RUN)
        status = tw_fail(diag, TW_ERR_IO, "cannot run %s", child->arguments[0]);
    if (status) return status;
    *end = end_of(child);
    tw_strbuf_append(output, child->words);
    return output->failed ? tw_fail_no_memory(diag) : TW_OK;
}

/* Appends what the program writes; it reads `input`, "-" in its arguments. */
static tw_status run_on(const char *const *arguments, const void *input, size_t size, tw_strbuf *output,
                        probe_end *end, tw_diag *diag) {
    tw_child child = {.arguments = arguments, .input = input, .input_size = size};
    tw_status status = run_program(&child, output, end, diag);
    if (!status) tw_strbuf_append_n(output, (const char *)child.output, child.output_size);
    free(child.output);
    free(child.words);
    return status || !output->failed ? status : tw_fail_no_memory(diag);
}

/* Appends the undefined symbols of the object that llc makes. */
static tw_status run_and_link(const probe *p, const char *const *arguments, const char *text,
                              tw_strbuf *output, probe_end *end, tw_diag *diag) {
    const char *const undefined[] = {p->set->nm, "-u", "/proc/self/fd/0", NULL};
    tw_child child = {.arguments = arguments, .input = text, .input_size = strlen(text)};
    tw_status status = run_program(&child, output, end, diag);
    if (!status && *end == PROBE_GOOD)
        status = run_on(undefined, child.output, child.output_size, output, end, diag);
    free(child.output);
    free(child.words);
    return status;
}

tw_status probe_run(const probe *p, probe_step step, tw_arch arch, const char *text, tw_strbuf *output,
                    probe_end *end, tw_diag *diag) {
    char cpu[32] = "";
    if (arch) snprintf(cpu, sizeof cpu, "-mcpu=%s", tw_arch_get(arch)->name);
    const char *const declare[] = {p->set->opt, "-passes=verify", "-S", "-o", "-", "-", NULL};
    const char *const verify[] = {p->set->opt, "-passes=verify", "-disable-output", "-", NULL};
    const char *const compile[] = {p->set->llc, cpu, "-filetype=obj", "-o", "-", "-", NULL};
    const char *const assembly[] = {p->set->llc, cpu, "-O3", "-o", "-", "-", NULL};
    /* Machine code before it is text: with the module as the back end changed it. */
    const char *const machine[] = {p->set->llc, cpu, "-stop-after=finalize-isel", "-o", "-", "-", NULL};
    const char *const *const commands[] = {declare, verify, compile, assembly, machine};
    return step == PROBE_COMPILE ? run_and_link(p, compile, text, output, end, diag)
                                 : run_on(commands[step], text, strlen(text), output, end, diag);
}

/* ---- lists of cases ---- */

typedef struct list {
    size_t *numbers, count;
} list;

static bool list_new(list *l, size_t size) {
    *l = (list){.numbers = calloc(size ? size : 1, sizeof *l->numbers)};
    return l->numbers != NULL;
}

/* The text names the function. */
static bool names(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name)) {
        char after = at[length];
        if (!(after == '.' || after == '_' || (after >= '0' && after <= '9') ||
              (after >= 'a' && after <= 'z')))
            return true;
    }
    return false;
}

/* Moves the cases of `from` that the text names, or does not, to `to`. */
static void take_named(const probe *p, const list *from, const char *text, bool named, list *to) {
    for (size_t i = 0; i < from->count; i++)
        if (names(text, p->cases[from->numbers[i]].name) == named)
            to->numbers[to->count++] = from->numbers[i];
}

typedef struct measuring {
    probe *p;
    tw_arch arch;
    tw_diag *diag;
} measuring;

/* One run of a batch: takes what it tells of the cases; leaves `done` false where the batch must be split. */
typedef tw_status (*batch_function)(measuring *m, const list *batch, tw_strbuf *output, bool *done);

/* A batch that fails is split into the cases that the output names, each alone, and the rest; or in halves.
 */
static tw_status run_batch(measuring *m, const list *batch, batch_function function) {
    if (!batch->count) return TW_OK;
    tw_strbuf output;
    tw_strbuf_init(&output, NULL);
    list named = {0}, rest = {0};
    bool done = false;
    tw_status status = function(m, batch, &output, &done);
    if (!status && !done && (!list_new(&named, batch->count) || !list_new(&rest, batch->count)))
        status = tw_fail_no_memory(m->diag);
    if (!status && !done) {
        take_named(m->p, batch, tw_strbuf_text(&output), true, &named);
        take_named(m->p, batch, tw_strbuf_text(&output), false, &rest);
        if (!named.count || !rest.count) {
            size_t half = batch->count / 2;
            const list first = {batch->numbers, half}, second = {batch->numbers + half, batch->count - half};
            status = run_batch(m, &first, function);
            if (!status) status = run_batch(m, &second, function);
        } else {
            status = run_batch(m, &rest, function);
            for (size_t i = 0; i < named.count && !status; i++)
                status = run_batch(m, &(list){&named.numbers[i], 1}, function);
        }
    }
    free(named.numbers);
    free(rest.numbers);
    tw_strbuf_free(&output);
    return status;
}

/* All cases for which `wanted` holds, in batches in which no name has two signatures. */
static tw_status run_all(measuring *m, bool (*wanted)(const measuring *m, const probe_case *c),
                         batch_function function) {
    list todo = {0}, batch = {0};
    bool *taken = calloc(m->p->count + 1, sizeof *taken);
    bool ready = list_new(&todo, m->p->count) && list_new(&batch, m->p->count);
    tw_status status = ready && taken ? TW_OK : tw_fail_no_memory(m->diag);
    for (size_t i = 0; i < m->p->count && !status; i++)
        if (wanted(m, &m->p->cases[i])) todo.numbers[todo.count++] = i;
    for (size_t left = todo.count; left && !status; left -= batch.count) {
        batch.count = 0;
        for (size_t i = 0; i < todo.count; i++) {
            size_t number = todo.numbers[i];
            bool conflict = taken[number];
            for (size_t j = 0; j < batch.count && !conflict; j++)
                conflict = !strcmp(m->p->cases[batch.numbers[j]].name, m->p->cases[number].name);
            if (!conflict) batch.numbers[batch.count++] = number;
        }
        for (size_t i = 0; i < batch.count; i++)
            taken[batch.numbers[i]] = true;
        status = run_batch(m, &batch, function);
    }
    free(todo.numbers);
    free(batch.numbers);
    free(taken);
    return status;
}

static bool any(const measuring *m, const probe_case *c) {
    (void)m;
    (void)c;
    return true;
}
static bool is_verified(const measuring *m, const probe_case *c) {
    (void)m;
    return c->verified;
}

static tw_status run_module(measuring *m, const list *batch, probe_step step, bool calls, tw_strbuf *output,
                            probe_end *end) {
    tw_strbuf text;
    tw_strbuf_init(&text, NULL);
    probe_module(&text, m->p->cases, batch->numbers, batch->count, m->arch, calls);
    tw_status status = text.failed
                           ? tw_fail_no_memory(m->diag)
                           : probe_run(m->p, step, m->arch, tw_strbuf_text(&text), output, end, m->diag);
    tw_strbuf_free(&text);
    return status;
}

/* ---- does it exist, and with which arguments that must be constants ---- */

/* "declare T @name(i32, i32 immarg) #1": only what LLVM knows has attributes. */
static void read_declaration(probe_case *c, const char *line) {
    const char *at = strchr(line, '@');
    at = at ? strchr(at, '(') : NULL;
    if (!at) return;
    unsigned argument = 0, depth = 1;
    for (at++; *at && *at != '\n' && depth; at++) {
        if (*at == '(' || *at == '<') depth++;
        if (*at == ')' || *at == '>') depth--;
        if (*at == ',' && depth == 1) argument++;
        if (argument < 32 && !strncmp(at, " immarg", 7)) c->immediates |= 1u << argument;
    }
    c->known = !strncmp(at, " #", 2);
}

/* A form that a newer release turns into one with other arguments, and whose declaration is gone: flags are
 * constants. */
static void read_gone(probe_case *c) {
    c->known = true;
    for (unsigned i = 0; i < probe_argument(c->arguments, 0, NULL); i++) {
        char type[64];
        probe_argument(c->arguments, i, type);
        if (!strcmp(type, "i1") || !strcmp(type, "i16")) c->immediates |= 1u << i;
    }
}

static const char *find_declaration(const char *output, const char *name) {
    char pattern[PROBE_NAME_MAX + 4];
    snprintf(pattern, sizeof pattern, " @%s(", name);
    for (const char *line = strstr(output, "declare "); line; line = strstr(line + 1, "\ndeclare ")) {
        if (*line == '\n') line++;
        const char *found = strstr(line, pattern);
        if (found && found < line + strcspn(line, "\n")) return line;
    }
    return NULL;
}

static tw_status declare_batch(measuring *m, const list *batch, tw_strbuf *output, bool *done) {
    probe_end end;
    tw_status status = run_module(m, batch, PROBE_DECLARE, false, output, &end);
    if (status) return status;
    const char *text = tw_strbuf_text(output);
    *done = end == PROBE_GOOD || batch->count == 1;
    for (size_t i = 0; i < batch->count && *done; i++) {
        probe_case *c = &m->p->cases[batch->numbers[i]];
        c->verified = end == PROBE_GOOD;
        const char *line = find_declaration(text, c->name);
        /* A newer release may give an old name the new one's suffix. */
        if (!line && batch->count == 1) line = strstr(text, "declare ");
        if (line) {
            read_declaration(c, line);
        } else if (batch->count > 1) {
            status = run_batch(m, &(list){&batch->numbers[i], 1}, declare_batch);
            if (status) return status;
        } else if (c->verified) {
            read_gone(c);
        }
    }
    return TW_OK;
}

static tw_status verify_batch(measuring *m, const list *batch, tw_strbuf *output, bool *done) {
    probe_end end;
    tw_status status = run_module(m, batch, PROBE_VERIFY, true, output, &end);
    *done = status || end == PROBE_GOOD || batch->count == 1;
    for (size_t i = 0; i < batch->count && *done && !status; i++)
        m->p->cases[batch->numbers[i]].verified = end == PROBE_GOOD;
    return status;
}

/* ---- does it select and link for a target ---- */

static tw_measured status_of(probe_end end) {
    switch (end) {
    case PROBE_GOOD: return TW_MEASURED_OK;
    case PROBE_CRASHED: return TW_MEASURED_CRASH;
    case PROBE_LATE: return TW_MEASURED_TIMEOUT;
    default: return TW_MEASURED_TARGET_UNSUPPORTED;
    }
}

static tw_status compile_batch(measuring *m, const list *batch, tw_strbuf *output, bool *done) {
    probe_end end;
    tw_status status = run_module(m, batch, PROBE_COMPILE, true, output, &end);
    *done = status || end == PROBE_GOOD || batch->count == 1;
    for (size_t i = 0; i < batch->count && *done && !status; i++) {
        probe_case *c = &m->p->cases[batch->numbers[i]];
        bool undefined = end == PROBE_GOOD && names(tw_strbuf_text(output), c->name);
        c->at[m->arch] = undefined ? TW_MEASURED_NAME_ABSENT : status_of(end);
    }
    return status;
}

/* Cases that are expected to work go in one module; so do those that are expected to be unknown. The others
 * would end the compiler, and go alone. */
static bool is_expected(const measuring *m, const probe_case *c) {
    unsigned flavor = (unsigned)m->p->set->flavor;
    bool declared =
        c->row && c->row->targets >> m->arch & 1 && flavor >= c->row->first && flavor <= c->row->last;
    return c->verified && c->known && declared;
}
static bool is_unknown(const measuring *m, const probe_case *c) {
    (void)m;
    return c->verified && !c->known;
}
static bool is_other(const measuring *m, const probe_case *c) {
    return c->verified && c->known && !is_expected(m, c);
}

static tw_status measure_target(measuring *m) {
    probe *p = m->p;
    for (size_t i = 0; i < p->count; i++) /* until it is measured better */
        p->cases[i].at[m->arch] =
            p->cases[i].verified ? TW_MEASURED_TARGET_UNSUPPORTED : TW_MEASURED_SIGNATURE_DIFFERS;
    tw_strbuf output;
    tw_strbuf_init(&output, NULL);
    probe_end end = PROBE_REFUSED;
    tw_status status = run_module(m, &(list){NULL, 0}, PROBE_COMPILE, true, &output, &end);
    p->served[m->arch] =
        end == PROBE_GOOD && !strstr(tw_strbuf_text(&output), "is not a recognized processor");
    tw_strbuf_free(&output);
    if (status || !p->served[m->arch]) return status;
    status = run_all(m, is_unknown, compile_batch);
    if (!status) status = run_all(m, is_expected, compile_batch);
    for (size_t i = 0; i < p->count && !status; i++)
        if (is_other(m, &p->cases[i])) status = run_batch(m, &(list){&i, 1}, compile_batch);
    return status;
}

/* ---- all of it ---- */

typedef struct lane {
    probe *p;
    unsigned slot, jobs;
    tw_diag *diag;
    tw_status status;
} lane;

/* Each lane takes every jobs-th target: how long one takes hardly differs. */
static void *run_lane(void *argument) {
    lane *l = argument;
    for (unsigned arch = 1 + l->slot; arch < TW_ARCH_COUNT && !l->status; arch += l->jobs) {
        measuring m = {l->p, (tw_arch)arch, l->diag};
        l->status = measure_target(&m);
    }
    return NULL;
}

#define JOBS_MAX 16

static tw_status measure_targets(probe *p, unsigned jobs, tw_diag *diag) {
    lane lanes[JOBS_MAX] = {0};
    pthread_t threads[JOBS_MAX];
    bool started[JOBS_MAX] = {false};
    if (jobs < 1) jobs = 1;
    if (jobs > JOBS_MAX) jobs = JOBS_MAX;
    for (unsigned i = 0; i < jobs; i++) {
        lanes[i] = (lane){p, i, jobs, tw_diag_new(NULL), TW_OK};
        started[i] = lanes[i].diag && !pthread_create(&threads[i], NULL, run_lane, &lanes[i]);
        if (!started[i]) lanes[i].status = TW_ERR_NO_MEMORY;
    }
    tw_status status = TW_OK;
    for (unsigned i = 0; i < jobs; i++) {
        if (started[i]) pthread_join(threads[i], NULL);
        if (lanes[i].status && !status)
            status = tw_fail(diag, lanes[i].status, "%s",
                             started[i] ? tw_diag_first_error(lanes[i].diag) : "out of memory");
        tw_diag_free(lanes[i].diag);
    }
    return status;
}

static json_t *status_json(const probe_case *c) {
    bool same = true;
    for (unsigned arch = 2; arch < TW_ARCH_COUNT; arch++)
        same &= c->at[arch] == c->at[1];
    if (same) return json_string(tw_measured_word(c->at[1]));
    json_t *all = json_object();
    for (unsigned arch = 1; arch < TW_ARCH_COUNT; arch++)
        json_object_set_new(all, tw_arch_get((tw_arch)arch)->name,
                            json_string(tw_measured_word(c->at[arch])));
    return all;
}

static json_t *file_of(const probe *p, json_t *facts) {
    json_t *targets = json_object(), *intrinsics = json_array();
    for (unsigned arch = 1; arch < TW_ARCH_COUNT; arch++)
        json_object_set_new(
            targets, tw_arch_get((tw_arch)arch)->name,
            json_string(tw_measured_word(p->served[arch] ? TW_MEASURED_OK : TW_MEASURED_TARGET_UNSUPPORTED)));
    for (size_t i = 0; i < p->count; i++) {
        const probe_case *c = &p->cases[i];
        json_t *row = json_pack("{s:s, s:s, s:s, s:s}", "key", c->key, "name", c->name, "result", c->result,
                                "arguments", c->arguments);
        if (c->generic) json_object_set_new(row, "generic", json_string(c->generic));
        json_object_set_new(row, "status", status_json(c));
        json_array_append_new(intrinsics, row);
    }
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "flavor", tw_flavor_name(p->set->flavor), "version",
                     p->set->version, "targets", targets, "facts", facts, "intrinsics", intrinsics);
}

tw_status probe_measure(const toolset *set, unsigned jobs, json_t **file, tw_diag *diag) {
    *file = NULL;
    probe p = {.set = set};
    /* A crash shall neither look for symbols nor write files. */
    setenv("LLVM_DISABLE_SYMBOLIZATION", "1", 1);
    setenv("LLVM_DISABLE_CRASH_REPORT", "1", 1);
    json_t *facts = NULL;
    measuring m = {&p, TW_ARCH_NONE, diag};
    tw_status status = probe_cases(&p.cases, &p.count, diag);
    if (!status) status = run_all(&m, any, declare_batch);
    if (!status) status = run_all(&m, is_verified, verify_batch);
    if (!status) status = measure_targets(&p, jobs, diag);
    if (!status) status = probe_facts(&p, &facts, diag);
    if (status) json_decref(facts);
    if (!status && !(*file = file_of(&p, facts))) status = tw_fail_no_memory(diag);
    free(p.cases);
    return status;
}
