#include "flatten/keeper/source/daemon_store.h"

#include "base/digest/sha256.h"
#include "flatten/exchange/image_limits.h"
#include "flatten/keeper/files/file_beneath.h"
#include "flatten/keeper/source/layer_names.h"
#include "flatten/keeper/walk/walk.h"

#include <fcntl.h>
#include <string.h>

/*
 * The store of a daemon with the graph driver overlay2: each layer is ROOT/overlay2/NAME/diff, as
 * GraphDriver.Data of an inspected image says, newest first; the configuration is
 * ROOT/image/overlay2/imagedb/content/sha256/HEX, which its digest proves. A daemon elsewhere names
 * directories that are not here.
 */
static const char driver[] = "overlay2";

/* ---- whether the driver is right ---- */

static int check_driver(const struct json *facts, struct err *why)
{
    const char *name = json_text(json_path(facts, "GraphDriver", "Name", NULL));

    if (!name)
        return err_set(why, ERR_UNSUPPORTED, "the daemon does not say where its layers are");
    return strcmp(name, driver) == 0
               ? 0
               : err_set(why, ERR_UNSUPPORTED, "its storage driver is %.40s, not %s", name, driver);
}

/* In a store of another user namespace the files have other owners than in the image. */
static int check_namespace(const struct json *info, struct err *why)
{
    static const char *const options[] = {"name=userns", "name=rootless"};
    const struct json *list = json_get(info, "SecurityOptions");

    for (size_t i = 0; i < json_count(list); i++) {
        const char *text = json_text(json_at(list, i));
        for (size_t k = 0; text && k < sizeof(options) / sizeof(*options); k++)
            if (strncmp(text, options[k], strlen(options[k])) == 0)
                return err_set(why, ERR_UNSUPPORTED, "the daemon runs with %s",
                               options[k] + strlen("name="));
    }
    return 0;
}

/* ---- the configuration ---- */

static int read_config(const char *root, const struct digest *id, struct buf *out, struct err *why)
{
    _cleanup_free_ char *path = strf("image/%s/imagedb/content/sha256/%s", driver, digest_hex(id));
    _cleanup_fd_ int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct digest actual;

    if (!path)
        return err_nomem(why);
    if (dir < 0)
        return err_sys(why, "%s", root);
    if (file_beneath_read(dir, path, IMAGE_JSON_LIMIT, out, why) < 0 ||
        sha256_digest(out->data ? out->data : "", out->len, &actual, why) < 0)
        return err_wrap(why, "%s", root);
    return digest_equal(&actual, id)
               ? 0
               : err_set(why, ERR_DIGEST, "%s/%s is not the image's configuration", root, path);
}

/* ---- both ---- */

static int start_walk(struct source_daemon *d, const struct json *facts, const char *root,
                      enum walk_kind kind, struct err *why)
{
    _cleanup_layer_names_ struct layer_names names = {0};
    const char *text = json_text(json_get(facts, "Id"));
    struct digest id;

    if (!text || digest_parse(text, &id, why) < 0)
        return err_set(why, ERR_FORMAT, "the daemon does not say the image's Id");
    if (layer_names_list(facts, root, driver, &names, why) < 0 ||
        read_config(root, &id, &d->config, why) < 0)
        return -1;
    const struct walk_layers layers = {root, names.names, names.count, kind == WALK_LAYERS};
    d->fd = walk_start(&layers, why);
    return d->fd < 0 ? -1 : 0;
}

int daemon_store_walk(struct source_daemon *d, struct engine *e, const struct json *facts,
                      enum walk_kind kind, struct err *why)
{
    _cleanup_json_ struct json_doc *info = NULL;

    if (check_driver(facts, why) < 0 || !(info = engine_info(e, why)) ||
        check_namespace(json_root(info), why) < 0 || !(d->place = layer_names_place(facts)) ||
        start_walk(d, facts, json_text(json_get(json_root(info), "DockerRootDir")), kind, why) <
            0) {
        buf_free(&d->config);
        return -1;
    }
    if (!json_u64(json_get(facts, "Size"), &d->size) || d->size > INT64_MAX)
        d->size = 0;
    return 0;
}
