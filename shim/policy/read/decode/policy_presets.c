/* Presets of "security" and "binds": policies that are part of the program (presets/NAME.json). */
#include "shim/policy/read/decode/policy_decode.h"

#include <string.h>

extern const char preset_shared_lab[]; /* made by cmake/Embed.cmake */

static const char *const names[POLICY_PRESETS] = {"shared-lab"};

/* Parses a preset when it is first used. Returns its document, which the policy owns, or NULL. */
static struct json_doc *open_preset(struct decoder *d, int which)
{
    static const struct json_options options = {.comments = true, .unique_keys = true};
    static const char *const texts[POLICY_PRESETS] = {preset_shared_lab};
    struct json_doc **doc = &d->policy->presets[which];

    if (!*doc)
        *doc = json_parse(texts[which], strlen(texts[which]), &options, d->err);
    return *doc;
}

int decode_preset(struct decoder *d, const struct json *value, const char *section,
                  const struct decode_key *keys, size_t count, void *target)
{
    const struct json *name = json_get(value, "preset");
    int which;

    if (!name)
        return 0;
    if (decode_choice(d, name, names, POLICY_PRESETS, &which) < 0)
        return -1;
    struct json_doc *doc = open_preset(d, which);
    if (!doc)
        return -1;
    const struct policy_place place = decode_place(d, name);
    struct decoder inner = {.policy = d->policy, .file = d->file, .preset = &place, .err = d->err};
    return decode_object(&inner, json_get(json_root(doc), section), keys, count, target);
}

int decode_preset_name(struct decoder *d, const struct json *value, void *target)
{
    (void)d;
    (void)value;
    (void)target;
    return 0;
}
