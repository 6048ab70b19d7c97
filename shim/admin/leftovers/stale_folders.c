#include "shim/admin/leftovers/stale_folders.h"

#include "base/buf.h"
#include "base/path.h"
#include "shim/admin/containers/containers.h"
#include "shim/admin/engine/engine_stores.h"
#include "shim/admin/leftovers/gc_sources.h"
#include "shim/policy/read/policy_read.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MEMORY_LIMIT = 32 * 1024 * 1024, CHUNK = 1024 * 1024, OVERLAP = 128 };

struct folder {
    const char *path; /* in the arena */
    const char *id;   /* or its beginning: the last part, without the day before it */
    bool known;
};

static const char *id_of(const char *path)
{
    const char *name = strrchr(path, '/') + 1, *day = strchr(name, '_');

    return day ? day + 1 : name;
}

/* ---- which containers are known ---- */

static void mark_listed(struct folder *folders, size_t count, const struct container_list *list)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < list->count && !folders[i].known; k++)
            folders[i].known = strncmp(list->list[k].id, folders[i].id, strlen(folders[i].id)) == 0;
}

/*
 * Marks the IDs that occur in containerd's database (bbolt, of which keys lie in one piece), which
 * also has the containers that do not run.
 */
static int mark_stored(struct folder *folders, size_t count, const char *path, struct err *err)
{
    _cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    _cleanup_free_ char *chunk = malloc(CHUNK + OVERLAP);
    size_t kept = 0;
    ssize_t got;

    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : err_sys(err, "%s", path);
    if (!chunk)
        return err_nomem(err);
    while ((got = read(fd, chunk + kept, CHUNK)) > 0) {
        size_t len = kept + (size_t)got;
        for (size_t i = 0; i < count; i++)
            folders[i].known = folders[i].known ||
                               memmem(chunk, len, folders[i].id, strlen(folders[i].id)) != NULL;
        kept = len < OVERLAP ? len : OVERLAP;
        memmove(chunk, chunk + len - kept, kept);
    }
    return got < 0 ? err_sys(err, "%s", path) : 0;
}

static int mark_known(struct folder *folders, size_t count, struct arena *arena, struct err *err)
{
    _cleanup_containers_ struct container_list list = {0};
    const struct containers_where where = {
        .engines = {
            [CONTAINER_DOCKER] = true, [CONTAINER_PODMAN] = true, [CONTAINER_CONTAINERD] = true}};
    const char *database = arena_printf(arena, "%s/io.containerd.metadata.v1.bolt/meta.db",
                                        engine_containerd_root(arena));

    if (!database)
        return err_nomem(err);
    if (containers_list(&where, &list, err) < 0)
        return -1;
    if (list.silent_count)
        return err_set(err, ERR_SYSTEM, "%s does not answer, so its containers are not known",
                       list.silent[0]);
    mark_listed(folders, count, &list);
    return mark_stored(folders, count, database, err);
}

/* ---- the folders ---- */

static int add_folder(const struct folder *folder, const struct stale_limits *limits,
                      struct stale_list *out, struct err *err)
{
    const char *name;
    _cleanup_free_ char *parent = path_parent(folder->path, &name);
    _cleanup_fd_ int dir =
        parent ? open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW) : -1;
    struct stat st;

    if (!parent)
        return err_nomem(err);
    if (dir < 0 || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode) ||
        limits->now - st.st_ctim.tv_sec < limits->older)
        return 0;
    struct stale_item *item = stale_add(out);
    if (!item)
        return err_nomem(err);
    item->engine = STALE_FLATBED;
    item->kind = STALE_FOLDER;
    item->parent = arena_strndup(&out->arena, parent, strlen(parent));
    item->name = arena_strndup(&out->arena, name, strlen(name));
    item->why = "a volume made it for a container that no engine lists";
    item->changed = st.st_ctim.tv_sec > st.st_mtim.tv_sec ? st.st_ctim.tv_sec : st.st_mtim.tv_sec;
    item->kept = limits->remove ? "users' data may be in it; remove it by hand" : NULL;
    if (!item->parent || !item->name)
        return err_nomem(err);
    stale_measure(dir, item);
    return 0;
}

static int list_sources(const char *path, const struct stale_limits *limits, struct arena *arena,
                        struct gc_sources *out, struct err *err)
{
    _cleanup_policy_ struct policy *policy = policy_new(err);

    return !policy || policy_open(policy, path, err) < 0 || policy_decode(policy, err) < 0
               ? -1
               : gc_sources(policy, true, (time_t)limits->now, arena, out, err);
}

int stale_folders(const char *policy, const struct stale_limits *limits, struct stale_list *out,
                  struct err *err)
{
    _cleanup_arena_ struct arena arena = {.limit = MEMORY_LIMIT};
    struct gc_sources sources = {0};
    struct err why = ERR_INIT;
    const char *place = policy ? policy : policy_default_path;

    if (list_sources(policy, limits, &arena, &sources, &why) < 0)
        return stale_problem(out, place, why.msg, err);
    if (sources.full_count == 0)
        return 0;
    _cleanup_free_ struct folder *folders = calloc(sources.full_count, sizeof(*folders));
    if (!folders)
        return err_nomem(err);
    for (size_t i = 0; i < sources.full_count; i++)
        folders[i] = (struct folder){sources.full[i], id_of(sources.full[i]), false};
    if (mark_known(folders, sources.full_count, &arena, &why) < 0)
        return stale_problem(out, place, why.msg, err);
    for (size_t i = 0; i < sources.full_count; i++)
        if (!folders[i].known && add_folder(&folders[i], limits, out, err) < 0)
            return -1;
    return 0;
}
