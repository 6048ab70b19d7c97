#include "shim/stage/stage.h"

#include "base/clock.h"
#include "base/human.h"
#include "base/path.h"
#include "shim/policy/registry_source.h"
#include "shim/stage/copy/stage_copy.h"

#include <inttypes.h>
#include <unistd.h>

enum { LONGEST_WAIT = 24 * 3600 * 1000, LOOK_EVERY = 50 /* milliseconds */ };

void stage_offer_close(struct stage_offer *offer)
{
    stage_entry_close(&offer->entry);
}

const char *stage_word(const struct stage_offer *offer)
{
    static const char *const words[] = {
        [STAGE_MISSING] = "miss",  [STAGE_READY] = "hit",       [STAGE_STALE] = "stale",
        [STAGE_FAILED] = "failed", [STAGE_COPYING] = "copying",
    };

    return offer->off ? "off" : words[offer->entry.state];
}

/* ---- how it stands ---- */

static const char *copying_note(const struct stage_progress *p, const char *meanwhile,
                                struct arena *arena)
{
    char done[HUMAN_SIZE], total[HUMAN_SIZE];

    if (!p->total)
        return arena_printf(arena, "copying: the source is looked through%s", meanwhile);
    human_size_binary(p->bytes, done);
    human_size_binary(p->total, total);
    return arena_printf(arena, "copying: %.0f %%, %s of %s%s", human_share(p->bytes, p->total),
                        done, total, meanwhile);
}

static const char *fetching_note(const struct stage_progress *p, struct arena *arena)
{
    char done[HUMAN_SIZE];

    if (!p->bytes)
        return "being fetched";
    return arena_printf(arena, "being fetched: %s so far", human_size_binary(p->bytes, done));
}

static const char *fetched_note(const struct stage_entry *e, struct arena *arena)
{
    enum { SHOWN = sizeof("sha256:") - 1 + 12 };
    const char *digest = e->record.digest ? e->record.digest : "";

    if (e->why)
        return arena_printf(arena, "fetched as %.*s; whether it is the newest is not known: %s",
                            SHOWN, digest, e->why);
    return arena_printf(arena, "fetched as %.*s", SHOWN, digest);
}

static int describe_fetched(struct stage_offer *o, struct arena *arena, struct err *err)
{
    if (o->entry.state == STAGE_READY)
        o->note = fetched_note(&o->entry, arena);
    else if (o->entry.state == STAGE_COPYING)
        o->note = fetching_note(&o->entry.progress, arena);
    else if (o->entry.state == STAGE_FAILED)
        o->note = arena_printf(arena, "not fetched: %s", o->entry.why);
    else
        o->note = "not fetched yet";
    return o->note ? 0 : err_nomem(err);
}

static int describe(const struct stage_wanted *w, struct stage_offer *o, struct arena *arena,
                    struct err *err)
{
    const char *meanwhile = w->rules->otherwise == ELSE_SOURCE ? ", from the source meanwhile" : "";

    if (registry_source_is(w->path))
        return describe_fetched(o, arena, err);
    switch (o->entry.state) {
    case STAGE_READY:
        o->note = "staged";
        break;
    case STAGE_COPYING:
        o->note = copying_note(&o->entry.progress, meanwhile, arena);
        break;
    case STAGE_FAILED:
        o->note = arena_printf(arena, "not staged, as the copy failed: %s", o->entry.why);
        break;
    case STAGE_STALE:
        o->note = "the source changed since it was copied, would be staged anew";
        break;
    default:
        o->note = "would be staged";
    }
    return o->note ? 0 : err_nomem(err);
}

/* A copy of the cache would have itself in it, and a source in the cache shows what is closed. */
static bool is_circle(const char *cache, const char *source)
{
    return path_is_beneath(cache, source) || path_is_beneath(source, cache);
}

static int refuse(struct stage_offer *o, const char *why, struct arena *arena, struct err *err)
{
    o->entry.state = STAGE_FAILED;
    o->note = arena_printf(arena, "not staged: %s", why);
    return o->note ? 0 : err_nomem(err);
}

