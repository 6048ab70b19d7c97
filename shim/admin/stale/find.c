#include "shim/admin/stale/find.h"

#include "shim/mount/mounts_of_all.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LIST_MEMORY = 48 * 1024 * 1024, TOP_ENTRIES = 1000, LINK_BYTES = 256 };

/* ---- the directories ---- */

static int64_t newest(int64_t so_far, const struct stat *st)
{
    if (st->st_mtim.tv_sec > so_far)
        so_far = st->st_mtim.tv_sec;
    return st->st_ctim.tv_sec > so_far ? st->st_ctim.tv_sec : so_far;
}

/* Returns when the directory, or one of its top entries, was last changed. */
static int64_t last_change(int fd)
{
    int copy = store_open(fd, ".", O_RDONLY | O_DIRECTORY, true);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *e;
    struct stat st;
    int64_t changed = fstat(fd, &st) == 0 ? newest(0, &st) : INT64_MAX;

    if (!dir) {
        cleanup_fd(&copy);
        return INT64_MAX;
    }
    for (int i = 0; i < TOP_ENTRIES && (e = readdir(dir)); i++)
        if (strcmp(e->d_name, "..") != 0 &&
            fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            changed = newest(changed, &st);
    closedir(dir);
    return changed;
}

/* Reads the short name of a layer. Returns NULL if it has none. */
static const char *short_name(int fd, struct arena *arena)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    if (store_read(fd, "link", LINK_BYTES, &text, &ignored) < 0 || !text.data || !*text.data ||
        strchr(text.data, '/') || text.data[0] == '.')
        return NULL;
    return arena_strndup(arena, text.data, strcspn(text.data, "\n"));
}

struct scan {
    const struct layer_store *store;
    struct stale_list *out;
};

static int add_directory(struct scan *s, int dir, const char *name, struct err *err)
{
    bool remains = stale_is_remains(s->store->engine, name);
    struct stat st;

    if ((!remains && !stale_is_layer(s->store->engine, name)) ||
        fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode))
        return 0;
    _cleanup_fd_ int fd = store_open(dir, name, O_RDONLY | O_DIRECTORY, true);
    if (fd < 0)
        return errno == ENOENT || errno == EXDEV ? 0 : err_sys(err, "%s", name);
    struct stale_item *item = stale_add(s->out);
    if (!item)
        return err_nomem(err);
    item->engine = s->store->engine;
    item->kind = remains ? STALE_REMAINS : STALE_LAYER;
    item->parent =
        arena_strndup(&s->out->arena, s->store->layers_path, strlen(s->store->layers_path));
    item->name = arena_strndup(&s->out->arena, name, strlen(name));
    item->link = short_name(fd, &s->out->arena);
    item->changed = last_change(fd);
    return item->parent && item->name ? 0 : err_nomem(err);
}

static int scan_layers(const struct layer_store *store, struct stale_list *out, struct err *err)
{
    struct scan scan = {store, out};
    int fd = store_open(store->layers, ".", O_RDONLY | O_DIRECTORY, true);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *e;
    int rc = 0;

    out->arena.limit = LIST_MEMORY;
    if (!dir) {
        err_sys(err, "%s", store->layers_path);
        cleanup_fd(&fd);
        return -1;
    }
    while (rc == 0 && (e = readdir(dir)))
        rc = add_directory(&scan, dirfd(dir), e->d_name, err);
    closedir(dir);
    return rc;
}

/* ---- mounts ---- */

/* A name of an item in a mount: its directory's, or its short one. */
struct mark {
    const char *name;
    bool *mounted;
};

struct marks {
    struct mark *list;
    size_t count;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct mark *)a)->name, ((const struct mark *)b)->name);
}

