/*
 * The files by which a containers-storage knows its directory "overlay" (containers/storage:
 * layers.go, images.go, containers.go). A layer is listed before its directory is made, under
 * layers.lock. Transient layers are listed in the run directory of the storage instead.
 */
#include "base/json/json.h"
#include "shim/admin/stale/state.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { STATE_BYTES = 16 * 1024 * 1024 };

static void add_text(struct known *out, const struct json *value)
{
    const char *text = json_text(value);

    if (text)
        known_add(out, text, strlen(text));
}

/* Adds the layers that an entry names: a list's own "id" is one in the lists of layers. */
static int add_entry(struct known *out, const struct json *entry, bool layers, struct err *err)
{
    static const char *const lists[] = {"mapped-layers", "mapped-layers-of"};

    if (!json_is(entry, JSON_OBJECT) || !json_text(json_get(entry, "id")))
        return err_set(err, ERR_FORMAT, "an entry has no ID");
    if (layers)
        add_text(out, json_get(entry, "id"));
    add_text(out, json_get(entry, "parent"));
    add_text(out, json_get(entry, "layer"));
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
        for (size_t k = 0; k < json_count(json_get(entry, lists[i])); k++)
            add_text(out, json_at(json_get(entry, lists[i]), k));
    return 0;
}

static int add_list(int root, const char *path, bool layers, struct known *out, struct err *err)
{
    static const struct json_options options = {.max_bytes = STATE_BYTES};
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (store_read(root, path, STATE_BYTES, &text, err) < 0)
        return -1;
    _cleanup_json_ struct json_doc *doc = json_parse_buf(&text, &options, err);
    const struct json *all = doc ? json_root(doc) : NULL;
    if (!doc)
        return err_wrap(err, "%s", path);
    if (json_is(all, JSON_NULL))
        return 0; /* as Go writes an empty list */
    if (!json_is(all, JSON_ARRAY))
        return err_set(err, ERR_FORMAT, "%s is no list", path);
    for (size_t i = 0; i < json_count(all); i++)
        if (add_entry(out, json_at(all, i), layers, err) < 0)
            return err_wrap(err, "%s", path);
    return 0;
}

/* Adds from the usual run directory of the owner: a storage does not say where its own is. */
static int add_transient(int root, struct known *out, struct err *err)
{
    struct stat st;

    if (fstat(root, &st) < 0)
        return err_sys(err, "the storage");
    _cleanup_free_ char *path = st.st_uid == 0
                                    ? strdup("/run/containers/storage")
                                    : strf("/run/user/%u/containers", (unsigned)st.st_uid);
    if (!path)
        return err_nomem(err);
    _cleanup_fd_ int run = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (run < 0)
        return errno == ENOENT ? 0 : err_sys(err, "%s", path);
    if ((add_list(run, "overlay-layers/volatile-layers.json", true, out, err) < 0 &&
         !err_missing(err)) ||
        (add_list(run, "overlay-containers/volatile-containers.json", false, out, err) < 0 &&
         !err_missing(err)))
        return err_wrap(err, "%s", path);
    return 0;
}

int storage_known(int root, struct known *out, struct err *err)
{
    static const struct {
        const char *path;
        bool layers, required;
    } files[] = {
        {"overlay-layers/layers.json", true, true},
        {"overlay-layers/volatile-layers.json", true, false},
        {"overlay-images/images.json", false, false},
        {"overlay-containers/containers.json", false, false},
        {"overlay-containers/volatile-containers.json", false, false},
    };

    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        if (add_list(root, files[i].path, files[i].layers, out, err) < 0 &&
            (files[i].required || !err_missing(err)))
            return -1;
    return add_transient(root, out, err);
}
