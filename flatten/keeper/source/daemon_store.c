#include "flatten/keeper/source/daemon_store.h"

#include "flatten/keeper/source/engine_store.h"

#include <string.h>

/*
 * The store of a daemon with the graph driver overlay2: each layer is ROOT/overlay2/NAME/diff, as
 * GraphDriver.Data of an inspected image says, newest first; the configuration is
 * ROOT/image/overlay2/imagedb/content/sha256/HEX, which its digest proves. A daemon elsewhere names
 * directories that are not here.
 */
static const char driver[] = "overlay2";

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

int daemon_store_walk(struct source_daemon *d, const struct json *info, const struct json *facts,
                      enum walk_kind kind, struct err *why)
{
    struct engine_store store = {.root = json_text(json_get(info, "DockerRootDir")),
                                 .driver = driver};
    const char *id = json_text(json_get(facts, "Id"));

    if (check_driver(facts, why) < 0 || check_namespace(info, why) < 0)
        return -1;
    if (!id || digest_parse(id, &store.id, why) < 0)
        return err_set(why, ERR_FORMAT, "the daemon does not say the image's Id");
    _cleanup_free_ char *config =
        strf("image/%s/imagedb/content/sha256/%s", driver, digest_hex(&store.id));
    if (!(store.config = config))
        return err_nomem(why);
    if (engine_store_walk(&store, facts, kind, d, why) < 0)
        return -1;
    if (!json_u64(json_get(facts, "Size"), &d->size) || d->size > INT64_MAX)
        d->size = 0;
    return 0;
}
