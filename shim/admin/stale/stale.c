#include "shim/admin/stale/stale.h"

#include "base/fdio.h"
#include "shim/admin/engine/engine_stores.h"
#include "shim/admin/stale/clear.h"
#include "shim/admin/stale/find.h"
#include "shim/mount/source_wait.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SILENCE = 5 };                   /* seconds without a word while directories are measured */
enum { TRIES = 3, PAUSE = 200 * 1000 }; /* of looking again; microseconds between two */

struct stale_item *stale_add(struct stale_list *list)
{
    struct stale_item *grown = arena_extend(&list->arena, list->list, list->count, sizeof(*grown));

    if (!grown)
        return NULL;
    list->list = grown;
    grown[list->count] = (struct stale_item){0};
    return &grown[list->count++];
}

int stale_problem(struct stale_list *list, const char *path, const char *why, struct err *err)
{
    struct stale_problem *grown =
        arena_extend(&list->arena, list->problems, list->problem_count, sizeof(*grown));
    const char *copy = arena_strndup(&list->arena, path, strlen(path));
    const char *reason = arena_strndup(&list->arena, why, strlen(why));

    if (!grown || !copy || !reason)
        return err_nomem(err);
    list->problems = grown;
    grown[list->problem_count++] = (struct stale_problem){copy, reason};
    return 0;
}

void stale_free(struct stale_list *list)
{
    arena_free(&list->arena);
    *list = (struct stale_list){0};
}

/* Drops the items that are too young for the list; what a removal left is never too young. */
static void drop_young(struct stale_list *list, size_t from, const struct stale_limits *limits)
{
    size_t count = from;

    for (size_t i = from; i < list->count; i++)
        if (list->list[i].kind == STALE_REMAINS ||
            limits->now - list->list[i].changed >= limits->older)
            list->list[count++] = list->list[i];
    list->count = count;
}

static void measure_all(const struct layer_store *store, const struct stale_limits *limits,
                        struct stale_list *out, size_t from)
{
    time_t said = time(NULL);

    for (size_t i = from; i < out->count; i++) {
        stale_measure(store->layers, &out->list[i]);
        if (!limits->tell || time(NULL) - said < SILENCE)
            continue;
        said = time(NULL);
        limits->tell(store->layers_path, i + 1 - from, out->count - from);
    }
}

/*
 * Finds what is stale. Docker writes the files of a new container one after the other, so what
 * cannot be read is looked at again.
 */
static int find_patiently(const struct layer_store *store, struct stale_list *out, struct err *why)
{
    size_t from = out->count;

    for (int i = 0; i < TRIES; i++) {
        if (i)
            usleep(PAUSE);
        out->count = from; /* nothing is stale where something is unknown */
        if (stale_find(store, out, why) == 0)
            return 0;
    }
    out->count = from;
    return -1;
}

/* Finds, measures and removes in one directory of layers. */
static int examine(struct layer_store *store, const struct stale_limits *limits,
                   struct stale_list *out, struct err *err)
{
    size_t from = out->count;
    struct err why = ERR_INIT;

    if (find_patiently(store, out, &why) < 0)
        return stale_problem(out, store->layers_path, why.msg, err);
    drop_young(out, from, limits);
    measure_all(store, limits, out, from);
    if (limits->remove && out->count > from)
        stale_clear(store, limits, out, from);
    return 0;
}

/* Examines a directory of layers, if the store has it. *there is set if it does. */
static int examine_driver(int root, const char *path, enum stale_engine engine,
                          const struct stale_limits *limits, bool *there, struct stale_list *out,
                          struct err *err)
{
    static const char *const drivers[] = {"overlay2", "overlay"};
    static const char *const states[] = {"image", "overlay-layers"};
    _cleanup_free_ char *layers_path = strf("%s/%s", path, drivers[engine]);
    struct layer_store store = {
        .engine = engine, .path = path, .layers_path = layers_path, .root = root};

    if (!layers_path)
        return err_nomem(err);
    _cleanup_fd_ int layers = store_open(root, drivers[engine], O_RDONLY | O_DIRECTORY, false);
    if (layers < 0)
        return errno == ENOENT ? 0 : stale_problem(out, layers_path, strerror(errno), err);
    *there = true;
    _cleanup_fd_ int state = store_open(root, states[engine], O_PATH | O_DIRECTORY, false);
    store.stateless = state < 0;
    store.layers = layers;
    return examine(&store, limits, out, err);
}

int stale_store(const char *path, bool asked, const struct stale_limits *limits,
                struct stale_list *out, struct err *err)
{
    bool there = false;

    if (!source_answers(path, ENGINE_STORE_WAIT))
        return stale_problem(out, path, "it does not answer", err);
    _cleanup_fd_ int root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return asked || errno != ENOENT ? stale_problem(out, path, strerror(errno), err) : 0;
    if (examine_driver(root, path, STALE_DOCKER, limits, &there, out, err) < 0 ||
        examine_driver(root, path, STALE_PODMAN, limits, &there, out, err) < 0)
        return -1;
    return there || !asked ? 0
                           : stale_problem(out, path, "it has neither overlay2 nor overlay", err);
}

/* The arguments of stale_usual_stores, for each store. */
struct usual {
    const struct stale_limits *limits;
    struct stale_list *out;
};

static int examine_usual(void *ctx, const char *path, struct err *err)
{
    const struct usual *u = ctx;

    return stale_store(path, false, u->limits, u->out, err);
}

int stale_usual_stores(const struct stale_limits *limits, struct stale_list *out, struct err *err)
{
    struct usual usual = {limits, out};

    return engine_each_store(examine_usual, &usual, err);
}
