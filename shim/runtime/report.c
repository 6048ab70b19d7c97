#include "shim/runtime/report.h"

#include "base/fdio.h"
#include "base/json/json.h"

#include <fcntl.h>
#include <string.h>

static void put_time(struct buf *out, time_t now)
{
    char text[32];
    struct tm utc;

    if (gmtime_r(&now, &utc) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc) > 0)
        buf_puts(out, text);
}

void report_record(const char *message, const char *log_format, time_t now, struct buf *out)
{
    bool json = log_format && strcmp(log_format, "json") == 0;

    buf_puts(out, json ? "{\"level\":\"error\",\"msg\":" : "time=\"");
    if (!json) {
        put_time(out, now);
        buf_puts(out, "\" level=error msg=");
    }
    json_quote(out, message, strlen(message));
    if (json) {
        buf_puts(out, ",\"time\":\"");
        put_time(out, now);
        buf_puts(out, "\"}");
    }
    buf_putc(out, '\n');
}

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

const char *report_file(const char *log)
{
    if (!log || begins(log, "syslog:") || begins(log, "journald:"))
        return NULL;
    if (begins(log, "file:"))
        log += strlen("file:");
    if (!*log || strcmp(log, "/dev/stderr") == 0)
        return NULL;
    return log;
}

void report_failure(const char *message, const char *log, const char *log_format)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    _cleanup_buf_ struct buf line = BUF_INIT;
    _cleanup_buf_ struct buf record = BUF_INIT;
    const char *file = report_file(log);
    struct err ignored;

    buf_printf(&text, "flatbed: %s", message);
    const char *said = text.data ? text.data : "out of memory";
    if (file) {
        /* O_NONBLOCK: a FIFO without a reader must not block. */
        _cleanup_fd_ int fd =
            open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644);
        report_record(said, log_format, time(NULL), &record);
        if (fd >= 0 && record.data && fd_write_all(fd, record.data, record.len, &ignored) < 0)
            buf_printf(&line, "flatbed: cannot write the log: %s\n", ignored.msg);
    }
    buf_put_printable(&line, said, strlen(said));
    buf_putc(&line, '\n');
    if (line.data && fd_write_all(STDERR_FILENO, line.data, line.len, &ignored) < 0)
        return; /* the message cannot be shown */
}
