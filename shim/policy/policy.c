#include "shim/policy/policy.h"

#include "base/glob.h"
#include "base/path.h"

#include <ctype.h>
#include <string.h>

const char policy_default_path[] = "/etc/flatbed/policy.json";

const char *const policy_mode_names[POLICY_MODES] = {
    [POLICY_ENFORCE] = "enforce", [POLICY_PERMISSIVE] = "permissive", [POLICY_OFF] = "off"};

const char *const policy_opt_out_names[POLICY_OPT_OUTS] = {"mounts", "tuning"};
const char *const policy_stage_wishes[STAGE_WISHES] = {
    [STAGE_OFF] = "off", [STAGE_WAIT] = "wait", [STAGE_NOW] = "now"};

const char *const policy_tuning_names[TUNING_KINDS] = {
    [TUNING_SHM] = "shm_size",  [TUNING_MEMLOCK] = "memlock", [TUNING_WORKERS] = "workers",
    [TUNING_NOFILE] = "nofile", [TUNING_STACK] = "stack",
};

enum { MIB = 1024 * 1024 };

void policy_audit_defaults(struct policy_audit *audit)
{
    *audit = (struct policy_audit){.max_size = 64 * (uint64_t)MIB, .keep = 4};
}

struct policy *policy_new(struct err *err)
{
    struct policy *policy = calloc(1, sizeof(*policy));

    if (!policy) {
        err_nomem(err);
        return NULL;
    }
    policy->arena.limit = 64 * (size_t)MIB;
    /* Without the environment: an image can set it. */
    policy->carriers[0] = CARRIER_ANNOTATIONS;
    policy->carriers[1] = CARRIER_MOUNTS;
    policy->carrier_count = 2;
    policy_audit_defaults(&policy->audit);
    return policy;
}

void policy_free(struct policy *policy)
{
    for (size_t i = 0; i < policy->file_count; i++) {
        free(policy->files[i].path);
        if (policy->files[i].doc)
            json_free(policy->files[i].doc);
    }
    for (size_t i = 0; i < POLICY_PRESETS; i++)
        if (policy->presets[i])
            json_free(policy->presets[i]);
    arena_free(&policy->arena);
    free(policy);
}

const struct policy_volume *policy_volume_find(const struct policy *policy, const char *name,
                                               size_t len)
{
    for (size_t i = 0; i < policy->volume_count; i++) {
        const struct policy_volume *v = &policy->volumes[i];
        if (strlen(v->name) == len && memcmp(v->name, name, len) == 0)
            return v;
    }
    return NULL;
}

const struct policy_list *policy_offered_names(const struct policy_volume *volume)
{
    return volume->names.given ? &volume->names : &volume->presets;
}

const char *policy_denied_target(const struct policy_list *denied, const char *target, bool exactly)
{
    for (size_t i = 0; i < denied->count; i++) {
        const char *path = denied->items[i];
        if (strcmp(path, target) == 0)
            return path;
        if (!exactly && strcmp(path, "/") != 0 &&
            (path_is_beneath(target, path) || path_is_beneath(path, target)))
            return path;
    }
    return NULL;
}

bool policy_offers_name(const struct policy_volume *volume, const char *name)
{
    const struct policy_list *list = policy_offered_names(volume);

    for (size_t i = 0; i < list->count; i++)
        if (glob_matches_file(list->items[i], name))
            return true;
    return !list->given;
}

static bool is_repeated(const struct policy_list *list, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(list->items[i], list->items[j]) == 0)
            return true;
    return false;
}

void policy_list_print(const struct policy_list *list, struct buf *out)
{
    enum { MOST = 16 };
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++)
        if (!is_repeated(list, i) && count++ < MOST)
            buf_printf(out, "%s%s", count > 1 ? ", " : "", list->items[i]);
    if (count > MOST)
        buf_printf(out, " and %zu more", count - MOST);
    if (!count)
        buf_puts(out, "none");
}

char policy_variable_char(char c)
{
    return isalnum((unsigned char)c) ? (char)toupper((unsigned char)c) : '_';
}

void policy_place_print(const struct policy_place *place, struct buf *out)
{
    unsigned line, column;

    if (!place->file)
        return;
    json_position(place->file->doc, place->offset, &line, &column);
    buf_printf(out, "%s:%u", place->file->path, line);
}

uint64_t policy_least_free(const struct policy_free *room, uint64_t size)
{
    return room->percent ? size / 100 * room->percent : room->bytes;
}
