/* The "warm" section. */
#include "shim/policy/read/sections/sections.h"

enum { DEFAULT_SECONDS = 30, MOST_SECONDS = 600, DEFAULT_MAX = 25 /* per cent */ };

static int read_record(struct decoder *d, const struct json *value, void *target)
{
    static const char *const names[] = {
        [RECORD_OFF] = "off", [RECORD_FIRST] = "first", [RECORD_ALWAYS] = "always"};
    int chosen;

    if (decode_choice(d, value, names, 3, &chosen) < 0)
        return -1;
    ((struct policy_warm *)target)->record = (enum policy_record)chosen;
    return 0;
}

static int read_seconds(struct decoder *d, const struct json *value, void *target)
{
    return decode_seconds(d, value, 1, MOST_SECONDS, &((struct policy_warm *)target)->seconds);
}

static int read_max(struct decoder *d, const struct json *value, void *target)
{
    return decode_free(d, value, &((struct policy_warm *)target)->max);
}

static int read_cache(struct decoder *d, const struct json *value, void *target)
{
    return decode_path(d, value, &((struct policy_warm *)target)->cache);
}

int decode_warm(struct decoder *d, const struct json *value, void *target)
{
    static const struct decode_key keys[] = {
        {"record", read_record}, {"for", read_seconds}, {"max", read_max}, {"cache", read_cache}};
    struct policy_warm *warm = &((struct policy *)target)->warm;

    if (!warm->given)
        *warm = (struct policy_warm){.given = true,
                                     .record = RECORD_FIRST,
                                     .seconds = DEFAULT_SECONDS,
                                     .max = {.percent = DEFAULT_MAX}};
    return decode_object(d, value, keys, sizeof(keys) / sizeof(*keys), warm);
}
