/* The tasks of containerd, by the mounts of their roots; names by the bundle's config.json. */
#include "shim/admin/containers/sources.h"

#include <fcntl.h>
#include <string.h>

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

static bool is_listed(const struct container_list *list, const char *id, size_t len)
{
    for (size_t i = 0; i < list->count; i++)
        if (strncmp(list->list[i].id, id, len) == 0 && !list->list[i].id[len])
            return true;
    return false;
}

int containerd_add(struct container_list *list, const struct overlays *mounts, struct err *err)
{
    for (size_t i = 0; i < mounts->count; i++) {
        const struct overlay_seen *seen = &mounts->list[i];
        const char *space, *id;
        size_t space_len, id_len;
        bool failed = false;

        if (!seen->super || !overlay_task(seen->point, &space, &space_len, &id, &id_len) ||
            is_listed(list, id, id_len))
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