/* Marks what a path, or the options of an overlay, names in one of its components. */
static void mark_text(struct marks *marks, const char *text)
{
    char part[NAME_MAX + 1];

    while (text && *text) {
        size_t len = strcspn(text, "/:,=");
        if (len > 0 && len < sizeof(part)) {
            memcpy(part, text, len);
            part[len] = '\0';
            struct mark key = {.name = part};
            struct mark *found =
                bsearch(&key, marks->list, marks->count, sizeof(*marks->list), by_name);
            if (found)
                *found->mounted = true;
        }
        text += len + (text[len] != '\0');
    }
}

static void visit_table(void *context, const struct mount_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        mark_text(context, table->list[i].root);
        mark_text(context, table->list[i].point);
        mark_text(context, table->list[i].super);
    }
}

/* Sets mounted[i] for the items that a mount of any namespace names. */
static int find_mounted(const struct stale_list *list, size_t from, bool *mounted, struct err *err)
{
    _cleanup_free_ struct mark *all = calloc(list->count * 2 + 1, sizeof(*all));
    struct marks marks = {.list = all};

    if (!all)
        return err_nomem(err);
    for (size_t i = from; i < list->count; i++) {
        all[marks.count++] = (struct mark){list->list[i].name, &mounted[i]};
        if (list->list[i].link)
            all[marks.count++] = (struct mark){list->list[i].link, &mounted[i]};
    }
    qsort(all, marks.count, sizeof(*all), by_name);
    return mounts_of_all(visit_table, &marks, err);
}

/* ---- all of it ---- */

static int read_state(const struct layer_store *store, struct known *known, struct err *err)
{
    if ((store->engine == STALE_DOCKER ? docker_known(store->root, known, err)
                                       : storage_known(store->root, known, err)) < 0 ||
        lowers_known(store->layers, known, err) < 0)
        return -1;
    return known->failed ? err_nomem(err) : 0;
}

/* Adds to `cached` what BuildKit knows of those that Docker does not know. */
static int read_cache(const struct layer_store *store, const struct stale_list *list, size_t from,
                      struct known *known, struct known *cached, struct err *err)
{
    _cleanup_free_ const char **names = calloc(list->count + 1, sizeof(*names));
    size_t count = 0;

    if (store->engine != STALE_DOCKER)
        return 0;
    if (!names)
        return err_nomem(err);
    for (size_t i = from; i < list->count; i++)
        if (list->list[i].kind == STALE_LAYER && !known_has(known, list->list[i].name))
            names[count++] = list->list[i].name;
    if (buildkit_known(store->root, names, count, cached, err) < 0)
        return -1;
    return cached->failed ? err_nomem(err) : 0;
}

/* Keeps those that are stale. */
static void judge_all(const struct layer_store *store, struct stale_list *list, size_t from,
                      const bool *mounted, struct known *known, struct known *cached)
{
    size_t count = from;

    for (size_t i = from; i < list->count; i++) {
        struct stale_item item = list->list[i];
        bool layer = item.kind == STALE_LAYER;
        const struct stale_facts facts = {
            .known = layer && known_has(known, item.name),
            .cached = layer && known_has(cached, item.name),
            .mounted = mounted[i],
        };
        item.why = stale_judge(store->engine, &facts);
        if (item.why && !layer)
            item.why = "a removal by flatbed stale was interrupted";
        if (item.why)
            list->list[count++] = item;
    }
    list->count = count;
}

int stale_find(const struct layer_store *store, struct stale_list *out, struct err *err)
{
    _cleanup_known_ struct known known = {0}, cached = {0};
    size_t from = out->count;

    if (scan_layers(store, out, err) < 0)
        return -1;
    if (out->count == from)
        return 0; /* as in a store that was never used, which may have no state */
    if (store->stateless)
        return err_set(err, ERR_FORMAT, "the engine's state is not beside it");
    _cleanup_free_ bool *mounted = calloc(out->count + 1, sizeof(*mounted));
    if (!mounted)
        return err_nomem(err);
    if (read_state(store, &known, err) < 0 ||
        read_cache(store, out, from, &known, &cached, err) < 0 ||
        find_mounted(out, from, mounted, err) < 0)
        return -1;
    judge_all(store, out, from, mounted, &known, &cached);
    return 0;
}
