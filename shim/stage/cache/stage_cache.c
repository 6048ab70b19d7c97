#include "shim/stage/cache/stage_cache.h"

#include "base/buf.h"
#include "base/fdio.h"
#include "base/files/atomic_file.h"
#include "base/files/named_lock.h"
#include "base/files/tree_remove.h"
#include "base/hash.h"
#include "shim/mount/closed_directory.h"
#include "shim/policy/registry_source.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

enum { REASON_BYTES = 2048, PROGRESS_BYTES = 128 };
enum { TRY_AGAIN = 600, ASK_AGAIN = 60 }; /* seconds after a failure; of a registry */

int stage_cache_open(const char *path, bool make, struct stage_cache *out, struct err *err)
{
    out->fd = closed_directory_open(path, make, &out->path, err);
    return out->fd < 0 ? -1 : 0;
}

void stage_cache_close(struct stage_cache *cache)
{
    cleanup_fd(&cache->fd);
    free(cache->path);
    *cache = (struct stage_cache)STAGE_CACHE_INIT;
}

/* ---- names ---- */

/* The key is the same in all processes. A source that has the key of another one finds another path
 * in the record, and so no copy. */
void stage_key(const char *source, char key[STAGE_KEY])
{
    size_t len = strlen(source);

    snprintf(key, STAGE_KEY, "%016" PRIx64 "%016" PRIx64,
             hash_bytes_by(&hash_key_shared, source, len, 1),
             hash_bytes_by(&hash_key_shared, source, len, 2));
}

void stage_name(const char *key, const uid_t *uid, char name[STAGE_NAME])
{
    if (uid)
        snprintf(name, STAGE_NAME, "%.32s-%u", key, (unsigned)*uid);
    else
        snprintf(name, STAGE_NAME, "%.32s", key);
}

static void part_name(const char *key, char name[STAGE_NAME])
{
    snprintf(name, STAGE_NAME, ".part-%.32s", key);
}

static void failure_name(const char *key, char name[STAGE_NAME])
{
    snprintf(name, STAGE_NAME, ".failed-%.32s", key);
}

struct stage_root stage_root_of(const struct stat *st)
{
    enum { NANOSECONDS = 1000000000 };

    return (struct stage_root){
        .ino = st->st_ino,
        .modified = (int64_t)st->st_mtim.tv_sec * NANOSECONDS + st->st_mtim.tv_nsec,
        .changed = (int64_t)st->st_ctim.tv_sec * NANOSECONDS + st->st_ctim.tv_nsec,
    };
}

/* ---- small files of an entry ---- */

int stage_touch(int entry, const char *name)
{
    _cleanup_fd_ int fd =
        openat(entry, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);

    return fd < 0 ? -1 : futimens(fd, NULL);
}

void stage_count_launch(int entry)
{
    _cleanup_fd_ int fd =
        openat(entry, "used", O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd >= 0)
        (void)!write(fd, "+", 1);
}

