#include "shim/admin/zfs/advice.h"

#include "base/human.h"

#include <string.h>

static int add_problem(struct zfs_advices *out, const char *path, const struct err *why,
                       struct arena *arena, struct err *err)
{
    struct zfs_problem *list =
        arena_extend(arena, out->problems, out->problem_count, sizeof(*list));
    const char *text = arena_strndup(arena, why->msg, strlen(why->msg));

    if (!list || !text)
        return err_nomem(err);
    list[out->problem_count++] = (struct zfs_problem){path, text};
    out->problems = list;
    return 0;
}

static char *set_command(const struct zfs_judgement *of, const char *dataset, struct arena *arena)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    buf_printf(&text, "zfs set %s=%s ", of->property, of->should);
    human_put_word(&text, dataset);
    return text.failed ? NULL : arena_strndup(arena, text.data, text.len);
}

static int add(const struct zfs_dataset *dataset, const struct zfs_place *place,
               struct zfs_advices *out, struct arena *arena, struct err *err)
{
    struct zfs_judgement judged[ZFS_RULES] = {0};
    int count = zfs_judge(dataset, place->use, arena, judged);

    if (count < 0)
        return err_nomem(err);
    for (int i = 0; i < count; i++) {
        struct zfs_advice *list = arena_extend(arena, out->list, out->count, sizeof(*list));
        char *set = set_command(&judged[i], dataset->name, arena);
        if (!list || !set)
            return err_nomem(err);
        list[out->count++] =
            (struct zfs_advice){dataset->name, place->path, place->use, judged[i], set};
        out->list = list;
    }
    return 0;
}

static bool is_known(const struct zfs_advices *out, const char *dataset, enum zfs_use use)
{
    for (size_t i = 0; i < out->count; i++)
        if (out->list[i].use == use && strcmp(out->list[i].dataset, dataset) == 0)
            return true;
    return false;
}

int zfs_advise(const struct zfs_places *places, struct arena *arena, struct zfs_advices *out,
               struct err *err)
{
    *out = (struct zfs_advices){0};
    for (size_t i = 0; i < places->count; i++) {
        const struct zfs_place *place = &places->list[i];
        struct zfs_dataset dataset = {0};
        struct err why = ERR_INIT;
        const char *name;
        int rc = zfs_dataset_of(place->path, arena, &name, &why);
        if (rc == 0 && (!name || is_known(out, name, place->use)))
            continue;
        if (rc == 0)
            rc = zfs_dataset_read(name, arena, &dataset, &why);
        rc = rc < 0 ? add_problem(out, place->path, &why, arena, err)
                    : add(&dataset, place, out, arena, err);
        if (rc < 0)
            return -1;
    }
    return 0;
}
