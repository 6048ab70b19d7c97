#include "flatten/command/squash/timestamp.h"

#include <stdbool.h>
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

/* Returns the pattern's length if `text` starts like it, with any digit for a 0; else 0. */
static size_t match_form(const char *text, const char *pattern)
{
    size_t len = strlen(pattern);

    for (size_t i = 0; i < len; i++)
        if (pattern[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != pattern[i])
            return 0;
    return len;
}

/* True for "Z" or "+02:00" alone. */
static bool is_offset(const char *text)
{
    bool numeric = match_form(text, "+00:00") || match_form(text, "-00:00");

    return strcmp(text, "Z") == 0 ||
           (numeric && text[6] == '\0' && strncmp(text + 1, "24", 2) < 0 && text[4] < '6');
}

/* RFC 3339 section 5.6. strptime checks the ranges, but accepts more forms. */
static bool is_time(const char *text)
{
    size_t used = match_form(text, "0000-00-00T00:00:00");
    struct tm tm;

    if (!used || !strptime(text, "%Y-%m-%dT%H:%M:%S", &tm))
        return false;
    if (text[used] == '.') {
        size_t digits = strspn(text + used + 1, "0123456789");
        used += digits ? 1 + digits : 0;
    }
    return is_offset(text + used);
}

int timestamp_choose(const char *text, char out[TIMESTAMP_SIZE], struct err *err)
{
    const char *from = text ? "--created" : "SOURCE_DATE_EPOCH";

    if (!text)
        text = getenv("SOURCE_DATE_EPOCH");
    if (!text)
        return 0;
    if (*text && text[strspn(text, "0123456789")] == '\0')
        return from_epoch(text, out, err);
    if (strlen(text) >= TIMESTAMP_SIZE || !is_time(text))
        return err_set(err, ERR_USAGE,
                       "%s='%s' is not a time; write 2026-01-31T12:00:00Z, or seconds since 1970",
                       from, text);
    memcpy(out, text, strlen(text) + 1);
    return 1;
}
