#include "shim/stage/cache/stage_room.h"

#include "base/buf.h"
#include "base/fdio.h"
#include "base/files/tree_remove.h"
#include "base/human.h"
#include "shim/mount/mounts_of_all.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>

enum { DAY = 24 * 3600 };

/* ---- the list ---- */

static bool is_hex(const char *text, size_t count)
{
    return strspn(text, "0123456789abcdef") >= count;
}

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static void read_part(int fd, struct arena *arena, struct stage_item *item)
{
    _cleanup_buf_ struct buf source = BUF_INIT;
    struct err ignored;
    struct stat st;

    item->state = STAGE_MISSING;
    if (flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
        item->state = STAGE_COPYING;
        (void)!stage_progress_read(fd, &item->progress);
    }
    if (fstat(fd, &st) == 0)
        item->used = st.st_mtime;
    if (file_read(fd, STAGE_SOURCE, PATH_MAX, &source, &ignored) == 0 && source.len)
        item->record.source = arena_strndup(arena, source.data, source.len);
}

/* Reads one directory of the cache. False if it is none to list. */
static bool read_item(const struct stage_cache *cache, const char *name, struct arena *arena,
                      struct stage_item *item)
{
    *item = (struct stage_item){.state = STAGE_READY, .replaced = has_prefix(name, ".old-")};
    bool part = has_prefix(name, ".part-");
    const char *key = name + (part ? strlen(".part-") : item->replaced ? strlen(".old-") : 0);
    if (strlen(name) >= sizeof(item->name) || !is_hex(key, STAGE_KEY - 1))
        return false;
    memcpy(item->name, name, strlen(name) + 1);
    _cleanup_fd_ int fd = fd_open_directory(cache->fd, name);
    if (fd < 0)
        return false;
    if (part) {
        read_part(fd, arena, item);
        return true;
    }
    struct stat used;
    if (fstatat(fd, "used", &used, AT_SYMLINK_NOFOLLOW) == 0) {
        item->used = used.st_mtime;
        item->launches = (uint64_t)used.st_size;
    }
    item->checked = stage_touched(fd, "checked");
    item->pinned = stage_touched(fd, "pinned") != 0;
    if (!stage_record_read(fd, arena, &item->record))
        item->record.source = "";
    return true;
}

/* Finds "/NAME/tree" at the end of a mounted directory, or in it. */
static bool shows_item(const char *root, const char *name)
{
    size_t len = strlen(name);

    for (const char *at = strstr(root, name); at; at = strstr(at + 1, name))
        if (at > root && at[-1] == '/' && has_prefix(at + len, "/tree") &&
            (at[len + 5] == '\0' || at[len + 5] == '/'))
            return true;
    return false;
}

static void visit_table(void *context, const struct mount_table *table)
{
    struct stage_items *items = context;

    for (size_t m = 0; m < table->count; m++)
        for (size_t i = 0; i < items->count; i++)
            if (shows_item(table->list[m].root, items->list[i].name))
                items->list[i].mounted = true;
}

static int by_use(const void *a, const void *b)
{
    const struct stage_item *x = a, *y = b;

    return x->used != y->used ? (x->used < y->used ? -1 : 1) : strcmp(x->name, y->name);
}

int stage_list(const struct stage_cache *cache, struct arena *arena, struct stage_items *out,
               struct err *err)
{
    DIR *dir = fd_list_directory(cache->fd, ".");
    const struct dirent *e;
    int rc = 0;

    *out = (struct stage_items){0};
    if (!dir)
        return err_sys(err, "%s", cache->path);
    while (rc == 0 && (e = readdir(dir))) {
        struct stage_item item;
        if (!read_item(cache, e->d_name, arena, &item))
            continue;
        out->list = arena_extend(arena, out->list, out->count, sizeof(*out->list));
        if (out->list)
            out->list[out->count++] = item;
        else
            rc = err_nomem(err);
    }
    closedir(dir);
    if (rc < 0)
        return -1;
    if (out->count)
        qsort(out->list, out->count, sizeof(*out->list), by_use);
    return mounts_of_all(visit_table, out, err);
}

uint64_t stage_taken(const struct stage_items *items)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < items->count; i++)
        bytes += items->list[i].gone ? 0 : items->list[i].record.room;
    return bytes;
}

