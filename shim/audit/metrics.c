#include "shim/audit/metrics.h"

#include "shim/plan/decision/describe.h"

#include <string.h>

static const struct {
    const char *name, *help;
    bool gauge;
} families[METRICS] = {
    [METRIC_CONTAINERS] = {"flatbed_containers_total", "Containers that were decided on."},
    [METRIC_OPERATIONS] = {"flatbed_operations_total",
                           "Mounts, variables and limits that were decided on."},
    [METRIC_WARNINGS] = {"flatbed_permissive_total",
                         "Containers that a permissive policy let pass although denied."},
    [METRIC_AUDIT_ERRORS] = {"flatbed_audit_errors_total",
                             "Decisions that could not be written to the audit file."},
    [METRIC_STAGE_LAUNCHES] = {"flatbed_stage_launches_total",
                               "Staged volumes of containers, by how their copies stood."},
    [METRIC_STAGE_BYTES] = {"flatbed_stage_hit_bytes_total", "Bytes of the copies in hits."},
    [METRIC_STAGE_WAITED] = {"flatbed_stage_waited_milliseconds_total",
                             "Time that launches waited for copies."},
    [METRIC_STAGE_COPIES] = {"flatbed_stage_copies_total", "Copies, by their result."},
    [METRIC_STAGE_COPIED] = {"flatbed_stage_copied_bytes_total", "Bytes of files in new copies."},
    [METRIC_STAGE_EVICTED] = {"flatbed_stage_evictions_total", "Copies that were evicted."},
    [METRIC_STAGE_ROOM] = {"flatbed_stage_room_bytes", "Room that the copies of a cache take.",
                           true},
};

/* ---- samples ---- */

void metrics_add(struct metrics *m, enum metric metric, const char *labels, uint64_t value)
{
    for (size_t i = 0; i < m->count; i++) {
        struct metric_sample *s = &m->list[i];
        if (s->metric == metric && strcmp(s->labels, labels) == 0) {
            s->value += value;
            return;
        }
    }
    if (m->count == METRICS_SAMPLES || strlen(labels) >= METRICS_LABELS)
        return;
    struct metric_sample *s = &m->list[m->count++];
    *s = (struct metric_sample){.metric = metric, .value = value};
    memcpy(s->labels, labels, strlen(labels) + 1);
}

/* ---- reading ---- */

static bool parse_value(const char *text, uint64_t *out)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return errno == 0 && (*end == '\n' || *end == '\0');
}

/*
 * Finds the family at the beginning of the line. Returns the text behind its name, which ends at a
 * brace or a blank; NULL if it is unknown.
 */
static const char *parse_name(const char *line, enum metric *out)
{
    size_t len = strcspn(line, "{ \n");

    for (int i = 0; i < METRICS; i++)
        if (strlen(families[i].name) == len && memcmp(families[i].name, line, len) == 0) {
            *out = (enum metric)i;
            return line + len;
        }
    return NULL;
}

static bool parse_sample(struct metrics *m, const char *line)
{
    char labels[METRICS_LABELS] = "";
    enum metric metric;
    uint64_t value;
    const char *rest = parse_name(line, &metric);

    if (rest && *rest == '{') {
        size_t len = strcspn(rest, "}\n") + 1;
        if (rest[len - 1] != '}' || len >= sizeof(labels))
            return false;
        memcpy(labels, rest, len);
        rest += len;
    }
    if (!rest || *rest != ' ' || !parse_value(rest + 1, &value))
        return false;
    metrics_add(m, metric, labels, value);
    return true;
}

bool metrics_parse(struct metrics *m, const char *text)
{
    m->count = 0;
    for (const char *line = text; line && *line;) {
        if (*line != '#' && *line != '\n' && !parse_sample(m, line)) {
            m->count = 0;
            return false;
        }
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return true;
}

/* ---- counting ---- */

static void count_operations(struct metrics *m, const struct decision *decision)
{
    char labels[METRICS_LABELS];

    for (size_t i = 0; i < decision->count; i++) {
        const struct outcome *o = &decision->list[i];
        snprintf(labels, sizeof(labels), "{kind=\"%s\",verdict=\"%s\"}", describe_kind(o->op),
                 describe_verdict(o));
        metrics_add(m, METRIC_OPERATIONS, labels, 1);
    }
}

static void count_staged(struct metrics *m, const struct decision *decision)
{
    char labels[METRICS_LABELS];

    for (size_t i = 0; i < decision->count; i++) {
        const struct stage_outcome *stage = &decision->list[i].stage;
        if (!stage->word)
            continue;
        snprintf(labels, sizeof(labels), "{result=\"%s\"}", stage->word);
        metrics_add(m, METRIC_STAGE_LAUNCHES, labels, 1);
        metrics_add(m, METRIC_STAGE_BYTES, "", stage->bytes);
        metrics_add(m, METRIC_STAGE_WAITED, "", stage->waited);
    }
}

void metrics_count_copy(struct metrics *m, const struct audit_copy *copy)
{
    char labels[METRICS_LABELS];

    if (copy->result) {
        snprintf(labels, sizeof(labels), "{result=\"%s\"}", copy->result);
        metrics_add(m, METRIC_STAGE_COPIES, labels, 1);
    }
    metrics_add(m, METRIC_STAGE_COPIED, "", copy->bytes);
    metrics_add(m, METRIC_STAGE_EVICTED, "", copy->evicted);
    int len = snprintf(labels, sizeof(labels), "{cache=\"%s\"}", copy->cache);
    if (len >= METRICS_LABELS || strpbrk(copy->cache, "\"\\{}\n"))
        return; /* such a name has no form here */
    for (size_t i = 0; i < m->count; i++)
        if (m->list[i].metric == METRIC_STAGE_ROOM && strcmp(m->list[i].labels, labels) == 0)
            m->list[i].value = 0;
    metrics_add(m, METRIC_STAGE_ROOM, labels, copy->room);
}

void metrics_count(struct metrics *m, const struct audit_record *record, bool audit_failed)
{
    char labels[METRICS_LABELS];

    for (int verdict = AUDIT_ALLOWED; verdict <= AUDIT_DENIED; verdict++) {
        snprintf(labels, sizeof(labels), "{verdict=\"%s\"}", audit_verdict_names[verdict]);
        metrics_add(m, METRIC_CONTAINERS, labels, (int)record->verdict == verdict);
    }
    metrics_add(m, METRIC_WARNINGS, "", record->warning != NULL);
    metrics_add(m, METRIC_AUDIT_ERRORS, "", audit_failed);
    if (record->decision)
        count_operations(m, record->decision);
    if (record->decision)
        count_staged(m, record->decision);
}

/* ---- writing ---- */

static bool has_samples(const struct metrics *m, int metric)
{
    for (size_t i = 0; i < m->count; i++)
        if ((int)m->list[i].metric == metric)
            return true;
    return false;
}

void metrics_print(const struct metrics *m, struct buf *out)
{
    for (int metric = 0; metric < METRICS; metric++) {
        const char *name = families[metric].name;
        if (metric >= METRIC_STAGE_LAUNCHES && !has_samples(m, metric))
            continue;
        buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, families[metric].help, name,
                   families[metric].gauge ? "gauge" : "counter");
        for (size_t i = 0; i < m->count; i++)
            if ((int)m->list[i].metric == metric)
                buf_printf(out, "%s%s %llu\n", name, m->list[i].labels,
                           (unsigned long long)m->list[i].value);
    }
}