time_t stage_touched(int entry, const char *name)
{
    struct stat st;

    return fstatat(entry, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_mtime : 0;
}

/* The text is always of the same length, so that a reader finds all of it. */
void stage_progress_write(int part, const struct stage_progress *progress)
{
    char text[PROGRESS_BYTES + 1];
    struct err ignored;
    _cleanup_fd_ int fd =
        openat(part, "progress", O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

    snprintf(text, sizeof(text),
             "%020" PRIu64 " %020" PRIu64 " %020" PRIu64 " %020" PRIu64 " %020" PRIu64 "\n",
             progress->bytes, progress->total, progress->files, progress->total_files,
             progress->since);
    if (fd >= 0)
        (void)!fd_pwrite_all(fd, text, strlen(text), 0, &ignored);
}

bool stage_progress_read(int part, struct stage_progress *out)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    *out = (struct stage_progress){0};
    return file_read(part, "progress", PROGRESS_BYTES, &text, &ignored) == 0 && text.data &&
           sscanf(text.data, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
                  &out->bytes, &out->total, &out->files, &out->total_files, &out->since) == 5;
}

/* ---- looking ---- */

/* Opens an entry with a shared lock. False if there is none of that source. */
static bool lock_entry(const struct stage_cache *cache, const char *source, struct arena *arena,
                       struct stage_entry *out)
{
    _cleanup_fd_ int fd = fd_open_directory(cache->fd, out->name);

    if (fd < 0 || !named_lock(cache->fd, out->name, fd, LOCK_SH) ||
        !stage_record_read(fd, arena, &out->record) || strcmp(out->record.source, source) != 0)
        return false;
    out->fd = steal_fd(&fd);
    return true;
}

static bool same_root(const struct stage_root *a, const struct stage_root *b)
{
    return a->ino == b->ino && a->modified == b->modified && a->changed == b->changed;
}

/* Looks whether a process makes the entry. */
static bool is_copying(const struct stage_cache *cache, const char *key, struct stage_entry *out)
{
    char name[STAGE_NAME];

    part_name(key, name);
    _cleanup_fd_ int part = fd_open_directory(cache->fd, name);
    if (part < 0 || flock(part, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return false;
    (void)!stage_progress_read(part, &out->progress);
    return true;
}

/* Reads the reason of a failure that is not long ago; *out stays as it is if there was none. */
static int read_failure(const struct stage_cache *cache, const char *key, time_t long_ago,
                        struct arena *arena, struct stage_entry *out, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    char name[STAGE_NAME];
    struct err ignored;

    failure_name(key, name);
    time_t age = time(NULL) - stage_touched(cache->fd, name);
    if (age < 0 || age > long_ago ||
        file_read(cache->fd, name, REASON_BYTES, &text, &ignored) < 0 || !text.data)
        return 0;
    out->why = arena_strndup(arena, text.data, text.len);
    return out->why ? 0 : err_nomem(err);
}

int stage_cache_find(const struct stage_cache *cache, const char *source, const uid_t *uid,
                     const struct stage_root *root, struct arena *arena, struct stage_entry *out,
                     struct err *err)
{
    time_t long_ago = registry_source_is(source) ? ASK_AGAIN : TRY_AGAIN;
    char key[STAGE_KEY];

    *out = (struct stage_entry)STAGE_ENTRY_INIT;
    stage_key(source, key);
    stage_name(key, NULL, out->name);
    bool found = lock_entry(cache, source, arena, out);
    if (!found && uid) {
        stage_name(key, uid, out->name);
        found = lock_entry(cache, source, arena, out);
    }
    if (found && same_root(&out->record.root, root)) {
        out->state = STAGE_READY;
        out->checked = stage_touched(out->fd, "checked");
        return read_failure(cache, key, long_ago, arena, out, err);
    }
    if (is_copying(cache, key, out))
        out->state = STAGE_COPYING;
    else if (read_failure(cache, key, long_ago, arena, out, err) < 0)
        return -1;
    else if (out->why)
        out->state = STAGE_FAILED;
    else if (found)
        out->state = STAGE_STALE;
    return 0;
}

void stage_entry_close(struct stage_entry *entry)
{
    cleanup_fd(&entry->fd);
    entry->fd = -1;
}

/* ---- making ---- */

char *stage_old_name(const char *name)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return strf(".old-%s-%llx%08lx", name, (unsigned long long)now.tv_sec, now.tv_nsec);
}

/*
 * Renames a part that is a whole entry, which a process that was killed exchanged for a newer one:
 * containers may have it mounted.
 */
static void retire_entry(const struct stage_cache *cache, const char *part)
{
    _cleanup_fd_ int fd = fd_open_directory(cache->fd, part);
    _cleanup_free_ char *old = stage_old_name(part + strlen(".part-"));

    if (fd >= 0 && old && faccessat(fd, "record.json", F_OK, 0) == 0 &&
        flock(fd, LOCK_EX | LOCK_NB) == 0)
        (void)!renameat(cache->fd, part, cache->fd, old);
}

int stage_cache_begin(const struct stage_cache *cache, const char *key, struct err *err)
{
    char name[STAGE_NAME];

    part_name(key, name);
    retire_entry(cache, name);
    return closed_directory_claim(cache->fd, cache->path, name, "another process copies it", err);
}

int stage_cache_turn(const struct stage_cache *cache, const char *key, struct err *err)
{
    struct flock turn = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    _cleanup_fd_ int fd =
        openat(cache->fd, ".turns", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_sys(err, "%s/.turns", cache->path);
    for (; turn.l_start < STAGE_AT_ONCE; turn.l_start++)
        if (fcntl(fd, F_OFD_SETLK, &turn) == 0)
            return steal_fd(&fd);
    turn.l_start = (unsigned char)key[0] % STAGE_AT_ONCE; /* a hexadecimal digit */
    if (fcntl(fd, F_OFD_SETLKW, &turn) < 0)
        return err_sys(err, "%s/.turns", cache->path);
    return steal_fd(&fd);
}

/* Puts the part in the place of an entry in one step, where the file system can. */
static int exchange(const struct stage_cache *cache, const char *part, const char *name)
{
    _cleanup_free_ char *old = stage_old_name(name);
    /* The lock keeps other copiers away while the older entry has the name of the part. */
    _cleanup_fd_ int entry = fd_open_directory(cache->fd, name);

    if (!old)
        return -1;
    if (entry < 0)
        return renameat(cache->fd, part, cache->fd, name);
    if (flock(entry, LOCK_SH | LOCK_NB) == 0 &&
        renameat2(cache->fd, part, cache->fd, name, RENAME_EXCHANGE) == 0) {
        /* Done: what keeps the name of the part is retired by the next copier. */
        (void)!renameat(cache->fd, part, cache->fd, old);
        return 0;
    }
    return renameat(cache->fd, name, cache->fd, old) < 0
               ? -1
               : renameat(cache->fd, part, cache->fd, name);
}

int stage_cache_publish(const struct stage_cache *cache, int part, const char *key,
                        const char *name, const struct stage_record *record, struct err *err)
{
    static const char *const notes[] = {"plan", STAGE_SOURCE, "progress"};
    char from[STAGE_NAME];

    for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++)
        unlinkat(part, notes[i], 0);
    (void)!stage_touch(part, "used");
    (void)!stage_touch(part, "checked");
    if (stage_record_write(part, record, err) < 0)
        return -1;
    part_name(key, from);
    /* A launch that finds the entry wants a shared lock. */
    if (flock(part, LOCK_SH | LOCK_NB) < 0 || exchange(cache, from, name) < 0)
        return err_sys(err, "%s/%s", cache->path, from);
    stage_cache_failed(cache, key, NULL);
    return 0;
}

void stage_cache_discard(const struct stage_cache *cache, const char *key)
{
    char part[STAGE_NAME];

    part_name(key, part);
    _cleanup_free_ char *path = strf("%s/%s", cache->path, part);
    if (path)
        tree_remove(path);
}

void stage_cache_failed(const struct stage_cache *cache, const char *key, const char *why)
{
    _cleanup_atomic_file_ struct atomic_file file = ATOMIC_FILE_INIT;
    char name[STAGE_NAME];
    struct err ignored;

    failure_name(key, name);
    if (!why) {
        unlinkat(cache->fd, name, 0);
        return;
    }
    if (atomic_file_begin(&file, cache->fd, name, 0600, &ignored) < 0)
        return;
    file.fleeting = true;
    if (fd_write_all(file.fd, why, strlen(why), &ignored) == 0)
        (void)!atomic_file_commit(&file, &ignored);
}
