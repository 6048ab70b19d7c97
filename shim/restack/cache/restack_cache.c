#include "shim/restack/cache/restack_cache.h"

#include "base/fdio.h"
#include "base/files/named_lock.h"
#include "base/files/tree_remove.h"
#include "base/json/json.h"
#include "shim/mount/closed_directory.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

enum { RECORD_BYTES = 4 * 1024 * 1024, STATE_BYTES = 64 * 1024 };
enum { TRY_AGAIN = 3600 }; /* seconds after a failure */

/* ---- the directory ---- */

int restack_cache_open(const char *path, bool make, struct restack_cache *out, struct err *err)
{
    out->fd = closed_directory_open(path, make, &out->path, err);
    return out->fd < 0 ? -1 : 0;
}

void restack_cache_close(struct restack_cache *cache)
{
    cleanup_fd(&cache->fd);
    free(cache->path);
    *cache = (struct restack_cache)RESTACK_CACHE_INIT;
}

/* ---- looking ---- */

/* True if a process builds the tree. */
static bool is_building(const struct restack_cache *cache, const struct chain *chain)
{
    char name[CHAIN_KEY + 16];

    snprintf(name, sizeof(name), ".build-%s", chain->key);
    _cleanup_fd_ int fd = fd_open_directory(cache->fd, name);
    return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

/* True if the entry is of these layers, and still has its name once it is locked. */
static bool is_entry_of(const struct restack_cache *cache, int fd, const struct chain *chain)
{
    _cleanup_buf_ struct buf record = BUF_INIT;
    struct err ignored;

    return named_lock(cache->fd, chain->key, fd, LOCK_SH) &&
           file_read(fd, "chain", RECORD_BYTES, &record, &ignored) == 0 && record.data &&
           strcmp(record.data, chain->record) == 0;
}

/* Reads what was written down instead of a tree. */
static int read_state(int fd, struct arena *arena, struct restack_entry *out, struct err *err)
{
    static const struct json_options options = {.max_bytes = STATE_BYTES};
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;
    struct stat st;

    if (file_read(fd, "state.json", STATE_BYTES, &text, &ignored) < 0 ||
        fstatat(fd, "state.json", &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    _cleanup_json_ struct json_doc *doc = json_parse_buf(&text, &options, &ignored);
    const char *state = doc ? json_text(json_get(json_root(doc), "state")) : NULL;
    const char *why = doc ? json_text(json_get(json_root(doc), "why")) : NULL;
    if (!state || !why)
        return 0;
    bool failed = strcmp(state, "failed") == 0;
    time_t age = time(NULL) - st.st_mtime; /* negative after the clock was wrong */
    if (failed && (age < 0 || age > TRY_AGAIN))
        return 0;
    out->state = failed ? RESTACK_FAILED : RESTACK_NEEDLESS;
    out->why = arena_strndup(arena, why, strlen(why));
    return out->why ? 0 : err_nomem(err);
}

int restack_cache_find(const struct restack_cache *cache, const struct chain *chain,
                       struct arena *arena, struct restack_entry *out, struct err *err)
{
    struct stat st;
    _cleanup_fd_ int fd = fd_open_directory(cache->fd, chain->key);

    *out = (struct restack_entry)RESTACK_ENTRY_INIT;
    if (fd >= 0 && is_entry_of(cache, fd, chain)) {
        if (fstatat(fd, "tree", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode)) {
            out->state = RESTACK_READY;
            out->fd = steal_fd(&fd);
            return 0;
        }
        if (read_state(fd, arena, out, err) < 0)
            return -1;
    }
    if (out->state == RESTACK_MISSING && is_building(cache, chain))
        out->state = RESTACK_BUILDING;
    return 0;
}

/* ---- making ---- */

int restack_cache_begin(const struct restack_cache *cache, const struct chain *chain,
                        struct err *err)
{
    char name[CHAIN_KEY + 16];

    snprintf(name, sizeof(name), ".build-%s", chain->key);
    return closed_directory_claim(cache->fd, cache->path, name, "another process is making it",
                                  err);
}

int restack_cache_publish(const struct restack_cache *cache, const struct chain *chain,
                          struct err *err)
{
    char built[CHAIN_KEY + 16], old[CHAIN_KEY + 48];

    snprintf(built, sizeof(built), ".build-%s", chain->key);
    snprintf(old, sizeof(old), ".old-%s-%d", chain->key, (int)getpid());
    bool replaces = renameat(cache->fd, chain->key, cache->fd, old) == 0;
    if (renameat(cache->fd, built, cache->fd, chain->key) < 0) {
        err_sys(err, "%s/%s", cache->path, built);
        if (replaces)
            (void)!renameat(cache->fd, old, cache->fd, chain->key);
        return -1;
    }
    if (replaces)
        restack_cache_remove(cache, old);
    return 0;
}

int restack_cache_lock(const struct restack_cache *cache, bool wait, struct err *err)
{
    _cleanup_fd_ int fd =
        openat(cache->fd, ".lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_sys(err, "%s/.lock", cache->path);
    if (flock(fd, LOCK_EX | (wait ? 0 : LOCK_NB)) < 0)
        return errno == EWOULDBLOCK
                   ? err_set(err, ERR_LIMIT, "a tree is being made in %s", cache->path)
                   : err_sys(err, "%s/.lock", cache->path);
    return steal_fd(&fd);
}

void restack_cache_remove(const struct restack_cache *cache, const char *name)
{
    _cleanup_free_ char *path = strf("%s/%s", cache->path, name);

    if (path)
        tree_remove(path);
}
