#include "shim/admin/copyups/advice.h"

#include "shim/admin/copyups/habits.h"
#include "shim/policy/preset.h"

#include <limits.h>
#include <string.h>

/* ---- volumes of the policy ---- */

/* Returns true if one component of a target, perhaps with variables, can be that of a path. */
static bool component_fits(const char *target, size_t target_len, const char *path, size_t path_len)
{
    size_t before = 0, after = 0;

    while (before < target_len && target[before] != '{')
        before++;
    if (before == target_len)
        return target_len == path_len && memcmp(target, path, path_len) == 0;
    while (after < target_len && target[target_len - 1 - after] != '}')
        after++;
    return path_len >= before + after && memcmp(target, path, before) == 0 &&
           memcmp(target + target_len - after, path + path_len - after, after) == 0;
}

/* Returns true if a volume at the target would hold the path. */
static bool target_holds(const char *target, const char *path)
{
    while (*target == '/' && *path == '/') {
        size_t wanted = strcspn(++target, "/"), has = strcspn(++path, "/");
        if (!component_fits(target, wanted, path, has))
            return false;
        target += wanted;
        path += has;
        if (!*target)
            return true;
    }
    return false;
}

static bool has_preset(const struct policy_volume *v, const char *preset)
{
    for (size_t i = 0; preset && i < v->presets.count; i++)
        if (strcmp(v->presets.items[i], preset) == 0)
            return true;
    return false;
}

/* Returns the volume that takes such files: by its target, by a preset, or by the class's name. */
static const struct policy_volume *find_volume(const struct policy *policy, const char *path,
                                               const struct habit *habit)
{
    for (size_t i = 0; i < policy->volume_count; i++)
        if (policy->volumes[i].target.text && policy->volumes[i].access == ACCESS_RW &&
            target_holds(policy->volumes[i].target.text, path))
            return &policy->volumes[i];
    for (size_t i = 0; habit && i < policy->volume_count; i++)
        if (has_preset(&policy->volumes[i], habit->preset))
            return &policy->volumes[i];
    for (size_t i = 0; habit && habit->class && !habit->preset && i < policy->volume_count; i++)
        if (strcmp(policy->volumes[i].name, habit->class) == 0)
            return &policy->volumes[i];
    return NULL;
}

/* The same in the profiles. Sets *profile to the first one that has such a volume. */
static const struct policy_volume *find_in_profiles(const struct policy *policy, const char *path,
                                                    const struct habit *habit, const char **profile)
{
    for (size_t i = 0; i < policy->profile_count; i++) {
        const struct policy_profile *p = &policy->profiles[i];
        const struct policy_volume *found = find_volume(p->policy, path, habit);
        if (found) {
            *profile = p->name;
            return found;
        }
    }
    return NULL;
}

static const char *advise_volume(const struct policy_volume *v, const char *path,
                                 const struct habit *habit, struct arena *arena)
{
    const char *target = v->target.text ? v->target.text : "";

    if (target_holds(target, path) && (v->always || !v->source.text))
        return arena_printf(arena,
                            "the policy's volume \"%s\" is mounted there: the container was not "
                            "started by flatbed-runtime, or declined it",
                            v->name);
    if (habit && has_preset(v, habit->preset))
        return arena_printf(arena,
                            "ask for the policy's volume: flatbed.%s=%s, an annotation or with "
                            "Docker before 24 -v /dev/null:/run/flatbed/request/%s/%s, sets %s",
                            v->name, habit->preset, v->name, habit->preset,
                            preset_variable(habit->preset));
    if (v->access != ACCESS_RW)
        return arena_printf(arena,
                            "the policy's volume \"%s\" has them: flatbed.%s=NAME mounts it "
                            "at %s",
                            v->name, v->name, target);
    return arena_printf(arena, "write to the policy's volume \"%s\" instead, at %s%s%s%s", v->name,
                        target, v->always ? "" : ": flatbed.", v->always ? "" : v->name,
                        v->always ? "" : "=NAME");
}

/* ---- additions to the policy ---- */

/* Returns true for a path that needs no quotes in JSON, in a template and in a shell. */
static bool is_plain(const char *path)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";

    return strlen(path) < NAME_MAX && !path[strspn(path, plain)];
}

