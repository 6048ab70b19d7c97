#include "flatten/layer/layer_writer.h"

#include "base/fdio.h"
#include "flatten/layer/layer_frames.h"
#include "flatten/layer/tar/pax.h"
#include "flatten/stream/digester.h"
#include "flatten/stream/ustar.h"

#include <fcntl.h>
#include <string.h>

enum { BLOCKS = 8, OWN_BLOCKS = 4, BLOCK_SIZE = 512 * 1024 }; /* own: one of several writers */
enum { WRITEBACK = 8 * 1024 * 1024, COPIED = 64 * 1024 };
enum { WRITER, HASHER }; /* the relay's consumers */

/*
 * The caller's thread makes the archive, and the writer's compresses and writes. A hasher computes
 * diff_id and digest; without one, each of these threads hashes what it makes.
 */
struct layer_writer {
    struct entry_sink base;
    struct relay *relay;
    struct worker *writer;
    struct hub *own;           /* of the relay, without a hasher */
    struct hash_lane *diff_id; /* with a hasher */
    struct sha256_lane here;   /* without */
    struct digester *digest;
    struct compressor *compressor;
    struct buf header;
    uint64_t max_size; /* of the archive */
    uint64_t left;     /* of the current entry's content, bytes */
    size_t padding;    /* behind it */
    struct layer_frames frames;
    uint64_t compressed; /* bytes of the archive that are in the blob, or in the compressor */
    unsigned char copied[COPIED];
    int fd;
    bool is_pipe;
    off_t at;
    off_t synced;       /* writeback was started up to here */
    struct err failure; /* of the writer thread; read after it was joined */
    struct written_layer written;
};

/* Starts writeback early, of `least` bytes, so that the fsync at the end has little left to do. */
static void start_writeback(struct layer_writer *w, off_t least)
{
    if (w->is_pipe || w->at - w->synced < least)
        return;
    /* Only a hint: fsync reports errors of the data. */
    (void)!sync_file_range(w->fd, w->synced, w->at - w->synced, SYNC_FILE_RANGE_WRITE);
    w->synced = w->at;
}

static int put_blob(void *ctx, const void *data, size_t len, struct err *err)
{
    struct layer_writer *w = ctx;

    if (w->digest && digester_update(w->digest, data, len, err) < 0)
        return -1;
    w->written.size += len;
    if (w->is_pipe)
        return fd_write_all(w->fd, data, len, err);
    if (fd_pwrite_all(w->fd, data, len, w->at, err) < 0)
        return -1;
    w->at += (off_t)len;
    start_writeback(w, WRITEBACK);
    return 0;
}

/* Copies a frame, between frames of the compressor. */
static int copy_frame(struct layer_writer *w, const struct layer_frame *frame, struct err *err)
{
    if (compressor_end_frame(w->compressor, err) < 0)
        return -1;
    for (size_t at = 0; at < frame->size;) {
        size_t len = frame->size - at < COPIED ? frame->size - at : COPIED;
        if (fd_pread_exact(frame->fd, w->copied, len, (off_t)(frame->at + at), err) < 0 ||
            put_blob(w, w->copied, len, err) < 0)
            return -1;
        at += len;
    }
    w->compressed += frame->len;
    return 0;
}

/* Writes a part of the archive, and the frames that follow it. */
static int write_part(struct layer_writer *w, const char *data, size_t len, struct err *err)
{
    struct layer_frame frame;

    if (compressor_write(w->compressor, data, len, err) < 0)
        return -1;
    w->compressed += len;
    while (layer_frames_take(&w->frames, w->compressed, &frame))
        if (copy_frame(w, &frame, err) < 0)
            return -1;
    return 0;
}

static int write_all(struct layer_writer *w, struct err *err)
{
    const void *data;
    size_t len;
    int rc;

    while ((rc = relay_take(w->relay, WRITER, &data, &len, err)) > 0) {
        if (write_part(w, data, len, err) < 0)
            return -1;
        relay_release(w->relay, WRITER);
    }
    if (rc < 0 || compressor_finish(w->compressor, err) < 0)
        return -1;
    start_writeback(w, 1);
    return 0;
}

static void write_behind(void *ctx)
{
    struct layer_writer *w = ctx;

    if (write_all(w, &w->failure) < 0)
        relay_stop(w->relay, &w->failure);
}

/* Hashes bytes of the archive in the caller's thread; `also` gets those of content as well. */
static int hash_here(struct layer_writer *w, const void *data, uint64_t len,
                     struct sha256_lane *also, struct err *err)
{
    if (!data)
        return sha256_lane_zeros(&w->here, len, err);
    return also ? sha256_twin_update(&w->here, also, data, (size_t)len, err)
                : sha256_lane_update(&w->here, data, (size_t)len, err);
}

/* Counts bytes of the archive, and hashes them unless the hasher does. */
static int begin_bytes(struct layer_writer *w, const void *data, uint64_t len,
                       struct sha256_lane *also, struct err *err)
{
    if (len > w->max_size - w->written.tar_size)
        return err_set(err, ERR_LIMIT, "the new layer has more than %llu bytes",
                       (unsigned long long)w->max_size);
    w->written.tar_size += len;
    if (!w->diff_id)
        return hash_here(w, data, len, also, err);
    return also ? sha256_lane_update(also, data, (size_t)len, err) : 0;
}

static int put_bytes(struct layer_writer *w, const void *data, uint64_t len, struct err *err)
{
    return begin_bytes(w, data, len, NULL, err) < 0 ? -1
                                                    : relay_write(w->relay, data, (size_t)len, err);
}