/* Forgets that a copy failed. */
static void forget_failure(const struct stage_cache *cache, const char *source)
{
    char key[STAGE_KEY];

    stage_key(source, key);
    stage_cache_failed(cache, key, NULL);
}

/* The cache may be missing before the first copy. */
static int find(const struct stage_wanted *w, bool make, struct arena *arena, struct stage_offer *o,
                struct err *err)
{
    _cleanup_stage_cache_ struct stage_cache cache = STAGE_CACHE_INIT;
    struct err failure = ERR_INIT;

    o->entry = (struct stage_entry)STAGE_ENTRY_INIT;
    bool circle = is_circle(w->rules->cache.text, w->path);
    if (!circle && stage_cache_open(w->rules->cache.text, make, &cache, &failure) < 0)
        return !make && err_missing(&failure) ? describe(w, o, arena, err)
                                              : refuse(o, failure.msg, arena, err);
    if (circle || is_circle(cache.path, w->path)) {
        o->closed = path_is_beneath(w->path, circle ? w->rules->cache.text : cache.path);
        return refuse(o, "the cache and the source lie in one another", arena, err);
    }
    if (make && w->again)
        forget_failure(&cache, w->path);
    if (stage_cache_find(&cache, w->path, w->user ? &w->user->uid : NULL, &w->root, arena,
                         &o->entry, err) < 0)
        return -1;
    if (o->entry.state == STAGE_READY)
        o->tree = arena_printf(arena, "%s/%s/tree", cache.path, o->entry.name);
    if (o->entry.state == STAGE_READY && !o->tree)
        return err_nomem(err);
    return describe(w, o, arena, err);
}

/*
 * A copy that a user read, because root may not, is for those who may enter the source now: the
 * rest of it is as the user could read it when it was compared last.
 */
static void check_access(const struct stage_wanted *w, int source, struct stage_offer *o)
{
    if (o->entry.state != STAGE_READY || !o->entry.record.by_user)
        return;
    int fd = w->user ? as_user_open(w->user, source, ".") : -1;
    if (fd >= 0) {
        close(fd);
        return;
    }
    stage_offer_close(o);
    o->tree = NULL;
    o->entry.state = STAGE_FAILED;
    o->note = "not staged, as its user may not enter the source now";
}

int stage_look(const struct stage_wanted *wanted, struct arena *arena, struct stage_offer *out,
               struct err *err)
{
    *out = (struct stage_offer){0};
    if (find(wanted, false, arena, out, err) < 0)
        return -1;
    if (wanted->wish & 1u << STAGE_OFF) {
        stage_offer_close(out);
        out->entry = (struct stage_entry)STAGE_ENTRY_INIT;
        out->tree = NULL;
        out->note = "not staged, as the container asks";
        out->off = true;
    }
    return 0;
}

/* ---- a launch ---- */

static bool is_old(const struct stage_wanted *w, const struct stage_entry *entry)
{
    time_t age = time(NULL) - entry->checked;

    if (entry->why || registry_source_is_fixed(w->path))
        return false;
    return age < 0 || age >= (time_t)w->rules->recheck;
}

static void start(const struct stage_wanted *w, int source, struct arena *arena,
                  struct stage_offer *o)
{
    const struct stage_source from = {w->path, source, w->user};
    struct err failure = ERR_INIT;
    bool ready = o->entry.state == STAGE_READY, stale = o->entry.state == STAGE_STALE;

    if (stage_copy_in_background(w->rules->cache.text, &from, w->rules, w->metrics, &failure) ==
        0) {
        if (!ready) {
            o->entry.state = STAGE_COPYING;
            o->note = registry_source_is(w->path) ? "being fetched"
                      : stale ? "the source changed since it was copied, and a new copy is begun"
                              : "a copy is begun";
        }
        return;
    }
    if (ready)
        return;
    o->entry.state = STAGE_FAILED;
    const char *note = arena_printf(arena, "not staged: %s", failure.msg);
    o->note = note ? note : "not staged";
}

