#include "shim/admin/start/rounds.h"

#include "shim/admin/bench/bench.h"
#include "shim/admin/start/config.h"
#include "shim/admin/start/place.h"
#include "shim/admin/start/run.h"
#include "shim/host/process/child.h"
#include "shim/restack/build/restack_build.h"

#include <string.h>
#include <sys/stat.h>

enum { MEMORY_LIMIT = 256 * 1024 * 1024 };

#define LAYER_KEY "l"
#define TREE_KEY  "t"

struct rounds {
    const struct start_options *o;
    int alive;
    struct start_result *out;
};

/* ---- one layer ---- */

static void set_why(struct rounds *r, enum start_root root, const char *why)
{
    snprintf(r->out->why[root], sizeof(r->out->why[root]), "%s", why);
}

/* Builds the tree of the layers in CACHE. *path is where it is; NULL: the reason is set. */
static int build_tree(struct rounds *r, const char *cache_path, struct arena *arena,
                      const char **path, struct err *err)
{
    _cleanup_restack_cache_ struct restack_cache cache = RESTACK_CACHE_INIT;
    struct restack_built built = {0};
    struct chain chain;

    *path = NULL;
    if (chain_of_paths(r->o->image->layers, r->o->image->count, false, arena, &chain, err) < 0 ||
        restack_cache_open(cache_path, true, &cache, err) < 0 ||
        restack_build(&cache, &chain, true, arena, &built, err) < 0)
        return -1;
    if (!built.ready) {
        set_why(r, START_RESTACKED, built.why ? built.why : "it cannot be built");
        return 0;
    }
    *path = arena_printf(arena, "%s/%s/tree", cache.path, chain.key);
    return *path ? 0 : err_nomem(err);
}

/* Finds out which roots can be measured. The tree is the only one that may fail. */
static int prepare_tree(struct rounds *r, const char *dir, const char **tree, struct arena *arena,
                        struct err *err)
{
    const char *cache = arena_printf(arena, "%s/trees", dir);
    struct err why = ERR_INIT;

    if (!cache)
        return err_nomem(err);
    *tree = NULL;
    if (r->o->image->count < 2)
        set_why(r, START_RESTACKED, "the image has one layer already");
    else if (build_tree(r, cache, arena, tree, &why) < 0)
        set_why(r, START_RESTACKED, why.msg);
    if (r->o->volume_count == 0)
        set_why(r, START_CACHES, "no --volume, and no directory of a cache of the policy exists");
    return 0;
}

/* ---- runs ---- */

static int mount_root(const struct rounds *r, enum start_root root, struct err *err)
{
    return root == START_RESTACKED ? place_mount(TREE_KEY, 1, err)
                                   : place_mount(LAYER_KEY, r->o->image->count, err);
}

/* Reads the runtime's program, so that only what the container needs is cold. */
static void warm_runtime(const char *runtime)
{
    char *const argv[] = {(char *)(uintptr_t)runtime, (char *)(uintptr_t) "--version", NULL};
    char text[64];
    struct err ignored;
    int status;

    if (child_output(argv, text, sizeof(text), &status, &ignored) < 0)
        return; /* the run will tell */
}

static void set_failure(struct rounds *r, enum start_state state, enum start_root root,
                        const struct run_outcome *outcome)
{
    r->out->failed = outcome->status;
    memcpy(r->out->tail, outcome->tail, sizeof(r->out->tail));
    snprintf(r->out->where, sizeof(r->out->where), "%s, %s", start_root_names[root],
             start_state_names[state]);
}

/* Runs the command once. Returns 1 if it failed, which is set in the result. */
static int run_once(struct rounds *r, enum start_state state, enum start_root root, double *seconds,
                    struct err *err)
{
    struct run_outcome outcome;

    if (mount_root(r, root, err) < 0 || start_config_write(r->o, root == START_CACHES, err) < 0)
        return -1;
    if (state == START_COLD && bench_drop_caches(true, err) < 0)
        return -1;
    if (state == START_COLD)
        warm_runtime(r->o->runtime);
    if (run_container(r->o, r->alive, &outcome, err) < 0)
        return err_wrap(err, "%s, %s", start_root_names[root], start_state_names[state]);
    *seconds = outcome.seconds;
    if (outcome.status)
        set_failure(r, state, root, &outcome);
    return place_unmount(err) < 0 ? -1 : outcome.status != 0;
}

/* Runs the command once on each root that can be measured. */
static int run_roots(struct rounds *r, enum start_state state, unsigned round, bool keep,
                     struct err *err)
{
    for (int root = 0; root < START_ROOTS; root++) {
        double seconds;
        if (r->out->why[root][0])
            continue;
        int rc = run_once(r, (enum start_state)state, (enum start_root)root, &seconds, err);
        if (rc)
            return rc;
        if (keep)
            r->out->seconds[state][root][round] = seconds;
        r->out->measured[state][root] |= keep;
    }
    return 0;
}

/* The first warm run fills the caches, and is not counted. */
static int run_rounds(struct rounds *r, struct err *err)
{
    int rc = 0;

    for (unsigned round = 0; rc == 0 && round < r->o->runs; round++) {
        bool warm = r->o->states[START_WARM];
        if (r->o->states[START_COLD])
            rc = run_roots(r, START_COLD, round, true, err);
        if (rc == 0 && warm && (round == 0 || r->o->states[START_COLD]))
            rc = run_roots(r, START_WARM, round, false, err);
        if (rc == 0 && warm)
            rc = run_roots(r, START_WARM, round, true, err);
    }
    return rc < 0 ? -1 : 0;
}

int rounds_measure(const struct start_options *options, const char *dir, int alive,
                   struct start_result *out, struct err *err)
{
    _cleanup_arena_ struct arena arena = {.limit = MEMORY_LIMIT};
    struct rounds r = {options, alive, out};
    const char *place = arena_printf(&arena, "%s/place", dir), *tree;

    out->runs = options->runs;
    out->layers = options->image->count;
    if (!place)
        return err_nomem(err);
    if (mkdir(place, 0700) < 0)
        return err_sys(err, "%s", place);
    if (prepare_tree(&r, dir, &tree, &arena, err) < 0 || place_enter(place, err) < 0 ||
        place_name_layers(LAYER_KEY, options->image->layers, options->image->count, err) < 0 ||
        (tree && place_name_layers(TREE_KEY, &tree, 1, err) < 0))
        return -1;
    return run_rounds(&r, err);
}
