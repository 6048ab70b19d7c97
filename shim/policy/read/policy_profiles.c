/*
 * The "profiles" section: each profile is a policy of its own, made of the top level and overrides.
 */
#include "shim/policy/read/policy_order.h"
#include "shim/policy/read/sections/policy_sections.h"
#include "shim/policy/template.h"

#include <string.h>

/* ---- match ---- */

static int read_globs(struct decoder *d, const struct json *value, struct policy_list *out)
{
    if (decode_list(d, value, out) < 0)
        return -1;
    return out->count ? 0 : decode_fail(d, value, "an empty list matches nothing");
}

static int read_image(struct decoder *d, const struct json *value, void *target)
{
    struct policy_match *match = target;

    return read_globs(d, value, &match->image);
}

static int read_namespace(struct decoder *d, const struct json *value, void *target)
{
    struct policy_match *match = target;

    return read_globs(d, value, &match->namespaces);
}

static const char *parse_uid(const char *text, uid_t *out)
{
    char *end;

    if (*text < '0' || *text > '9')
        return NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno || number >= UINT32_MAX) /* UINT32_MAX means "no user" */
        return NULL;
    *out = (uid_t)number;
    return end;
}

/* Reads "1000" or "1000-59999". */
static bool parse_range(const char *text, struct policy_uid_range *out)
{
    const char *rest = parse_uid(text, &out->first);

    out->last = out->first;
    if (rest && *rest == '-')
        rest = parse_uid(rest + 1, &out->last);
    return rest && !*rest && out->first <= out->last;
}

static int read_uid(struct decoder *d, const struct json *value, void *target)
{
    struct policy_match *match = target;
    struct policy_list list = {0};

    if (read_globs(d, value, &list) < 0)
        return -1;
    match->uid_count = list.count;
    match->uids = arena_alloc(&d->policy->arena, list.count * sizeof(*match->uids));
    if (!match->uids)
        return err_nomem(d->err);
    for (size_t i = 0; i < list.count; i++)
        if (!parse_range(list.items[i], &match->uids[i]))
            return decode_fail(d, value->items[i],
                               "'%s': expected a uid or a range such as \"1000-59999\"",
                               list.items[i]);
    return 0;
}

/* Reads one glob, or a list of them. */
static int read_values(struct decoder *d, const struct json *value, struct policy_list *out)
{
    struct policy_text text = {0};

    if (value->type == JSON_ARRAY)
        return read_globs(d, value, out);
    const char **items = arena_alloc(&d->policy->arena, sizeof(*items));
    if (!items)
        return err_nomem(d->err);
    if (decode_text(d, value, &text) < 0)
        return -1;
    items[0] = text.text;
    *out = (struct policy_list){.items = items, .count = 1, .given = true, .place = text.place};
    return 0;
}

static int read_annotation(struct decoder *d, const struct json *value, void *target)
{
    struct policy_match *match = target;

    if (decode_type(d, value, JSON_OBJECT) < 0)
        return -1;
    if (!value->len)
        return decode_fail(d, value, "no annotation is named");
    match->annotations = arena_alloc(&d->policy->arena, value->len * sizeof(*match->annotations));
    if (!match->annotations)
        return err_nomem(d->err);
    for (size_t i = 0; i < value->len; i++) {
        const struct json_member *m = &value->members[i];
        struct policy_annotation *a = &match->annotations[match->annotation_count++];
        if (!m->key_len || strlen(m->key) != m->key_len)
            return decode_fail_at(d, m->key_start, "\"%s\" cannot be an annotation", m->key);
        a->key = m->key;
        if (read_values(d, m->value, &a->values) < 0)
            return -1;
    }
    return 0;
}

static int read_match(struct decoder *d, const struct json *value, void *target)
{
    static const struct decode_key keys[] = {{"image", read_image},
                                             {"uid", read_uid},
                                             {"namespace", read_namespace},
                                             {"annotation", read_annotation}};

    return decode_object(d, value, keys, sizeof(keys) / sizeof(*keys), target);
}

