/* Decisions for syslog. */
#include "shim/audit/audit.h"

#include "base/cleanup.h"

#include <paths.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

enum { MESSAGE = 2048 }; /* bytes that receivers should take (RFC 5424, 6.1) */

/* Opens /dev/log. A daemon that does not read blocks for a second at most. */
static int open_log(int type)
{
    static const struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = _PATH_LOG};
    static const struct timeval most = {.tv_sec = 1};
    _cleanup_fd_ int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most)) < 0 ||
        connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
        return -1;
    return steal_fd(&fd);
}

/* Sends as syslog(3) does, which would wait for ever. Messages in a stream end with a NUL. */
static void send_message(int priority, const char *text)
{
    _cleanup_buf_ struct buf message = BUF_INIT;
    _cleanup_fd_ int fd = open_log(SOCK_DGRAM);
    bool stream = fd < 0 && errno == EPROTOTYPE;
    char date[32];
    struct tm local;
    time_t now = time(NULL);

    if (stream)
        fd = open_log(SOCK_STREAM);
    if (fd < 0 || !localtime_r(&now, &local) ||
        !strftime(date, sizeof(date), "%b %e %H:%M:%S", &local))
        return;
    buf_printf(&message, "<%d>%s flatbed-runtime[%d]: %s", LOG_AUTHPRIV | priority, date,
               (int)getpid(), text);
    if (!message.failed && send(fd, message.data, message.len + stream, MSG_NOSIGNAL) < 0)
        return; /* the message cannot be shown */
}

void audit_syslog_warning(const char *text)
{
    _cleanup_buf_ struct buf safe = BUF_INIT;
    size_t len = strlen(text);

    buf_put_printable(&safe, text, len < MESSAGE ? len : MESSAGE);
    if (safe.data)
        send_message(LOG_WARNING, safe.data);
}

void audit_syslog(const struct audit_record *record, const char *problem)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    _cleanup_buf_ struct buf safe = BUF_INIT;
    bool plain =
        record->verdict != AUDIT_DENIED && !record->warning && !record->least_free && !problem;
    struct err ignored;

    if (problem)
        buf_printf(&text, "not written to the audit file (%.300s): ", problem);
    if (audit_line(record, MESSAGE, &text, &ignored) == 0)
        buf_truncate(&text, text.len - 1); /* the newline */
    buf_put_printable(&safe, text.data ? text.data : "", text.len);
    if (safe.data)
        send_message(plain ? LOG_INFO : LOG_WARNING, safe.data);
}
