#include "shim/admin/leftovers/restack_list.h"

#include "base/fdio.h"
#include "base/hex.h"
#include "shim/mount/mounts_of_all.h"

#include <dirent.h>
#include <fts.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

enum { RECORD_BYTES = 4 * 1024 * 1024, STATE_BYTES = 64 * 1024 };

/* ---- one tree ---- */

static uint64_t tree_size(const struct restack_cache *cache, const char *key)
{
    _cleanup_free_ char *path = strf("%s/%s", cache->path, key);
    char *const paths[] = {path, NULL};
    FTS *tree = path ? fts_open(paths, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL) : NULL;
    const FTSENT *e;
    uint64_t bytes = 0;

    while (tree && (e = fts_read(tree))) {
        if (e->fts_info == FTS_DP || !e->fts_statp || e->fts_info == FTS_NS)
            continue;
        uint64_t size = (uint64_t)e->fts_statp->st_blocks * 512;
        bool shared = e->fts_info != FTS_D && e->fts_statp->st_nlink > 1;
        bytes += shared ? size / e->fts_statp->st_nlink : size;
    }
    if (tree)
        fts_close(tree);
    return bytes;
}

/* Returns a copy of a member's text, or of a number's digits; NULL if there is none. */
static const char *member_text(struct json_doc *doc, const char *key, struct arena *arena)
{
    const struct json *value = json_get(json_root(doc), key);

    if (!json_is(value, JSON_STRING) && !json_is(value, JSON_NUMBER))
        return NULL;
    return arena_strndup(arena, value->text, strlen(value->text));
}

static void read_state(int fd, struct arena *arena, struct restack_item *item)
{
    static const struct json_options options = {.max_bytes = STATE_BYTES};
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    if (file_read(fd, "state.json", STATE_BYTES, &text, &ignored) < 0)
        return;
    _cleanup_json_ struct json_doc *doc = json_parse_buf(&text, &options, &ignored);
    if (!doc)
        return;
    const char *state = member_text(doc, "state", arena);
    item->state = state ? state : item->state;
    item->why = member_text(doc, "why", arena);
    item->lookups = member_text(doc, "lookups", arena);
    (void)!json_u64(json_get(json_root(doc), "files"), &item->files);
    (void)!json_u64(json_get(json_root(doc), "made"), &item->made);
}

static void read_chain(int fd, struct arena *arena, struct restack_item *item)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;
    struct chain chain;
    const char *now;

    if (file_read(fd, "chain", RECORD_BYTES, &text, &ignored) < 0 || !text.data ||
        chain_parse(text.data, arena, &chain, &ignored) < 0)
        return;
    item->layers = chain.count;
    item->layer = chain.paths[0];
    item->current = chain_describe(&chain, arena, &now, &ignored) == 0 &&
                    strcmp(now, text.data) == 0 && strcmp(chain.key, item->key) == 0;
}

/* Returns true for the directory of a tree; `building` if it does not have its final name yet. */
static bool is_key(const char *name, const char **key, bool *building)
{
    static const char prefix[] = ".build-";

    *building = strncmp(name, prefix, sizeof(prefix) - 1) == 0;
    *key = *building ? name + sizeof(prefix) - 1 : name;
    return hex_is(*key, CHAIN_KEY - 1);
}

/* Reads one tree. Returns false if there is none to list. */
static bool read_item(const struct restack_cache *cache, const char *name, struct arena *arena,
                      struct restack_item *item)
{
    const char *key;
    bool building;
    struct stat st;

    if (!is_key(name, &key, &building))
        return false;
    _cleanup_fd_ int fd = fd_open_directory(cache->fd, name);
    if (fd < 0 || fstat(fd, &st) < 0)
        return false;
    *item = (struct restack_item){.state = "failed", .layer = "", .used = st.st_mtime};
    memcpy(item->key, key, sizeof(item->key));
    if (building) {
        item->state = "building";
        return flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    }
    read_state(fd, arena, item);
    read_chain(fd, arena, item);
    item->bytes = tree_size(cache, name);
    return true;
}

/* ---- all trees ---- */

/*
 * Marks the trees of a mount table. An overlay's options have the path of each layer, and only the
 * tree's own path has its key.
 */
