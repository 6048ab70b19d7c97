#include "flatten/command/squash/timestamp.h"

#include "base/rfc3339.h"

#include <string.h>
#include <time.h>

static int from_epoch(const char *text, char out[TIMESTAMP_SIZE], struct err *err)
{
    char *end;
    struct tm tm;

    errno = 0;
    time_t seconds = strtoll(text, &end, 10);
    if (errno || *end || !gmtime_r(&seconds, &tm) || tm.tm_year > 9999 - 1900)
        return err_set(err, ERR_USAGE, "'%s' is not a number of seconds since 1970", text);
    strftime(out, TIMESTAMP_SIZE, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return 1;
}

int timestamp_choose(const char *text, char out[TIMESTAMP_SIZE], struct err *err)
{
    struct timespec ignored;
    const char *from = text ? "--created" : "SOURCE_DATE_EPOCH";

    if (!text)
        text = getenv("SOURCE_DATE_EPOCH");
    if (!text)
        return 0;
    if (*text && text[strspn(text, "0123456789")] == '\0')
        return from_epoch(text, out, err);
    if (strlen(text) >= TIMESTAMP_SIZE || !rfc3339_parse(text, &ignored))
        return err_set(err, ERR_USAGE,
                       "%s='%s' is not a time; write 2026-01-31T12:00:00Z, or seconds since 1970",
                       from, text);
    memcpy(out, text, strlen(text) + 1);
    return 1;
}
