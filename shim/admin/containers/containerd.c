/*
 * The containers of containerd. Those that run are known by the mounts of their roots, with names
 * by the bundle's config.json; containerd itself is asked for the others.
 */
#include "shim/admin/containers/sources.h"
#include "shim/admin/engine/ctr.h"
#include "shim/admin/engine/engine_stores.h"
#include "shim/host/trust.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* The namespace of Docker, whose containers have entries there while they run. */
static const char dockers[] = "moby";

/* Sets what Kubernetes says of the container in its annotations. */
static void read_bundle(struct container_list *list, const char *point, struct container_found *c,
                        bool *failed)
{
    _cleanup_free_ char *path =
        strf("%.*s/config.json", (int)(strlen(point) - strlen("/rootfs")), point);
    _cleanup_json_ struct json_doc *doc = path ? container_state(AT_FDCWD, path) : NULL;
    const struct json *notes = doc ? json_get(json_root(doc), "annotations") : NULL;
    const char *name = json_text(json_get(notes, "io.kubernetes.cri.container-name"));
    const char *pod = json_text(json_get(notes, "io.kubernetes.cri.sandbox-name"));

    c->image =
        container_text(list, json_text(json_get(notes, "io.kubernetes.cri.image-name")), failed);
    if (name && pod) {
        c->name = arena_printf(&list->arena, "%s/%s", pod, name);
        *failed = *failed || !c->name;
    }
}

static struct container_found *find_listed(const struct container_list *list, const char *id,
                                           size_t len)
{
    for (size_t i = 0; i < list->count; i++)
        if (strncmp(list->list[i].id, id, len) == 0 && !list->list[i].id[len])
            return &list->list[i];
    return NULL;
}

int containerd_add(struct container_list *list, const struct overlays *mounts, struct err *err)
{
    for (size_t i = 0; i < mounts->count; i++) {
        const struct overlay_seen *seen = &mounts->list[i];
        const char *space, *id;
        size_t space_len, id_len;
        bool failed = false;

        if (!seen->super || !overlay_task(seen->point, &space, &space_len, &id, &id_len) ||
            find_listed(list, id, id_len))
            continue;
        struct container_found *c = container_add(list);
        if (!c)
            return err_nomem(err);
        c->engine = CONTAINER_CONTAINERD;
        c->running = true;
        c->users = seen->users;
        c->id = c->name = arena_strndup(&list->arena, id, id_len);
        c->super = container_text(list, seen->super, &failed);
        read_bundle(list, seen->point, c, &failed);
        if (failed || !c->id)
            return err_nomem(err);
    }
    return 0;
}

/* ---- asking ---- */

/* A containerd that is asked, and one of its namespaces. */
struct question {
    struct container_list *list;
    bool wanted; /* its own containers; else those of Docker alone */
    struct ctr_space space;
};

static int add_answer(void *ctx, const char *const words[CTR_WORDS], struct err *err)
{
    const struct question *q = ctx;
    struct container_found *c = find_listed(q->list, words[0], strlen(words[0]));
    bool failed = false;

    if (!c) {
        c = container_add(q->list);
        if (!c)
            return err_nomem(err);
        c->engine = CONTAINER_CONTAINERD;
        c->id = c->name = container_text(q->list, words[0], &failed);
    }
    c->address = q->space.address;
    c->space = q->space.name;
    if (!c->image && strcmp(words[1], "-") != 0)
        c->image = container_text(q->list, words[1], &failed);
    return failed ? err_nomem(err) : 0;
}

/* Docker keeps the names of its containers itself; containerd has the snapshots. */
static void mark_dockers(const struct question *q)
{
    for (size_t i = 0; i < q->list->count; i++) {
        struct container_found *c = &q->list->list[i];
        if (c->engine != CONTAINER_DOCKER || !c->snapshotter || c->address)
            continue;
        c->address = q->space.address;
        c->space = q->space.name;
        c->problem = NULL;
    }
}

static int ask_space(void *ctx, const char *const words[CTR_WORDS], struct err *err)
{
    struct question *q = ctx;
    bool failed = false;

    q->space.name = container_text(q->list, words[0], &failed);
    if (failed)
        return err_nomem(err);
    if (strcmp(words[0], dockers) == 0) {
        mark_dockers(q);
        return 0;
    }
    return q->wanted ? ctr_each_container(&q->space, add_answer, q, err) : 0;
}

static int ask_one(struct container_list *list, const char *address, bool wanted, struct err *err)
{
    bool failed = false;
    struct question q = {list, wanted, {.address = container_text(list, address, &failed)}};
    struct stat st;
    struct err why = ERR_INIT;

    if (failed)
        return err_nomem(err);
    if (stat(address, &st) < 0 || !S_ISSOCK(st.st_mode) ||
        ctr_each_space(address, ask_space, &q, &why) == 0 || why.kind == ERR_UNSUPPORTED)
        return 0;
    return container_silent(list, address, err);
}

int containerd_ask(struct container_list *list, const struct containers_where *where,
                   struct err *err)
{
    const char *const *usual = engine_containerd_sockets(&list->arena);
    bool wanted = where->engines[CONTAINER_CONTAINERD];

    if (!usual)
        return err_nomem(err);
    for (; *usual && !trust_rootless(); usual++)
        if (ask_one(list, *usual, wanted, err) < 0)
            return -1;
    for (size_t i = 0; i < where->containerd_count; i++)
        if (ask_one(list, where->containerds[i], wanted, err) < 0)
            return -1;
    return 0;
}