/* ---- removing ---- */

/* Looks again: a launch may have mounted it since the list was made. The caller has its lock. */
static bool is_mounted_now(const struct stage_item *item)
{
    struct stage_item again = *item;
    struct stage_items one = {&again, 1};
    struct err ignored;

    return mounts_of_all(visit_table, &one, &ignored) < 0 || again.mounted;
}

int stage_remove(const struct stage_cache *cache, const struct stage_item *item, struct err *err)
{
    const char *name = item->name;
    _cleanup_fd_ int fd = fd_open_directory(cache->fd, name);

    if (fd < 0)
        return err_sys(err, "%s/%s", cache->path, name);
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return err_set(err, ERR_LIMIT, "a process uses it");
    if (is_mounted_now(item))
        return err_set(err, ERR_LIMIT, "a container has it mounted");
    /* A launch that looks now finds no name, or the lock. */
    _cleanup_free_ char *gone = stage_old_name(name + (*name == '.' ? strcspn(name, "-") + 1 : 0));
    if (!gone)
        return err_nomem(err);
    if (*name != '.' && renameat(cache->fd, name, cache->fd, gone) < 0)
        return err_sys(err, "%s/%s", cache->path, name);
    _cleanup_free_ char *path = strf("%s/%s", cache->path, *name == '.' ? name : gone);
    if (!path)
        return err_nomem(err);
    tree_remove(path);
    return 0;
}

static bool is_useless(const struct stage_item *item, time_t age)
{
    return !item->mounted && !item->gone &&
           (item->replaced || (item->state == STAGE_MISSING && item->used <= time(NULL) - age));
}

/* Removes what was replaced, and parts that are older than `age`. Returns how many. */
static size_t sweep(const struct stage_cache *cache, const struct stage_items *items, time_t age,
                    bool dry)
{
    size_t count = 0;
    struct err ignored;

    for (size_t i = 0; i < items->count; i++) {
        struct stage_item *item = &items->list[i];
        if (!is_useless(item, age) || (!dry && stage_remove(cache, item, &ignored) < 0))
            continue;
        item->gone = true;
        count++;
    }
    return count;
}

size_t stage_sweep(const struct stage_cache *cache, const struct stage_items *items, bool dry)
{
    return sweep(cache, items, DAY, dry);
}

void stage_tidy(const struct stage_cache *cache)
{
    _cleanup_arena_ struct arena arena = {0};
    struct stage_items items;
    struct err ignored;

    if (stage_list(cache, &arena, &items, &ignored) == 0)
        stage_sweep(cache, &items, false);
}

/* ---- room ---- */

/* The bytes that are missing, of each limit. */
struct shortage {
    uint64_t of_max, of_owner, of_free;
};

static uint64_t beyond(uint64_t used, uint64_t most)
{
    return most && used > most ? used - most : 0;
}

/* Returns the bytes that an item takes, or will take; of what is fetched, what there is so far. */
static uint64_t item_room(const struct stage_item *item)
{
    const struct stage_progress *p = &item->progress;

    if (item->state == STAGE_READY)
        return item->record.room;
    return p->total > p->bytes ? p->total : p->bytes;
}

/* Returns true for the part that will get the name. */
static bool is_part_of(const struct stage_item *item, const char *name)
{
    return has_prefix(item->name, ".part-") && *name &&
           strncmp(item->name + strlen(".part-"), name, STAGE_KEY - 1) == 0;
}

static int find_shortage(const struct stage_cache *cache, const struct stage_items *items,
                         const struct stage_limits *limits, const struct stage_need *need,
                         struct shortage *out, struct err *err)
{
    struct statvfs fs;
    uint64_t all = need->bytes, own = need->bytes;
    uint64_t coming = need->bytes - need->written;

