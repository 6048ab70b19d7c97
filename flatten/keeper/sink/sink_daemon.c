#include "flatten/keeper/sink/sink_backends.h"

#include "flatten/keeper/files/temporary_file.h"
#include "flatten/keeper/http/engine_api.h"
#include "flatten/keeper/sink/daemon_import.h"
#include "flatten/keeper/sink/daemon_leftover.h"
#include "flatten/keeper/sink/daemon_pin.h"
#include "flatten/name/image_name.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/*
 * The Docker daemon as a destination. The image is written to a temporary file, as an archive that
 * daemons with graph drivers and with containerd stores load, and loaded when it is complete.
 *
 * A daemon with a graph driver takes a layer from its store if that has it: then the file of the
 * layer may be missing in the archive. So the only layer of an image is imported while it is made,
 * as an image without a name, and the archive that is loaded then has only documents. Layers that
 * are kept and that the daemon has are missing in the archive as well (daemon_pin.h). Afterwards
 * the images without a name are removed.
 */
struct daemon_sink {
    struct sink base;
    struct sink *archive; /* NULL: there is none yet */
    int fd;               /* owned by `archive` */
    struct engine *engine;
    char *name;                   /* NAME:TAG; NULL: each image has its own */
    bool has_graph_driver;        /* layers can be imported */
    struct daemon_import *import; /* of the layer that was begun; or NULL */
    bool imports;                 /* the daemon may have an image of this run without a name */
    struct digest imported;       /* the Id of that image, once it is known; else "" */
    struct daemon_pins pins;      /* of kept layers that the daemon has */
    char *docker_root;            /* of a daemon with containerd's store; or NULL */
    char label[DAEMON_LEFTOVER_LABEL];
};

/* Makes the archive, on a file that becomes its own. */
static int open_archive(struct daemon_sink *s, int fd, struct err *err)
{
    s->fd = fd;
    s->archive = fd < 0 ? NULL : sink_open_unnamed(fd, err);
    return s->archive ? 0 : -1;
}

/* ---- the layer as an image ---- */

/* Stops an import that has not ended, and removes the image. */
static void discard_import(struct daemon_sink *s)
{
    struct err ignored = ERR_INIT;

    cleanup_daemon_import(&s->import);
    s->import = NULL;
    if (s->imports &&
        (!s->imported.text[0] || engine_remove(s->engine, s->imported.text, &ignored) < 0))
        daemon_leftovers_remove(s->engine);
    s->imports = false;
    s->imported = (struct digest){0};
}

static int begin_import(struct daemon_sink *s, int *fd, off_t *offset, struct err *err)
{
    s->import = daemon_import_new(s->label, err);
    if (!s->import)
        return -1;
    s->imports = true;
    *fd = daemon_import_pipe(s->import);
    *offset = -1;
    return 0;
}

/* The daemon has hashed the layer itself. */
static int check_imported(const struct daemon_sink *s, const struct written_layer *layer,
                          struct err *err)
{
    _cleanup_json_ struct json_doc *doc = engine_inspect(s->engine, s->imported.text, NULL, err);
    const struct json *layers = doc ? json_path(json_root(doc), "RootFS", "Layers", NULL) : NULL;
    const char *has = json_text(json_at(layers, 0));

    if (!doc)
        return err_wrap(err, "the new layer is not there after importing it");
    if (json_count(layers) == 1 && has && strcmp(has, layer->diff_id.text) == 0)
        return 0;
    return err_set(err, ERR_DIGEST, "the daemon has received the layer %s, not %s as sent",
                   has ? has : "without a digest", layer->diff_id.text);
}

static int end_import(struct daemon_sink *s, const struct written_layer *layer, struct err *err)
{
    int rc = daemon_import_finish(s->import, &s->imported, err);

    cleanup_daemon_import(&s->import);
    s->import = NULL;
    return rc < 0 ? -1 : check_imported(s, layer, err);
}

static void explain(struct sink *base, struct err *err)
{
    struct daemon_sink *s = (struct daemon_sink *)base;

    if (s->import)
        daemon_import_explain(s->import, err);
}

/* ---- layers ---- */

static int begin_layer(struct sink *base, bool once, int *fd, off_t *offset, struct err *err)
{
    struct daemon_sink *s = (struct daemon_sink *)base;

    discard_import(s);
    if (once && s->has_graph_driver)
        return begin_import(s, fd, offset, err);
    if (!s->archive && open_archive(s, temporary_file_open(err), err) < 0)
        return -1;
    return sink_begin_layer(s->archive, once, fd, offset, err);
}

