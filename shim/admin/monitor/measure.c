#include "shim/admin/monitor/measure.h"

#include "base/cli/log.h"
#include "shim/admin/containers/containers.h"
#include "shim/admin/copyups/walk.h"
#include "shim/admin/engine/engine_stores.h"
#include "shim/host/trust.h"
#include "shim/mount/source_wait.h"

#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>

/* Returns the texts of a container in the arena of the measures; false without memory. */
static bool copy_texts(const struct container_found *c, struct arena *arena,
                       struct measured_container *out)
{
    const char *store = c->store ? c->store : "";

    out->running = c->running;
    out->engine = container_engine_names[c->engine];
    out->id = arena_strndup(arena, c->id, strlen(c->id));
    out->name = arena_strndup(arena, c->name, strlen(c->name));
    out->store = arena_strndup(arena, store, strlen(store));
    return out->id && out->name && out->store;
}

/* ---- containers ---- */

/* Walks the upper directory. Returns 1 if the container is gone. */
static int measure_upper(const struct container_found *c, struct measured_container *out,
                         struct err *err)
{
    _cleanup_container_root_ struct container_root root = CONTAINER_ROOT_INIT;
    _cleanup_tally_ struct tally tally = {0};
    struct err why = ERR_INIT;

    if (c->problem || container_root_open(c, &root, &why) < 0) {
        if (!c->problem && err_missing(&why))
            return 1;
        log_warning("%s %s: not measured: %s", out->engine, out->name,
                    c->problem ? c->problem : why.msg);
        return 0;
    }
    const struct walk_input input = {root.upper, root.layers, root.count, c->name, root.users};
    if (tally_begin(&tally, root.count, 1, err) < 0 || walk_upper(&input, &tally, err) < 0)
        return -1;
    out->values[ALERT_UPPER] = tally.disk;
    out->values[ALERT_COPYUP] = tally.sums[CHANGE_COPIED].disk;
    out->known = true;
    return 0;
}

static struct measured_container *find_measured(const struct measures *m,
                                                const struct container_found *c)
{
    for (size_t i = 0; i < m->container_count; i++)
        if (strcmp(m->containers[i].id, c->id) == 0 &&
            strcmp(m->containers[i].store, c->store ? c->store : "") == 0)
            return &m->containers[i];
    return NULL;
}

static int add_container(const struct container_found *c, bool walk, struct measures *m,
                         struct err *err)
{
    struct measured_container one = {.known = !walk};

    if (find_measured(m, c))
        return 0;
    if (!copy_texts(c, &m->arena, &one))
        return err_nomem(err);
    int rc = walk ? measure_upper(c, &one, err) : 0;
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    m->containers =
        arena_extend(&m->arena, m->containers, m->container_count, sizeof(*m->containers));
    if (!m->containers)
        return err_nomem(err);
    m->containers[m->container_count++] = one;
    return 0;
}

/* ---- stores ---- */

/* Fills in the room of a store. Returns false if there is no such directory. */
static bool measure_room(struct measured_store *store)
{
    struct statvfs room;

    if (!source_answers(store->path, ENGINE_STORE_WAIT))
        return true;
    if (statvfs(store->path, &room) < 0)
        return errno != ENOENT && errno != ENOTDIR;
    store->free = (uint64_t)room.f_bavail * room.f_frsize;
    store->size = (uint64_t)room.f_blocks * room.f_frsize;
    store->known = true;
    return true;
}

static int add_store(const char *path, bool answers, struct measures *m, struct err *err)
{
    struct measured_store one = {.path = arena_strndup(&m->arena, path, strlen(path))};

    for (size_t i = 0; i < m->store_count; i++)
        if (strcmp(m->stores[i].path, path) == 0)
            return 0;
    if (!one.path)
        return err_nomem(err);
    if (answers && !measure_room(&one))
        return 0;
    if (!one.known)
        log_warning("%s: not measured: it does not answer, or may not be read", path);
    m->stores = arena_extend(&m->arena, m->stores, m->store_count, sizeof(*m->stores));
    if (!m->stores)
        return err_nomem(err);
    m->stores[m->store_count++] = one;
    return 0;
}

/* An engine_visit_store. */
static int add_usual_store(void *ctx, const char *path, struct err *err)
{
    return add_store(path, true, ctx, err);
}

/* Adds the usual stores, which may have no container yet. */
static int add_usual_stores(struct measures *m, struct err *err)
{
    if (!trust_rootless() && add_store(engine_containerd_root(&m->arena), true, m, err) < 0)
        return -1;
    return engine_each_store(add_usual_store, m, err);
}

/* Adds the stores of the containers, and those that did not answer. */
static int add_stores(const struct container_list *found, struct measures *m, struct err *err)
{
    for (size_t i = 0; i < found->silent_count; i++)
        if (add_store(found->silent[i], false, m, err) < 0)
            return -1;
    for (size_t i = 0; i < found->count; i++)
        if (found->list[i].store && add_store(found->list[i].store, true, m, err) < 0)
            return -1;
    return add_usual_stores(m, err);
}

/* ---- starts ---- */

/* Looks for the starts of the containers that run; each was added to the measures before. */
static int measure_starts(const struct policy_alerts *limits, const struct container_list *found,
                          const struct alert_list *before, struct measures *m, struct err *err)
{
    struct start_wish *wishes = calloc(found->count + 1, sizeof(*wishes));
    size_t count = 0;

    if (!wishes)
        return err_nomem(err);
    for (size_t i = 0; i < found->count; i++) {
        const struct container_found *c = &found->list[i];
        const char *store = c->store ? c->store : "";
        if (c->running)
            wishes[count++] = (struct start_wish){
                .container = c, .alerted = alerts_get(before, ALERT_START, store, c->id)};
    }
    int rc = starts_find(limits, before->time, wishes, count, err);
    for (size_t i = 0; i < count && rc == 0; i++) {
        struct measured_container *c = find_measured(m, wishes[i].container);
        if (c)
            c->start = wishes[i].start;
    }
    free(wishes);
    return rc;
}

int measure(const struct policy_alerts *limits, const char *const *stores, size_t store_count,
            const struct alert_list *before, struct measures *out, struct err *err)
{
    const struct containers_where where = {
        .engines = {true, true, true}, .stores = stores, .store_count = store_count};
    _cleanup_containers_ struct container_list found = {0};
    bool walk = limits->upper_bytes || limits->copyup_bytes;

    *out = (struct measures){.time = time(NULL)};
    if (containers_list(&where, &found, err) < 0 || add_stores(&found, out, err) < 0)
        return -1;
    for (size_t i = 0; i < store_count; i++)
        if (add_store(stores[i], true, out, err) < 0)
            return -1;
    for (size_t i = 0; i < found.count && (walk || limits->start_seconds); i++)
        if (add_container(&found.list[i], walk, out, err) < 0)
            return -1;
    return limits->start_seconds ? measure_starts(limits, &found, before, out, err) : 0;
}
