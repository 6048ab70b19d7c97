#include "shim/stage/copy/stage_copy.h"

#include "base/clock.h"
#include "base/fdio.h"
#include "base/files/tree_remove.h"
#include "shim/stage/copy/survey.h"
#include "shim/stage/copy/tree_compare.h"
#include "shim/stage/copy/tree_copy.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TRIES = 3, PLAN_BYTES = 256 };

struct staging {
    const struct stage_cache *cache;
    const struct stage_source *source;
    const struct policy_stage *rules;
    stage_copy_progress *told;
    void *context;
    struct arena *arena;
    struct stage_copy_result *out;
    char key[STAGE_KEY];
    int part;                      /* .part-KEY, locked */
    bool fresh;                    /* its tree is empty */
    const struct user_ids *reader; /* NULL: root */
    struct stage_progress progress;
};

/* ---- the source ---- */

static bool is_refused(const struct err *err)
{
    return err->kind == ERR_SYSTEM && (err->sys == EACCES || err->sys == EPERM);
}

/* Lets the user read what root may not. Returns false if that is no way out. */
static bool change_reader(struct staging *s, const struct err *why)
{
    if (s->reader || !s->source->user || !is_refused(why))
        return false;
    s->reader = s->source->user;
    return true;
}

/* Looks the tree through: as root, or as the user where root may not. */
static int look_through(struct staging *s, struct stage_totals *out, struct err *err)
{
    struct err first = ERR_INIT;

    if (survey_tree(s->source->fd, s->reader, out, &first) == 0)
        return 0;
    if (change_reader(s, &first))
        return survey_tree(s->source->fd, s->reader, out, err);
    *err = first;
    return -1;
}

static int describe(struct staging *s, const struct stage_totals *totals, struct err *err)
{
    struct stage_record *r = &s->out->record;
    struct stat st;

    if (fstat(s->source->fd, &st) < 0)
        return err_sys(err, "%s", s->source->path);
    *r = (struct stage_record){
        .source = s->source->path,
        .by_user = s->reader != NULL,
        .owned = s->reader && !totals->open,
        .owner = s->reader ? s->reader->uid : 0,
        .account = s->source->user ? s->source->user->uid : 0,
        .root = stage_root_of(&st),
        .totals = *totals,
        .room = totals->room,
        .verified = s->rules->verify,
    };
    stage_name(s->key, r->owned ? &r->owner : NULL, s->out->name);
    return 0;
}

/* Returns true if the cache has a copy of just this tree; its time of comparison is set to now. */
static bool is_there(struct staging *s)
{
    struct stage_record record;
    _cleanup_fd_ int entry = fd_open_directory(s->cache->fd, s->out->name);

    if (entry < 0 || !stage_record_read(entry, s->arena, &record) ||
        strcmp(record.source, s->source->path) != 0 ||
        !survey_equal(&record.totals, &s->out->record.totals) ||
        (s->rules->verify && !record.verified) || record.by_user != s->out->record.by_user ||
        memcmp(&record.root, &s->out->record.root, sizeof(record.root)) != 0)
        return false;
    (void)!stage_touch(entry, "checked");
    return true;
}

/* ---- room ---- */

static int make_room(struct staging *s, struct err *err)
{
    const struct policy_stage *rules = s->rules;
    const struct stage_limits limits = {rules->max, rules->per_owner, rules->free};
    const struct stage_need need = {s->out->record.room, 0, s->out->record.account, s->out->name};

    return stage_make_room(s->cache, &limits, &need, false, &s->out->evicted, err);
}

/* ---- what an interrupted copy left ---- */

/* Writes what is to be copied in one line: the start of the host, and the tree. */
static void plan_text(const struct stage_totals *totals, char text[PLAN_BYTES])
{
    enum { BOOT_ID = 36 };
    _cleanup_buf_ struct buf boot = BUF_INIT;
    struct err ignored;

    if (file_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id", BOOT_ID + 1, &boot, &ignored) < 0)
        buf_free(&boot);
    snprintf(text, PLAN_BYTES, "%.*s %016" PRIx64 "%016" PRIx64 " %" PRIu64 "\n",
             boot.len >= BOOT_ID ? BOOT_ID : 0, boot.data ? boot.data : "", totals->manifest[0],
             totals->manifest[1], totals->bytes);
}

/* Returns true if the part is of the same tree, and all that was written to it is still there. */
static bool can_go_on(struct staging *s, const char *plan)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    return *plan != ' ' && file_read(s->part, "plan", PLAN_BYTES, &text, &ignored) == 0 &&
           text.len == strlen(plan) && memcmp(text.data, plan, text.len) == 0;
}

