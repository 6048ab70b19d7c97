#include "flatten/keeper/sink/sink_backends.h"

#include "flatten/keeper/http/engine_api.h"
#include "flatten/name/image_name.h"

#include <string.h>
#include <sys/stat.h>

/*
 * The Docker daemon as a destination. The image is written to a temporary file, as an archive that
 * daemons with graph drivers and with containerd stores load, and loaded when it is complete.
 */
struct daemon_sink {
    struct sink base;
    struct sink *archive;
    int fd; /* owned by `archive` */
    struct engine *engine;
    char *name; /* NAME:TAG; NULL: each image has its own */
};

static int begin_layer(struct sink *base, int *fd, off_t *offset, struct err *err)
{
    return sink_begin_layer(((struct daemon_sink *)base)->archive, fd, offset, err);
}

static int end_layer(struct sink *base, const struct written_layer *layer, struct err *err)
{
    return sink_end_layer(((struct daemon_sink *)base)->archive, layer, err);
}

static int has_layer(struct sink *base, const struct written_layer *layer, struct err *err)
{
    return sink_has_layer(((struct daemon_sink *)base)->archive, layer, err);
}

/* The Id is the digest of the config, or with a containerd store that of the manifest. */
static bool is_loaded(struct json_doc *doc, const struct sink_image *image)
{
    const char *id = json_text(json_get(json_root(doc), "Id"));

    return id && (strcmp(id, image->config.digest.text) == 0 ||
                  strcmp(id, image->manifest.digest.text) == 0);
}

/* Checks that the daemon has the image under its name. */
static int check_loaded(const struct daemon_sink *s, const struct sink_image *image,
                        struct err *err)
{
    _cleanup_json_ struct json_doc *doc = engine_inspect(s->engine, image->name, NULL, err);
    const char *id = doc ? json_text(json_get(json_root(doc), "Id")) : NULL;

    if (!doc)
        return err_wrap(err, "%s is not there after loading it", image->name);
    if (is_loaded(doc, image))
        return 0;
    return err_set(err, ERR_DIGEST, "%s is %s in the daemon, not %s as loaded", image->name,
                   id ? id : "something without an Id", image->config.digest.text);
}

/* A name from the source replaces no other image of the daemon. */
static int check_replaced(const struct daemon_sink *s, const struct sink_image *image,
                          struct err *err)
{
    bool missing;
    struct err reason = ERR_INIT;
    _cleanup_json_ struct json_doc *doc = engine_inspect(s->engine, image->name, &missing, &reason);

    if (!doc && !missing) {
        *err = reason;
        return -1;
    }
    if (missing || is_loaded(doc, image))
        return 0;
    return err_set(err, ERR_USAGE,
                   "the daemon has another image %s: remove that first, or squash this image by "
                   "itself, to docker-daemon:NAME:TAG",
                   image->name);
}

/* Loads the images, whose names are those that the daemon is to give them. */
static int load_images(struct daemon_sink *s, const struct sink_image *images, size_t count,
                       struct err *err)
{
    struct stat st;

    if (sink_publish(s->archive, images, count, err) < 0)
        return -1;
    if (fstat(s->fd, &st) < 0)
        return err_sys(err, "temporary file");
    if (engine_load(s->engine, s->fd, (uint64_t)st.st_size, err) < 0)
        return err_wrap(err, "loading %s%s into the daemon", images[0].name,
                        count > 1 ? " and others" : "");
    for (size_t i = 0; i < count; i++)
        if (check_loaded(s, &images[i], err) < 0)
            return -1;
    return 0;
}

static int publish_images(struct sink *base, const struct sink_image *images, size_t count,
                          struct err *err)
{
    struct daemon_sink *s = (struct daemon_sink *)base;
    _cleanup_free_ struct sink_image *named = calloc(count, sizeof(*named));

    if (!named)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++) {
        named[i] = images[i];
        if (s->name)
            named[i].name = s->name;
        if (!named[i].name)
            return err_set(err, ERR_USAGE, "an image without a name is not for the daemon");
        if (!named[i].named && check_replaced(s, &named[i], err) < 0)
            return -1;
    }
    return load_images(s, named, count, err);
}

static void release_sink(struct sink *base)
{
    struct daemon_sink *s = (struct daemon_sink *)base;

    cleanup_sink(&s->archive);
    cleanup_engine(&s->engine);
    free(s->name);
    free(s);
}

/* Finds out before the work whether the daemon answers and takes the name. */
static int probe_daemon(struct daemon_sink *s, struct err *err)
{
    bool missing;
    struct err reason = ERR_INIT;

    if (!s->name)
        return engine_speaks(s->engine, 0, err) < 0 ? -1 : 0;
    _cleanup_json_ struct json_doc *doc = engine_inspect(s->engine, s->name, &missing, &reason);
    if (doc || missing)
        return 0;
    *err = reason;
    return err_wrap(err, "%s", s->name);
}

struct sink *sink_open_daemon(const char *name, struct err *err)
{
    static const struct sink_ops ops = {begin_layer, end_layer, publish_images, release_sink,
                                        has_layer};
    struct daemon_sink *s = NULL;

    if (name && image_name_is_fixed(name)) {
        err_set(err, ERR_USAGE, "%s is an ID or a digest: give the new image a NAME:TAG", name);
        return NULL;
    }
    if (!(s = calloc(1, sizeof(*s)))) {
        err_nomem(err);
        return NULL;
    }
    _cleanup_sink_ struct sink *sink = &s->base;
    s->base.ops = &ops;
    if ((name && !(s->name = image_name_tagged(name, err))) || !(s->engine = engine_open(err)) ||
        probe_daemon(s, err) < 0 || !(s->archive = sink_open_temporary(&s->fd, err)))
        return NULL;
    return steal_ptr(&sink);
}
