#include "flatten/keeper/source/storage_store.h"

#include "base/digest/sha256.h"
#include "flatten/exchange/image_limits.h"
#include "flatten/keeper/files/file_beneath.h"
#include "flatten/keeper/podman/podman.h"
#include "flatten/keeper/registry/base64.h"
#include "flatten/keeper/source/layer_names.h"
#include "flatten/keeper/walk/walk.h"

#include <fcntl.h>
#include <string.h>

/*
 * A store of containers/storage with the driver overlay: each layer is ROOT/overlay/ID/diff, as
 * GraphDriver.Data of an inspected image says, newest first; the configuration is
 * ROOT/overlay-images/ID/=BASE64 of its digest, which proves it (images.go, bigdata). Neither
 * changes while the image is there, so no lock is taken: afterwards podman is asked whether it is.
 */
static const char driver[] = "overlay";

/*
 * A layer's directory holds the files as they are only with the driver's defaults: options may keep
 * owners, modes or content elsewhere (force_mask, ignore_chown_errors, use_composefs), and
 * mount_program may mark deleted files in a way that the kernel does not know.
 */
static int check_options(const struct json *store, struct err *why)
{
    static const char *const harmless[] = {"overlay.mountopt", "overlay.size",
                                           "overlay.skip_mount_home"};
    const struct json *options = json_get(store, "graphOptions");

    for (size_t i = 0; i < json_count(options); i++) {
        const struct json_member *option = &options->members[i];
        bool known = false;
        for (size_t k = 0; k < sizeof(harmless) / sizeof(*harmless); k++)
            known = known || json_member_is(option, harmless[k]);
        if (!known)
            return err_set(why, ERR_UNSUPPORTED, "the store has the option %.60s", option->key);
    }
    return 0;
}

/* In a store of another user namespace the files have other owners than in the image. */
static int check_store(const struct json *info, struct err *why)
{
    const struct json *store = json_get(info, "store");
    const char *name = json_text(json_get(store, "graphDriverName"));
    const struct json *rootless = json_path(info, "host", "security", "rootless", NULL);
    const struct json *ids = json_path(info, "host", "idMappings", "uidmap", NULL);

    if (!name || strcmp(name, driver) != 0)
        return err_set(why, ERR_UNSUPPORTED, "the driver of the store is %.40s, not %s",
                       name ? name : "unknown", driver);
    if (!rootless || rootless->type != JSON_BOOL || rootless->boolean || json_count(ids))
        return err_set(why, ERR_UNSUPPORTED, "podman runs rootless or maps ids");
    return check_options(store, why);
}

static int read_config(const char *root, const struct digest *id, struct buf *out, struct err *why)
{
    _cleanup_buf_ struct buf path = BUF_INIT;
    _cleanup_fd_ int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct digest actual;

    if (dir < 0)
        return err_sys(why, "%s", root);
    buf_printf(&path, "%s-images/%s/=", driver, digest_hex(id));
    base64_encode(&path, id->text, strlen(id->text));
    if (buf_check(&path, why) < 0)
        return -1;
    if (file_beneath_read(dir, path.data, IMAGE_JSON_LIMIT, out, why) < 0 ||
        sha256_digest(out->data ? out->data : "", out->len, &actual, why) < 0)
        return err_wrap(why, "%s", root);
    return digest_equal(&actual, id)
               ? 0
               : err_set(why, ERR_DIGEST, "%s/%s is not the image's configuration", root,
                         path.data);
}

static int start_walk(struct source_daemon *d, const struct json *facts, const char *root,
                      enum walk_kind kind, struct err *why)
{
    _cleanup_layer_names_ struct layer_names names = {0};
    const char *hex = json_text(json_get(facts, "Id"));
    _cleanup_free_ char *text = strf("sha256:%s", hex ? hex : "");
    struct digest id;

    if (!text || digest_parse(text, &id, why) < 0)
        return err_set(why, ERR_FORMAT, "podman does not say the image's Id");
    if (layer_names_list(facts, root, driver, &names, why) < 0 ||
        read_config(root, &id, &d->config, why) < 0)
        return -1;
    const struct walk_layers layers = {root, names.names, names.count, kind == WALK_LAYERS};
    d->fd = walk_start(&layers, why);
    return d->fd < 0 ? -1 : 0;
}

int storage_store_walk(struct source_daemon *d, const struct reference *ref,
                       const struct json *facts, enum walk_kind kind, struct err *why)
{
    _cleanup_json_ struct json_doc *info = podman_info(ref, why);

    if (!info || check_store(json_root(info), why) < 0 || !(d->place = layer_names_place(facts)) ||
        start_walk(d, facts, json_text(json_path(json_root(info), "store", "graphRoot", NULL)),
                   kind, why) < 0) {
        buf_free(&d->config);
        return -1;
    }
    return 0; /* the size stays unknown: podman's counts directories and documents as well */
}
