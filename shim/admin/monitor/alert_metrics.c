/* The metrics of a run. */
#include "shim/admin/monitor/alert_send.h"

#include <string.h>

/* Appends NAME="TEXT" with the escapes of the text format; other control bytes become \\xNN. */
static void put_label(struct buf *out, const char *name, const char *text, bool first)
{
    _cleanup_buf_ struct buf printable = BUF_INIT;

    buf_put_printable(&printable, text, strlen(text));
    buf_printf(out, "%c%s=\"", first ? '{' : ',', name);
    for (size_t i = 0; i < printable.len; i++) {
        if (printable.data[i] == '\\' || printable.data[i] == '"')
            buf_putc(out, '\\');
        buf_putc(out, printable.data[i]);
    }
    buf_putc(out, '"');
    out->failed |= printable.failed;
}

static void put_head(struct buf *out, const char *name, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void put_value(struct buf *out, uint64_t value)
{
    buf_printf(out, "} %llu\n", (unsigned long long)value);
}

static void put_container(const struct measured_container *c, const char *name, struct buf *out)
{
    buf_puts(out, name);
    put_label(out, "engine", c->engine, true);
    put_label(out, "container", c->id, false);
    put_label(out, "name", c->name, false);
    put_label(out, "store", c->store, false);
}

static void put_containers(const struct measures *m, enum alert_kind kind, const char *name,
                           const char *help, struct buf *out)
{
    put_head(out, name, help);
    for (size_t i = 0; i < m->container_count; i++) {
        const struct measured_container *c = &m->containers[i];
        if (!c->known)
            continue;
        put_container(c, name, out);
        put_value(out, c->values[kind]);
    }
}

static void put_starts(const struct measures *m, struct buf *out)
{
    static const char name[] = "flatbed_container_start_seconds";

    put_head(out, name, "Time that a container took, or takes, until it is ready.");
    for (size_t i = 0; i < m->container_count; i++) {
        const struct measured_container *c = &m->containers[i];
        if (!c->start.known || (c->start.ready && !c->start.ready_at))
            continue;
        put_container(c, name, out);
        put_value(out, c->start.seconds);
    }
}

static void put_stores(const struct measures *m, bool size, const char *name, const char *help,
                       struct buf *out)
{
    put_head(out, name, help);
    for (size_t i = 0; i < m->store_count; i++) {
        const struct measured_store *s = &m->stores[i];
        if (!s->known)
            continue;
        buf_puts(out, name);
        put_label(out, "store", s->path, true);
        put_value(out, size ? s->size : s->free);
    }
}

static void put_limits(const struct policy_alerts *limits, struct buf *out)
{
    const uint64_t values[ALERTS] = {limits->upper_bytes, limits->copyup_bytes,
                                     limits->store_free.bytes};

    put_head(out, "flatbed_alert_limit_bytes", "Limits of the policy that are given in bytes.");
    for (size_t kind = 0; kind < ALERTS; kind++) {
        if (!values[kind])
            continue;
        buf_puts(out, "flatbed_alert_limit_bytes");
        put_label(out, "alert", alert_kind_names[kind], true);
        put_value(out, values[kind]);
    }
}

static void put_alerts(const struct alert_list *alerts, struct buf *out)
{
    put_head(out, "flatbed_alert", "1 for each alert that holds.");
    for (size_t i = 0; i < alerts->count; i++) {
        const struct alert *a = &alerts->list[i];
        if (a->change == ALERT_CLEARED)
            continue;
        buf_puts(out, "flatbed_alert");
        put_label(out, "alert", alert_kind_names[a->kind], true);
        put_label(out, "engine", a->engine, false);
        put_label(out, "container", a->id, false);
        put_label(out, "name", a->name, false);
        put_label(out, "store", a->store, false);
        put_value(out, 1);
    }
}

static uint64_t count_unknown(const struct measures *m)
{
    uint64_t count = 0;

    for (size_t i = 0; i < m->container_count; i++)
        count += !m->containers[i].known;
    for (size_t i = 0; i < m->store_count; i++)
        count += !m->stores[i].known;
    return count;
}

void alert_metrics(const struct policy_alerts *limits, const struct measures *measures,
                   const struct alert_list *alerts, int64_t now, struct buf *out)
{
    if (limits->upper_bytes || limits->copyup_bytes) {
        put_containers(measures, ALERT_UPPER, "flatbed_container_upper_bytes",
                       "Blocks of a container's upper directory.", out);
        put_containers(measures, ALERT_COPYUP, "flatbed_container_copyup_bytes",
                       "Blocks of copies of files of the image.", out);
    }
    if (limits->start_seconds)
        put_starts(measures, out);
    put_stores(measures, false, "flatbed_store_free_bytes", "Free room of a store.", out);
    put_stores(measures, true, "flatbed_store_size_bytes", "Size of a store's file system.", out);
    put_limits(limits, out);
    put_alerts(alerts, out);
    put_head(out, "flatbed_monitor_unmeasured", "Containers and stores that were not measured.");
    buf_printf(out, "flatbed_monitor_unmeasured %llu\n",
               (unsigned long long)count_unknown(measures));
    put_head(out, "flatbed_monitor_run_timestamp_seconds", "Time of the last run.");
    buf_printf(out, "flatbed_monitor_run_timestamp_seconds %lld\n", (long long)now);
}

char *alert_metrics_path(const char *metrics)
{
    static const char suffix[] = ".prom";
    size_t len = strlen(metrics), end = sizeof(suffix) - 1;

    if (len > end && strcmp(metrics + len - end, suffix) == 0)
        len -= end;
    return strf("%.*s-monitor.prom", (int)len, metrics);
}
