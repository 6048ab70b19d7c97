#include "shim/plan/mount_restriction.h"

#include "shim/oci/spec.h"

#include <string.h>

static const struct mount_restriction restrictions[] = {
    {"ro", "rw", "rrw"},      {"bind", "rbind", NULL},     {"nosuid", "suid", "rsuid"},
    {"nodev", "dev", "rdev"}, {"noexec", "exec", "rexec"},
};

const struct mount_propagation mount_propagations[MOUNT_PROPAGATIONS] = {
    {"rprivate", "private"},
    {"rslave", "slave"},
    {"rshared", "shared"},
    {"runbindable", "unbindable"},
};

const struct mount_restriction *mount_restriction_find(const char *option)
{
    for (size_t i = 0; i < sizeof(restrictions) / sizeof(*restrictions); i++)
        if (strcmp(restrictions[i].option, option) == 0)
            return &restrictions[i];
    return NULL;
}

bool mount_restriction_holds(const struct mount_restriction *r, const struct json *options)
{
    return spec_has_option(options, r->option) && !spec_has_option(options, r->opposite) &&
           !(r->recursive_opposite && spec_has_option(options, r->recursive_opposite));
}

bool mount_is_recursive(const struct json *options)
{
    if (spec_has_option(options, "rbind"))
        return true;
    for (size_t i = 0; i < MOUNT_PROPAGATIONS; i++)
        if (spec_has_option(options, mount_propagations[i].recursive))
            return true;
    return false;
}

bool mount_is_writable(const struct json *options)
{
    bool rw = true;

    if (spec_has_option(options, "rrw"))
        return true;
    for (size_t i = 0; i < json_count(options); i++) {
        const char *text = json_text(json_at(options, i));
        if (text && (strcmp(text, "ro") == 0 || strcmp(text, "rw") == 0))
            rw = text[1] == 'w';
    }
    return rw;
}

bool mount_is_private(const struct json *options)
{
    bool recursive =
        spec_has_option(options, "rprivate") || spec_has_option(options, "runbindable");
    bool alone = spec_has_option(options, "private") || spec_has_option(options, "unbindable");

    if (spec_has_option(options, "slave") || spec_has_option(options, "rslave"))
        return false;
    return recursive || (alone && !spec_has_option(options, "rbind"));
}
