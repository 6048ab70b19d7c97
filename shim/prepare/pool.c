#include "shim/prepare/pool.h"

#include "base/json/json.h"
#include "shim/host/rundir.h"
#include "shim/host/trust.h"
#include "shim/mount/layers.h"
#include "shim/mount/mounts_of_all.h"
#include "shim/mount/overlay.h"
#include "shim/oci/launch_mark.h"
#include "shim/oci/state_sweep.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>

static int check_shared(const char *path, struct err *err)
{
    _cleanup_source_ struct source pool = SOURCE_INIT;

    if (source_find(path, &pool, err) < 0)
        return -1;
    if (pool.missing || !pool.directory)
        return err_set(err, ERR_POLICY, "the pool %s %s", path,
                       pool.missing ? "does not exist" : "is not a directory");
    if (pool.exposed)
        return err_set(err, ERR_POLICY, "the pool %s could be replaced by users other than root",
                       path);
    return 0;
}

int pool_check(const char *pool, const struct source *source, struct err *err)
{
    struct stat st;

    if (trust_rootless())
        return err_set(err, ERR_UNSUPPORTED, "a rootless runtime cannot mount a pool");
    if (check_shared(pool, err) < 0)
        return -1;
    if (source->missing)
        return 0;
    if (fstat(source->fd, &st) < 0)
        return err_sys(err, "fstat");
    if (!source->directory || !trust_closed(&st))
        return err_set(
            err, ERR_POLICY,
            "the private side of a pool must be a directory that is owned by root and not "
            "writable by others; 'upper' in it belongs to the user");
    return 0;
}

int pool_prepare(const char *pool, const struct source *source, const struct source_make *make,
                 struct err *err)
{
    const struct source_make work = {.who = {.uid = geteuid(), .gid = getegid()}, .mode = 0700};

    if (pool_check(pool, source, err) < 0 ||
        source_make_directory(source->fd, OVERLAY_UPPER, make, err) < 0)
        return -1;
    return source_make_directory(source->fd, OVERLAY_WORK, &work, err);
}

/* ---- one container at a time ---- */

/* A private side, as the mount tables show it. */
struct sighting {
    const struct pool_claim *claim;
    struct stat upper;
    bool mounted; /* an overlay has this directory */
    bool named;   /* an overlay has a directory of this name, which may be pinned for others, too */
};

static void look_at(const struct mount_entry *m, struct sighting *s)
{
    _cleanup_arena_ struct arena arena = {0};
    struct layers layers;
    struct err ignored;
    struct stat st;

    if (!m->super || !strstr(m->super, "/" OVERLAY_UPPER) ||
        layers_read(m->super, &arena, &layers, &ignored) < 0 || !layers.upper)
        return;
    size_t len = strlen(s->claim->path);
    if (strncmp(layers.upper, s->claim->path, len) == 0 &&
        strcmp(layers.upper + len, "/" OVERLAY_UPPER) == 0)
        s->named = true;
    if (layers.upper[0] == '/' && stat(layers.upper, &st) == 0 && st.st_dev == s->upper.st_dev &&
        st.st_ino == s->upper.st_ino)
        s->mounted = true;
}

static void look_at_table(void *sighting, const struct mount_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        look_at(&table->list[i], sighting);
}

/* Returns the claim that is recorded, or NULL. */
static struct json_doc *read_claim(int dirfd, const char *name)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    if (rundir_read(dirfd, name, STATE_BYTES, &text, &ignored) < 0)
        return NULL;
    return json_parse_buf(&text, NULL, &ignored);
}

/*
 * Returns 1 if another container has the private side: a launch that claimed it is under way, or an
 * overlay shows it. A pinned directory has the same name for all, so there the container that
 * claimed it must be gone as well.
 */
static int is_taken(int dirfd, const char *name, const struct pool_claim *claim, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = read_claim(dirfd, name);
    const struct json *mark = doc ? json_get(json_root(doc), STATE_LAUNCH) : NULL;
    struct sighting s = {.claim = claim};

    if (launch_mark_runs(mark))
        return 1;
    if (fstatat(claim->source->fd, OVERLAY_UPPER, &s.upper, AT_SYMLINK_NOFOLLOW) < 0)
        return err_sys(err, "'%s'", OVERLAY_UPPER);
    if (mounts_of_all(look_at_table, &s, err) < 0)
        return -1;
    return s.mounted || (s.named && claim->pinned && launch_mark_kept(mark));
}

static int write_claim(int dirfd, const char *name, const struct pool_claim *claim, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (!doc)
        return -1;
    json_set(doc, json_root(doc), STATE_LAUNCH,
             launch_mark_make(doc, claim->call->root, claim->call->id));
    return json_write(doc, &text, err) < 0 ? -1 : rundir_write(dirfd, name, &text, err);
}

int pool_take(const struct pool_claim *claim, struct err *err)
{
    _cleanup_fd_ int lock = rundir_lock(POOL_DIRECTORY, err);
    char name[64];
    struct stat st;

    if (lock < 0)
        return -1;
    if (fstat(claim->source->fd, &st) < 0)
        return err_sys(err, "fstat");
    snprintf(name, sizeof(name), "%jx-%jx.json", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
    state_sweep_pools(lock);
    int taken = is_taken(lock, name, claim, err);
    return taken ? taken : write_claim(lock, name, claim, err);
}
