/* "stage" of a class of volumes. */
#include "shim/policy/read/sections/sections.h"

#include <string.h>

enum {
    LONGEST_WAIT = 86400,
    LONGEST_RECHECK = 7 * 86400,
    DEFAULT_RECHECK = 600,
    DEFAULT_FREE = 5, /* per cent */
};

static struct policy_stage *stage_of(void *target)
{
    return &((struct policy_volume *)target)->stage;
}

static int read_cache(struct decoder *d, const struct json *value, void *target)
{
    return decode_path(d, value, &stage_of(target)->cache);
}

static int read_max(struct decoder *d, const struct json *value, void *target)
{
    return decode_bytes(d, value, &stage_of(target)->max);
}

static int read_free(struct decoder *d, const struct json *value, void *target)
{
    return decode_free(d, value, &stage_of(target)->free);
}

static int read_per_owner(struct decoder *d, const struct json *value, void *target)
{
    return decode_bytes(d, value, &stage_of(target)->per_owner);
}

static int read_wait(struct decoder *d, const struct json *value, void *target)
{
    return decode_seconds(d, value, 0, LONGEST_WAIT, &stage_of(target)->wait);
}

static int read_else(struct decoder *d, const struct json *value, void *target)
{
    static const char *const names[] = {[ELSE_SOURCE] = "source", [ELSE_DENY] = "deny"};
    int chosen;

    if (decode_choice(d, value, names, 2, &chosen) < 0)
        return -1;
    stage_of(target)->otherwise = (enum policy_else)chosen;
    return 0;
}

static int read_verify(struct decoder *d, const struct json *value, void *target)
{
    static const char *const names[] = {"attributes", "content"};
    int chosen;

    if (decode_choice(d, value, names, 2, &chosen) < 0)
        return -1;
    stage_of(target)->verify = chosen == 1;
    return 0;
}

static int read_bandwidth(struct decoder *d, const struct json *value, void *target)
{
    return decode_bytes(d, value, &stage_of(target)->bandwidth);
}

static int read_recheck(struct decoder *d, const struct json *value, void *target)
{
    return decode_seconds(d, value, 0, LONGEST_RECHECK, &stage_of(target)->recheck);
}

static int read_include(struct decoder *d, const struct json *value, void *target)
{
    return decode_list(d, value, &stage_of(target)->include);
}

static int read_ask(struct decoder *d, const struct json *value, void *target)
{
    struct policy_stage *stage = stage_of(target);
    int wish;

    if (decode_type(d, value, JSON_ARRAY) < 0)
        return -1;
    stage->ask = 0;
    for (size_t i = 0; i < json_count(value); i++) {
        if (decode_choice(d, value->items[i], policy_stage_wishes, STAGE_WISHES, &wish) < 0)
            return -1;
        stage->ask |= 1u << wish;
    }
    return 0;
}

int decode_stage(struct decoder *d, const struct json *value, void *target)
{
    static const struct decode_key keys[] = {
        {"cache", read_cache},         {"max", read_max},         {"free", read_free},
        {"per_owner", read_per_owner}, {"wait", read_wait},       {"else", read_else},
        {"verify", read_verify},       {"include", read_include}, {"bandwidth", read_bandwidth},
        {"recheck", read_recheck},     {"ask", read_ask},
    };
    struct policy_stage *stage = stage_of(target);

    if (!stage->cache.text)
        *stage =
            (struct policy_stage){.free = {.percent = DEFAULT_FREE}, .recheck = DEFAULT_RECHECK};
    if (decode_object(d, value, keys, sizeof(keys) / sizeof(*keys), target) < 0)
        return -1;
    return stage->cache.text ? 0 : decode_fail(d, value, "there is no \"cache\"");
}

static bool has_option(const struct policy_volume *v, const char *option)
{
    for (size_t i = 0; i < v->options.count; i++)
        if (strcmp(v->options.items[i], option) == 0)
            return true;
    return false;
}

const char *decode_registry_problem(const struct policy_volume *v)
{
    const struct policy_stage *stage = &v->stage;

    if (!stage->cache.text)
        return "a source in a registry is fetched to a cache: say \"stage\": {\"cache\": "
               "DIRECTORY}";
    if (v->create.wanted)
        return "\"create\" cannot make a source in a registry";
    if (v->wait)
        return "a source in a registry has its \"wait\" in \"stage\"";
    if (has_option(v, "suid") || has_option(v, "dev"))
        return "what a registry has is mounted with nosuid and nodev";
    if (stage->bandwidth)
        return "\"bandwidth\" does not limit what comes from a registry: leave it out";
    if (stage->include.given)
        return "\"include\" is for directories: a source in a registry is always fetched";
    if (stage->ask & 1u << STAGE_OFF)
        return "a source in a registry cannot be used itself: \"ask\" cannot have \"off\"";
    return NULL;
}
