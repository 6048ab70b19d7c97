#include "flatten/sink.h"

#include "flatten/engine_api.h"
#include "flatten/image_name.h"

#include <string.h>
#include <sys/stat.h>

/*
 * The Docker daemon as a destination: an archive that graph drivers and containerd stores both
 * load, in a temporary file until it is whole. The daemon names the image when it has all of it.
 */
struct daemon_sink {
    struct sink base;
    struct sink *archive;
    int fd; /* the archive's */
    struct engine *engine;
    char *name; /* with a tag */
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

/* An image's Id is its config's digest, or with a containerd store its manifest's. */
static int check(struct daemon_sink *s, const struct sink_image *image, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = engine_inspect(s->engine, s->name, NULL, err);
    const char *id = doc ? json_text(json_get(json_root(doc), "Id")) : NULL;

    if (!doc)
        return err_wrap(err, "%s is not there after loading it", s->name);
    if (id && (strcmp(id, image->config.digest.text) == 0 ||
               strcmp(id, image->manifest.digest.text) == 0))
        return 0;
    return err_set(err, ERR_DIGEST, "%s is %s in the daemon, not %s as loaded", s->name,
                   id ? id : "something without an Id", image->config.digest.text);
}

static int publish(struct sink *base, const struct sink_image *image, struct err *err)
{
    struct daemon_sink *s = (struct daemon_sink *)base;
    struct sink_image named = *image;
    struct stat st;

    named.name = s->name;
    if (sink_publish(s->archive, &named, err) < 0)
        return -1;
    if (fstat(s->fd, &st) < 0)
        return err_sys(err, "temporary file");
    if (engine_load(s->engine, s->fd, (uint64_t)st.st_size, err) < 0)
        return err_wrap(err, "loading %s into the daemon", s->name);
    return check(s, image, err);
}

static void release(struct sink *base)
{
    struct daemon_sink *s = (struct daemon_sink *)base;

    cleanup_sink(&s->archive);
    cleanup_engine(&s->engine);
    free(s->name);
    free(s);
}

/* A daemon that does not answer, or does not like the name, is found out before the work. */
static int probe(struct daemon_sink *s, struct err *err)
{
    bool missing;
    struct err reason = ERR_INIT;
    _cleanup_json_ struct json_doc *doc = engine_inspect(s->engine, s->name, &missing, &reason);

    if (doc || missing)
        return 0;
    *err = reason;
    return err_wrap(err, "%s", s->name);
}

struct sink *sink_open_daemon(const char *name, struct err *err)
{
    static const struct sink_ops ops = {begin_layer, end_layer, publish, release, has_layer, NULL};
    struct daemon_sink *s = NULL;

    if (image_name_is_fixed(name)) {
        err_set(err, ERR_USAGE, "%s is an ID or a digest: give the new image a NAME:TAG", name);
        return NULL;
    }
    if (!(s = calloc(1, sizeof(*s)))) {
        err_nomem(err);
        return NULL;
    }
    _cleanup_sink_ struct sink *sink = &s->base;
    s->base.ops = &ops;
    if (!(s->name = image_name_tagged(name, err)) || !(s->engine = engine_open(err)) ||
        probe(s, err) < 0 || !(s->archive = sink_open_temporary(&s->fd, err)))
        return NULL;
    return steal_ptr(&sink);
}
