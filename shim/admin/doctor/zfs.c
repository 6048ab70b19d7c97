/* Properties of ZFS beneath the stores and the volumes' sources; rules.h of shim/admin/zfs has the
 * rules. */
#include "shim/admin/doctor/doctor.h"

#include "shim/admin/doctor/store/store.h"
#include "shim/admin/zfs/advice.h"
#include "shim/admin/zfs/places.h"
#include "shim/admin/zfs/rules.h"

#include <string.h>

static const char *const ids[] = {"zfs-atime",     "zfs-compression", "zfs-dedup",
                                  "zfs-dnodesize", "zfs-recordsize",  "zfs-xattr"};
static const char unread[] = "zfs-unread";

static const char *id_of(const char *property)
{
    for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
        if (strcmp(ids[i] + strlen("zfs-"), property) == 0)
            return ids[i];
    return unread;
}

static bool wanted(const struct diagnoses *d)
{
    for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
        if (diagnoses_want(d, ids[i]))
            return true;
    return diagnoses_want(d, unread);
}

static void tell(const struct zfs_advice *advice, struct diagnoses *out)
{
    static const enum diagnosis_level levels[] = {[ZFS_RIGHT] = DIAGNOSIS_OK,
                                                  [ZFS_WORTH] = DIAGNOSIS_ADVICE,
                                                  [ZFS_COSTLY] = DIAGNOSIS_WARNING,
                                                  [ZFS_BROKEN] = DIAGNOSIS_ERROR};
    const struct zfs_judgement *of = &advice->of;
    struct diagnosis *added = diagnoses_add(
        out, levels[of->weight], id_of(of->property), advice->path, "%s of dataset %s is %s (%s)",
        of->property, advice->dataset, of->is, zfs_use_names[advice->use]);

    if (of->weight == ZFS_RIGHT)
        return;
    diagnosis_cost(out, added, "%s", of->why);
    diagnosis_mend(out, added, "%s; for what is written from then on", advice->set);
}

static void forget_hanging(struct zfs_places *places, const struct diagnoses *d)
{
    size_t kept = 0;

    for (size_t i = 0; i < places->count; i++)
        if (!store_hangs(places->list[i].path, d))
            places->list[kept++] = places->list[i];
    places->count = kept;
}

static int list_places(const struct policy *policy, const char *const *more, size_t more_count,
                       struct arena *arena, struct zfs_places *places)
{
    struct err ignored;

    for (size_t i = 0; i < more_count; i++)
        if (more[i][0] == '/' && zfs_places_add(places, more[i], ZFS_IMAGES, arena, &ignored) < 0)
            return -1;
    return zfs_places_stores(places, arena, &ignored) < 0 ||
                   (policy && zfs_places_volumes(places, policy, arena, &ignored) < 0)
               ? -1
               : 0;
}

void doctor_zfs(const struct policy *policy, const char *const *more, size_t more_count,
                struct diagnoses *out)
{
    _cleanup_arena_ struct arena arena = {0};
    struct zfs_places places = {0};
    struct zfs_advices advices;
    struct err ignored;

    if (!wanted(out))
        return;
    int rc = list_places(policy, more, more_count, &arena, &places);
    forget_hanging(&places, out);
    if (rc < 0 || zfs_advise(&places, &arena, &advices, &ignored) < 0) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < advices.count; i++)
        tell(&advices.list[i], out);
    for (size_t i = 0; i < advices.problem_count; i++)
        diagnoses_add(out, DIAGNOSIS_WARNING, unread, advices.problems[i].path, "%s",
                      advices.problems[i].why);
}
