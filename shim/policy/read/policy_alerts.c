/* "alerts" of the "audit" section. */
#include "base/size.h"
#include "shim/policy/read/policy_decode.h"

#include <string.h>

enum { LARGEST_SHARE = 99 };

/* Reads an amount of bytes that is not 0. */
static int read_bytes(struct decoder *d, const struct json *value, uint64_t *out)
{
    struct policy_text text = {0};

    if (decode_text(d, value, &text) < 0)
        return -1;
    if (!size_parse(text.text, out) || *out == 0)
        return decode_fail(d, value, "'%.40s': expected bytes such as \"20g\"", text.text);
    return 0;
}

static int read_upper(struct decoder *d, const struct json *value, void *target)
{
    return read_bytes(d, value, &((struct policy_alerts *)target)->upper_bytes);
}

static int read_copyup(struct decoder *d, const struct json *value, void *target)
{
    return read_bytes(d, value, &((struct policy_alerts *)target)->copyup_bytes);
}

/* Reads "10%". Returns 0 for any other text. */
static unsigned read_percent(const char *text)
{
    size_t digits = strspn(text, "0123456789");

    if (!digits || digits > 2 || strcmp(text + digits, "%") != 0)
        return 0;
    unsigned long share = strtoul(text, NULL, 10);
    return share <= LARGEST_SHARE ? (unsigned)share : 0;
}

static int read_free(struct decoder *d, const struct json *value, void *target)
{
    struct policy_free *room = &((struct policy_alerts *)target)->store_free;
    struct policy_text text = {0};

    *room = (struct policy_free){0};
    if (decode_text(d, value, &text) < 0)
        return -1;
    room->percent = read_percent(text.text);
    if (!room->percent && (!size_parse(text.text, &room->bytes) || !room->bytes))
        return decode_fail(d, value,
                           "'%.40s': expected bytes such as \"20g\", or 1 to 99 per cent such as "
                           "\"10%%\"",
                           text.text);
    return 0;
}

static int read_command(struct decoder *d, const struct json *value, void *target)
{
    struct policy_alerts *alerts = target;
    struct policy_text program = {0};

    if (decode_list(d, value, &alerts->command) < 0)
        return -1;
    if (alerts->command.count == 0)
        return decode_fail(d, value, "expected a program and its arguments");
    return decode_path(d, value->items[0], &program);
}

int decode_alerts(struct decoder *d, const struct json *value, void *target)
{
    static const struct decode_key keys[] = {
        {"upper_bytes", read_upper},
        {"copyup_bytes", read_copyup},
        {"store_free", read_free},
        {"command", read_command},
    };
    struct policy_audit *audit = target;

    return decode_object(d, value, keys, sizeof(keys) / sizeof(*keys), &audit->alerts);
}