static void mark_mounted(void *context, const struct mount_table *table)
{
    const struct restack_list *list = context;

    for (size_t i = 0; i < table->count; i++)
        for (size_t k = 0; table->list[i].super && k < list->count; k++)
            list->items[k].mounted |= strstr(table->list[i].super, list->items[k].key) != NULL;
}

static int read_all(const struct restack_cache *cache, DIR *dir, struct arena *arena,
                    struct restack_list *out, struct err *err)
{
    const struct dirent *e;
    struct restack_item item;

    while ((e = readdir(dir))) {
        if (!read_item(cache, e->d_name, arena, &item))
            continue;
        out->items = arena_extend(arena, out->items, out->count, sizeof(*out->items));
        if (!out->items)
            return err_nomem(err);
        out->items[out->count++] = item;
    }
    return mounts_of_all(mark_mounted, out, err);
}

/* Orders by use, the last used first. */
static int by_use(const void *a, const void *b)
{
    const struct restack_item *x = a, *y = b;

    return x->used != y->used ? (x->used < y->used) - (x->used > y->used) : strcmp(x->key, y->key);
}

static DIR *open_all(const struct restack_cache *cache, struct err *err)
{
    DIR *dir = fd_list_directory(cache->fd, ".");

    if (!dir)
        err_sys(err, "%s", cache->path);
    return dir;
}

int restack_list_read(const struct restack_cache *cache, struct arena *arena,
                      struct restack_list *out, struct err *err)
{
    DIR *dir = open_all(cache, err);

    *out = (struct restack_list){0};
    if (!dir)
        return -1;
    int rc = read_all(cache, dir, arena, out, err);
    closedir(dir);
    if (rc == 0 && out->count)
        qsort(out->items, out->count, sizeof(*out->items), by_use);
    return rc;
}

/* ---- removing trees ---- */

void restack_list_judge(struct restack_list *list, const struct restack_limits *limits)
{
    uint64_t left = limits->bytes;

    for (size_t i = 0; i < list->count; i++) {
        struct restack_item *item = &list->items[i];
        item->leaves = NULL;
        if (item->mounted || strcmp(item->state, "building") == 0)
            ; /* it stays, and counts */
        else if (!item->current)
            item->leaves = "its layers are gone";
        else if (limits->now - item->used > limits->seconds)
            item->leaves = "it was not used for long";
        else if (item->bytes > left)
            item->leaves = "there is no room for it";
        if (!item->leaves)
            left -= item->bytes < left ? item->bytes : left;
    }
}

/*
 * Renames a tree so that no new mount finds it. A process that has just found it holds a lock, or
 * its mount is seen. Returns false if the tree stays.
 */
static bool retire_tree(const struct restack_cache *cache, const struct restack_item *item,
                        const char *old, struct err *err)
{
    struct restack_item again = *item;
    struct restack_list one = {&again, 1};
    _cleanup_fd_ int fd = fd_open_directory(cache->fd, item->key);

    again.mounted = false;
    return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
           mounts_of_all(mark_mounted, &one, err) == 0 && !again.mounted &&
           renameat(cache->fd, item->key, cache->fd, old) == 0;
}

/* Removes the directories of killed processes. */
static void remove_leftovers(const struct restack_cache *cache, DIR *dir)
{
    const struct dirent *e;

    while ((e = readdir(dir))) {
        bool build = strncmp(e->d_name, ".build-", 7) == 0;
        if (!build && strncmp(e->d_name, ".old-", 5) != 0)
            continue;
        _cleanup_fd_ int fd = fd_open_directory(cache->fd, e->d_name);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
            restack_cache_remove(cache, e->d_name);
    }
}

int restack_list_trim(const struct restack_cache *cache, struct restack_list *list, struct err *err)
{
    _cleanup_fd_ int lock = restack_cache_lock(cache, false, err);
    DIR *dir = lock < 0 ? NULL : open_all(cache, err);

    if (!dir) {
        for (size_t i = 0; i < list->count; i++)
            list->items[i].leaves = NULL;
        return -1;
    }
    remove_leftovers(cache, dir);
    closedir(dir);
    for (size_t i = 0; i < list->count; i++) {
        struct restack_item *item = &list->items[i];
        char old[CHAIN_KEY + 8];
        if (!item->leaves)
            continue;
        snprintf(old, sizeof(old), ".old-%s", item->key);
        if (retire_tree(cache, item, old, err))
            restack_cache_remove(cache, old);
        else
            item->leaves = NULL; /* it is in use now */
    }
    return 0;
}
