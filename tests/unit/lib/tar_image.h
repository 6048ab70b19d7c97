/*
 * Images made in memory, for tests: layers as tar archives in memory files, with true digests.
 */
#ifndef TESTS_TAR_IMAGE_H
#define TESTS_TAR_IMAGE_H

#include "base/fdio.h"
#include "flatten/image/image.h"
#include "tests/unit/lib/merge/stack.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdbool.h>
#include <sys/mman.h>

static inline la_ssize_t tar_append(struct archive *a, void *ctx, const void *data, size_t len)
{
    (void)a;
    buf_append(ctx, data, len);
    return (la_ssize_t)len;
}

/* Returns a writer of a PAX archive to `out`; archive_write_free ends it. */
static inline struct archive *tar_begin(struct buf *out)
{
    struct archive *a = archive_write_new();

    if (!a || archive_write_set_format_pax(a) != ARCHIVE_OK ||
        archive_write_set_format_option(a, "pax", "hdrcharset", "BINARY") != ARCHIVE_OK ||
        archive_write_set_format_option(a, "pax", "xattrheader", "SCHILY") != ARCHIVE_OK ||
        archive_write_set_bytes_per_block(a, 0) != ARCHIVE_OK ||
        archive_write_open(a, out, NULL, tar_append, NULL) != ARCHIVE_OK)
        abort();
    return a;
}

/* The name of an entry in a tar; whiteouts and markers have special names. */
static inline void tar_name(const struct entry_info *in, struct buf *out)
{
    const char *slash = strrchr(in->path, '/');
    int dir = slash ? (int)(slash - in->path) + 1 : 0;

    if (in->kind == ENTRY_OPAQUE)
        buf_printf(out, "%s%s.wh..wh..opq", in->path, *in->path ? "/" : "");
    else if (in->kind == ENTRY_WHITEOUT)
        buf_printf(out, "%.*s.wh.%s", dir, in->path, in->path + dir);
    else
        buf_printf(out, "%s%s", *in->path ? in->path : ".", in->kind == ENTRY_DIR ? "/" : "");
}

/*
 * Files hold "layer:path", with "#copy" from the second of that name on. Directories have mode
 * 0700 and the layer's number; everything is of one time.
 */
static inline void tar_put(struct archive *a, const struct stack_entry *e)
{
    struct archive_entry *header = archive_entry_new();
    struct buf name = BUF_INIT, content = BUF_INIT;

    tar_name(&e->info, &name);
    archive_entry_set_pathname(header, name.data);
    archive_entry_set_filetype(header, AE_IFREG);
    archive_entry_set_perm(header, 0644);
    archive_entry_set_mtime(header, 1000000000, 0);
    if (e->info.kind == ENTRY_DIR) {
        archive_entry_set_filetype(header, AE_IFDIR);
        archive_entry_set_perm(header, (mode_t)(0700 + e->layer));
    } else if (e->info.kind == ENTRY_SYMLINK) {
        archive_entry_set_filetype(header, AE_IFLNK);
        archive_entry_set_symlink(header, e->info.link);
    } else if (e->info.kind == ENTRY_OTHER) {
        archive_entry_set_filetype(header, AE_IFIFO);
    } else if (e->info.kind == ENTRY_HARDLINK) {
        archive_entry_set_hardlink(header, e->info.link);
    } else if (e->info.kind == ENTRY_FILE) {
        buf_printf(&content, "%u:%s", e->layer, e->info.path);
        if (e->copy > 1)
            buf_printf(&content, "#%u", e->copy);
    }
    archive_entry_set_size(header, (la_int64_t)content.len);
    if (archive_write_header(a, header) < ARCHIVE_WARN ||
        (content.len && archive_write_data(a, content.data, content.len) < 0))
        abort();
    archive_entry_free(header);
    buf_free(&name);
    buf_free(&content);
}

static inline void tar_layer(const struct stack *s, unsigned layer, struct buf *out)
{
    struct archive *a = tar_begin(out);

    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].layer == layer)
            tar_put(a, &s->list[i]);
    archive_write_free(a);
}

/* An image whose layers are these archives, compressed or not; `diff_ids` NULL: of the blobs. */
static inline struct image *image_of(const struct buf *blobs, size_t count,
                                     const struct digest *diff_ids)
{
    struct image *image = calloc(1, sizeof(*image));
    struct err err;

    if (!image || !(image->layers = calloc(count ? count : 1, sizeof(*image->layers))))
        abort();
    image->layer_count = count;
    for (size_t i = 0; i < count; i++) {
        struct layer *l = &image->layers[i];
        l->number = (unsigned)i + 1;
        l->size = blobs[i].len;
        l->fd = memfd_create("layer", MFD_CLOEXEC);
        if (l->fd < 0 || fd_write_all(l->fd, blobs[i].data, blobs[i].len, &err) < 0 ||
            sha256_digest(blobs[i].data, blobs[i].len, &l->digest, &err) < 0)
            abort();
        l->diff_id = diff_ids ? diff_ids[i] : l->digest;
    }
    return image;
}

static inline struct image *image_of_stack(const struct stack *s)
{
    struct buf *tars = calloc(s->layers, sizeof(*tars));

    if (!tars)
        abort();
    for (unsigned i = 0; i < s->layers; i++)
        tar_layer(s, i + 1, &tars[i]);
    struct image *image = image_of(tars, s->layers, NULL);
    for (unsigned i = 0; i < s->layers; i++)
        buf_free(&tars[i]);
    free(tars);
    return image;
}

#endif
