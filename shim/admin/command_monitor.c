#include "shim/admin/commands.h"

#include "base/cli/log.h"
#include "shim/admin/copyups/walk.h"
#include "shim/admin/monitor/alert_send.h"
#include "shim/admin/monitor/alerts.h"
#include "shim/admin/monitor/measure.h"
#include "shim/audit/audit.h"
#include "shim/host/rundir.h"
#include "shim/host/trust.h"
#include "shim/policy/read/policy_read.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

enum { INTERVAL = 60, INTERVAL_MOST = 86400, STATE_BYTES = 16 * 1024 * 1024 };

struct monitor_command {
    struct option_list stores;
    const char *policy;
    uint64_t interval;
    bool follow, dry_run, json;
};

#define FIELD(name) offsetof(struct monitor_command, name)
static const struct option_spec monitor_options[] = {
    {"store", 0, OPTION_LIST, FIELD(stores), "DIR", NULL,
     "also a data-root of Docker, or a storage of podman, such as a user's; may be repeated"},
    {"policy", 0, OPTION_FILE, FIELD(policy), "FILE", NULL,
     "the policy; by default /etc/flatbed/policy.json"},
    {"follow", 0, OPTION_FLAG, FIELD(follow), NULL, NULL, "run again and again, as a service"},
    {"interval", 0, OPTION_SECONDS, FIELD(interval), "SECONDS", NULL,
     "the time between two runs of --follow; by default 60"},
    {"dry-run", 0, OPTION_FLAG, FIELD(dry_run), NULL, NULL,
     "print the alerts, and neither send nor store them"},
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "print them as JSON"},
    {0},
};

const struct command_spec command_monitor_spec = {
    .program = "flatbed",
    .name = "monitor",
    .operands = "",
    .summary = "Raise alerts by the limits of the policy.",
    .details =
        "Compares what containers wrote, and the free room of the engines' stores, with\n"
        "audit.alerts of the policy. An alert is raised once and cleared once: it goes to the\n"
        "audit, to syslog and to the command that the policy names. The metrics of all that was\n"
        "measured go to a file beside that of audit.metrics. Meant for a timer of systemd\n"
        "(flatbed-monitor.timer) or, with --follow, for a service.\n",
    .options = monitor_options,
    .completes = OPERANDS_NONE,
};

/* ---- the alerts of the run before ---- */

/* Opens the directory of the alerts, locked: there is one run at a time. */
static int open_state(struct err *err)
{
    _cleanup_fd_ int fd = rundir_open("monitor", NULL, true, err);

    return fd < 0 || rundir_hold(fd, err) < 0 ? -1 : steal_fd(&fd);
}

/* Reads the alerts of the run before with the same policy. A malformed file counts as empty. */
static int load(int dirfd, const char *name, struct alert_list *out, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err why = ERR_INIT;

    if (rundir_read(dirfd, name, STATE_BYTES, &text, &why) < 0) {
        if (err_missing(&why))
            return 0;
        *err = why;
        return -1;
    }
    if (alerts_load(&text, out, &why) < 0) {
        log_warning("/run/flatbed/monitor/%s: started anew: %s", name, why.msg);
        alerts_free(out);
    }
    return 0;
}

/* ---- output ---- */

static int print_json(const struct alert_list *alerts, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);
    _cleanup_buf_ struct buf out = BUF_INIT;

    if (!doc)
        return -1;
    struct json *list = json_set(doc, json_root(doc), "alerts", json_array(doc));
    for (size_t i = 0; i < alerts->count; i++)
        alert_put(&alerts->list[i], doc, json_append(doc, list, json_object(doc)));
    if (json_write(doc, &out, err) < 0)
        return -1;
    buf_putc(&out, '\n');
    return program_print(&out, err);
}

/* Prints a line for each alert; with --follow only what changed. */
static int print_text(const struct alert_list *alerts, bool changes, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    for (size_t i = 0; i < alerts->count; i++) {
        const struct alert *a = &alerts->list[i];
        if (changes && a->change == ALERT_HELD)
            continue;
        buf_printf(&out, "%-7s  %-12s  ", alert_change_names[a->change], alert_kind_names[a->kind]);
        alert_describe(a, &out);
        buf_putc(&out, '\n');
    }
    return program_print(&out, err);
}

