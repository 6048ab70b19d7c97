/* The "audit" section. */
#include "base/size.h"
#include "shim/policy/read/sections/sections.h"

#include <stdint.h>

enum { KIB = 1024, MIB = 1024 * KIB };
enum { SMALLEST_FILE = 4 * KIB, MOST_KEPT = 1000 };

static int read_file(struct decoder *d, const struct json *value, void *target)
{
    struct policy_audit *audit = target;

    return decode_path(d, value, &audit->file);
}

static int read_metrics(struct decoder *d, const struct json *value, void *target)
{
    struct policy_audit *audit = target;

    return decode_path(d, value, &audit->metrics);
}

static int read_syslog(struct decoder *d, const struct json *value, void *target)
{
    struct policy_audit *audit = target;

    return decode_bool(d, value, &audit->syslog);
}

static int read_required(struct decoder *d, const struct json *value, void *target)
{
    struct policy_audit *audit = target;

    return decode_bool(d, value, &audit->required);
}

static int read_max_size(struct decoder *d, const struct json *value, void *target)
{
    struct policy_audit *audit = target;
    struct policy_text text = {0};

    if (decode_text(d, value, &text) < 0)
        return -1;
    if (!size_parse(text.text, &audit->max_size) || audit->max_size < SMALLEST_FILE)
        return decode_fail(d, value, "'%s': expected bytes such as \"64m\", at least \"4k\"",
                           text.text);
    return 0;
}

static int read_keep(struct decoder *d, const struct json *value, void *target)
{
    struct policy_audit *audit = target;
    uint64_t keep;

    if (decode_type(d, value, JSON_NUMBER) < 0)
        return -1;
    if (!json_u64(value, &keep) || keep < 1 || keep > MOST_KEPT)
        return decode_fail(d, value, "%s: expected a number of files, 1 to %d", value->text,
                           MOST_KEPT);
    audit->keep = (unsigned)keep;
    return 0;
}

int decode_audit(struct decoder *d, const struct json *value, void *target)
{
    static const struct decode_key keys[] = {
        {"file", read_file},         {"syslog", read_syslog}, {"metrics", read_metrics},
        {"max_size", read_max_size}, {"keep", read_keep},     {"required", read_required},
        {"alerts", decode_alerts},
    };
    struct policy *policy = target;

    return decode_object(d, value, keys, sizeof(keys) / sizeof(*keys), &policy->audit);
}
