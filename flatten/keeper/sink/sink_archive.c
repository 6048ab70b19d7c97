#include "flatten/keeper/sink/sink_backends.h"

#include "base/fdio.h"
#include "base/files/atomic_file.h"
#include "base/files/unfinished.h"
#include "base/json/json.h"
#include "flatten/exchange/blob_store.h"
#include "flatten/keeper/sink/digest_list.h"
#include "flatten/keeper/sink/sink_index.h"
#include "flatten/stream/ustar.h"

#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/*
 * An OCI layout in a tar archive; a docker-archive has manifest.json as well, as `docker save`
 * writes it since Docker 25: daemons with graph drivers read manifest.json, those with a containerd
 * store oci-layout and index.json. Layers are written in place; their headers follow when digest
 * and size are known.
 */
struct archive_sink {
    struct sink base;
    int fd;                   /* of `file`, or owned: a file without a name */
    int dir;                  /* the directory of `file`; -1 for a file without a name */
    struct atomic_file file;  /* unused for a file without a name */
    int lock;                 /* holds the lock of `file` until it has its name; or -1 */
    off_t end;                /* of the members that are complete, bytes */
    struct digest_list blobs; /* in the archive: images may share some */
    bool layout_alone;        /* an oci-archive: no manifest.json */
    bool no_layout;           /* neither index.json nor oci-layout */
};

/* The header of a regular file in the GNU format, mode 0644, owned by root. `name` is short. */
static struct ustar member_header(const char *name, uint64_t size)
{
    struct ustar h = {.type = {'0'}};

    memcpy(h.name, name, strnlen(name, sizeof(h.name)));
    ustar_put_octal(h.mode, sizeof(h.mode), 0644);
    ustar_put_octal(h.uid, sizeof(h.uid), 0);
    ustar_put_octal(h.gid, sizeof(h.gid), 0);
    ustar_put_number(h.size, sizeof(h.size), size);
    ustar_put_octal(h.mtime, sizeof(h.mtime), 0);
    memcpy(h.magic, "ustar ", sizeof(h.magic));
    memcpy(h.version, " ", sizeof(h.version));
    ustar_put_checksum(&h);
    return h;
}

/*
 * Writes header and padding around `size` bytes of content at s->end + USTAR_BLOCK; moves the end.
 */
static int frame_member(struct archive_sink *s, const char *name, uint64_t size, struct err *err)
{
    static const char zeros[USTAR_BLOCK];
    const struct ustar header = member_header(name, size);
    off_t content_end = s->end + USTAR_BLOCK + (off_t)size;
    size_t padding = ustar_padding(size);

    if (fd_pwrite_all(s->fd, &header, sizeof(header), s->end, err) < 0 ||
        fd_pwrite_all(s->fd, zeros, padding, content_end, err) < 0)
        return -1;
    s->end = content_end + (off_t)padding;
    return 0;
}

static int add_member(struct archive_sink *s, const char *name, const char *data, size_t len,
                      struct err *err)
{
    if (fd_pwrite_all(s->fd, data, len, s->end + USTAR_BLOCK, err) < 0)
        return -1;
    return frame_member(s, name, len, err);
}

static int add_blob(struct archive_sink *s, const struct blob *blob, struct err *err)
{
    char path[BLOB_PATH_SIZE];

    if (digest_list_has(&s->blobs, &blob->digest))
        return 0;
    blob_path(&blob->digest, path);
    if (digest_list_add(&s->blobs, &blob->digest, err) < 0)
        return -1;
    return add_member(s, path, blob->data, blob->len, err);
}

static int begin_layer(struct sink *base, bool once, int *fd, off_t *offset, struct err *err)
{
    struct archive_sink *s = (struct archive_sink *)base;

    (void)once;
    if (ftruncate(s->fd, s->end) < 0)
        return err_sys(err, "truncate");
    *fd = s->fd;
    *offset = s->end + USTAR_BLOCK;
    return 0;
}

