/* "alerts" of the "audit" section. */
#include "shim/policy/read/sections/sections.h"

#include <regex.h>
#include <string.h>

enum { LONGEST_START = 86400, LONGEST_PATTERN = 500 };

static int read_upper(struct decoder *d, const struct json *value, void *target)
{
    return decode_bytes(d, value, &((struct policy_alerts *)target)->upper_bytes);
}

static int read_copyup(struct decoder *d, const struct json *value, void *target)
{
    return decode_bytes(d, value, &((struct policy_alerts *)target)->copyup_bytes);
}

static int read_free(struct decoder *d, const struct json *value, void *target)
{
    return decode_free(d, value, &((struct policy_alerts *)target)->store_free);
}

static int read_start(struct decoder *d, const struct json *value, void *target)
{
    uint64_t *seconds = &((struct policy_alerts *)target)->start_seconds;

    if (decode_type(d, value, JSON_NUMBER) < 0)
        return -1;
    if (!json_u64(value, seconds) || *seconds == 0 || *seconds > LONGEST_START)
        return decode_fail(d, value, "%.40s: expected seconds, 1 to %d", value->text,
                           LONGEST_START);
    return 0;
}

static int read_ready_file(struct decoder *d, const struct json *value, void *target)
{
    struct policy_ready *ready = target;
    struct policy_text path = {0};

    if (decode_path(d, value, &path) < 0)
        return -1;
    *ready = (struct policy_ready){READY_FILE, path.text};
    return 0;
}

static int read_ready_log(struct decoder *d, const struct json *value, void *target)
{
    struct policy_ready *ready = target;
    struct policy_text pattern = {0};
    regex_t compiled;

    if (decode_text(d, value, &pattern) < 0)
        return -1;
    if (strlen(pattern.text) > LONGEST_PATTERN ||
        regcomp(&compiled, pattern.text, REG_EXTENDED | REG_NOSUB) != 0)
        return decode_fail(d, value,
                           "'%.40s': expected an extended regular expression of at most %d bytes",
                           pattern.text, LONGEST_PATTERN);
    regfree(&compiled);
    *ready = (struct policy_ready){READY_LOG, pattern.text};
    return 0;
}

static int read_ready(struct decoder *d, const struct json *value, void *target)
{
    static const struct decode_key keys[] = {{"file", read_ready_file}, {"log", read_ready_log}};
    struct policy_ready *ready = &((struct policy_alerts *)target)->ready;
    const char *text = json_text(value);

    if (text && strcmp(text, "health") == 0) {
        *ready = (struct policy_ready){READY_HEALTH, NULL};
        return 0;
    }
    if (!json_is(value, JSON_OBJECT) || json_count(value) != 1)
        return decode_fail(d, value,
                           "expected \"health\", {\"file\": PATH} or {\"log\": EXPRESSION}");
    return decode_object(d, value, keys, sizeof(keys) / sizeof(*keys), ready);
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
        {"upper_bytes", read_upper},   {"copyup_bytes", read_copyup}, {"store_free", read_free},
        {"start_seconds", read_start}, {"ready", read_ready},         {"command", read_command},
    };
    struct policy_audit *audit = target;

    if (decode_object(d, value, keys, sizeof(keys) / sizeof(*keys), &audit->alerts) < 0)
        return -1;
    if (!audit->alerts.start_seconds != !audit->alerts.ready.kind)
        return decode_fail(d, value, "\"start_seconds\" and \"ready\" need each other");
    return 0;
}
