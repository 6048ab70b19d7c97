#include "flatten/keeper/sink/sink_backends.h"

#include "flatten/keeper/files/temporary_file.h"
#include "flatten/keeper/registry/registry.h"
#include "flatten/keeper/sink/digest_list.h"
#include "flatten/name/image_name.h"
#include "flatten/name/media_type.h"

#include <string.h>

/*
 * A registry as a destination. Each layer is uploaded from a temporary file while it is made, and
 * while the next ones are; nobody sees it before the manifest, which is put last.
 */
struct registry_sink {
    struct sink base;
    struct registry *registry;
    struct http *http;
    struct registry_uploads *layers;
    int fds[REGISTRY_MOST_UPLOADS]; /* temporary files of the layers that were begun, in order */
    size_t begun;
    struct digest_list ended; /* on their way, or there */
    char *name;
};

/* Closes the file; duplicates of it stay readable. */
static void close_first(struct registry_sink *s)
{
    cleanup_fd(&s->fds[0]);
    s->begun--;
    memmove(s->fds, s->fds + 1, s->begun * sizeof(*s->fds));
}

static void give_up_begun(struct registry_sink *s)
{
    while (s->begun > 0) {
        registry_uploads_drop(s->layers);
        close_first(s);
    }
}

static int begin_beside(struct sink *base, int *fd, off_t *offset, struct err *err)
{
    struct registry_sink *s = (struct registry_sink *)base;
    _cleanup_fd_ int file = temporary_file_open(err);

    if (file < 0)
        return -1;
    if (registry_uploads_begin(s->layers, file, err) < 0)
        return err_wrap(err, "docker://%s", s->name);
    *fd = s->fds[s->begun++] = steal_fd(&file);
    *offset = 0;
    return 0;
}

static int begin_layer(struct sink *base, bool once, int *fd, off_t *offset, struct err *err)
{
    struct registry_sink *s = (struct registry_sink *)base;

    (void)once;
    give_up_begun(s);
    return begin_beside(base, fd, offset, err);
}

static int end_layer(struct sink *base, const struct written_layer *layer, struct err *err)
{
    struct registry_sink *s = (struct registry_sink *)base;

    if (digest_list_has(&s->ended, &layer->digest))
        registry_uploads_drop(s->layers);
    else
        registry_uploads_end(s->layers, &layer->digest, layer->size);
    close_first(s);
    return digest_list_add(&s->ended, &layer->digest, err);
}

static int has_layer(struct sink *base, size_t position, const struct written_layer *layer,
                     struct err *err)
{
    (void)position;
    struct registry_sink *s = (struct registry_sink *)base;

    if (digest_list_has(&s->ended, &layer->digest))
        return 1;
    int rc = registry_has_blob(s->registry, s->http, &layer->digest, err);
    return rc < 0 ? err_wrap(err, "docker://%s", s->name) : rc;
}

/* `version` is a tag or the digest of the manifest. */
static int push_manifest(struct registry_sink *s, const struct blob *manifest, const char *type,
                         const char *version, struct err *err)
{
    const struct http_body body = {.data = manifest->data, .size = manifest->len};

    return registry_push_manifest(s->registry, s->http, version, type, &manifest->digest, &body,
                                  err);
}

static int push_config(struct registry_sink *s, const struct sink_image *image, struct err *err)
{
    const struct http_body config = {.data = image->config.data, .size = image->config.len};

    return image->is_index
               ? 0
               : registry_push_blob(s->registry, s->http, &image->config.digest, &config, err);
}

/* Puts the image under its tag: one may be chosen by the source (reference.by_tag). */
static int push_image(struct registry_sink *s, const struct sink_image *image, struct err *err)
{
    const char *tag = image->inner || !image->name ? NULL : image_name_tag(image->name);
    const char *version = image->inner ? image->manifest.digest.text
                          : tag        ? tag
                                       : registry_ref(s->registry)->tag;

    return push_manifest(s, &image->manifest,
                         image->is_index ? MEDIA_TYPE_INDEX : MEDIA_TYPE_MANIFEST, version, err);
}

static int await_layers(struct sink *base, struct err *err)
{
    struct registry_sink *s = (struct registry_sink *)base;

    give_up_begun(s);
    return registry_uploads_wait(s->layers, err) < 0 ? err_wrap(err, "docker://%s", s->name) : 0;
}

static int publish_images(struct sink *base, const struct sink_image *images, size_t count,
                          struct err *err)
{
    struct registry_sink *s = (struct registry_sink *)base;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = push_config(s, &images[i], err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = push_image(s, &images[i], err);
    return rc < 0 ? err_wrap(err, "docker://%s", s->name) : 0;
}

static void release_sink(struct sink *base)
{
    struct registry_sink *s = (struct registry_sink *)base;

    cleanup_registry_uploads(&s->layers);
    cleanup_http(&s->http);
    cleanup_registry(&s->registry);
    while (s->begun > 0)
        close_first(s);
    digest_list_clear(&s->ended);
    free(s->name);
    free(s);
}

struct sink *sink_open_registry(const struct reference *ref, struct err *err)
{
    static const struct sink_ops ops = {.begin_layer = begin_layer,
                                        .end_layer = end_layer,
                                        .publish = publish_images,
                                        .release = release_sink,
                                        .has_layer = has_layer,
                                        .await_layers = await_layers,
                                        .begin_beside = begin_beside};
    struct registry_sink *s = calloc(1, sizeof(*s));

    if (!s) {
        err_nomem(err);
        return NULL;
    }
    _cleanup_sink_ struct sink *sink = &s->base;
    s->base = (struct sink){.ops = &ops, .beside = REGISTRY_MOST_UPLOADS - 1};
    if (!(s->name = strdup(ref->name))) {
        err_nomem(err);
        return NULL;
    }
    if (!(s->registry = registry_open(ref->name, &ref->registry, "pull,push", err)) ||
        !(s->http = registry_http(s->registry, NULL, err)) ||
        !(s->layers = registry_uploads_new(s->registry, err)) ||
        registry_push_probe(s->registry, s->http, err) < 0) {
        err_wrap(err, "docker://%s", ref->name);
        return NULL;
    }
    return steal_ptr(&sink);
}
