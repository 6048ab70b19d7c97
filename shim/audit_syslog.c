/* Decisions for syslog. */
#include "shim/audit.h"

#include <string.h>
#include <syslog.h>

enum { MESSAGE = 2048 }; /* what RFC 5424, 6.1 says that receivers should take */

static void send_message(int priority, const char *text)
{
    openlog("flatbed-runtime", LOG_PID, LOG_AUTHPRIV);
    syslog(priority, "%s", text);
    closelog();
}

void audit_syslog_warning(const char *text)
{
    _cleanup_buf_ struct buf safe = BUF_INIT;

    buf_put_printable(&safe, text, strnlen(text, MESSAGE));
    if (safe.data)
        send_message(LOG_WARNING, safe.data);
}

/* The record if it is short enough, without its operations if that makes it so, or a summary. */
static void put_record(const struct audit_record *r, struct buf *out)
{
    struct audit_record brief = *r;
    struct err ignored;

    brief.bundle = NULL;
    if (audit_line(r, MESSAGE, out, &ignored) < 0 &&
        audit_line(&brief, MESSAGE, out, &ignored) < 0) {
        buf_printf(out, "%s %.64s: %.512s\n", audit_verdict_names[r->verdict],
                   r->container ? r->container : "", r->error ? r->error : "");
    }
    if (out->len)
        buf_truncate(out, out->len - 1); /* the newline */
}

void audit_syslog(const struct audit_record *record, const char *problem)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    _cleanup_buf_ struct buf safe = BUF_INIT;
    bool plain = record->verdict != AUDIT_DENIED && !record->warning && !problem;

    if (problem)
        buf_printf(&text, "not written to the audit file (%.300s): ", problem);
    put_record(record, &text);
    buf_put_printable(&safe, text.data ? text.data : "", text.len);
    if (safe.data)
        send_message(plain ? LOG_INFO : LOG_WARNING, safe.data);
}