/* Says why there is no line. */
static int print_nothing(const struct policy_alerts *limits, struct err *err)
{
    bool limited = limits->upper_bytes || limits->copyup_bytes || limits->store_free.bytes ||
                   limits->store_free.percent || limits->start_seconds;
    _cleanup_buf_ struct buf out = BUF_INIT;

    buf_puts(&out, limited ? "no alert\n" : "no alert: audit.alerts of the policy sets no limit\n");
    return program_print(&out, err);
}

static void write_metrics(const struct policy_audit *audit, const struct measures *measures,
                          const struct alert_list *alerts)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err why = ERR_INIT;

    if (!audit->metrics.text)
        return;
    _cleanup_free_ char *path = alert_metrics_path(audit->metrics.text);
    alert_metrics(&audit->alerts, measures, alerts, time(NULL), &text);
    if (!path || audit_metrics_replace(path, &text, &why) < 0)
        log_warning("no metrics: %s", path ? why.msg : "out of memory");
}

/* ---- a run ---- */

/* Stores the alerts first, so that none is sent twice; then sends what changed. */
static int settle(const struct policy_audit *audit, int dirfd, const char *name,
                  const struct measures *measures, const struct alert_list *alerts, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (alerts_save(alerts, &text, err) < 0 || rundir_write(dirfd, name, &text, err) < 0)
        return -1;
    write_metrics(audit, measures, alerts);
    for (size_t i = 0; i < alerts->count; i++)
        if (alerts->list[i].change != ALERT_HELD)
            alert_send(audit, &alerts->list[i]);
    return 0;
}

static int monitor_once(const struct monitor_command *c, const struct policy *policy,
                        struct err *err)
{
    const struct policy_audit *audit = &policy->audit;
    _cleanup_alerts_ struct alert_list before = {0}, alerts = {0};
    _cleanup_measures_ struct measures measures = {0};
    _cleanup_buf_ struct buf name = BUF_INIT;
    bool dry = c->dry_run || trust_rootless();
    _cleanup_fd_ int state = -1;

    if (rundir_escape(c->policy ? c->policy : policy_default_path, &name, err) < 0)
        return -1;
    if (!trust_rootless()) {
        state = open_state(err);
        if (state < 0 || load(state, name.data, &before, err) < 0)
            return -1;
    }
    if (measure(&audit->alerts, c->stores.items, c->stores.count, &before, &measures, err) < 0 ||
        alerts_judge(&audit->alerts, &measures, &before, &alerts, err) < 0)
        return -1;
    if (!dry && settle(audit, state, name.data, &measures, &alerts, err) < 0)
        return -1;
    if (c->json)
        return print_json(&alerts, err);
    return c->dry_run && !alerts.count ? print_nothing(&audit->alerts, err)
                                       : print_text(&alerts, c->follow, err);
}

static int monitor(const struct monitor_command *c, struct err *err)
{
    _cleanup_policy_ struct policy *policy = policy_new(err);

    if (!policy || policy_open(policy, c->policy, err) < 0 || policy_decode(policy, err) < 0)
        return -1;
    return monitor_once(c, policy, err);
}

/* Runs for ever. A run that fails is a warning: the policy may be right at the next one. */
__attribute__((noreturn)) static void follow(const struct monitor_command *c)
{
    for (;;) {
        struct err why = ERR_INIT;
        if (monitor(c, &why) < 0)
            log_warning("%s", why.msg);
        sleep((unsigned)c->interval);
    }
}

int command_monitor(int argc, char *const argv[], bool *help, struct err *err)
{
    struct monitor_command c = {0};
    struct operands operands = {0};
    int rc = options_parse(&command_monitor_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help) {
        if (c.interval && !c.follow)
            rc = err_set(err, ERR_USAGE, "--interval needs --follow");
        else if (c.interval > INTERVAL_MOST)
            rc = err_set(err, ERR_USAGE, "--interval is at most %d seconds", INTERVAL_MOST);
    }
    if (rc == 0 && !*help) {
        c.interval = c.interval ? c.interval : INTERVAL;
        walk_raise_limit();
        if (c.follow)
            follow(&c);
        rc = monitor(&c, err);
    }
    free(operands.list);
    return rc;
}
