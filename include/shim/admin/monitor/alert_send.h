/* Places that alerts go to: the audit file, syslog, metrics, a command. */
#ifndef SHIM_ALERT_SEND_H
#define SHIM_ALERT_SEND_H

#include "shim/admin/monitor/alerts.h"

/*
 * Writes an alert that was raised or cleared to the audit file and to syslog, as "audit" says, and
 * runs the command of "audit.alerts". What fails is a warning, and the rest is done.
 */
void alert_send(const struct policy_audit *audit, const struct alert *alert);

/*
 * Appends the metrics (Prometheus' text format 0.0.4): what was measured, the limits, the alerts
 * that hold, and the time of the run in seconds since 1970. Names are printable, in quotes. Pure.
 */
void alert_metrics(const struct policy_alerts *limits, const struct measures *measures,
                   const struct alert_list *alerts, int64_t now, struct buf *out);

/*
 * Returns the file of the metrics, beside that of flatbed-runtime: NAME-monitor.prom for NAME.prom.
 * The caller frees it. NULL without memory. Pure.
 */
char *alert_metrics_path(const char *metrics) must_check;

/*
 * Runs a command without a shell: argv[0] is an absolute path that only root may write. The line is
 * its standard input, and the alert's facts are its only environment beside PATH: FLATBED_VERDICT,
 * FLATBED_ALERT, FLATBED_ENGINE, FLATBED_CONTAINER, FLATBED_NAME, FLATBED_STORE, FLATBED_VALUE,
 * FLATBED_LIMIT, FLATBED_SAY; control bytes in them are \xNN. Standard output and error are those
 * of the caller's standard error. It is killed, with its process group, after ten seconds. Fails
 * if it cannot be started, is killed or returns other than 0.
 */
int alert_command_run(const struct policy_list *command, const struct alert *alert,
                      const struct buf *line, struct err *err) must_check;

#endif
