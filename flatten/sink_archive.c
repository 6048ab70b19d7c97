#include "flatten/sink.h"

#include "base/fdio.h"
#include "base/json.h"
#include "flatten/spool.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>

/*
 * A docker-archive that is an OCI layout as well, as `docker save` writes since 25: daemons with
 * graph drivers read manifest.json, those with a containerd store oci-layout and index.json. Layers
 * are written in place; their headers follow when digest and size are known.
 */
enum { TAR_BLOCK = 512 };

struct archive_sink {
    struct sink base;
    int fd;                  /* of `file`, or of a file without a name */
    int dir;                 /* where `file` is; -1 without one */
    struct atomic_file file; /* closed without one */
    off_t end;               /* of what is complete */
};

static int member_header(const char *name, uint64_t size, unsigned char out[TAR_BLOCK],
                         struct err *err)
{
    struct archive *a = archive_write_new();
    struct archive_entry *e = archive_entry_new();
    size_t used = 0;
    int rc = -1;

    if (!a || !e) {
        err_nomem(err);
    } else {
        archive_entry_set_pathname(e, name);
        archive_entry_set_filetype(e, AE_IFREG);
        archive_entry_set_perm(e, 0644);
        archive_entry_set_size(e, (la_int64_t)size);
        archive_entry_set_mtime(e, 0, 0);
        if (archive_write_set_format_gnutar(a) == ARCHIVE_OK &&
            archive_write_set_bytes_per_block(a, 0) == ARCHIVE_OK &&
            archive_write_open_memory(a, out, TAR_BLOCK, &used) == ARCHIVE_OK &&
            archive_write_header(a, e) == ARCHIVE_OK && used == TAR_BLOCK)
            rc = 0;
        else
            err_set(err, ERR_SYSTEM, "cannot write a tar header: %s", archive_error_string(a));
        archive_write_fail(a); /* the content is written elsewhere */
    }
    archive_entry_free(e);
    archive_write_free(a);
    return rc;
}

/* Header and padding around `size` bytes of content at s->end + TAR_BLOCK; moves the end. */
static int frame_member(struct archive_sink *s, const char *name, uint64_t size, struct err *err)
{
    static const char zeros[TAR_BLOCK];
    unsigned char header[TAR_BLOCK];
    off_t content_end = s->end + TAR_BLOCK + (off_t)size;
    size_t padding = (size_t)(-content_end & (TAR_BLOCK - 1));

    if (member_header(name, size, header, err) < 0 ||
        fd_pwrite_all(s->fd, header, sizeof(header), s->end, err) < 0 ||
        fd_pwrite_all(s->fd, zeros, padding, content_end, err) < 0)
        return -1;
    s->end = content_end + (off_t)padding;
    return 0;
}

static int add_member(struct archive_sink *s, const char *name, const char *data, size_t len,
                      struct err *err)
{
    if (fd_pwrite_all(s->fd, data, len, s->end + TAR_BLOCK, err) < 0)
        return -1;
    return frame_member(s, name, len, err);
}

static void blob_path(const struct digest *digest, char *out, size_t size)
{
    snprintf(out, size, "blobs/sha256/%s", digest_hex(digest));
}

static int add_blob(struct archive_sink *s, const struct blob *blob, struct err *err)
{
    char path[128];

    blob_path(&blob->digest, path, sizeof(path));
    return add_member(s, path, blob->data, blob->len, err);
}

static int begin_layer(struct sink *base, int *fd, off_t *offset, struct err *err)
{
    struct archive_sink *s = (struct archive_sink *)base;

    if (ftruncate(s->fd, s->end) < 0)
        return err_sys(err, "truncate");
    *fd = s->fd;
    *offset = s->end + TAR_BLOCK;
    return 0;
}

static int end_layer(struct sink *base, const struct written_layer *layer, struct err *err)
{
    char path[128];

    blob_path(&layer->digest, path, sizeof(path));
    return frame_member((struct archive_sink *)base, path, layer->size, err);
}

