#include "base/rfc3339.h"

#include <string.h>

/* Returns the pattern's length if `text` starts like it, with any digit for a 0; else 0. */
static size_t match_form(const char *text, const char *pattern)
{
    size_t len = strlen(pattern);

    for (size_t i = 0; i < len; i++)
        if (pattern[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != pattern[i])
            return 0;
    return len;
}

/* Reads ".5" as nanoseconds. Returns how many bytes it has; 0 without a digit. */
static size_t read_fraction(const char *text, long *nanoseconds)
{
    size_t digits = *text == '.' ? strspn(text + 1, "0123456789") : 0;
    long unit = 100000000;

    for (size_t i = 1; i <= digits; i++, unit /= 10)
        *nanoseconds += (text[i] - '0') * unit;
    return digits ? digits + 1 : 0;
}

static int read_pair(const char *text)
{
    return (text[0] - '0') * 10 + text[1] - '0';
}

/* Reads "Z" or "+02:00" alone, as seconds east of Greenwich. */
static bool read_offset(const char *text, time_t *seconds)
{
    if (strcmp(text, "Z") == 0)
        return true;
    if ((!match_form(text, "+00:00") && !match_form(text, "-00:00")) || text[6] != '\0')
        return false;
    int hours = read_pair(text + 1), minutes = read_pair(text + 4);
    *seconds = (*text == '-' ? -60 : 60) * (hours * 60 + minutes);
    return hours < 24 && minutes < 60;
}

/* strptime checks the ranges, but accepts more forms. */
bool rfc3339_parse(const char *text, struct timespec *out)
{
    size_t used = match_form(text, "0000-00-00T00:00:00");
    struct tm tm = {0};
    time_t offset = 0;
    long nanoseconds = 0;

    if (!used || !strptime(text, "%Y-%m-%dT%H:%M:%S", &tm))
        return false;
    used += read_fraction(text + used, &nanoseconds);
    if (!read_offset(text + used, &offset))
        return false;
    *out = (struct timespec){.tv_sec = timegm(&tm) - offset, .tv_nsec = nanoseconds};
    return true;
}
