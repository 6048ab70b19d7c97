#define ERR_DEFINES
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, enum err_kind kind, const char *format, ...)
{
    va_list args;

    err->kind = kind;
    err->sys = 0;
    va_start(args, format);
    vsnprintf(err->msg, sizeof(err->msg), format, args);
    va_end(args);
    return -1;
}

int err_sys(struct err *err, const char *format, ...)
{
    int saved = errno;
    va_list args;

    err->kind = ERR_SYSTEM;
    err->sys = saved;
    va_start(args, format);
    vsnprintf(err->msg, sizeof(err->msg), format, args);
    va_end(args);

    size_t used = strlen(err->msg);
    snprintf(err->msg + used, sizeof(err->msg) - used, ": %s", strerror(saved));
    return -1;
}

int err_nomem(struct err *err)
{
    errno = ENOMEM;
    return err_sys(err, "out of memory");
}

int err_wrap(struct err *err, const char *format, ...)
{
    char inner[sizeof(err->msg)];
    va_list args;

    memcpy(inner, err->msg, sizeof(inner));
    va_start(args, format);
    vsnprintf(err->msg, sizeof(err->msg), format, args);
    va_end(args);

    size_t used = strlen(err->msg);
    snprintf(err->msg + used, sizeof(err->msg) - used, ": %s", inner);
    return -1;
}

bool err_missing(const struct err *err)
{
    return err->kind == ERR_SYSTEM && err->sys == ENOENT;
}

int err_exit_status(enum err_kind kind)
{
    switch (kind) {
    case ERR_NONE:
        return 0;
    case ERR_USAGE:
        return 2;
    case ERR_SYSTEM:
        return 3;
    case ERR_FORMAT:
        return 5;
    case ERR_DIGEST:
        return 6;
    case ERR_LIMIT:
        return 7;
    case ERR_UNSUPPORTED:
        return 8;
    case ERR_POLICY:
        return 9;
    }
    return 3;
}
