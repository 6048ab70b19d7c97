#include "flatten/keeper/sink/sink_backends.h"

#include "base/fdio.h"
#include "base/json/json.h"
#include "flatten/exchange/blob_store.h"
#include "flatten/exchange/image_limits.h"
#include "flatten/keeper/files/file_beneath.h"
#include "flatten/keeper/sink/digest_list.h"
#include "flatten/keeper/sink/sink_index.h"

#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

/*
 * An OCI image layout. A new one is made under a temporary name beside its place and then renamed.
 * One that exists gets the new blobs first, then, in one rename, an index.json that names them.
 */
struct oci_sink {
    struct sink base;
    int parent;     /* the directory in which the layout lies */
    char *name;     /* of the layout in `parent` */
    char tmp[64];   /* its name in `parent` until it is complete; "" for a layout that existed */
    int dir, blobs; /* the layout's directory, and blobs/sha256 in it */
    struct atomic_file layer;
    struct digest_list made; /* blobs that are new, to be removed after a failure */
    bool published;
};

static int make_dirs(int at, const char *name, int *out, struct err *err)
{
    if (mkdirat(at, name, 0777) < 0 && errno != EEXIST)
        return err_sys(err, "cannot make %s", name);
    *out = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return *out < 0 ? err_sys(err, "%s", name) : 0;
}

/*
 * Names a complete file by its digest. It replaces a blob of that name: the content is the same, or
 * the old one is damaged.
 */
static int keep_blob(struct oci_sink *s, struct atomic_file *file, const struct digest *digest,
                     struct err *err)
{
    bool exists = faccessat(s->blobs, digest_hex(digest), F_OK, AT_SYMLINK_NOFOLLOW) == 0;

    snprintf(file->name, sizeof(file->name), "%s", digest_hex(digest));
    if (!exists && digest_list_add(&s->made, digest, err) < 0)
        return -1;
    return atomic_file_commit(file, err);
}

