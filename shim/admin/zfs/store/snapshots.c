#include "shim/admin/zfs/store/snapshots.h"

#include "base/human.h"
#include "base/path.h"
#include "shim/admin/zfs/dataset.h"
#include "shim/admin/zfs/names.h"
#include "shim/admin/zfs/program.h"
#include "shim/admin/zfs/rows.h"

#include <string.h>
#include <sys/stat.h>

enum { STORES_MOST = 64 };

/* ---- stores ---- */

/* Returns the mount point of a directory: above it the device is another. NULL without memory. */
static char *mount_of(const char *path, struct arena *arena)
{
    char *mount = arena_strndup(arena, path, strlen(path));
    struct stat here, above;

    if (!mount || stat(mount, &here) < 0)
        return mount;
    for (;;) {
        const char *name;
        _cleanup_free_ char *parent = path_parent(mount, &name);
        if (!parent || stat(parent, &above) < 0 || above.st_dev != here.st_dev ||
            strcmp(parent, mount) == 0)
            return parent ? mount : NULL;
        mount[strlen(parent)] = '\0';
    }
}

int zfs_stores_add(struct zfs_stores *stores, const char *path, struct arena *arena,
                   struct err *err)
{
    struct zfs_store store = {0};

    if (zfs_dataset_of(path, arena, &store.dataset, err) < 0)
        return -1;
    _cleanup_free_ char *real = store.dataset ? realpath(path, NULL) : NULL;
    if (!real)
        return 0;
    for (size_t i = 0; i < stores->count; i++)
        if (strcmp(stores->list[i].path, real) == 0)
            return 0;
    struct zfs_store *list = arena_extend(arena, stores->list, stores->count, sizeof(*list));
    store.path = arena_strndup(arena, real, strlen(real));
    store.mount = mount_of(real, arena);
    if (!list || !store.path || !store.mount)
        return err_nomem(err);
    store.own = strcmp(store.path, store.mount) == 0;
    store.inside = store.own ? "." : store.path + strlen(store.mount);
    store.inside += strspn(store.inside, "/");
    list[stores->count++] = store;
    stores->list = list;
    return 0;
}

/* ---- lists ---- */

static int add_snapshot(struct zfs_snapshots *out, const struct zfs_rows *rows, const char *full,
                        struct arena *arena, struct err *err)
{
    const char *name = strchr(full, '@') + 1;

    if (zfs_snapshots_find(out, name))
        return 0;
    struct zfs_snapshot *list = arena_extend(arena, out->list, out->count, sizeof(*list));
    if (!list)
        return err_nomem(err);
    list[out->count++] = (struct zfs_snapshot){name, zfs_number(zfs_rows_value(rows, full, "used")),
                                               zfs_number(zfs_rows_value(rows, full, "referenced")),
                                               zfs_number(zfs_rows_value(rows, full, "creation"))};
    out->list = list;
    return 0;
}

static int by_age(const void *a, const void *b)
{
    const struct zfs_snapshot *one = a, *other = b;

    if (one->creation != other->creation)
        return one->creation < other->creation ? -1 : 1;
    return strcmp(one->name, other->name);
}

int zfs_snapshots_list(const char *dataset, struct arena *arena, struct zfs_snapshots *out,
                       struct err *err)
{
    const char *const words[] = {"zfs",
                                 "get",
                                 "-Hp",
                                 "-r",
                                 "-d",
                                 "1",
                                 "-o",
                                 "name,property,value",
                                 "used,referenced,creation",
                                 dataset,
                                 NULL};
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct zfs_rows rows;
    size_t len = strlen(dataset);

    *out = (struct zfs_snapshots){0};
    if (zfs_program(words, &text, err) < 0 ||
        zfs_rows_parse(text.data, text.len, arena, &rows, err) < 0)
        return -1;
    for (size_t i = 0; i < rows.count; i++)
        if (strncmp(rows.list[i].name, dataset, len) == 0 && rows.list[i].name[len] == '@' &&
            strcmp(rows.list[i].property, "creation") == 0 &&
            add_snapshot(out, &rows, rows.list[i].name, arena, err) < 0)
            return -1;
    if (out->count)
        qsort(out->list, out->count, sizeof(*out->list), by_age);
    return 0;
}

const struct zfs_snapshot *zfs_snapshots_find(const struct zfs_snapshots *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->list[i].name, name) == 0)
            return &list->list[i];
    return NULL;
}

