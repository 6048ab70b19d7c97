#include "shim/restack/restack.h"

#include "shim/host/trust.h"
#include "shim/restack/build/restack_build.h"
#include "shim/restack/restack_mount.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

struct restack {
    const struct rootfs_facts *root;
    const char *cache; /* path of the cache */
    bool look;         /* only: nothing is mounted or built */
    struct arena *arena;
    struct outcome *outcome;
    struct chain chain;
};

static int conclude(const struct restack *r, enum plan_verdict verdict, const char *what,
                    const char *why, struct err *err)
{
    const char *reason = arena_printf(r->arena, "the container's root has %zu layers: %s%s%s",
                                      r->root->layers.count, what, why ? ": " : "", why ? why : "");

    if (!reason)
        return err_nomem(err);
    r->outcome->verdict = verdict;
    r->outcome->reason = reason;
    return 0;
}

static int keep_mount(const struct restack *r, const char *why, struct err *err)
{
    return conclude(r, PLAN_SKIPPED, "it stays as the engine mounted it", why, err);
}

/* ---- what there is in the cache ---- */

static int mount_tree(const struct restack *r, const struct restack_cache *cache, int entry,
                      struct err *err)
{
    _cleanup_free_ char *tree = strf("%s/%s/tree", cache->path, r->chain.key);
    const char *why = NULL;

    if (!tree)
        return err_nomem(err);
    if (r->look)
        return conclude(r, PLAN_ADDED, "a tree of them is mounted in their place, if it is unused",
                        NULL, err);
    int done = restack_mount(r->root, &r->chain, tree, r->arena, &why, err);
    if (done < 0)
        return -1;
    if (!done)
        return keep_mount(r, why, err);
    futimens(entry, NULL); /* the time of its last use */
    return conclude(r, PLAN_ADDED, "a tree of them is mounted in their place", NULL, err);
}

static int build_later(const struct restack *r, struct err *err)
{
    static const char later[] = "a tree of them is made in the background, for the next container";
    struct err failure = ERR_INIT;

    if (r->look)
        return conclude(r, PLAN_KEPT, "there is no tree of them yet; one is made at a launch", NULL,
                        err);
    if (restack_build_in_background(r->cache, &r->chain, &failure) < 0)
        return keep_mount(r, failure.msg, err);
    return conclude(r, PLAN_KEPT, later, NULL, err);
}

static int decide_by_entry(const struct restack *r, const struct restack_cache *cache,
                           struct err *err)
{
    struct restack_entry entry = RESTACK_ENTRY_INIT;
    int rc;

    if (restack_cache_find(cache, &r->chain, r->arena, &entry, err) < 0)
        return -1;
    switch (entry.state) {
    case RESTACK_READY:
        rc = mount_tree(r, cache, entry.fd, err);
        break;
    case RESTACK_NEEDLESS:
        rc = conclude(r, PLAN_KEPT, "no tree of them is made", entry.why, err);
        break;
    case RESTACK_FAILED:
        rc = conclude(r, PLAN_SKIPPED, "no tree of them could be made", entry.why, err);
        break;
    case RESTACK_BUILDING:
        rc = conclude(r, PLAN_KEPT, "a tree of them is being made", NULL, err);
        break;
    default:
        rc = build_later(r, err);
    }
    cleanup_fd(&entry.fd); /* unlocks it: a mounted tree is safe, gc sees its mount */
    return rc;
}

/* ---- all of it ---- */

static int decide_root(struct restack *r, struct err *err)
{
    _cleanup_restack_cache_ struct restack_cache cache = RESTACK_CACHE_INIT;
    struct err failure = ERR_INIT;
    const char *why;

    if (trust_rootless())
        return keep_mount(r, "a rootless runtime cannot mount another", err);
    if (restack_mount_check(r->root, r->arena, &why, err) < 0)
        return -1;
    if (why)
        return keep_mount(r, why, err);
    if (chain_find(&r->root->layers, r->root->mount->point, r->arena, &r->chain, &failure) < 0)
        return keep_mount(r, failure.msg, err);
    if (restack_cache_open(r->cache, false, &cache, &failure) < 0)
        return err_missing(&failure) ? build_later(r, err) : keep_mount(r, failure.msg, err);
    return decide_by_entry(r, &cache, err);
}

int restack_root(const struct judgement *judgement, bool look, struct arena *arena,
                 struct decision *decision, struct err *err)
{
    const struct policy_rootfs *rule = &judgement->policy->rootfs;
    struct restack r = {
        .root = &judgement->rootfs,
        .cache = rule->cache.text ? rule->cache.text : RESTACK_CACHE,
        .look = look,
        .arena = arena,
    };

    for (size_t i = 0; i < decision->count; i++)
        if (decision->list[i].op->kind == PLAN_ROOTFS && decision->list[i].op->restack)
            r.outcome = &decision->list[i];
    return r.outcome ? decide_root(&r, err) : 0;
}