static int end_layer(struct sink *base, const struct written_layer *layer, struct err *err)
{
    struct archive_sink *s = (struct archive_sink *)base;
    char path[BLOB_PATH_SIZE];

    if (digest_list_has(&s->blobs, &layer->digest))
        return 0;
    blob_path(&layer->digest, path);
    if (digest_list_add(&s->blobs, &layer->digest, err) < 0)
        return -1;
    return frame_member(s, path, layer->size, err);
}

static int has_layer(struct sink *base, size_t position, const struct written_layer *layer,
                     struct err *err)
{
    (void)position;
    (void)err;
    return digest_list_has(&((const struct archive_sink *)base)->blobs, &layer->digest);
}

static void add_item(struct json_doc *doc, const struct sink_image *image)
{
    struct json *item = json_append(doc, json_root(doc), json_object(doc));
    char path[BLOB_PATH_SIZE];

    blob_path(&image->config.digest, path);
    json_set(doc, item, "Config", json_string(doc, path));
    struct json *tags = json_set(doc, item, "RepoTags", json_array(doc));
    if (image->name)
        json_append(doc, tags, json_string(doc, image->name));
    struct json *layers = json_set(doc, item, "Layers", json_array(doc));
    for (size_t i = 0; i < image->layer_count; i++) {
        blob_path(&image->layers[i].digest, path);
        json_append(doc, layers, json_string(doc, path));
    }
}

/* manifest.json: moby image/spec/v1.2, "Combined Image JSON + Filesystem Changeset Format". */
static int manifest_json(const struct sink_image *images, size_t count, struct buf *out,
                         struct err *err)
{
    static const char empty[] = "[]";
    _cleanup_json_ struct json_doc *doc = json_parse(empty, 2, NULL, err);

    if (!doc)
        return -1;
    for (size_t i = 0; i < count; i++)
        add_item(doc, &images[i]);
    return json_write(doc, out, err);
}

/* Writes index.json and oci-layout, and the end of the archive. */
static int finish_archive(struct archive_sink *s, const struct sink_image *images, size_t count,
                          struct err *err)
{
    static const char end_mark[2 * USTAR_BLOCK];
    _cleanup_buf_ struct buf index = BUF_INIT;

    if (!s->no_layout &&
        (sink_index_json(images, count, &index, err) < 0 ||
         add_member(s, "index.json", index.data, index.len, err) < 0 ||
         add_member(s, "oci-layout", OCI_LAYOUT_JSON, sizeof(OCI_LAYOUT_JSON) - 1, err) < 0))
        return -1;
    if (fd_pwrite_all(s->fd, end_mark, sizeof(end_mark), s->end, err) < 0)
        return -1;
    return s->dir < 0 ? 0 : atomic_file_commit(&s->file, err);
}

/* Indexes are in the layout alone: manifest.json knows no platforms. */
static int publish_images(struct sink *base, const struct sink_image *images, size_t count,
                          struct err *err)
{
    struct archive_sink *s = (struct archive_sink *)base;
    _cleanup_buf_ struct buf manifest = BUF_INIT;

    if (ftruncate(s->fd, s->end) < 0)
        return err_sys(err, "truncate");
    for (size_t i = 0; i < count; i++)
        if ((!images[i].is_index && add_blob(s, &images[i].config, err) < 0) ||
            add_blob(s, &images[i].manifest, err) < 0)
            return -1;
    if (!s->layout_alone && (manifest_json(images, count, &manifest, err) < 0 ||
                             add_member(s, "manifest.json", manifest.data, manifest.len, err) < 0))
        return -1;
    return finish_archive(s, images, count, err);
}

static void release_sink(struct sink *base)
{
    struct archive_sink *s = (struct archive_sink *)base;

    if (s->dir < 0)
        cleanup_fd(&s->fd);
    atomic_file_abort(&s->file);
    cleanup_fd(&s->lock);
    cleanup_fd(&s->dir);
    digest_list_clear(&s->blobs);
    free(s);
}

void sink_archive_omit_layout(struct sink *sink)
{
    ((struct archive_sink *)sink)->no_layout = true;
}