/* ---- one profile ---- */

static int read_name(struct decoder *d, const struct json *value, const struct policy *base,
                     struct policy_profile *profile)
{
    struct policy_text text = {0};

    if (decode_text(d, value, &text) < 0)
        return -1;
    if (!template_name_valid(text.text, strlen(text.text)))
        return decode_fail(d, value, "'%s' cannot be the name of a profile", text.text);
    for (size_t i = 0; i < base->profile_count; i++)
        if (base->profiles[i].name && strcmp(base->profiles[i].name, text.text) == 0)
            return decode_fail(d, value, "there is a profile '%s' already", text.text);
    profile->name = text.text;
    return 0;
}

/*
 * Returns true for a key that is used before the profile is known, or that would make no sense in
 * one.
 */
static bool top_level_only(const struct json_member *m)
{
    static const char *const keys[] = {"version", "runtime", "requests", "identity", "profiles"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (json_member_is(m, keys[i]))
            return true;
    return false;
}

/* Reads the members of a profile. `d` reads into the profile's policy, which is part of `base`. */
static int read_members(struct decoder *d, const struct json *value, const struct policy *base,
                        struct policy_profile *profile)
{
    for (size_t i = 0; i < value->len; i++) {
        const struct json_member *m = &value->members[i];
        int rc;
        if (json_member_is(m, "name"))
            rc = read_name(d, m->value, base, profile);
        else if (json_member_is(m, "match"))
            rc = read_match(d, m->value, &profile->match);
        else if (top_level_only(m))
            rc = decode_fail_at(d, m->key_start,
                                "\"%s\" cannot be in a profile: it holds for all containers",
                                m->key);
        else
            rc = decode_override(d, m);
        if (rc < 0)
            return -1;
    }
    if (!profile->name || !json_get(value, "match"))
        return decode_fail(d, value, "there is no \"%s\"", profile->name ? "match" : "name");
    return 0;
}

static int read_profile(struct decoder *d, const struct json *value, struct policy_profile *profile)
{
    struct policy *base = d->policy, *own = arena_alloc(&base->arena, sizeof(*own));
    struct decoder inner = {.policy = own, .file = d->file, .err = d->err};

    if (!own)
        return err_nomem(d->err);
    if (decode_type(d, value, JSON_OBJECT) < 0)
        return -1;
    *profile = (struct policy_profile){.place = decode_place(d, value), .policy = own};
    *own = *base; /* decoders replace what they change and never write into shared lists */
    int rc = read_members(&inner, value, base, profile);
    if (rc == 0)
        rc = decode_check(own, d->err);
    base->arena = own->arena; /* one arena, lent to the profile meanwhile */
    own->arena = (struct arena){0};
    memcpy(base->presets, own->presets, sizeof(base->presets)); /* those that it opened */
    return rc;
}

int decode_profiles(struct decoder *d, const struct json *value, void *target)
{
    struct policy *policy = target;

    if (decode_type(d, value, JSON_ARRAY) < 0)
        return -1;
    if (value->len > POLICY_PROFILES)
        return decode_fail(d, value, "more than %d profiles", POLICY_PROFILES);
    policy->profile_count = 0;
    policy->profiles = arena_alloc(&policy->arena, (value->len + 1) * sizeof(*policy->profiles));
    if (!policy->profiles)
        return err_nomem(d->err);
    for (size_t i = 0; i < value->len; i++) {
        if (read_profile(d, value->items[i], &policy->profiles[i]) < 0)
            return -1;
        policy->profile_count++;
    }
    for (size_t i = 0; i < value->len; i++) {
        policy->profiles[i].policy->profiles = policy->profiles;
        policy->profiles[i].policy->profile_count = policy->profile_count;
    }
    return 0;
}