/* manifest.json: moby image/spec/v1.2, "Combined Image JSON + Filesystem Changeset Format". */
static int manifest_json(const struct sink_image *image, struct buf *out, struct err *err)
{
    static const char empty[] = "[]";
    _cleanup_json_ struct json_doc *doc = json_parse(empty, 2, NULL, err);
    char path[128];

    if (!doc)
        return -1;
    struct json *item = json_append(doc, json_root(doc), json_object(doc));
    blob_path(&image->config.digest, path, sizeof(path));
    json_set(doc, item, "Config", json_string(doc, path));
    struct json *tags = json_set(doc, item, "RepoTags", json_array(doc));
    if (image->name)
        json_append(doc, tags, json_string(doc, image->name));
    struct json *layers = json_set(doc, item, "Layers", json_array(doc));
    for (size_t i = 0; i < image->layer_count; i++) {
        blob_path(&image->layers[i].digest, path, sizeof(path));
        json_append(doc, layers, json_string(doc, path));
    }
    return json_write(doc, out, err);
}

static int publish(struct sink *base, const struct sink_image *image, struct err *err)
{
    struct archive_sink *s = (struct archive_sink *)base;
    static const char end_mark[2 * TAR_BLOCK];
    _cleanup_buf_ struct buf index = BUF_INIT, manifest = BUF_INIT;

    if (sink_index_json(image, &index, err) < 0 || manifest_json(image, &manifest, err) < 0)
        return -1;
    if (add_blob(s, &image->config, err) < 0 || add_blob(s, &image->manifest, err) < 0 ||
        add_member(s, "index.json", index.data, index.len, err) < 0 ||
        add_member(s, "manifest.json", manifest.data, manifest.len, err) < 0 ||
        add_member(s, "oci-layout", OCI_LAYOUT_JSON, sizeof(OCI_LAYOUT_JSON) - 1, err) < 0)
        return -1;
    if (fd_pwrite_all(s->fd, end_mark, sizeof(end_mark), s->end, err) < 0)
        return -1;
    return s->dir < 0 ? 0 : atomic_file_commit(&s->file, err);
}

static void release(struct sink *base)
{
    struct archive_sink *s = (struct archive_sink *)base;

    if (s->dir < 0)
        cleanup_fd(&s->fd);
    atomic_file_abort(&s->file);
    cleanup_fd(&s->dir);
    free(s);
}

/* The file's own permissions when it is replaced, else what the umask leaves. */
static mode_t file_mode(const char *path)
{
    struct stat st;
    mode_t mask;

    if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
        return st.st_mode & 0777;
    mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static struct archive_sink *archive_sink_new(struct err *err)
{
    static const struct sink_ops ops = {begin_layer, end_layer, publish, release};
    struct archive_sink *s = calloc(1, sizeof(*s));

    if (!s) {
        err_nomem(err);
        return NULL;
    }
    s->base.ops = &ops;
    s->file = (struct atomic_file)ATOMIC_FILE_INIT;
    s->fd = s->dir = -1;
    return s;
}

struct sink *sink_open_archive(const char *path, struct err *err)
{
    _cleanup_free_ char *for_dir = strdup(path), *for_base = strdup(path);
    struct archive_sink *s = archive_sink_new(err);
    _cleanup_sink_ struct sink *sink = s ? &s->base : NULL;

    if (!for_dir || !for_base || !s) {
        err_nomem(err);
        return NULL;
    }
    s->dir = open(dirname(for_dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->dir < 0) {
        err_sys(err, "%s", path);
        return NULL;
    }
    if (atomic_file_begin(&s->file, s->dir, basename(for_base), file_mode(path), err) < 0) {
        err_wrap(err, "%s", path);
        return NULL;
    }
    s->fd = s->file.fd;
    return steal_ptr(&sink);
}

struct sink *sink_open_temporary(int *fd, struct err *err)
{
    struct archive_sink *s = archive_sink_new(err);
    _cleanup_sink_ struct sink *sink = s ? &s->base : NULL;

    if (!s)
        return NULL;
    *fd = s->fd = spool_file(err);
    return *fd < 0 ? NULL : steal_ptr(&sink);
}