static int advise_habit(const struct habit *habit, struct arena *arena, struct advice *out,
                        struct err *err)
{
    out->class = habit->class;
    out->preset = habit->preset;
    if (habit->kind == HABIT_TEMPORARY)
        out->say = "use a memory file system: --tmpfs /tmp";
    else if (habit->kind == HABIT_INSTALL)
        out->say = "install it in the image, by its Dockerfile";
    else if (habit->preset)
        out->say = arena_printf(arena, "a volume that %s names would take it",
                                preset_variable(habit->preset));
    else
        out->say = arena_printf(arena, "a volume at %s would take it", out->root);
    return out->say ? 0 : err_nomem(err);
}

/* Returns true if a preset of the list is for programs by name: they also use ~/.cache. */
static bool has_named_cache(const struct advice *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].preset && strcmp(list[i].preset, "xdg") != 0)
            return true;
    return false;
}

/* Returns true if an item before this one has the same class, or preset. */
static bool is_said(const struct advice *list, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (list[index].preset ? list[i].preset && strcmp(list[i].preset, list[index].preset) == 0
                               : list[i].class && strcmp(list[i].class, list[index].class) == 0)
            return true;
    return false;
}

static void put_caches(const struct advice *list, size_t count, const char *margin, struct buf *out)
{
    _cleanup_buf_ struct buf presets = BUF_INIT;
    bool named = has_named_cache(list, count);

    for (size_t i = 0; i < count; i++)
        if (list[i].preset && !is_said(list, i) && !(named && strcmp(list[i].preset, "xdg") == 0))
            buf_printf(&presets, "%s\"%s\"", presets.len ? ", " : "", list[i].preset);
    if (presets.len)
        buf_printf(out,
                   "%s\"cache\": { \"source\": \"/srv/cache/{user}/{name}\", \"target\": "
                   "\"/var/cache/flatbed/{name}\", \"access\": \"rw\", \"always\": [%s], "
                   "\"presets\": [%s], \"create\": { \"mode\": \"0700\" } }",
                   margin, presets.data, presets.data);
    out->failed = out->failed || presets.failed;
}

void advice_snippet(const struct advice *list, size_t count, const char *margin, struct buf *out)
{
    size_t before = out->len;

    put_caches(list, count, margin, out);
    for (size_t i = 0; i < count; i++) {
        const struct advice *a = &list[i];
        if (!a->class || a->preset || is_said(list, i))
            continue;
        bool plain = is_plain(a->root);
        buf_printf(out,
                   "%s%s\"%s\": { \"source\": \"/srv/%s/{user}/{container}\", \"target\": "
                   "\"%s%s\", \"access\": \"rw\", \"always\": true, "
                   "\"create\": { \"mode\": \"0750\" } }",
                   out->len > before ? ",\n" : "", margin, a->class, a->class,
                   plain ? "" : "/workspace/", plain ? a->root : a->class);
    }
    if (out->len > before)
        buf_putc(out, '\n');
}

int advice_on(const struct tally_directory *directory, const struct policy *policy,
              struct arena *arena, struct advice *out, struct err *err)
{
    size_t len = strlen(directory->path);
    const struct habit *habit = habit_of(directory->path, &len);
    const char *profile = NULL;
    const struct policy_volume *volume =
        policy ? find_volume(policy, directory->path, habit) : NULL;
    bool inside = directory->hidden > directory->sum.disk / 2;

    *out = (struct advice){.what = habit ? habit->what : NULL};
    out->root = arena_strndup(arena, directory->path, len);
    if (!out->root)
        return err_nomem(err);
    if (inside) {
        out->say = "files of the image change here: change them in its Dockerfile, in the layer "
                   "that makes them";
        return 0;
    }
    if (policy && !volume)
        volume = find_in_profiles(policy, directory->path, habit, &profile);
    if (volume) {
        out->volume = volume->name;
        out->say = advise_volume(volume, directory->path, habit, arena);
        if (profile && out->say)
            out->say = arena_printf(arena, "%s (only in profile \"%s\")", out->say, profile);
        return out->say ? 0 : err_nomem(err);
    }
    return habit ? advise_habit(habit, arena, out, err) : 0;
}
