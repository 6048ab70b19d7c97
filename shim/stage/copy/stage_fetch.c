#include "shim/stage/copy/stage_fetch.h"

#include "base/clock.h"
#include "base/fdio.h"
#include "base/files/tree_remove.h"
#include "shim/policy/registry_source.h"
#include "shim/stage/cache/stage_room.h"
#include "shim/stage/copy/survey.h"
#include "shim/stage/copy/unpack_run.h"

#include <fcntl.h>
#include <string.h>

struct fetching {
    const struct stage_cache *cache;
    const char *source;
    const struct policy_stage *rules;
    struct arena *arena;
    struct stage_copy_result *out;
    char key[STAGE_KEY];
    int part;                 /* .part-KEY, locked */
    const char *path;         /* of it */
    const char *tree;         /* in it */
    struct unpack_result now; /* what the source is now */
    uint64_t since;           /* seconds since 1970 */
};

/* ---- what the source is now ---- */

/* Returns the source as flatten names it: with the digest, if `fixed`, in place of a tag. */
static const char *flatten_name(const struct fetching *f, bool fixed)
{
    const char *name = f->source + strlen(REGISTRY_SOURCE);
    size_t host = strcspn(name, "/");

    if (!fixed)
        return arena_printf(f->arena, "docker://%s", name);
    return arena_printf(f->arena, "docker://%.*s@%s", (int)(host + strcspn(name + host, ":@")),
                        name, f->now.digest);
}

static int resolve(struct fetching *f, struct err *err)
{
    const struct unpack_order order = {.source = flatten_name(f, false),
                                       .directory = f->tree,
                                       .temporary = f->path,
                                       .resolve = true};

    if (!order.source)
        return err_nomem(err);
    return unpack_run(&order, NULL, NULL, f->arena, &f->now, err);
}

/* Returns true if the cache has just that; its time of comparison is set to now. */
static bool is_there(const struct fetching *f)
{
    struct stage_record record;
    _cleanup_fd_ int entry = fd_open_directory(f->cache->fd, f->out->name);

    if (entry < 0 || !stage_record_read(entry, f->arena, &record) ||
        strcmp(record.source, f->source) != 0 || !record.digest ||
        strcmp(record.digest, f->now.digest) != 0 || (f->rules->verify && !record.verified))
        return false;
    (void)!stage_touch(entry, "checked");
    stage_cache_failed(f->cache, f->key, NULL);
    return true;
}

/* ---- room ---- */

static int make_room(struct fetching *f, uint64_t bytes, uint64_t written, struct err *err)
{
    const struct policy_stage *rules = f->rules;
    const struct stage_limits limits = {rules->max, rules->per_owner, rules->free};
    const struct stage_need need = {bytes, written, 0, f->out->name};
    size_t evicted = 0;
    int rc = stage_make_room(f->cache, &limits, &need, false, &evicted, err);

    f->out->evicted += evicted;
    return rc;
}

/* Nobody knows the size of a packed layer before it is unpacked: makes room for what is there. */
static int watch(void *context, struct err *err)
{
    struct fetching *f = context;
    struct stage_totals totals;
    struct err ignored;

    if (survey_tree(f->part, NULL, &totals, &ignored) < 0)
        return 0; /* a directory got its name meanwhile */
    const struct stage_progress progress = {
        .bytes = totals.bytes, .files = totals.files, .since = f->since};
    stage_progress_write(f->part, &progress);
    uint64_t bytes = totals.room > f->now.packed ? totals.room : f->now.packed;
    return make_room(f, bytes, totals.room, err);
}

/* ---- the tree ---- */

static int fetch_tree(struct fetching *f, struct err *err)
{
    const struct unpack_order order = {.source = flatten_name(f, true),
                                       .directory = f->tree,
                                       .temporary = f->path,
                                       .verify = f->rules->verify,
                                       .max_size = f->rules->max};
    struct unpack_result fetched;

    if (!order.source)
        return err_nomem(err);
    tree_remove(f->tree); /* of a process that was killed */
    if (make_room(f, f->now.packed, 0, err) < 0 ||
        unpack_run(&order, watch, f, f->arena, &fetched, err) < 0)
        return -1;
    if (strcmp(fetched.digest, f->now.digest) != 0)
        return err_set(err, ERR_DIGEST, "%s became %s while it was fetched", f->now.digest,
                       fetched.digest);
    return 0;
}

static int publish(struct fetching *f, int64_t start, struct err *err)
{
    struct stage_record *r = &f->out->record;
    _cleanup_fd_ int tree = fd_open_directory(f->part, "tree");

    *r = (struct stage_record){
        .source = f->source, .digest = f->now.digest, .verified = f->rules->verify};
    if (tree < 0)
        return err_sys(err, "%s", f->tree);
    if (survey_tree(tree, NULL, &r->totals, err) < 0 ||
        make_room(f, r->totals.room, r->totals.room, err) < 0)
        return -1;
    r->totals.left_out = 0; /* devices are there */
    r->room = r->totals.room;
    r->made = (uint64_t)time(NULL);
    r->duration = (uint64_t)(clock_ms() - start);
    if (stage_cache_publish(f->cache, f->part, f->key, f->out->name, r, err) < 0)
        return -1;
    stage_tidy(f->cache);
    return 0;
}

static int note_source(const struct fetching *f, struct err *err)
{
    const struct stage_progress begun = {.since = f->since};
    _cleanup_fd_ int fd =
        openat(f->part, STAGE_SOURCE, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_sys(err, "cannot begin to fetch");
    stage_progress_write(f->part, &begun);
    return fd_write_all(fd, f->source, strlen(f->source), err);
}

static int fetch_source(struct fetching *f, struct err *err)
{
    int64_t start = clock_ms();

    f->since = (uint64_t)time(NULL);
    f->path = arena_printf(f->arena, "%s/.part-%s", f->cache->path, f->key);
    f->tree = arena_printf(f->arena, "%s/.part-%s/tree", f->cache->path, f->key);
    if (!f->path || !f->tree)
        return err_nomem(err);
    if (note_source(f, err) < 0 || resolve(f, err) < 0)
        return -1;
    f->out->unchanged = is_there(f);
    if (f->out->unchanged)
        return 0;
    return fetch_tree(f, err) < 0 ? -1 : publish(f, start, err);
}

int stage_fetch(const struct stage_cache *cache, const char *source,
                const struct policy_stage *rules, struct arena *arena,
                struct stage_copy_result *out, bool *busy, struct err *err)
{
    struct fetching f = {
        .cache = cache, .source = source, .rules = rules, .arena = arena, .out = out};

    *out = (struct stage_copy_result){0};
    stage_key(source, f.key);
    stage_name(f.key, NULL, out->name);
    _cleanup_fd_ int part = stage_cache_begin(cache, f.key, err);
    *busy = part < 0 && err->kind == ERR_LIMIT;
    if (part < 0)
        return -1;
    f.part = part;
    _cleanup_fd_ int turn = stage_cache_turn(cache, f.key, err);
    int rc = turn < 0 ? -1 : fetch_source(&f, err);
    if (rc < 0)
        stage_cache_failed(cache, f.key, err->msg);
    if (rc < 0 || out->unchanged)
        stage_cache_discard(cache, f.key);
    return rc;
}
