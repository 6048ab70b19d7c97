#include "shim/plan/mount_restriction.h"

#include "shim/oci/spec.h"

#include <string.h>

static const struct mount_restriction restrictions[] = {
    {"ro", "rw", "rrw"},      {"bind", "rbind", NULL},     {"nosuid", "suid", "rsuid"},
    {"nodev", "dev", "rdev"}, {"noexec", "exec", "rexec"},
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
