#include "flatten/timestamp.h"

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
    struct tm tm;

    if (!text)
        text = getenv("SOURCE_DATE_EPOCH");
    if (!text)
        return 0;
    if (*text && text[strspn(text, "0123456789")] == '\0')
        return from_epoch(text, out, err);
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
    if (rest && *rest == '.')
        rest += 1 + strspn(rest + 1, "0123456789");
    if (!rest || (strcmp(rest, "Z") != 0 && !strptime(rest, "%z", &tm)) ||
        strlen(text) >= TIMESTAMP_SIZE)
        return err_set(err, ERR_USAGE, "'%s' is not a time; write 2026-01-31T12:00:00Z", text);
    memcpy(out, text, strlen(text) + 1);
    return 1;
}
