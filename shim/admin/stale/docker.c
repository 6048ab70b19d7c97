/*
 * Docker's knowledge of overlay2 (moby: layer/filestore.go): image/overlay2/layerdb/sha256/CHAIN
 * has "cache-id", mounts/CONTAINER has "mount-id" and, mostly, "init-id", tmp/ layers that are
 * being registered. BuildKit's build cache has directories in overlay2, too, which its own
 * databases name.
 */
#include "shim/admin/stale/state.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1024 * 1024, OVERLAP = 128, TRIES = 5 };

/* Adds the name in a file of a directory of the layerdb. */
static int add_file(struct known *out, int dir, const char *file, bool required, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (store_read(dir, file, NAME_MAX, &text, err) < 0)
        return !required && err_missing(err) ? 0 : -1;
    size_t len = text.data ? strcspn(text.data, "\n") : 0;
    if (len == 0)
        return err_set(err, ERR_FORMAT, "%s is empty", file);
    known_add(out, text.data, len);
    return 0;
}

/* Opens an entry of the layerdb. Returns 0 if it is gone meanwhile, or is none. */
static int open_entry(int dir, const char *name, int *fd, struct err *err)
{
    *fd = store_open(dir, name, O_RDONLY | O_DIRECTORY, false);
    if (*fd >= 0)
        return 1;
    return errno == ENOENT || errno == ENOTDIR ? 0 : err_sys(err, "%s", name);
}

/* Returns 0 for an entry that has been removed since, -1 and the error for others. */
static int still_there(int dir, const char *name, struct err *err)
{
    struct stat st;

    if (err_missing(err) && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
        return 0;
    return err_wrap(err, "%s", name);
}

static int visit_layer(void *context, int dir, const char *name, struct err *err)
{
    _cleanup_fd_ int fd = -1;
    int rc = open_entry(dir, name, &fd, err);

    if (rc <= 0)
        return rc;
    return add_file(context, fd, "cache-id", true, err) < 0 ? still_there(dir, name, err) : 0;
}

static int visit_container(void *context, int dir, const char *name, struct err *err)
{
    _cleanup_fd_ int fd = -1;
    int rc = open_entry(dir, name, &fd, err);

    if (rc <= 0)
        return rc;
    return add_file(context, fd, "mount-id", true, err) < 0 ||
                   add_file(context, fd, "init-id", false, err) < 0
               ? still_there(dir, name, err)
               : 0;
}

static int visit_unfinished(void *context, int dir, const char *name, struct err *err)
{
    _cleanup_fd_ int fd = -1;
    int rc = open_entry(dir, name, &fd, err);

    if (rc <= 0)
        return rc;
    return add_file(context, fd, "cache-id", false, err) < 0 ? still_there(dir, name, err) : 0;
}

int docker_known(int root, struct known *out, struct err *err)
{
    static const char layers[] = "image/overlay2/layerdb/sha256";
    static const char containers[] = "image/overlay2/layerdb/mounts";
    static const char unfinished[] = "image/overlay2/layerdb/tmp";

    /* A daemon without containers has no "mounts"; the other one is always there. */
    return store_each(root, unfinished, true, visit_unfinished, out, err) < 0 ||
                   store_each(root, containers, true, visit_container, out, err) < 0
               ? -1
               : store_each(root, layers, false, visit_layer, out, err);
}

/* ---- BuildKit ---- */

struct search {
    const char *const *names;
    size_t count;
    struct known *out;
    char *chunk; /* of CHUNK bytes, behind OVERLAP of those before */
};

static void search_chunk(struct search *s, const char *text, size_t len)
{
    for (size_t i = 0; i < s->count; i++)
        if (memmem(text, len, s->names[i], strlen(s->names[i])))
            known_add(s->out, s->names[i], strlen(s->names[i]));
}

static int search_file(struct search *s, int fd, const char *name, struct err *err)
{
    size_t kept = 0;
    off_t at = 0;

    for (;;) {
        ssize_t got = pread(fd, s->chunk + kept, CHUNK, at);
        if (got < 0)
            return err_sys(err, "buildkit/%s", name);
        if (got == 0)
            return 0;
        size_t len = kept + (size_t)got;
        search_chunk(s, s->chunk, len);
        kept = len < OVERLAP ? len : OVERLAP;
        memmove(s->chunk, s->chunk + len - kept, kept);
        at += got;
    }
}

/*
 * The databases are those of bbolt: keys and short values lie in one piece. A page may be moved
 * while the file is read, so a file that changes meanwhile is read again.
 */
static int visit_database(void *context, int dir, const char *name, struct err *err)
{
    struct search *s = context;
    size_t len = strlen(name);
    struct stat before, after;

    if (len < 3 || strcmp(name + len - 3, ".db") != 0)
        return 0;
    _cleanup_fd_ int fd = store_open(dir, name, O_RDONLY, false);
    for (int i = 0; i < TRIES && fd >= 0; i++) {
        if (fstat(fd, &before) < 0)
            return err_sys(err, "buildkit/%s", name);
        if (search_file(s, fd, name, err) < 0)
            return -1;
        if (fstat(fd, &after) < 0)
            return err_sys(err, "buildkit/%s", name);
        if (before.st_size == after.st_size && before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
            before.st_mtim.tv_nsec == after.st_mtim.tv_nsec)
            return 0;
        usleep(200 * 1000);
    }
    return fd < 0 ? err_sys(err, "buildkit/%s", name)
                  : err_set(err, ERR_LIMIT, "buildkit/%s changes all the time", name);
}

int buildkit_known(int root, const char *const *names, size_t count, struct known *out,
                   struct err *err)
{
    _cleanup_free_ char *chunk = malloc(CHUNK + OVERLAP);
    struct search s = {names, count, out, chunk};

    if (!chunk)
        return err_nomem(err);
    return count ? store_each(root, "buildkit", true, visit_database, &s, err) : 0;
}
