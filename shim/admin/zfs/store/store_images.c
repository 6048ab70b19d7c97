#include "shim/admin/zfs/store/images.h"

#include "shim/admin/zfs/rows.h"
#include "shim/admin/zfs/store/store_files.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS_MOST = 200 * 1000, SIZE_BYTES = 64, ID = 64 };

/* A store that is being read. */
struct reading {
    int root;
    struct arena *arena;
    struct zfs_items *out;
    bool found; /* a file of that engine is there */
};

static int add(struct reading *r, enum zfs_item_kind kind, const char *name, const char *id,
               uint64_t bytes, struct err *err)
{
    struct zfs_item *list = arena_extend(r->arena, r->out->list, r->out->count, sizeof(*list));
    char *kept = arena_strndup(r->arena, name, strlen(name));
    char *meant = arena_strndup(r->arena, id, strlen(id));

    if (!list || !kept || !meant)
        return err_nomem(err);
    if (r->out->count >= ITEMS_MOST)
        return err_set(err, ERR_LIMIT, "more than %d images and layers", ITEMS_MOST);
    list[r->out->count++] = (struct zfs_item){kind, kept, meant, bytes};
    r->out->list = list;
    return 0;
}

/* ---- Docker ---- */

/* Adds the names of repositories.json: {"Repositories": {REPOSITORY: {NAME: "sha256:…"}}}. */
static int docker_names(struct reading *r, const char *driver, struct err *err)
{
    const char *path = arena_printf(r->arena, "image/%s/repositories.json", driver);
    _cleanup_json_ struct json_doc *doc = path ? store_json(r->root, path, err) : NULL;
    const struct json *all = doc ? json_get(json_root(doc), "Repositories") : NULL;

    if (!path)
        return err_nomem(err);
    if (!doc)
        return err->kind ? -1 : 0;
    r->found = true;
    for (size_t i = 0; json_is(all, JSON_OBJECT) && i < all->len; i++) {
        const struct json *names = all->members[i].value;
        for (size_t k = 0; json_is(names, JSON_OBJECT) && k < names->len; k++) {
            const char *id = json_text(names->members[k].value);
            if (id && add(r, ZFS_IMAGE, names->members[k].key, id, 0, err) < 0)
                return -1;
        }
    }
    return 0;
}

static bool has_id(const struct zfs_items *items, size_t count, const char *id)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(items->list[i].id, id) == 0)
            return true;
    return false;
}

/* Calls add for each entry of a directory whose name is an ID: images without names, or layers. */
static int docker_entries(struct reading *r, const char *driver, bool layers, struct err *err)
{
    const char *what = layers ? "layerdb/sha256" : "imagedb/content/sha256";
    const char *path = arena_printf(r->arena, "image/%s/%s", driver, what);
    DIR *dir = path ? store_directory(r->root, path) : NULL;
    size_t named = r->out->count;
    int rc = path ? 0 : err_nomem(err);

    r->found = r->found || dir;
    for (const struct dirent *entry; rc == 0 && dir && (entry = readdir(dir));) {
        _cleanup_buf_ struct buf size = BUF_INIT;
        _cleanup_free_ char *id = strf("sha256:%s", entry->d_name);
        _cleanup_free_ char *file = strf("%s/%s/size", path, entry->d_name);
        struct err ignored;
        if (!id || !file)
            rc = err_nomem(err);
        else if (strlen(entry->d_name) != ID || (!layers && has_id(r->out, named, id)))
            continue;
        else if (layers && store_file(r->root, file, SIZE_BYTES, &size, &ignored) == 0 && size.data)
            size.data[strcspn(size.data, "\n")] = '\0';
        if (rc == 0)
            rc = add(r, layers ? ZFS_LAYER : ZFS_IMAGE, id, id, zfs_number(size.data), err);
    }
    if (dir)
        closedir(dir);
    return rc;
}

static int read_docker(struct reading *r, struct err *err)
{
    DIR *drivers = store_directory(r->root, "image");
    int rc = 0;

    for (const struct dirent *entry; rc == 0 && drivers && (entry = readdir(drivers));)
        if (entry->d_name[0] != '.' && (docker_names(r, entry->d_name, err) < 0 ||
                                        docker_entries(r, entry->d_name, false, err) < 0 ||
                                        docker_entries(r, entry->d_name, true, err) < 0))
            rc = -1;
    if (drivers)
        closedir(drivers);
    return rc;
}

/* ---- containers/storage ---- */

static int add_image(struct reading *r, const struct json *image, struct err *err)
{
    const char *id = json_text(json_get(image, "id"));
    const struct json *names = json_get(image, "names");

    if (!id)
        return 0;
    if (json_count(names) == 0)
        return add(r, ZFS_IMAGE, id, id, 0, err);
    for (size_t i = 0; i < json_count(names); i++) {
        const char *name = json_text(json_at(names, i));
        if (name && add(r, ZFS_IMAGE, name, id, 0, err) < 0)
            return -1;
    }
    return 0;
}

static int add_layer(struct reading *r, const struct json *layer, struct err *err)
{
    const char *id = json_text(json_get(layer, "id"));
    uint64_t bytes = 0;

    json_u64(json_get(layer, "diff-size"), &bytes);
    return id ? add(r, ZFS_LAYER, id, id, bytes, err) : 0;
}

static int storage_list(struct reading *r, const char *path,
                        int (*add_one)(struct reading *, const struct json *, struct err *),
                        struct err *err)
{
    _cleanup_json_ struct json_doc *doc = store_json(r->root, path, err);

    if (!doc)
        return err->kind ? -1 : 0;
    if (!json_is(json_root(doc), JSON_ARRAY))
        return err_set(err, ERR_FORMAT, "%s: not a list", path);
    r->found = true;
    for (size_t i = 0; i < json_count(json_root(doc)); i++)
        if (add_one(r, json_at(json_root(doc), i), err) < 0)
            return -1;
    return 0;
}

static int read_storage(struct reading *r, struct err *err)
{
    static const char *const drivers[] = {"overlay", "zfs", "btrfs", "vfs"};

    for (size_t i = 0; i < sizeof(drivers) / sizeof(*drivers); i++) {
        _cleanup_free_ char *images = strf("%s-images/images.json", drivers[i]);
        _cleanup_free_ char *layers = strf("%s-layers/layers.json", drivers[i]);
        if (!images || !layers)
            return err_nomem(err);
        if (storage_list(r, images, add_image, err) < 0 ||
            storage_list(r, layers, add_layer, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- both ---- */

static int by_name(const void *a, const void *b)
{
    const struct zfs_item *one = a, *other = b;
    int names = strcmp(one->name, other->name);

    if (one->kind != other->kind)
        return one->kind < other->kind ? -1 : 1;
    return names ? names : strcmp(one->id, other->id);
}

int zfs_items_read(int root, struct arena *arena, struct zfs_items *out, struct err *err)
{
    struct reading r = {.root = root, .arena = arena, .out = out};

    *out = (struct zfs_items){0};
    *err = (struct err)ERR_INIT;
    if (read_docker(&r, err) < 0 || read_storage(&r, err) < 0)
        return -1;
    if (!r.found)
        return err_set(err, ERR_UNSUPPORTED,
                       "it has no files of Docker or containers/storage; names of containerd are "
                       "in a database");
    if (out->count)
        qsort(out->list, out->count, sizeof(*out->list), by_name);
    return 0;
}
