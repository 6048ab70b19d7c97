#include "flatten/keeper/sink/sink_backends.h"

#include "base/fdio.h"
#include "base/json/json.h"
#include "flatten/exchange/blob_store.h"
#include "flatten/keeper/sink/sink_index.h"
#include "flatten/stream/temporary_file.h"

#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/*
 * An OCI layout in a tar archive, and for docker-archive a docker-archive as well, as `docker save`
 * writes since 25: daemons with graph drivers read manifest.json, those with a containerd store
 * oci-layout and index.json. Layers
 * are written in place; their headers follow when digest and size are known.
 */
enum { TAR_BLOCK = 512 };

struct archive_sink {
    struct sink base;
    int fd;                  /* of `file`, or of a file without a name */
    int dir;                 /* where `file` is; -1 without one */
    struct atomic_file file; /* closed without one */
    off_t end;               /* of what is complete */
    struct digest *blobs;    /* that it holds: images may have some in common */
    size_t blob_count;
    bool layout_alone; /* an oci-archive: without manifest.json */
};

/* Octal digits and a NUL; a size beyond them in base 256, as GNU tar and POSIX readers have it. */
static void put_number(unsigned char *field, size_t width, uint64_t value)
{
    bool fits = value < (uint64_t)1 << (3 * (width - 1));

    field[width - 1] = '\0';
    for (size_t i = width - fits; i-- > 0; value >>= fits ? 3 : 8)
        field[i] = (unsigned char)(fits ? '0' + (value & 7) : value & 0xff);
    if (!fits)
        field[0] |= 0x80;
}

/* The header of a regular file, 0644 and root's, in the GNU format; names here are short. */
static void member_header(const char *name, uint64_t size, unsigned char out[TAR_BLOCK])
{
    unsigned checksum = 0;

    memset(out, 0, TAR_BLOCK);
    memcpy(out, name, strnlen(name, 100));
    put_number(out + 100, 8, 0644);
    put_number(out + 108, 8, 0); /* owner */
    put_number(out + 116, 8, 0); /* group */
    put_number(out + 124, 12, size);
    put_number(out + 136, 12, 0); /* mtime */
    out[156] = '0';
    memcpy(out + 257, "ustar  ", 8);
    memset(out + 148, ' ', 8); /* the checksum counts itself as spaces */
    for (size_t i = 0; i < TAR_BLOCK; i++)
        checksum += out[i];
    put_number(out + 148, 7, checksum);
}

/* Header and padding around `size` bytes of content at s->end + TAR_BLOCK; moves the end. */
static int frame_member(struct archive_sink *s, const char *name, uint64_t size, struct err *err)
{
    static const char zeros[TAR_BLOCK];
    unsigned char header[TAR_BLOCK];
    off_t content_end = s->end + TAR_BLOCK + (off_t)size;
    size_t padding = (size_t)(-content_end & (TAR_BLOCK - 1));

    member_header(name, size, header);
    if (fd_pwrite_all(s->fd, header, sizeof(header), s->end, err) < 0 ||
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

static bool has_blob(const struct archive_sink *s, const struct digest *digest)
{
    for (size_t i = 0; i < s->blob_count; i++)
        if (digest_equal(&s->blobs[i], digest))
            return true;
    return false;
}

static int note_blob(struct archive_sink *s, const struct digest *digest, struct err *err)
{
    struct digest *blobs = realloc(s->blobs, (s->blob_count + 1) * sizeof(*blobs));

    if (!blobs)
        return err_nomem(err);
    s->blobs = blobs;
    s->blobs[s->blob_count++] = *digest;
    return 0;
}

static int add_blob(struct archive_sink *s, const struct blob *blob, struct err *err)
{
    char path[BLOB_PATH_SIZE];

    if (has_blob(s, &blob->digest))
        return 0;
    blob_path(&blob->digest, path);
    if (note_blob(s, &blob->digest, err) < 0)
        return -1;
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
    struct archive_sink *s = (struct archive_sink *)base;
    char path[BLOB_PATH_SIZE];

    blob_path(&layer->digest, path);
    if (note_blob(s, &layer->digest, err) < 0)
        return -1;
    return frame_member(s, path, layer->size, err);
}

static int has_layer(struct sink *base, const struct written_layer *layer, struct err *err)
{
    (void)err;
    return has_blob((const struct archive_sink *)base, &layer->digest);
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

/* What says that the archive is a layout, and the end of it. */
static int finish(struct archive_sink *s, const struct sink_image *images, size_t count,
                  struct err *err)
{
    static const char end_mark[2 * TAR_BLOCK];
    _cleanup_buf_ struct buf index = BUF_INIT;

    if (sink_index_json(images, count, &index, err) < 0 ||
        add_member(s, "index.json", index.data, index.len, err) < 0 ||
        add_member(s, "oci-layout", OCI_LAYOUT_JSON, sizeof(OCI_LAYOUT_JSON) - 1, err) < 0)
        return -1;
    if (fd_pwrite_all(s->fd, end_mark, sizeof(end_mark), s->end, err) < 0)
        return -1;
    return s->dir < 0 ? 0 : atomic_file_commit(&s->file, err);
}

/* manifest.json knows no platforms: indexes are a layout's alone. */
static int publish(struct sink *base, const struct sink_image *images, size_t count,
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
    return finish(s, images, count, err);
}

static void release(struct sink *base)
{
    struct archive_sink *s = (struct archive_sink *)base;

    if (s->dir < 0)
        cleanup_fd(&s->fd);
    atomic_file_abort(&s->file);
    cleanup_fd(&s->dir);
    free(s->blobs);
    free(s);
}

/* Starts the file; one that it replaces hands on its permissions, which the umask leaves alone. */
static int begin_file(struct archive_sink *s, const char *name, struct err *err)
{
    struct stat st;
    bool exists = fstatat(s->dir, name, &st, 0) == 0;

    if (exists && !S_ISREG(st.st_mode))
        return err_set(err, ERR_USAGE, "exists and is not a regular file");
    if (atomic_file_begin(&s->file, s->dir, name, 0666, err) < 0)
        return -1;
    if (exists && fchmod(s->file.fd, st.st_mode & 0777) < 0)
        return err_sys(err, "chmod");
    return 0;
}

static struct archive_sink *archive_sink_new(struct err *err)
{
    static const struct sink_ops ops = {begin_layer, end_layer, publish, release, has_layer};
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
    if (begin_file(s, basename(for_base), err) < 0) {
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
    *fd = s->fd = temporary_file_open(err);
    return *fd < 0 ? NULL : steal_ptr(&sink);
}
