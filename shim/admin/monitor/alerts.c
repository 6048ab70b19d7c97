#include "shim/admin/monitor/alerts.h"

#include <string.h>

const char *const alert_kind_names[ALERTS] = {[ALERT_UPPER] = "upper_bytes",
                                              [ALERT_COPYUP] = "copyup_bytes",
                                              [ALERT_STORE] = "store_free",
                                              [ALERT_START] = "start_seconds"};

const char *const alert_change_names[ALERT_CHANGES] = {
    [ALERT_RAISED] = "alert", [ALERT_HELD] = "held", [ALERT_CLEARED] = "cleared"};

enum { MARGIN = 10 }; /* the part of the limit by which a value must have gone back */

void measures_free(struct measures *m)
{
    arena_free(&m->arena);
    *m = (struct measures){0};
}

void alerts_free(struct alert_list *alerts)
{
    arena_free(&alerts->arena);
    *alerts = (struct alert_list){0};
}

/* ---- one value ---- */

static bool is_beyond(enum alert_kind kind, uint64_t value, uint64_t limit, bool before)
{
    uint64_t margin = before ? limit / MARGIN : 0;

    return kind == ALERT_STORE ? value < limit + margin : value > limit - margin;
}

const struct alert *alerts_get(const struct alert_list *alerts, enum alert_kind kind,
                               const char *store, const char *id)
{
    for (size_t i = 0; i < alerts->count; i++) {
        const struct alert *a = &alerts->list[i];
        if (a->kind == kind && strcmp(a->store, store) == 0 && strcmp(a->id, id) == 0)
            return a;
    }
    return NULL;
}

/* Adds a copy of the alert, texts included. */
static int add(struct alert_list *out, const struct alert *alert, struct err *err)
{
    struct alert copy = *alert;
    const char **texts[] = {&copy.engine, &copy.id, &copy.name, &copy.store};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        *texts[i] = arena_strndup(&out->arena, *texts[i], strlen(*texts[i]));
        if (!*texts[i])
            return err_nomem(err);
    }
    out->list = arena_extend(&out->arena, out->list, out->count, sizeof(*out->list));
    if (!out->list)
        return err_nomem(err);
    out->list[out->count++] = copy;
    return 0;
}

/* Adds the alert if its value is beyond the limit, or was in the run before. */
static int judge_value(struct alert alert, const struct alert_list *before, struct alert_list *out,
                       struct err *err)
{
    const struct alert *past = alerts_get(before, alert.kind, alert.store, alert.id);

    if (is_beyond(alert.kind, alert.value, alert.limit, past != NULL))
        alert.change = past ? ALERT_HELD : ALERT_RAISED;
    else if (past)
        alert.change = ALERT_CLEARED;
    else
        return 0;
    return add(out, &alert, err);
}

/* ---- the start of a container ---- */

/* Returns true for a start that was ready too late, since the run before. */
static bool was_late(const struct start *start, uint64_t limit, time_t before)
{
    return start->ready && before && start->ready_at > before && start->seconds > limit;
}

static int judge_start(const struct policy_alerts *limits, const struct measured_container *c,
                       const struct alert_list *before, struct alert_list *out, struct err *err)
{
    const struct start *start = &c->start;
    const struct alert *past = alerts_get(before, ALERT_START, c->store, c->id);
    struct alert alert = {.kind = ALERT_START,
                          .engine = c->engine,
                          .id = c->id,
                          .name = c->name,
                          .store = c->store,
                          .value = start->seconds,
                          .limit = limits->start_seconds};

    if (!alert.limit || !c->running || !start->known)
        return 0;
    if (past && start->ready)
        alert.change = ALERT_CLEARED;
    else if (past || (!start->ready && start->seconds > alert.limit))
        alert.change = past ? ALERT_HELD : ALERT_RAISED;
    else if (was_late(start, alert.limit, before->time))
        alert.change = ALERT_RAISED;
    else
        return 0;
    return add(out, &alert, err);
}