static int end_layer(struct sink *base, const struct written_layer *layer, struct err *err)
{
    struct daemon_sink *s = (struct daemon_sink *)base;

    return s->import ? end_import(s, layer, err) : sink_end_layer(s->archive, layer, err);
}

/* Without the layers below it, a layer is not one that the daemon can find. */
static int has_layer(struct sink *base, size_t position, const struct written_layer *layer,
                     struct err *err)
{
    struct daemon_sink *s = (struct daemon_sink *)base;
    int rc = 0;

    if (s->has_graph_driver || s->docker_root)
        rc = daemon_pins_hold(&s->pins, position, layer, err);
    return rc || !s->archive ? rc : sink_has_layer(s->archive, position, layer, err);
}

/* ---- publishing ---- */

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
    bool missing;
    _cleanup_json_ struct json_doc *doc = engine_inspect(s->engine, image->name, &missing, err);
    const char *id = doc ? json_text(json_get(json_root(doc), "Id")) : NULL;

    if (!doc && missing)
        return err_set(err, ERR_SYSTEM,
                       "the daemon does not have %s after loading it: was it removed meanwhile?",
                       image->name);
    if (!doc)
        return err_wrap(err, "looking for %s after loading it", image->name);
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

/* Replaces the error of a load if the imported image is gone: then the layer is, too. */
static void explain_pruned(const struct daemon_sink *s, struct err *err)
{
    bool missing = false;
    struct err ignored = ERR_INIT;
    _cleanup_json_ struct json_doc *doc =
        s->imported.text[0] ? engine_inspect(s->engine, s->imported.text, &missing, &ignored)
                            : NULL;

    if (!doc && missing)
        err_set(err, ERR_SYSTEM,
                "the new layer was removed from the daemon (by docker image prune?): run flatten "
                "again");
}

/* Loads the images, whose names are those that the daemon is to give them. */
static int load_images(struct daemon_sink *s, const struct sink_image *images, size_t count,
                       struct err *err)
{
    struct stat st;

    if (!s->archive && open_archive(s, memfd_create("archive", MFD_CLOEXEC), err) < 0)
        return err_sys(err, "memfd");
    if (sink_publish(s->archive, images, count, err) < 0)
        return -1;
    if (fstat(s->fd, &st) < 0)
        return err_sys(err, "temporary file");
    if (engine_load(s->engine, s->fd, (uint64_t)st.st_size, err) < 0) {
        explain_pruned(s, err);
        return err_wrap(err, "loading %s%s into the daemon", images[0].name,
                        count > 1 ? " and others" : "");
    }
    for (size_t i = 0; i < count; i++)
        if (check_loaded(s, &images[i], err) < 0)
            return -1;
    discard_import(s);
    daemon_pins_clear(&s->pins);
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

    discard_import(s);
    daemon_pins_clear(&s->pins);
    cleanup_sink(&s->archive);
    cleanup_engine(&s->engine);
    free(s->docker_root);
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

/*
 * A daemon with containerd's store keeps the layer as it comes, and pushes it so: compressed it is
 * sent and stored faster, and takes less room. All such daemons know zstd (Docker 24).
 */
static int find_containerd(struct daemon_sink *s, struct err *err)
{
    struct err ignored = ERR_INIT;
    _cleanup_json_ struct json_doc *info = engine_info(s->engine, &ignored);
    const char *root = info ? json_text(json_get(json_root(info), "DockerRootDir")) : NULL;

    s->base.keeps_zstd = info && engine_has_snapshotter(json_root(info));
    if (s->base.keeps_zstd && root && root[0] == '/' && !(s->docker_root = strdup(root)))
        return err_nomem(err);
    return 0;
}

/* Finds out how the daemon takes layers, and removes what killed runs have left in it. */
static int look_at_store(struct daemon_sink *s, struct err *err)
{
    int rc = engine_has_graph_driver(s->engine, err);

    if (rc < 0)
        return -1;
    s->has_graph_driver = rc > 0;
    if (rc == 0 && find_containerd(s, err) < 0)
        return -1;
    daemon_leftover_label(s->label);
    s->pins =
        (struct daemon_pins){.engine = s->engine, .label = s->label, .docker_root = s->docker_root};
    if (s->has_graph_driver || s->docker_root)
        daemon_leftovers_remove(s->engine);
    return 0;
}

struct sink *sink_open_daemon(const char *name, struct err *err)
{
    static const struct sink_ops ops = {.begin_layer = begin_layer,
                                        .end_layer = end_layer,
                                        .publish = publish_images,
                                        .release = release_sink,
                                        .has_layer = has_layer,
                                        .explain = explain};
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
        probe_daemon(s, err) < 0 || look_at_store(s, err) < 0)
        return NULL;
    return steal_ptr(&sink);
}
