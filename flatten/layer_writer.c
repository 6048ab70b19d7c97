#include "flatten/layer_writer.h"

#include "base/fdio.h"

#include <archive.h>
#include <stdbool.h>
#include <string.h>

enum { TAR_BLOCK = 256 * 1024 };

struct layer_writer {
    struct entry_sink base;
    struct archive *archive;
    struct sha256 *diff_id, *digest;
    struct compressor *compressor;
    int fd;
    off_t at;
    struct written_layer written;
    bool abandoned;     /* being freed: what libarchive still wants to write is refused */
    struct err failure; /* of a callback, which libarchive cannot carry */
};

static int put_blob(void *ctx, const void *data, size_t len, struct err *err)
{
    struct layer_writer *w = ctx;

    if (w->digest && sha256_update(w->digest, data, len, err) < 0)
        return -1;
    if (fd_pwrite_all(w->fd, data, len, w->at, err) < 0)
        return -1;
    w->at += (off_t)len;
    w->written.size += len;
    return 0;
}

static la_ssize_t on_write(struct archive *a, void *ctx, const void *data, size_t len)
{
    struct layer_writer *w = ctx;

    if (w->abandoned)
        return ARCHIVE_FATAL;
    if (sha256_update(w->diff_id, data, len, &w->failure) < 0 ||
        compressor_write(w->compressor, data, len, &w->failure) < 0) {
        archive_set_error(a, EIO, "%s", w->failure.msg);
        return ARCHIVE_FATAL;
    }
    w->written.tar_size += len;
    return (la_ssize_t)len;
}

static int archive_failure(struct layer_writer *w, struct err *err)
{
    const char *text = archive_error_string(w->archive);

    if (w->failure.kind != ERR_NONE) {
        *err = w->failure;
        return -1;
    }
    return err_set(err, ERR_FORMAT, "cannot write as tar: %s", text ? text : "unknown reason");
}

/*
 * PAX, with xattrs as Go's readers know them. In the C locale libarchive finds that names beyond
 * ASCII cannot be converted, warns, and writes them as they are, which is what is wanted.
 */
static int open_archive(struct layer_writer *w, struct err *err)
{
    struct archive *a = w->archive = archive_write_new();

    if (!a)
        return err_nomem(err);
    if (archive_write_set_format_pax(a) != ARCHIVE_OK ||
        archive_write_set_format_option(a, "pax", "xattrheader", "SCHILY") != ARCHIVE_OK ||
        archive_write_set_bytes_per_block(a, TAR_BLOCK) != ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(a, 1) != ARCHIVE_OK ||
        archive_write_open(a, w, NULL, on_write, NULL) != ARCHIVE_OK)
        return archive_failure(w, err);
    return 0;
}

static int put_entry(struct entry_sink *sink, struct archive_entry *header, struct err *err)
{
    struct layer_writer *w = (struct layer_writer *)sink;

    archive_entry_unset_atime(header);
    archive_entry_unset_ctime(header);
    archive_entry_unset_birthtime(header);
    archive_entry_sparse_clear(header);
    int rc = archive_write_header(w->archive, header);
    return rc == ARCHIVE_OK || rc == ARCHIVE_WARN ? 0 : archive_failure(w, err);
}

static int put_data(struct entry_sink *sink, const void *data, uint64_t len, struct err *err)
{
    struct layer_writer *w = (struct layer_writer *)sink;
    static const char zeros[64 * 1024];

    while (len > 0) {
        size_t piece = data || len < sizeof(zeros) ? (size_t)len : sizeof(zeros);
        la_ssize_t n = archive_write_data(w->archive, data ? data : zeros, piece);
        if (n < 0)
            return archive_failure(w, err);
        if (n == 0)
            return err_set(err, ERR_FORMAT, "more content than the header says");
        if (data)
            data = (const char *)data + n;
        len -= (uint64_t)n;
    }
    return 0;
}

struct layer_writer *layer_writer_new(int fd, off_t offset, const struct compress_options *compress,
                                      struct err *err)
{
    static const struct entry_sink_ops ops = {put_entry, put_data};
    _cleanup_layer_writer_ struct layer_writer *w = calloc(1, sizeof(*w));

    if (!w) {
        err_nomem(err);
        return NULL;
    }
    w->base.ops = &ops;
    w->fd = fd;
    w->at = offset;
    w->written.kind = compress->kind;
    w->diff_id = sha256_new(err);
    /* Uncompressed, the blob is the archive: one hash serves for both. */
    if (!w->diff_id || (compress->kind != COMPRESSION_NONE && !(w->digest = sha256_new(err))) ||
        !(w->compressor = compressor_new(compress, put_blob, w, err)) || open_archive(w, err) < 0)
        return NULL;
    return steal_ptr(&w);
}

struct entry_sink *layer_writer_sink(struct layer_writer *w)
{
    return &w->base;
}

void layer_writer_free(struct layer_writer *w)
{
    if (w->archive) {
        w->abandoned = true;
        archive_write_fail(w->archive);  /* or closing would fill up the entry at hand */
        archive_write_close(w->archive); /* freeing alone would leak its buffer after a failure */
        archive_write_free(w->archive);
    }
    cleanup_sha256(&w->diff_id);
    cleanup_sha256(&w->digest);
    cleanup_compressor(&w->compressor);
    free(w);
}

int layer_writer_finish(struct layer_writer *w, struct written_layer *out, struct err *err)
{
    if (archive_write_close(w->archive) != ARCHIVE_OK)
        return archive_failure(w, err);
    if (compressor_finish(w->compressor, err) < 0 ||
        sha256_finish(w->diff_id, &w->written.diff_id, err) < 0)
        return -1;
    w->written.digest = w->written.diff_id;
    if (w->digest && sha256_finish(w->digest, &w->written.digest, err) < 0)
        return -1;
    *out = w->written;
    return 0;
}
