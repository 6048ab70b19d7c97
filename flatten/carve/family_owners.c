#include "flatten/carve/family_owners.h"

#include <stdlib.h>
#include <string.h>

/* An owner of one of the lists. */
struct listed {
    const struct owner *owner;
    uint32_t *now; /* its index in the joined list */
};

static int compare_owners(const struct owner *a, const struct owner *b)
{
    return a->kind != b->kind ? (a->kind > b->kind) - (a->kind < b->kind)
                              : strcmp(a->name, b->name);
}

static int by_owner(const void *a, const void *b)
{
    return compare_owners(((const struct listed *)a)->owner, ((const struct listed *)b)->owner);
}

static bool same_version(const struct owner *a, const struct owner *b)
{
    return a->version && b->version && strcmp(a->version, b->version) == 0;
}

/* The owners that are always there come first: no other has no kind. */
static void join_sorted(const struct listed *list, size_t count, struct owners *out)
{
    for (size_t i = 0; i < count; i++) {
        struct owner *last = out->count ? &out->list[out->count - 1] : NULL;
        if (!last || compare_owners(last, list[i].owner) != 0) {
            out->list[out->count++] = *list[i].owner;
        } else {
            if (!same_version(last, list[i].owner))
                last->version = NULL;
            if (list[i].owner->tier < last->tier)
                last->tier = list[i].owner->tier;
        }
        *list[i].now = (uint32_t)out->count - 1;
    }
}

int family_owners_join(const struct owners *const *lists, size_t count, struct owners *out,
                       uint32_t **now, struct err *err)
{
    size_t total = 0, at = 0;

    for (size_t i = 0; i < count; i++)
        total += lists[i]->count;
    _cleanup_free_ struct listed *sorted = calloc(total + 1, sizeof(*sorted));
    *out = (struct owners){.list = calloc(total + 1, sizeof(*out->list)), .cap = total + 1};
    if (!sorted || !out->list)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        for (size_t owner = 0; owner < lists[i]->count; owner++)
            sorted[at++] = (struct listed){&lists[i]->list[owner], &now[i][owner]};
    qsort(sorted, total, sizeof(*sorted), by_owner);
    join_sorted(sorted, total, out);
    return 0;
}