    for (size_t i = 0; i < items->count; i++) {
        const struct stage_item *item = &items->list[i];
        if (item->gone || strcmp(item->name, need->name) == 0 || is_part_of(item, need->name))
            continue;
        all += item_room(item);
        if (item->state == STAGE_READY && item->record.account == need->account)
            own += item_room(item);
        if (item->state == STAGE_COPYING && item->progress.total > item->progress.bytes)
            coming += item->progress.total - item->progress.bytes;
    }
    if (fstatvfs(cache->fd, &fs) < 0)
        return err_sys(err, "%s", cache->path);
    uint64_t size = (uint64_t)fs.f_blocks * fs.f_frsize;
    uint64_t room = (uint64_t)fs.f_bavail * fs.f_frsize;
    uint64_t least = policy_least_free(&limits->free, size) + coming;
    *out = (struct shortage){
        .of_max = beyond(all, limits->max),
        .of_owner = beyond(own, limits->per_owner),
        .of_free = least > room ? least - room : 0,
    };
    return 0;
}

static bool may_go(const struct stage_item *item, const struct stage_need *need)
{
    return item->state == STAGE_READY && !item->gone && !item->mounted && !item->pinned &&
           !item->replaced && strcmp(item->name, need->name) != 0;
}

static uint64_t less(uint64_t from, uint64_t amount)
{
    return from > amount ? from - amount : 0;
}

/* Chooses the items that go. Returns false if all together would not be enough. */
static bool choose(const struct stage_items *items, const struct stage_need *need,
                   struct shortage *s, bool *goes)
{
    for (int pass = 0; pass < 2; pass++) /* the account's own first, if its share is short */
        for (size_t i = 0; i < items->count; i++) {
            const struct stage_item *item = &items->list[i];
            bool own = item->record.account == need->account;
            if (goes[i] || !may_go(item, need))
                continue;
            if (pass == 0 ? !own || !s->of_owner : !s->of_max && !s->of_free)
                continue;
            goes[i] = true;
            s->of_max = less(s->of_max, item->record.room);
            s->of_free = less(s->of_free, item->record.room);
            s->of_owner = own ? less(s->of_owner, item->record.room) : s->of_owner;
        }
    return !s->of_max && !s->of_owner && !s->of_free;
}

static int refuse(const struct shortage *s, const struct stage_need *need, struct err *err)
{
    char bytes[HUMAN_SIZE], missing[HUMAN_SIZE];
    const char *limit = s->of_owner ? "\"per_owner\" leaves"
                        : s->of_max ? "\"max\" leaves"
                                    : "\"free\" and the file system leave";

    human_size_binary(need->bytes, bytes);
    human_size_binary(s->of_owner ? s->of_owner : s->of_max ? s->of_max : s->of_free, missing);
    return err_set(err, ERR_LIMIT, "it takes %s, which is %s more than %s", bytes, missing, limit);
}

/* Removes what was chosen. Returns false if one of them stays, as a launch came first. */
static bool remove_chosen(const struct stage_cache *cache, struct stage_items *items,
                          const bool *goes, bool dry, size_t *evicted)
{
    bool all = true;

    for (size_t i = 0; i < items->count; i++) {
        struct stage_item *item = &items->list[i];
        struct err ignored;
        if (!goes[i])
            continue;
        item->gone = dry || stage_remove(cache, item, &ignored) == 0;
        item->mounted = !item->gone;
        *evicted += item->gone;
        all = all && item->gone;
    }
    return all;
}

int stage_make_room(const struct stage_cache *cache, const struct stage_limits *limits,
                    const struct stage_need *need, bool dry, size_t *evicted, struct err *err)
{
    _cleanup_arena_ struct arena arena = {0};
    struct stage_items items;
    struct shortage shortage;
    bool *goes, chosen;

    *evicted = 0;
    if (stage_list(cache, &arena, &items, err) < 0)
        return -1;
    stage_sweep(cache, &items, dry);
    do {
        if (find_shortage(cache, &items, limits, need, &shortage, err) < 0)
            return -1;
        if (shortage.of_free && sweep(cache, &items, 0, dry) &&
            find_shortage(cache, &items, limits, need, &shortage, err) < 0)
            return -1;
        goes = arena_alloc(&arena, items.count + 1);
        if (!goes)
            return err_nomem(err);
        chosen = choose(&items, need, &shortage, goes);
        if (!chosen && need->bytes)
            return refuse(&shortage, need, err);
    } while (!remove_chosen(cache, &items, goes, dry, evicted));
    return chosen ? 0 : refuse(&shortage, need, err);
}
