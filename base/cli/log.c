#include "base/cli/log.h"

#include "base/buf.h"
#include "base/fdio.h"

#include <stdarg.h>

static const char *log_program = "flatbed";
static enum log_level log_threshold = LOG_LEVEL_INFO;

void log_init(const char *program, enum log_level level)
{
    log_program = program;
    log_threshold = level;
}

void log_message(enum log_level level, const char *format, ...)
{
    static const char *const prefixes[] = {"error: ", "warning: ", "", "debug: "};
    _cleanup_buf_ struct buf text = BUF_INIT;
    _cleanup_buf_ struct buf line = BUF_INIT;
    struct err ignored;
    va_list args;

    if (level > log_threshold)
        return;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    buf_printf(&line, "%s: %s", log_program, prefixes[level]);
    buf_put_printable(&line, text.data ? text.data : "", text.len);
    buf_putc(&line, '\n');
    if (line.data && fd_write_all(STDERR_FILENO, line.data, line.len, &ignored) < 0)
        return; /* stderr is gone: the message cannot be shown */
}
