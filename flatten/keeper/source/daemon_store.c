#include "flatten/keeper/source/daemon_store.h"

#include "base/digest/sha256.h"
#include "flatten/exchange/image_limits.h"
#include "flatten/keeper/files/file_beneath.h"
#include "flatten/keeper/walk/walk.h"

#include <fcntl.h>
#include <string.h>

/*
 * The store of a daemon with the graph driver overlay2: each layer is ROOT/overlay2/NAME/diff, as
 * GraphDriver.Data of an inspected image says, newest first; the configuration is
 * ROOT/image/overlay2/imagedb/content/sha256/HEX, which its digest proves. A daemon elsewhere names
 * directories that are not here.
 */
static const char driver[] = "overlay2", layer_end[] = "/diff";

struct layer_names {
    char *text;         /* owned: the paths, each with a NUL in the place of its colon */
    const char **names; /* owned: relative to ROOT, newest first */
    size_t count, cap;
};

static void layer_names_clear(struct layer_names *l)
{
    free(l->text);
    free(l->names);
}

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

/* ---- the directories ---- */

/* Returns the part of a layer's path below ROOT; NULL for a path of another form. */
static const char *name_below(const char *root, const char *path)
{
    size_t root_len = strlen(root), path_len = strlen(path), end_len = sizeof(layer_end) - 1;
    const char *name = path + root_len + 1;

    if (path_len < root_len + end_len + 2 || strncmp(path, root, root_len) != 0 ||
        path[root_len] != '/' || strncmp(name, driver, sizeof(driver) - 1) != 0 ||
        name[sizeof(driver) - 1] != '/')
        return NULL;
    const char *id = name + sizeof(driver);
    return strcspn(id, "/") == (size_t)(path + path_len - id) - end_len &&
                   strcmp(path + path_len - end_len, layer_end) == 0
               ? name
               : NULL;
}

static int split_names(struct layer_names *l, const char *root, struct err *why)
{
    char *rest = l->text, *path;

    while ((path = strsep(&rest, ":"))) {
        const char *name = name_below(root, path);
        if (!name)
            return err_set(why, ERR_UNSUPPORTED, "a layer is not in %s/%s", root, driver);
        if (l->count < l->cap)
            l->names[l->count] = name;
        l->count++;
    }
    if (l->count != l->cap)
        return err_set(why, ERR_UNSUPPORTED, "the daemon names %zu directories for %zu layers",
                       l->count, l->cap);
    return 0;
}

static int list_names(const struct json *facts, const char *root, struct layer_names *out,
                      struct err *why)
{
    const struct json *data = json_path(facts, "GraphDriver", "Data", NULL);
    const char *upper = json_text(json_get(data, "UpperDir"));
    const char *lower = json_text(json_get(data, "LowerDir"));

    if (!root || root[0] != '/' || !upper)
        return err_set(why, ERR_UNSUPPORTED, "the daemon does not say where its layers are");
    out->text = strf("%s%s%s", upper, lower ? ":" : "", lower ? lower : "");
    out->cap = json_count(json_path(facts, "RootFS", "Layers", NULL));
    out->names = calloc(out->cap + 1, sizeof(*out->names));
    return out->text && out->names ? split_names(out, root, why) : err_nomem(why);
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
                      struct err *why)
{
    _cleanup_(layer_names_clear) struct layer_names names = {0};
    const char *text = json_text(json_get(facts, "Id"));
    struct digest id;

    if (!text || digest_parse(text, &id, why) < 0)
        return err_set(why, ERR_FORMAT, "the daemon does not say the image's Id");
    if (list_names(facts, root, &names, why) < 0 || read_config(root, &id, &d->config, why) < 0)
        return -1;
    const struct walk_layers layers = {root, names.names, names.count};
    d->fd = walk_start(&layers, why);
    return d->fd < 0 ? -1 : 0;
}

int daemon_store_walk(struct source_daemon *d, struct engine *e, const struct json *facts,
                      struct err *why)
{
    _cleanup_json_ struct json_doc *info = NULL;

    if (check_driver(facts, why) < 0 || !(info = engine_info(e, why)) ||
        check_namespace(json_root(info), why) < 0 || !(d->place = daemon_store_place(facts)) ||
        start_walk(d, facts, json_text(json_get(json_root(info), "DockerRootDir")), why) < 0) {
        buf_free(&d->config);
        return -1;
    }
    if (!json_u64(json_get(facts, "Size"), &d->size) || d->size > INT64_MAX)
        d->size = 0;
    return 0;
}

char *daemon_store_place(const struct json *facts)
{
    const struct json *data = json_path(facts, "GraphDriver", "Data", NULL);
    const char *id = json_text(json_get(facts, "Id"));
    const char *upper = json_text(json_get(data, "UpperDir"));
    const char *lower = json_text(json_get(data, "LowerDir"));

    return strf("%s %s:%s", id ? id : "", upper ? upper : "", lower ? lower : "");
}

int daemon_store_check(const char *place, struct err *err)
{
    _cleanup_free_ char *copy = strdup(place);
    char *rest = copy ? copy + strcspn(copy, " ") + 1 : NULL, *path;

    if (!copy)
        return err_nomem(err);
    while ((path = strsep(&rest, ":")))
        if (*path && access(path, F_OK) < 0)
            return err_sys(err, "a layer vanished while the image was read: %s", path);
    return 0;
}
