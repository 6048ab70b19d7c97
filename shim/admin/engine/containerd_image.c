#include "shim/admin/engine/containerd_image.h"

#include "shim/admin/engine/ctr.h"
#include "shim/admin/engine/engine_stores.h"

#include <string.h>
#include <sys/stat.h>

static const char snapshotter[] = "overlayfs";

/* ---- names ---- */

/* Returns true if a name begins with the host of a registry (distribution/reference). */
static bool has_host(const char *image)
{
    size_t len = strcspn(image, "/");

    return image[len] && (memchr(image, '.', len) || memchr(image, ':', len) ||
                          (len == strlen("localhost") && strncmp(image, "localhost", len) == 0));
}

const char *containerd_image_name(const char *image, struct arena *arena)
{
    const char *last = strrchr(image, '/');
    const char *hub = "docker.io/library/";

    if (last)
        hub = has_host(image) ? "" : "docker.io/";
    return arena_printf(arena, "%s%s%s", hub, image,
                        strpbrk(last ? last : image, ":@") ? "" : ":latest");
}

/* ---- layers ---- */

int containerd_image_chain(const struct json *config, struct digest *out, struct err *err)
{
    const struct json *layers = json_path(config, "rootfs", "diff_ids", NULL);
    struct digest one;

    if (json_count(layers) == 0)
        return err_set(err, ERR_FORMAT, "its configuration names no layers");
    for (size_t i = 0; i < json_count(layers); i++) {
        char both[2 * DIGEST_SIZE];
        const char *text = json_text(json_at(layers, i));
        if (!text || digest_parse(text, &one, err) < 0)
            return err_set(err, ERR_FORMAT, "its configuration names a layer in a way of its own");
        if (i == 0) {
            *out = one;
            continue;
        }
        int len = snprintf(both, sizeof(both), "%s %s", out->text, one.text);
        if (sha256_digest(both, (size_t)len, out, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- asking ---- */

struct question {
    const char *names[2]; /* of the image */
    struct ctr_space space;
    struct arena *arena;
    struct engine_image *out;
    bool found;
};

/* Takes an image if this namespace has one of that name. */
static int ask_name(struct question *q, const char *name, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = ctr_image_config(&q->space, name);
    struct err why = ERR_INIT;
    struct digest chain;

    if (!doc)
        return 0;
    if (containerd_image_chain(json_root(doc), &chain, err) < 0)
        return err_wrap(err, "image '%s'", name);
    const char *layers = ctr_layers(&q->space, snapshotter, chain.text, q->arena, &why);
    if (!layers)
        return err_set(err, ERR_UNSUPPORTED,
                       "containerd at %s has the image '%s' in its namespace '%s', but not its "
                       "layers in %s: run a container of it once",
                       q->space.address, name, q->space.name, snapshotter);
    q->found = true;
    const struct json *config = json_get(json_root(doc), "config");
    engine_image_set(q->out, steal_ptr(&doc), config);
    return engine_image_add(layers, q->arena, q->out, err);
}

static int ask_space(void *ctx, const char *const words[CTR_WORDS], struct err *err)
{
    struct question *q = ctx;

    q->space.name = arena_strndup(q->arena, words[0], strlen(words[0]));
    if (!q->space.name)
        return err_nomem(err);
    for (size_t i = 0; i < 2 && !q->found; i++)
        if (ask_name(q, q->names[i], err) < 0)
            return -1;
    return 0;
}

/* Asks one containerd. One that does not answer has no image. */
static int ask_one(struct question *q, const char *address, struct err *err)
{
    struct err why = ERR_INIT;
    struct stat st;

    if (q->found || stat(address, &st) < 0 || !S_ISSOCK(st.st_mode))
        return 0;
    q->space = (struct ctr_space){.address = address};
    if (ctr_each_space(address, ask_space, q, &why) == 0 || !q->space.name)
        return 0;
    *err = why;
    return -1;
}

int containerd_image_find(const char *image, const char *more, struct arena *arena,
                          struct engine_image *out, struct err *err)
{
    struct question q = {
        .names = {image, containerd_image_name(image, arena)}, .arena = arena, .out = out};
    const char *const *sockets = engine_containerd_sockets(arena);

    if (!sockets || !q.names[1])
        return err_nomem(err);
    if (more && ask_one(&q, more, err) < 0)
        return -1;
    for (; *sockets; sockets++)
        if (ask_one(&q, *sockets, err) < 0)
            return -1;
    return q.found;
}
