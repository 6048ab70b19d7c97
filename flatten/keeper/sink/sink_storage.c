#include "flatten/keeper/sink/sink_backends.h"

#include "flatten/keeper/files/temporary_file.h"
#include "flatten/keeper/podman/podman.h"
#include "flatten/name/image_name.h"

#include <string.h>

/*
 * podman's store as a destination. The image is written to a temporary file, and podman loads it
 * when it is complete: a new image appears in the store whole, and only then has its name.
 *
 * The archive is a docker-archive alone. podman reads that in place, whereas it unpacks an
 * oci-archive into a directory first, and with an OCI manifest it ignores what only Docker's
 * configuration has (Healthcheck, OnBuild, Shell). The configuration is stored byte for byte.
 */
struct storage_sink {
    struct sink base;
    struct sink *archive;
    int fd;                     /* owned by `archive` */
    const struct reference *to; /* borrowed */
    char *name;                 /* NAME:TAG with a host; NULL: each image has its own */
};

static int begin_layer(struct sink *base, bool once, int *fd, off_t *offset, struct err *err)
{
    return sink_begin_layer(((struct storage_sink *)base)->archive, once, fd, offset, err);
}

static int end_layer(struct sink *base, const struct written_layer *layer, struct err *err)
{
    return sink_end_layer(((struct storage_sink *)base)->archive, layer, err);
}

static int has_layer(struct sink *base, size_t position, const struct written_layer *layer,
                     struct err *err)
{
    return sink_has_layer(((struct storage_sink *)base)->archive, position, layer, err);
}

/* Returns the ID of the image, which the caller frees; NULL after an error or if it is missing. */
static char *find_id(const struct storage_sink *s, const char *name, bool *missing, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = NULL;
    const struct json *facts = podman_inspect(s->to, name, &doc, missing, err);
    const char *id = json_text(json_get(facts, "Id"));
    char *copy = id ? strdup(id) : NULL;

    if (facts && !copy)
        err_set(err, ERR_FORMAT, "podman does not say the Id of %s", name);
    return copy;
}

/* The ID is the digest of the configuration. */
static bool is_image(const char *id, const struct sink_image *image)
{
    return strcmp(id, image->config.digest.text + strlen("sha256:")) == 0;
}

/* Checks that podman has the image under its name. */
static int check_loaded(const struct storage_sink *s, const struct sink_image *image,
                        struct err *err)
{
    bool missing;
    _cleanup_free_ char *id = find_id(s, image->name, &missing, err);

    if (!id && missing)
        return err_set(err, ERR_SYSTEM,
                       "podman does not have %s after loading it: was it removed meanwhile?",
                       image->name);
    if (!id)
        return err_wrap(err, "looking for %s after loading it", image->name);
    return is_image(id, image) ? 0
                               : err_set(err, ERR_DIGEST, "%s is %s in podman, not %s as loaded",
                                         image->name, id, image->config.digest.text);
}

/* A name from the source replaces no other image. */
static int check_replaced(const struct storage_sink *s, const struct sink_image *image,
                          struct err *err)
{
    bool missing;
    struct err reason = ERR_INIT;
    _cleanup_free_ char *id = find_id(s, image->name, &missing, &reason);

    if (!id && !missing) {
        *err = reason;
        return -1;
    }
    if (missing || is_image(id, image))
        return 0;
    return err_set(err, ERR_USAGE,
                   "podman has another image %s: remove that first, or squash this image by "
                   "itself, to containers-storage:NAME:TAG",
                   image->name);
}

/* Loads the images, whose names are those that podman is to give them. */
static int load_images(struct storage_sink *s, const struct sink_image *images, size_t count,
                       struct err *err)
{
    if (sink_publish(s->archive, images, count, err) < 0)
        return -1;
    if (podman_load(s->to, s->fd, err) < 0)
        return err_wrap(err, "loading %s%s", images[0].name, count > 1 ? " and others" : "");
    for (size_t i = 0; i < count; i++)
        if (check_loaded(s, &images[i], err) < 0)
            return -1;
    return 0;
}

/* The images with their names in podman. */
struct named_images {
    struct sink_image *images;
    char **names; /* owned */
    size_t count;
};

static void named_images_clear(struct named_images *n)
{
    for (size_t i = 0; i < n->count && n->names; i++)
        free(n->names[i]);
    free(n->names);
    free(n->images);
}

static int name_images(const struct storage_sink *s, const struct sink_image *images,
                       struct named_images *out, struct err *err)
{
    out->images = calloc(out->count, sizeof(*out->images));
    out->names = calloc(out->count, sizeof(*out->names));
    if (!out->images || !out->names)
        return err_nomem(err);
    for (size_t i = 0; i < out->count; i++) {
        const char *name = s->name ? s->name : images[i].name;
        if (!name)
            return err_set(err, ERR_USAGE, "an image without a name is not for podman");
        if (!(out->names[i] = image_name_local(name, err)))
            return -1;
        out->images[i] = images[i];
        out->images[i].name = out->names[i];
    }
    return 0;
}

static int publish_images(struct sink *base, const struct sink_image *images, size_t count,
                          struct err *err)
{
    struct storage_sink *s = (struct storage_sink *)base;
    _cleanup_(named_images_clear) struct named_images named = {.count = count};

    if (name_images(s, images, &named, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (!images[i].named && check_replaced(s, &named.images[i], err) < 0)
            return -1;
    return load_images(s, named.images, count, err);
}

static void release_sink(struct sink *base)
{
    struct storage_sink *s = (struct storage_sink *)base;

    cleanup_sink(&s->archive);
    free(s->name);
    free(s);
}

/* Finds out before the work whether podman works with the store. */
static int probe_podman(const struct storage_sink *s, struct err *err)
{
    bool missing;
    struct err reason = ERR_INIT;
    const char *name = s->name ? s->name : "localhost/flatten-probe:latest";
    _cleanup_free_ char *id = find_id(s, name, &missing, &reason);

    if (id || missing)
        return 0;
    *err = reason;
    return -1;
}

struct sink *sink_open_storage(const struct reference *ref, struct err *err)
{
    static const struct sink_ops ops = {.begin_layer = begin_layer,
                                        .end_layer = end_layer,
                                        .publish = publish_images,
                                        .release = release_sink,
                                        .has_layer = has_layer};
    struct storage_sink *s = NULL;

    if (ref->name && image_name_is_fixed(ref->name)) {
        err_set(err, ERR_USAGE, "%s is an ID or a digest: give the new image a NAME:TAG",
                ref->name);
        return NULL;
    }
    if (!(s = calloc(1, sizeof(*s)))) {
        err_nomem(err);
        return NULL;
    }
    _cleanup_sink_ struct sink *sink = &s->base;
    s->base.ops = &ops;
    s->to = ref;
    if ((ref->name && !(s->name = image_name_local(ref->name, err))) || probe_podman(s, err) < 0 ||
        (s->fd = temporary_file_open(err)) < 0 || !(s->archive = sink_open_unnamed(s->fd, err))) {
        err_wrap(err, "containers-storage:%s", ref->name ? ref->name : "");
        return NULL;
    }
    sink_archive_omit_layout(s->archive);
    return steal_ptr(&sink);
}