/* True if the block has the checksum of a header, of which also the oldest tars have one. */
static bool is_tar_header(const struct ustar *h)
{
    struct ustar sum = *h;
    char said[sizeof(h->checksum) + 1] = {0};

    memcpy(said, h->checksum, sizeof(h->checksum));
    ustar_put_checksum(&sum);
    return strtoul(said, NULL, 8) == strtoul(sum.checksum, NULL, 8);
}

/* True for a tar archive, or what may be one in gzip, zstd or xz. */
static bool is_archive(const struct ustar *start)
{
    const char *data = (const char *)start;

    return is_tar_header(start) || memcmp(data, "\x1f\x8b", 2) == 0 ||
           memcmp(data, "\x28\xb5\x2f\xfd", 4) == 0 || memcmp(data, "\xfd\x37zXZ", 5) == 0;
}

/* An empty file may be one of mktemp. */
static int check_replaced(int dir, const char *name, const struct stat *st, struct err *err)
{
    struct ustar start = {0};

    if (!S_ISREG(st->st_mode))
        return err_set(err, ERR_USAGE, "exists and is not a regular file");
    if (st->st_size == 0)
        return 0;
    _cleanup_fd_ int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || pread(fd, &start, sizeof(start), 0) < 0)
        return err_sys(err, "an archive would be replaced, and this file cannot be read");
    if (!is_archive(&start))
        return err_set(err, ERR_USAGE,
                       "exists and is not an archive: remove it first, or name another file");
    return 0;
}

/* Starts the file. One that it replaces hands on its permissions, whatever the umask. */
static int begin_file(struct archive_sink *s, const char *name, struct err *err)
{
    char tmp[UNFINISHED_NAME];
    struct stat st;
    bool exists = fstatat(s->dir, name, &st, 0) == 0;

    if (exists && check_replaced(s->dir, name, &st, err) < 0)
        return -1;
    if (atomic_file_begin(&s->file, s->dir, name, 0666, err) < 0 ||
        (s->lock = unfinished_file_rename(s->dir, s->file.tmp, s->file.fd, tmp, err)) < 0)
        return -1;
    memcpy(s->file.tmp, tmp, sizeof(tmp));
    if (exists && fchmod(s->file.fd, st.st_mode & 0777) < 0)
        return err_sys(err, "chmod");
    return 0;
}

static struct archive_sink *archive_sink_new(struct err *err)
{
    static const struct sink_ops ops = {.begin_layer = begin_layer,
                                        .end_layer = end_layer,
                                        .publish = publish_images,
                                        .release = release_sink,
                                        .has_layer = has_layer};
    struct archive_sink *s = calloc(1, sizeof(*s));

    if (!s) {
        err_nomem(err);
        return NULL;
    }
    s->base.ops = &ops;
    s->file = (struct atomic_file)ATOMIC_FILE_INIT;
    s->fd = s->dir = s->lock = -1;
    return s;
}

struct sink *sink_open_archive(const struct reference *ref, struct err *err)
{
    const char *path = ref->path;
    _cleanup_free_ char *for_dir = strdup(path), *for_base = strdup(path);
    struct archive_sink *s = archive_sink_new(err);
    _cleanup_sink_ struct sink *sink = s ? &s->base : NULL;

    if (!for_dir || !for_base || !s) {
        err_nomem(err);
        return NULL;
    }
    s->layout_alone = ref->transport == TRANSPORT_OCI_ARCHIVE;
    s->dir = open(dirname(for_dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->dir < 0) {
        err_sys(err, "%s: the directory that it is to be in", path);
        return NULL;
    }
    unfinished_remove_beside(s->dir);
    if (begin_file(s, basename(for_base), err) < 0) {
        err_wrap(err, "%s", path);
        return NULL;
    }
    s->fd = s->file.fd;
    return steal_ptr(&sink);
}

struct sink *sink_open_unnamed(int fd, struct err *err)
{
    _cleanup_fd_ int owned = fd;
    struct archive_sink *s = archive_sink_new(err);

    if (!s)
        return NULL;
    s->fd = steal_fd(&owned);
    return &s->base;
}