static int put_entry(struct entry_sink *sink, struct archive_entry *entry, struct err *err)
{
    struct layer_writer *w = (struct layer_writer *)sink;
    bool has_content = !archive_entry_hardlink(entry) && archive_entry_filetype(entry) == AE_IFREG;

    if (w->left)
        return err_set(err, ERR_FORMAT, "less content than the header says");
    buf_truncate(&w->header, 0);
    if (pax_header(entry, &w->header, err) < 0)
        return -1;
    w->left = has_content ? (uint64_t)archive_entry_size(entry) : 0;
    w->padding = ustar_padding(w->left);
    return put_bytes(w, w->header.data, w->header.len, err);
}

static int begin_data(const struct layer_writer *w, uint64_t len, struct err *err)
{
    return len > w->left ? err_set(err, ERR_FORMAT, "more content than the header says") : 0;
}

static int end_data(struct layer_writer *w, uint64_t len, struct err *err)
{
    w->left -= len;
    return w->left ? 0 : put_bytes(w, NULL, w->padding, err);
}

static int put_data(struct entry_sink *sink, const void *data, uint64_t len, struct err *err)
{
    struct layer_writer *w = (struct layer_writer *)sink;

    if (begin_data(w, len, err) < 0)
        return -1;
    if (len == 0)
        return 0;
    return put_bytes(w, data, len, err) < 0 ? -1 : end_data(w, len, err);
}

/* Has the writer copy the frame after all that came before: nobody else needs the content. */
static int put_frame(struct layer_writer *w, const struct content_piece *piece, struct err *err)
{
    const struct layer_frame frame = {.from = w->written.tar_size - piece->len,
                                      .len = piece->len,
                                      .fd = piece->fd,
                                      .at = piece->at,
                                      .size = piece->size};

    return layer_frames_add(&w->frames, &frame, err) < 0 ? -1 : relay_flush(w->relay, err);
}

static int put_piece(struct entry_sink *sink, const struct content_piece *piece, struct err *err)
{
    struct layer_writer *w = (struct layer_writer *)sink;
    bool as_frame = piece->size > 0 && w->written.kind == COMPRESSION_ZSTD && !w->diff_id;

    if (begin_data(w, piece->len, err) < 0 ||
        begin_bytes(w, piece->data, piece->len, piece->hashed, err) < 0 ||
        (as_frame ? put_frame(w, piece, err)
                  : relay_write(w->relay, piece->data, piece->len, err)) < 0)
        return -1;
    return end_data(w, piece->len, err);
}

struct layer_writer *layer_writer_new(int fd, off_t offset, const struct compress_options *compress,
                                      struct hasher *hasher, struct err *err)
{
    static const struct entry_sink_ops ops = {put_entry, put_data, put_piece};
    _cleanup_layer_writer_ struct layer_writer *w = calloc(1, sizeof(*w));

    if (!w) {
        err_nomem(err);
        return NULL;
    }
    w->base.ops = &ops;
    layer_frames_init(&w->frames);
    w->fd = fd;
    w->is_pipe = offset < 0;
    w->at = w->synced = offset;
    w->max_size = UINT64_MAX;
    w->written.kind = compress->kind;
    struct hub *hub = hasher ? hasher_hub(hasher) : (w->own = hub_new(err));
    /* Uncompressed, the blob is the archive: one hash serves for both. */
    if (!hub || sha256_lane_init(&w->here, err) < 0 ||
        (compress->kind != COMPRESSION_NONE && !(w->digest = digester_new(hasher, err))) ||
        !(w->compressor = compressor_new(compress, put_blob, w, err)) ||
        !(w->relay =
              relay_new(hub, hasher ? 2 : 1, hasher ? BLOCKS : OWN_BLOCKS, BLOCK_SIZE, err)) ||
        (hasher && !(w->diff_id = hash_lane_new(hasher, w->relay, HASHER, err))) ||
        !(w->writer = worker_start(write_behind, w, err)))
        return NULL;
    return steal_ptr(&w);
}

struct entry_sink *layer_writer_sink(struct layer_writer *w)
{
    return &w->base;
}

void layer_writer_limit(struct layer_writer *w, uint64_t max_size)
{
    w->max_size = max_size;
}

void layer_writer_free(struct layer_writer *w)
{
    struct err given_up;

    if (w->relay) {
        err_set(&given_up, ERR_SYSTEM, "no longer wanted");
        relay_stop(w->relay, &given_up);
    }
    if (w->writer)
        worker_join(w->writer);
    cleanup_hash_lane(&w->diff_id);
    cleanup_digester(&w->digest);
    cleanup_relay(&w->relay);
    cleanup_hub(&w->own);
    sha256_lane_clear(&w->here);
    cleanup_compressor(&w->compressor);
    layer_frames_clear(&w->frames);
    buf_free(&w->header);
    free(w);
}

int layer_writer_finish(struct layer_writer *w, struct written_layer *out, struct err *err)
{
    enum { END_MARK = 2 * USTAR_BLOCK };

    if (w->left)
        return err_set(err, ERR_FORMAT, "less content than the header says");
    if (put_bytes(w, NULL, END_MARK, err) < 0)
        return -1;
    relay_end(w->relay, NULL);
    worker_join(steal_ptr(&w->writer));
    if (w->failure.kind != ERR_NONE) {
        *err = w->failure;
        return -1;
    }
    if ((w->diff_id ? hash_lane_finish(w->diff_id, &w->written.diff_id, err)
                    : sha256_lane_finish(&w->here, &w->written.diff_id, err)) < 0)
        return -1;
    w->written.digest = w->written.diff_id;
    if (w->digest && digester_finish(w->digest, &w->written.digest, err) < 0)
        return -1;
    *out = w->written;
    return 0;
}
