#include "shim/gather/security/security_devices.h"

#include "base/glob.h"
#include "shim/oci/device.h"
#include "shim/privilege/capability.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* crun reads the first letter only; runc refuses a longer word. */
static bool rule_is_for(const struct json *rule, char kind)
{
    const char *type = json_text(json_get(rule, "type"));

    return (type && *type ? *type : 'a') == kind;
}

static bool rule_has_any_number(const struct json *rule)
{
    return device_part(rule, "major") < 0 && device_part(rule, "minor") < 0;
}

bool security_rule_for_all(const struct json *rule)
{
    if (rule_is_for(rule, 'a'))
        return device_rule_allows(rule) || rule_has_any_number(rule);
    return rule_is_for(rule, 'b') && rule_has_any_number(rule);
}

bool security_rule_is_console(const struct json *rule)
{
    return device_rule_allows(rule) && rule_is_for(rule, 'c') && device_part(rule, "major") == 5 &&
           device_part(rule, "minor") == 1;
}

bool security_all_devices(const struct spec *spec)
{
    const struct json *rules = device_rules(spec);
    bool disks = true, others = true;

    for (size_t i = 0; i < json_count(rules); i++) {
        const struct json *rule = json_at(rules, i);
        if (!security_rule_for_all(rule) || !device_rule_counts(rule))
            continue;
        disks = device_rule_allows(rule);
        if (rule_is_for(rule, 'a'))
            others = device_rule_allows(rule);
    }
    return disks || others;
}

bool security_is_privileged(const struct spec *spec)
{
    return (capability_list(spec->process, "bounding") & capability_bit("SYS_ADMIN")) &&
           security_all_devices(spec);
}

/* ---- the host's ---- */

static int add_device(const struct stat *st, struct arena *arena, struct device_numbers *out,
                      struct err *err)
{
    if (!S_ISCHR(st->st_mode) && !S_ISBLK(st->st_mode))
        return 0;
    out->list = arena_extend(arena, out->list, out->count, sizeof(*out->list));
    if (!out->list)
        return err_nomem(err);
    out->list[out->count++] = (struct device_number){
        .block = S_ISBLK(st->st_mode), .major = major(st->st_rdev), .minor = minor(st->st_rdev)};
    return 0;
}

static int find_devices_in(DIR *dir, const char *pattern, struct arena *arena,
                           struct device_numbers *out, struct err *err)
{
    const struct dirent *entry;
    struct stat st;

    while ((entry = readdir(dir)) != NULL)
        if (glob_matches_file(pattern, entry->d_name) &&
            fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 && add_device(&st, arena, out, err) < 0)
            return -1;
    return 0;
}

int security_find_devices(const struct policy_list *globs, struct arena *arena,
                          struct device_numbers *out, struct err *err)
{
    for (size_t i = 0; i < globs->count; i++) {
        const char *slash = strrchr(globs->items[i], '/');
        _cleanup_free_ char *directory = strndup(
            globs->items[i], slash == globs->items[i] ? 1 : (size_t)(slash - globs->items[i]));
        DIR *dir = directory ? opendir(directory) : NULL;
        if (!directory)
            return err_nomem(err);
        if (!dir) /* the host has no such devices */
            continue;
        int rc = find_devices_in(dir, slash + 1, arena, out, err);
        closedir(dir);
        if (rc < 0)
            return -1;
    }
    return 0;
}