/* ---- what was measured ---- */

static int judge_container(const struct policy_alerts *limits, const struct measured_container *c,
                           const struct alert_list *before, struct alert_list *out, struct err *err)
{
    const uint64_t most[] = {
        [ALERT_UPPER] = limits->upper_bytes, [ALERT_COPYUP] = limits->copyup_bytes};

    for (int kind = ALERT_UPPER; kind < ALERT_STORE && c->known; kind++) {
        const struct alert alert = {.kind = (enum alert_kind)kind,
                                    .engine = c->engine,
                                    .id = c->id,
                                    .name = c->name,
                                    .store = c->store,
                                    .value = c->values[kind],
                                    .limit = most[kind]};
        if (alert.limit && judge_value(alert, before, out, err) < 0)
            return -1;
    }
    return 0;
}

static int judge_store(const struct policy_alerts *limits, const struct measured_store *s,
                       const struct alert_list *before, struct alert_list *out, struct err *err)
{
    const struct alert alert = {.kind = ALERT_STORE,
                                .engine = "",
                                .id = "",
                                .name = "",
                                .store = s->path,
                                .value = s->free,
                                .limit = policy_least_free(&limits->store_free, s->size)};

    return s->known && alert.limit ? judge_value(alert, before, out, err) : 0;
}

static bool is_known(const struct measured_container *c, enum alert_kind kind)
{
    return kind == ALERT_START ? !c->running || c->start.known : c->known;
}

/* Returns true if nothing can be said of what the alert is about: its container or its store. */
static bool is_unknown(const struct alert *alert, const struct measures *m)
{
    for (size_t i = 0; i < m->store_count; i++)
        if (!m->stores[i].known && strcmp(m->stores[i].path, alert->store) == 0)
            return true;
    for (size_t i = 0; i < m->container_count; i++)
        if (!is_known(&m->containers[i], alert->kind) &&
            strcmp(m->containers[i].id, alert->id) == 0 &&
            strcmp(m->containers[i].store, alert->store) == 0)
            return true;
    return false;
}

static bool has_limit(const struct policy_alerts *limits, enum alert_kind kind)
{
    const bool given[ALERTS] = {[ALERT_UPPER] = limits->upper_bytes,
                                [ALERT_COPYUP] = limits->copyup_bytes,
                                [ALERT_STORE] =
                                    limits->store_free.bytes || limits->store_free.percent,
                                [ALERT_START] = limits->start_seconds};
    return given[kind];
}

/* Holds the alerts of which nothing is known now, and clears those whose container is gone. */
static int judge_rest(const struct policy_alerts *limits, const struct measures *measures,
                      const struct alert_list *before, struct alert_list *out, struct err *err)
{
    for (size_t i = 0; i < before->count; i++) {
        struct alert alert = before->list[i];
        if (alerts_get(out, alert.kind, alert.store, alert.id))
            continue;
        alert.gone = !has_limit(limits, alert.kind) || !is_unknown(&alert, measures);
        alert.change = alert.gone ? ALERT_CLEARED : ALERT_HELD;
        if (add(out, &alert, err) < 0)
            return -1;
    }
    return 0;
}

int alerts_judge(const struct policy_alerts *limits, const struct measures *measures,
                 const struct alert_list *before, struct alert_list *out, struct err *err)
{
    *out = (struct alert_list){.time = measures->time};
    for (size_t i = 0; i < measures->container_count; i++)
        if (judge_container(limits, &measures->containers[i], before, out, err) < 0 ||
            judge_start(limits, &measures->containers[i], before, out, err) < 0)
            return -1;
    for (size_t i = 0; i < measures->store_count; i++)
        if (judge_store(limits, &measures->stores[i], before, out, err) < 0)
            return -1;
    return judge_rest(limits, measures, before, out, err);
}