static int write_note(const struct staging *s, const char *name, const char *text, struct err *err)
{
    _cleanup_fd_ int fd =
        openat(s->part, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_sys(err, "cannot begin a copy");
    return fd_write_all(fd, text, strlen(text), err);
}

static int remove_part_tree(const struct staging *s, struct err *err)
{
    _cleanup_free_ char *tree = strf("%s/.part-%s/tree", s->cache->path, s->key);

    if (!tree)
        return err_nomem(err);
    tree_remove(tree);
    return 0;
}

/* Opens the directory of the copy: that of an interrupted one, or an empty one. */
static int open_tree(struct staging *s, const struct stage_totals *totals, struct err *err)
{
    char plan[PLAN_BYTES];

    plan_text(totals, plan);
    s->fresh = !can_go_on(s, plan);
    if (s->fresh) {
        if (remove_part_tree(s, err) < 0 || write_note(s, "plan", plan, err) < 0)
            return -1;
    }
    if (mkdirat(s->part, "tree", 0700) < 0 && errno != EEXIST)
        return err_sys(err, "cannot begin a copy");
    int fd = fd_open_directory(s->part, "tree");
    return fd < 0 ? err_sys(err, "cannot begin a copy") : fd;
}

/* ---- the copy ---- */

static void tell(struct staging *s)
{
    stage_progress_write(s->part, &s->progress);
    if (s->told)
        s->told(s->context, &s->progress);
}

static void note_progress(void *context, uint64_t bytes, uint64_t files)
{
    struct staging *s = context;

    s->progress.bytes = bytes;
    s->progress.files = files;
    tell(s);
}

/* A file that vanished or became another one: the next survey says what is there. */
static bool has_changed(const struct err *why)
{
    return why->kind == ERR_UNSUPPORTED ||
           (why->kind == ERR_SYSTEM &&
            (why->sys == ENOENT || why->sys == ESTALE || why->sys == ENOTDIR));
}

/* Copies once. Returns 1 if the source was another one by then, or needs another reader. */
static int copy_once(struct staging *s, const struct stage_totals *seen, struct err *err)
{
    struct stage_totals copied;
    struct err failure = ERR_INIT;
    _cleanup_fd_ int tree = open_tree(s, seen, err);

    if (tree < 0)
        return -1;
    const struct copy_options options = {.user = s->reader,
                                         .fresh = s->fresh,
                                         .bandwidth = s->rules->bandwidth,
                                         .progress = note_progress,
                                         .context = s};
    s->progress = (struct stage_progress){
        .total = seen->bytes, .total_files = seen->files, .since = (uint64_t)time(NULL)};
    tell(s);
    if (tree_copy(s->source->fd, tree, &options, &copied, &failure) < 0 ||
        (survey_equal(seen, &copied) && s->rules->verify &&
         tree_compare(s->source->fd, tree, s->reader, &failure) < 0)) {
        *err = failure;
        return has_changed(&failure) || change_reader(s, &failure) ? 1 : -1;
    }
    if (!survey_equal(seen, &copied))
        return 1;
    return syncfs(tree) < 0 ? err_sys(err, "cannot write to the disk") : 0;
}

static int publish(struct staging *s, int64_t start, struct err *err)
{
    struct stage_record *r = &s->out->record;

    r->made = (uint64_t)time(NULL);
    r->duration = (uint64_t)(clock_ms() - start);
    if (stage_cache_publish(s->cache, s->part, s->key, s->out->name, r, err) < 0)
        return -1;
    stage_tidy(s->cache);
    return 0;
}

static int copy_source(struct staging *s, struct err *err)
{
    int64_t start = clock_ms();
    struct stage_totals seen;
    int changed = 1;

    s->progress = (struct stage_progress){.since = (uint64_t)time(NULL)};
    stage_progress_write(s->part, &s->progress);
    if (write_note(s, STAGE_SOURCE, s->source->path, err) < 0)
        return -1;
    for (int try = 0; changed == 1 && try < TRIES; try++) {
        if (look_through(s, &seen, err) < 0 || describe(s, &seen, err) < 0)
            return -1;
        s->out->unchanged = is_there(s);
        if (s->out->unchanged)
            return 0;
        if (make_room(s, err) < 0)
            return -1;
        changed = copy_once(s, &seen, err);
    }
    if (changed > 0)
        return err_set(err, ERR_UNSUPPORTED, "it changed during each of %d copies", TRIES);
    return changed < 0 ? -1 : publish(s, start, err);
}

/* ---- the whole ---- */

/*
 * An interrupted copy is gone on with; one that failed is removed, as its room is wanted: on a full
 * disk also for the reason.
 */
static void give_up(struct staging *s, const struct err *err)
{
    struct err ignored;

    (void)!remove_part_tree(s, &ignored);
    stage_cache_failed(s->cache, s->key, err->msg);
    stage_cache_discard(s->cache, s->key);
}

int stage_copy(const struct stage_cache *cache, const struct stage_source *source,
               const struct policy_stage *rules, stage_copy_progress *progress, void *context,
               struct arena *arena, struct stage_copy_result *out, bool *busy, struct err *err)
{
    struct staging s = {.cache = cache,
                        .source = source,
                        .rules = rules,
                        .told = progress,
                        .context = context,
                        .arena = arena,
                        .out = out};

    *out = (struct stage_copy_result){0};
    stage_key(source->path, s.key);
    _cleanup_fd_ int part = stage_cache_begin(cache, s.key, err);
    *busy = part < 0 && err->kind == ERR_LIMIT;
    if (part < 0)
        return -1;
    s.part = part;
    _cleanup_fd_ int turn = stage_cache_turn(cache, s.key, err);
    int rc = turn < 0 ? -1 : copy_source(&s, err);
    if (rc < 0)
        give_up(&s, err);
    else if (out->unchanged)
        stage_cache_discard(cache, s.key);
    return rc;
}
