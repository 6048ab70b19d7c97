#include "shim/admin/monitor/alert_send.h"

#include "base/cli/log.h"
#include "shim/audit/audit.h"

#include <time.h>

/* Makes the line of JSON, with its newline. */
static int make_line(const struct alert *alert, struct buf *out, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);
    struct timespec now;

    if (!doc)
        return -1;
    clock_gettime(CLOCK_REALTIME, &now);
    audit_put_time(doc, json_root(doc), &now);
    alert_put(alert, doc, json_root(doc));
    if (json_write(doc, out, err) < 0)
        return -1;
    buf_putc(out, '\n');
    if (buf_check(out, err) < 0)
        return -1;
    if (out->len > AUDIT_LINE)
        return err_set(err, ERR_LIMIT, "an alert of more than %d bytes", AUDIT_LINE);
    return 0;
}

void alert_send(const struct policy_audit *audit, const struct alert *alert)
{
    _cleanup_buf_ struct buf line = BUF_INIT, say = BUF_INIT;
    struct err why = ERR_INIT, failed = ERR_INIT;

    if (make_line(alert, &line, &why) < 0) {
        log_warning("%s: %s", alert->store, why.msg);
        return;
    }
    bool lost = audit->file.text && audit_file_append(audit, &line, &why) < 0;
    if (lost)
        log_warning("the alert is not in the audit: %s", why.msg);
    buf_printf(&say, "%s %s: ", alert_change_names[alert->change], alert_kind_names[alert->kind]);
    alert_describe(alert, &say);
    if ((audit->syslog || lost) && !say.failed)
        audit_syslog_warning(say.data);
    if (audit->alerts.command.count &&
        alert_command_run(&audit->alerts.command, alert, &line, &failed) < 0) {
        log_warning("the command of audit.alerts: %s", failed.msg);
        audit_syslog_warning(failed.msg);
    }
}
