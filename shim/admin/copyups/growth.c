#include "shim/admin/copyups/growth.h"

#include <string.h>

/* Returns the blocks that were below the directory before; 0 if it was none of the largest. */
static uint64_t before_of(const struct tally *before, const char *path)
{
    for (size_t i = 0; i < before->largest_count; i++)
        if (strcmp(before->largest[i].path, path) == 0)
            return before->largest[i].sum.disk;
    return 0;
}

const struct tally_directory *growth_find(const struct tally *before, const struct tally *now,
                                          uint64_t *by)
{
    const struct tally_directory *found = NULL;

    *by = 0;
    for (size_t i = 0; i < now->largest_count; i++) {
        const struct tally_directory *d = &now->largest[i];
        uint64_t old = before_of(before, d->path);
        uint64_t more = d->sum.disk > old ? d->sum.disk - old : 0;
        if (more == 0 || more < *by)
            continue;
        if (more > *by || strlen(d->path) > strlen(found->path)) {
            *by = more;
            found = d;
        }
    }
    return found;
}