int stage_begin(const struct stage_wanted *wanted, int source, struct arena *arena,
                struct stage_offer *out, struct err *err)
{
    *out = (struct stage_offer){0};
    if (wanted->wish & 1u << STAGE_OFF)
        return stage_look(wanted, arena, out, err);
    if (find(wanted, true, arena, out, err) < 0)
        return -1;
    check_access(wanted, source, out);
    bool missing = out->entry.state == STAGE_MISSING || out->entry.state == STAGE_STALE;
    if (missing || (out->entry.state == STAGE_READY && is_old(wanted, &out->entry)))
        start(wanted, source, arena, out);
    return 0;
}

static uint64_t longest_wait(const struct stage_wanted *w)
{
    if (w->wish & 1u << STAGE_WAIT)
        return LONGEST_WAIT;
    return w->wish & 1u << STAGE_NOW ? 0 : (uint64_t)w->rules->wait * 1000;
}

/* Looks until there is a copy, or none to come. */
static int wait_for_copy(const struct stage_wanted *w, int source, struct arena *arena,
                         struct stage_offer *o, struct err *err)
{
    enum { GRACE = 100 }; /* looks between two names of a copy, or before an idle copier begins */
    int64_t begin = clock_ms();
    uint64_t most = longest_wait(w);
    unsigned without = 0;
    bool done = false;

    if (!most)
        return 0;
    while (!done && (uint64_t)(clock_ms() - begin) < most && without < GRACE) {
        _cleanup_arena_ struct arena now = {0};
        usleep(LOOK_EVERY * 1000);
        if (find(w, false, &now, o, err) < 0)
            return -1;
        done = o->entry.state == STAGE_READY || o->entry.state == STAGE_FAILED;
        without = o->entry.state == STAGE_COPYING ? 0 : without + 1;
        stage_offer_close(o);
    }
    o->waited = (uint64_t)(clock_ms() - begin);
    if (find(w, false, arena, o, err) < 0)
        return -1;
    check_access(w, source, o);
    return 0;
}

/* There is nothing else to mount than what is fetched. */
static int refuse_unfetched(const struct stage_wanted *w, const struct stage_offer *o,
                            struct err *err)
{
    if (o->entry.state == STAGE_FAILED)
        return err_set(err, ERR_POLICY, "%s could not be fetched: %s", w->path,
                       o->entry.why ? o->entry.why : o->note);
    return err_set(err, ERR_POLICY, "%s is not here yet: try again later (%s)", w->path, o->note);
}

static bool does_without(const struct stage_wanted *w, const struct stage_offer *o)
{
    bool spare = o->off || w->rules->otherwise == ELSE_SOURCE;

    return !o->closed && (o->entry.state == STAGE_READY || (spare && !registry_source_is(w->path)));
}

bool stage_denies(const struct stage_wanted *wanted, const struct stage_offer *offer)
{
    return !does_without(wanted, offer) &&
           (offer->entry.state == STAGE_FAILED || !longest_wait(wanted));
}

int stage_end(const struct stage_wanted *wanted, int source, struct arena *arena,
              struct stage_offer *offer, struct err *err)
{
    if (offer->entry.state == STAGE_COPYING && wait_for_copy(wanted, source, arena, offer, err) < 0)
        return -1;
    if (offer->entry.state == STAGE_READY)
        stage_count_launch(offer->entry.fd);
    if (does_without(wanted, offer))
        return 0;
    if (offer->closed)
        return err_set(err, ERR_POLICY, "%s lies in the cache of staged copies", wanted->path);
    if (registry_source_is(wanted->path))
        return refuse_unfetched(wanted, offer, err);
    return err_set(err, ERR_POLICY,
                   "%s is not staged, and the policy wants the copy: try again later (%s)",
                   wanted->path, offer->note);
}