/* Compares the size alone: reading a kept layer here would take as long as copying it. */
static int has_layer(struct sink *base, const struct written_layer *layer, struct err *err)
{
    const struct oci_sink *s = (const struct oci_sink *)base;
    struct stat st;

    (void)err;
    return fstatat(s->blobs, digest_hex(&layer->digest), &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(st.st_mode) && (uint64_t)st.st_size == layer->size;
}

static int begin_layer(struct sink *base, int *fd, off_t *offset, struct err *err)
{
    struct oci_sink *s = (struct oci_sink *)base;

    atomic_file_abort(&s->layer);
    if (atomic_file_begin(&s->layer, s->blobs, "layer", 0644, err) < 0)
        return -1;
    *fd = s->layer.fd;
    *offset = 0;
    return 0;
}

static int end_layer(struct sink *base, const struct written_layer *layer, struct err *err)
{
    struct oci_sink *s = (struct oci_sink *)base;

    return keep_blob(s, &s->layer, &layer->digest, err);
}

static int add_file(int dir, const char *name, const char *data, size_t len, struct err *err)
{
    _cleanup_atomic_file_ struct atomic_file file = ATOMIC_FILE_INIT;

    if (atomic_file_begin(&file, dir, name, 0644, err) < 0 ||
        fd_write_all(file.fd, data, len, err) < 0)
        return -1;
    return atomic_file_commit(&file, err);
}

static int add_blob(struct oci_sink *s, const struct blob *blob, struct err *err)
{
    _cleanup_atomic_file_ struct atomic_file file = ATOMIC_FILE_INIT;

    if (atomic_file_begin(&file, s->blobs, "blob", 0644, err) < 0 ||
        fd_write_all(file.fd, blob->data, blob->len, err) < 0)
        return -1;
    return keep_blob(s, &file, &blob->digest, err);
}

static const char *ref_name(const struct json *descriptor)
{
    return json_text(
        json_path(descriptor, "annotations", "org.opencontainers.image.ref.name", NULL));
}

static bool same_name(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

/* Removes the old descriptors whose name, or lack of one, a new descriptor has as well. */
static void remove_replaced(struct json *list, const struct json *added)
{
    for (size_t i = json_count(list); i-- > 0;) {
        const char *name = ref_name(json_at(list, i));
        for (size_t j = 0; j < json_count(added); j++) {
            if (!same_name(name, ref_name(json_at(added, j))))
                continue;
            json_remove_at(list, i);
            break;
        }
    }
}

/* Appends the old index with the new descriptors in it. */
static int merged_index(struct oci_sink *s, const struct buf *fresh, struct buf *out,
                        struct err *err)
{
    static const struct json_options options = {.unique_keys = true};
    _cleanup_buf_ struct buf old_text = BUF_INIT;

    if (file_beneath_read(s->dir, "index.json", IMAGE_JSON_LIMIT, &old_text, err) < 0)
        return -1;
    _cleanup_json_ struct json_doc *doc = json_parse(old_text.data, old_text.len, &options, err);
    _cleanup_json_ struct json_doc *added = json_parse(fresh->data, fresh->len, NULL, err);
    if (!doc || !added)
        return -1;
    struct json *list = json_get(json_root(doc), "manifests");
    const struct json *fresh_list = json_get(json_root(added), "manifests");
    if (!json_is(list, JSON_ARRAY))
        return err_set(err, ERR_FORMAT, "index.json has no manifests");
    remove_replaced(list, fresh_list);
    for (size_t i = 0; i < json_count(fresh_list); i++)
        json_append(doc, list, json_copy(doc, json_at(fresh_list, i)));
    return json_write(doc, out, err);
}

static int publish_new(struct oci_sink *s, const struct buf *index, struct err *err)
{
    if (add_file(s->dir, "oci-layout", OCI_LAYOUT_JSON, sizeof(OCI_LAYOUT_JSON) - 1, err) < 0 ||
        add_file(s->dir, "index.json", index->data, index->len, err) < 0)
        return -1;
    if (renameat(s->parent, s->tmp, s->parent, s->name) < 0)
        return err_sys(err, "cannot rename to %s", s->name);
    return 0;
}

static int add_image(struct oci_sink *s, const struct sink_image *image, struct err *err)
{
    if (!image->is_index && add_blob(s, &image->config, err) < 0)
        return -1;
    return add_blob(s, &image->manifest, err);
}

static int publish_images(struct sink *base, const struct sink_image *images, size_t count,
                          struct err *err)
{
    struct oci_sink *s = (struct oci_sink *)base;
    _cleanup_buf_ struct buf index = BUF_INIT, merged = BUF_INIT;

    atomic_file_abort(&s->layer);
    for (size_t i = 0; i < count; i++)
        if (add_image(s, &images[i], err) < 0)
            return -1;
    if (sink_index_json(images, count, &index, err) < 0)
        return -1;
    if (s->tmp[0]) {
        if (publish_new(s, &index, err) < 0)
            return -1;
    } else if (merged_index(s, &index, &merged, err) < 0 ||
               add_file(s->dir, "index.json", merged.data, merged.len, err) < 0) {
        return -1;
    }
    s->published = true;
    return 0;
}

static void take_back(struct oci_sink *s)
{
    for (size_t i = 0; s->blobs >= 0 && i < s->made.count; i++)
        unlinkat(s->blobs, digest_hex(&s->made.list[i]), 0);
    if (!s->tmp[0] || s->dir < 0)
        return;
    unlinkat(s->dir, "oci-layout", 0);
    unlinkat(s->dir, "index.json", 0);
    unlinkat(s->dir, "blobs/sha256", AT_REMOVEDIR);
    unlinkat(s->dir, "blobs", AT_REMOVEDIR);
    unlinkat(s->parent, s->tmp, AT_REMOVEDIR);
}

static void release_sink(struct sink *base)
{
    struct oci_sink *s = (struct oci_sink *)base;

    atomic_file_abort(&s->layer);
    if (!s->published)
        take_back(s);
    cleanup_fd(&s->blobs);
    cleanup_fd(&s->dir);
    cleanup_fd(&s->parent);
    digest_list_clear(&s->made);
    free(s->name);
    free(s);
}

static bool is_empty(int dir)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    if (!list) {
        cleanup_fd(&fd);
        return false;
    }
    do
        entry = readdir(list);
    while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    closedir(list);
    return !entry;
}

/* Opens and locks a layout that exists. Returns 0, 1 if there is none, or -1. */
static int open_existing(struct oci_sink *s, struct err *err)
{
    struct stat st;

    s->dir = openat(s->parent, s->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->dir < 0)
        return errno == ENOENT    ? 1
               : errno == ENOTDIR ? err_set(err, ERR_USAGE, "exists and is not a directory")
                                  : err_sys(err, "open");
    if (flock(s->dir, LOCK_EX) < 0)
        return err_sys(err, "cannot lock the layout");
    if (fstatat(s->dir, "index.json", &st, AT_SYMLINK_NOFOLLOW) == 0)
        return S_ISREG(st.st_mode)
                   ? 0
                   : err_set(err, ERR_USAGE, "its index.json is not a regular file");
    if (!is_empty(s->dir))
        return err_set(err, ERR_USAGE, "exists and is not an OCI layout");
    cleanup_fd(&s->dir);
    s->dir = -1;
    return 1;
}

/* Opens the layout, or starts one under a temporary name. */
static int open_dir(struct oci_sink *s, struct err *err)
{
    uint64_t number;
    int rc = open_existing(s, err);

    if (rc <= 0)
        return rc;
    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return err_sys(err, "getrandom");
    snprintf(s->tmp, sizeof(s->tmp), ".flatbed-%016llx", (unsigned long long)number);
    return make_dirs(s->parent, s->tmp, &s->dir, err);
}

static int open_layout(struct oci_sink *s, const char *path, struct err *err)
{
    _cleanup_free_ char *for_dir = strdup(path), *for_base = strdup(path);
    _cleanup_fd_ int blobs = -1;

    if (!for_dir || !for_base || !(s->name = strdup(basename(for_base))))
        return err_nomem(err);
    s->parent = open(dirname(for_dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->parent < 0)
        return err_sys(err, "the directory that it is to be in");
    if (open_dir(s, err) < 0 || make_dirs(s->dir, "blobs", &blobs, err) < 0)
        return -1;
    return make_dirs(blobs, "sha256", &s->blobs, err);
}

struct sink *sink_open_oci(const char *path, struct err *err)
{
    static const struct sink_ops ops = {begin_layer, end_layer, publish_images, release_sink,
                                        has_layer};
    struct oci_sink *s = calloc(1, sizeof(*s));

    if (!s) {
        err_nomem(err);
        return NULL;
    }
    s->base.ops = &ops;
    s->parent = s->dir = s->blobs = -1;
    s->layer = (struct atomic_file)ATOMIC_FILE_INIT;
    if (open_layout(s, path, err) < 0) {
        err_wrap(err, "%s", path);
        release_sink(&s->base);
        return NULL;
    }
    return &s->base;
}