bool zfs_written_since(const char *dataset, const char *snapshot, uint64_t *out)
{
    _cleanup_free_ char *property = strf("written@%s", snapshot);
    const char *const words[] = {"zfs", "get", "-Hp", "-o", "value", property, dataset, NULL};
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    if (!property || zfs_program(words, &text, &ignored) < 0 || text.len < 2)
        return false;
    text.data[strcspn(text.data, "\n")] = '\0';
    *out = zfs_number(text.data);
    return *out > 0 || strcmp(text.data, "0") == 0;
}

/* ---- taking ---- */

/* The datasets that one call takes. */
struct group {
    const char *pool;
    bool recursive;
    const char *words[STORES_MOST + 4];
    size_t count;
};

static bool same_pool(const char *dataset, const char *pool)
{
    size_t len = strcspn(pool, "/");

    return strcspn(dataset, "/") == len && strncmp(dataset, pool, len) == 0;
}

/* Returns true if the dataset is in the group already, or below one of it that is recursive. */
static bool is_covered(const struct zfs_stores *stores, const struct zfs_store *store)
{
    for (const struct zfs_store *other = stores->list; other < stores->list + stores->count;
         other++) {
        bool same = strcmp(other->dataset, store->dataset) == 0;
        if (other != store && other->own && !same &&
            path_is_beneath(store->dataset, other->dataset))
            return true;
        if (other < store && same && other->own == store->own)
            return true;
    }
    return false;
}

static int refuse_existing(const char *dataset, const char *name, struct arena *arena,
                           struct err *err)
{
    struct zfs_snapshots list;

    if (zfs_snapshots_list(dataset, arena, &list, err) < 0)
        return -1;
    return zfs_snapshots_find(&list, name)
               ? err_set(err, ERR_USAGE, "%s@%s exists: choose another name", dataset, name)
               : 0;
}

/* Collects the words of the call for the stores like the one given. */
static int collect(const struct zfs_stores *stores, const struct zfs_store *like, const char *name,
                   struct arena *arena, struct group *out, struct err *err)
{
    *out = (struct group){.words = {"zfs", "snapshot"}, .count = 2};
    if (like->own)
        out->words[out->count++] = "-r";
    for (size_t i = 0; i < stores->count; i++) {
        const struct zfs_store *store = &stores->list[i];
        if (store->own != like->own || !same_pool(store->dataset, like->dataset) ||
            is_covered(stores, store))
            continue;
        if (out->count > STORES_MOST)
            return err_set(err, ERR_LIMIT, "more than %d stores", STORES_MOST);
        out->words[out->count] = arena_printf(arena, "%s@%s", store->dataset, name);
        if (!out->words[out->count++])
            return err_nomem(err);
        if (refuse_existing(store->dataset, name, arena, err) < 0)
            return -1;
    }
    return 0;
}

static void say(const struct group *group, struct buf *said)
{
    for (size_t i = 0; i < group->count; i++) {
        buf_puts(said, i ? " " : "");
        human_put_word(said, group->words[i]);
    }
    buf_putc(said, '\n');
}

/* Returns true if a store before this one has the same group. */
static bool is_done(const struct zfs_stores *stores, size_t at)
{
    const struct zfs_store *store = &stores->list[at];

    for (size_t i = 0; i < at; i++)
        if (stores->list[i].own == store->own && same_pool(stores->list[i].dataset, store->dataset))
            return true;
    return false;
}

static int take(const struct zfs_stores *stores, const char *name, bool run, struct arena *arena,
                struct buf *said, struct err *err)
{
    for (size_t i = 0; i < stores->count; i++) {
        struct group group;
        if (is_done(stores, i))
            continue;
        if (collect(stores, &stores->list[i], name, arena, &group, err) < 0)
            return -1;
        if (!group.words[2] || !strchr(group.words[group.count - 1], '@'))
            continue; /* all of it is beneath other stores */
        if (!run)
            say(&group, said);
        else if (zfs_program(group.words, NULL, err) < 0)
            return -1;
    }
    return 0;
}

int zfs_snapshots_take(const struct zfs_stores *stores, const char *name, bool dry,
                       struct arena *arena, struct buf *said, struct err *err)
{
    if (!zfs_snapshot_valid(name))
        return err_set(err, ERR_USAGE,
                       "'%s' is no name of a snapshot: letters, digits and _ . : -, at most 100, "
                       "not beginning with - or .",
                       name);
    if (take(stores, name, false, arena, said, err) < 0)
        return -1;
    return dry ? 0 : take(stores, name, true, arena, said, err);
}
