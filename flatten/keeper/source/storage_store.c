#include "flatten/keeper/source/storage_store.h"

#include "base/base64.h"
#include "flatten/keeper/podman/podman.h"
#include "flatten/keeper/source/engine_store.h"

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

int storage_store_walk(struct source_daemon *d, const struct reference *ref,
                       const struct json *facts, enum walk_kind kind, struct err *why)
{
    _cleanup_json_ struct json_doc *info = podman_info(ref, why);
    const char *hex = json_text(json_get(facts, "Id"));
    _cleanup_free_ char *id = strf("sha256:%s", hex ? hex : "");
    _cleanup_buf_ struct buf config = BUF_INIT;

    if (!info || check_store(json_root(info), why) < 0)
        return -1;
    struct engine_store store = {
        .root = json_text(json_path(json_root(info), "store", "graphRoot", NULL)),
        .driver = driver};
    if (!id || digest_parse(id, &store.id, why) < 0)
        return err_set(why, ERR_FORMAT, "podman does not say the image's Id");
    buf_printf(&config, "%s-images/%s/=", driver, digest_hex(&store.id));
    base64_encode(&config, id, strlen(id));
    if (buf_check(&config, why) < 0)
        return -1;
    store.config = config.data;
    /* The size stays unknown: podman's counts directories and documents as well. */
    return engine_store_walk(&store, facts, kind, d, why);
}
