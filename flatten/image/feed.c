#include "flatten/image/feed.h"

#include "flatten/image/archive_members.h"
#include "flatten/keeper/http/engine_api.h"
#include "flatten/layer/layer_record.h"

#include <string.h>

enum {
    HEAD = 512, /* a tar's first block */
    MOST_TEXT = 4 * IMAGE_JSON_LIMIT,
    MOST_RECORD_MIB = 1024,
};

/* The content of the member at hand: lent to who reads it, never freed. */
struct member_stream {
    struct stream base;
    struct feed *feed;
    char head[HEAD]; /* has been read to see what it is */
    size_t head_at, head_len;
    const char *data; /* libarchive's */
    size_t at, len;
    uint64_t position; /* behind data */
};

struct feed {
    const struct feed_ops *ops;
    void *ctx;
    struct members members; /* of the first reading; without a file */
    uint64_t text_bytes, record_bytes;

    /* while it is read */
    bool open;
    int fd;
    struct stream *raw;
    struct archive *archive;
    size_t shown; /* bytes lent to libarchive */
    bool ended;   /* the stream is at its end */
    bool passed;  /* all members are read */
    struct err stream_error;
    char tail[ENGINE_SAVE_TAIL]; /* its last bytes so far */
    size_t tail_len;
    struct member_stream member;
};

/* ---- the stream ---- */

static void keep_tail(struct feed *f, const char *data, size_t len)
{
    size_t take = len < sizeof(f->tail) ? len : sizeof(f->tail);
    size_t keep = f->tail_len + take > sizeof(f->tail) ? sizeof(f->tail) - take : f->tail_len;

    memmove(f->tail, f->tail + f->tail_len - keep, keep);
    memcpy(f->tail + keep, data + len - take, take);
    f->tail_len = keep + take;
}

static la_ssize_t on_read(struct archive *a, void *ctx, const void **data)
{
    struct feed *f = ctx;

    stream_advance(f->raw, f->shown);
    f->shown = 0;
    if (stream_peek(f->raw, data, &f->shown, &f->stream_error) < 0) {
        archive_set_error(a, EIO, "%s", f->stream_error.msg);
        return ARCHIVE_FATAL;
    }
    f->ended = f->shown == 0;
    keep_tail(f, *data, f->shown);
    return (la_ssize_t)f->shown;
}

static int archive_failure(struct feed *f, struct err *err)
{
    const char *text = archive_error_string(f->archive);

    if (f->stream_error.kind != ERR_NONE) {
        *err = f->stream_error;
        return -1;
    }
    return err_set(err, ERR_FORMAT, "not an archive of images: %s", text ? text : "?");
}

static void stop_reading(struct feed *f)
{
    if (f->archive)
        archive_read_free(f->archive);
    cleanup_stream(&f->raw);
    cleanup_fd(&f->fd);
    f->archive = NULL;
    f->raw = NULL;
    f->fd = -1;
}

int feed_begin(struct feed *f, struct err *err)
{
    f->shown = f->tail_len = 0;
    f->ended = f->passed = false;
    f->stream_error = (struct err)ERR_INIT;
    f->fd = f->ops->open(f->ctx, err);
    f->open = f->fd >= 0;
    if (!f->open || !(f->raw = stream_fd(f->fd, err)))
        return -1;
    if (!(f->archive = archive_read_new()))
        return err_nomem(err);
    if (archive_read_support_format_tar(f->archive) != ARCHIVE_OK ||
        archive_read_open(f->archive, f, NULL, on_read, NULL) != ARCHIVE_OK)
        return archive_failure(f, err);
    return 0;
}

/* 1, 0 at the end, or -1. */
static int next_member(struct feed *f, struct archive_entry **entry, struct err *err)
{
    int rc = f->passed ? ARCHIVE_EOF : archive_read_next_header(f->archive, entry);

    f->passed = rc == ARCHIVE_EOF;
    if (f->passed)
        return 0;
    return rc == ARCHIVE_OK || rc == ARCHIVE_WARN ? 1 : archive_failure(f, err);
}

int feed_end(struct feed *f, struct err *err)
{
    struct archive_entry *entry;
    int rc;

    while ((rc = next_member(f, &entry, err)) > 0)
        ;
    if (rc == 0) {
        stream_advance(f->raw, f->shown);
        f->shown = 0;
        rc = stream_drain(f->raw, err);
    }
    if (rc < 0)
        return feed_failed(f, err);
    stop_reading(f);
    f->open = false;
    return f->ops->end(f->ctx, err);
}

/* What libarchive could make nothing of may have been the sender's last words. */
static void look_for_end(struct feed *f)
{
    enum { WORDS = 64 * 1024 };
    struct err ignored = ERR_INIT;
    const void *data;
    size_t seen = 0;

    while (f->raw && !f->ended && seen < WORDS) {
        stream_advance(f->raw, f->shown);
        f->shown = 0;
        if (stream_peek(f->raw, &data, &f->shown, &ignored) < 0)
            return;
        f->ended = f->shown == 0;
        keep_tail(f, data, f->shown);
        seen += f->shown;
    }
}

int feed_failed(struct feed *f, struct err *err)
{
    struct err said = ERR_INIT;

    if (!f->open)
        return -1;
    if (err->kind == ERR_FORMAT)
        look_for_end(f);
    stop_reading(f);
    f->open = false;
    /* A sender who was stopped will complain of that, and of nothing else. */
    bool cut = f->ops->end(f->ctx, &said) < 0;
    if (!f->ended || (err->kind != ERR_FORMAT && err->kind != ERR_DIGEST))
        return -1;
    if (cut)
        *err = said;
    else
        engine_save_said(f->tail, f->tail_len, err);
    return -1;
}

void feed_free(struct feed *f)
{
    struct err ignored = ERR_INIT;

    feed_failed(f, &ignored);
    members_clear(&f->members);
    free(f);
}

/* ---- a member's content ---- */

static int member_fill(struct member_stream *m, struct err *err)
{
    const void *data;
    la_int64_t offset;
    size_t len;
    int rc = archive_read_data_block(m->feed->archive, &data, &len, &offset);

    m->at = m->len = 0;
    if (rc == ARCHIVE_EOF)
        return 0;
    if (rc != ARCHIVE_OK)
        return archive_failure(m->feed, err);
    if (offset < 0 || (uint64_t)offset != m->position)
        return err_set(err, ERR_FORMAT, "a sparse member");
    m->data = data;
    m->len = len;
    m->position += len;
    return 0;
}

static int member_peek(struct stream *base, const void **data, size_t *len, struct err *err)
{
    struct member_stream *m = (struct member_stream *)base;

    if (m->head_at < m->head_len) {
        *data = m->head + m->head_at;
        *len = m->head_len - m->head_at;
        return 0;
    }
    if (m->at == m->len && member_fill(m, err) < 0)
        return -1;
    *data = m->len ? m->data + m->at : "";
    *len = m->len - m->at;
    return 0;
}

static void member_advance(struct stream *base, size_t len)
{
    struct member_stream *m = (struct member_stream *)base;

    if (m->head_at < m->head_len)
        m->head_at += len;
    else
        m->at += len;
}

static void member_release(struct stream *base)
{
    (void)base;
}

static struct stream *member_stream(struct feed *f)
{
    static const struct stream_ops ops = {member_peek, member_advance, member_release, NULL};

    f->member = (struct member_stream){.base = {&ops}, .feed = f};
    return &f->member.base;
}

static int member_sniff(struct member_stream *m, struct err *err)
{
    while (m->head_len < HEAD) {
        if (m->at == m->len && member_fill(m, err) < 0)
            return -1;
        size_t len = m->len - m->at, room = HEAD - m->head_len;
        if (len == 0)
            return 0;
        len = len < room ? len : room;
        memcpy(m->head + m->head_len, m->data + m->at, len);
        m->head_len += len;
        m->at += len;
    }
    return 0;
}

/* A tar, one without entries, or something compressed; documents are none of it. */
static bool is_layer(const struct member_stream *m)
{
    static const char nothing[HEAD];
    const char *head = m->head;

    if (m->head_len == HEAD &&
        (memcmp(head + 257, "ustar", 5) == 0 || memcmp(head, nothing, HEAD) == 0))
        return true;
    return m->head_len >= 4 &&
           (memcmp(head, "\x1f\x8b", 2) == 0 || memcmp(head, "\x28\xb5\x2f\xfd", 4) == 0);
}

/* ---- the first reading ---- */

static int record_entries(struct feed *f, struct member *member, struct layer_reader *reader,
                          struct err *err)
{
    struct layer_record *record = member->record;
    struct layer_entry e;
    int rc;

    while ((rc = layer_reader_next(reader, &e, err)) > 0) {
        if (layer_record_add(record, &e, err) < 0)
            return -1;
        if ((f->record_bytes + layer_record_size(record)) >> 20 >= MOST_RECORD_MIB)
            return err_set(err, ERR_LIMIT, "the headers of the image take more than %d MiB",
                           MOST_RECORD_MIB);
    }
    f->record_bytes += layer_record_size(record);
    layer_record_close(record);
    return rc;
}

static int record_layer(struct feed *f, struct member *member, struct stream *content,
                        struct err *err)
{
    const struct layer unknown = {.fd = -1, .max_size = LAYER_MAX_SIZE};

    if (!(member->record = calloc(1, sizeof(*member->record))))
        return err_nomem(err);
    _cleanup_layer_reader_ struct layer_reader *reader =
        layer_reader_open_from(&unknown, content, &member->diff_id, err);
    return reader ? record_entries(f, member, reader, err) : -1;
}

/* A document; what is too large for one nobody asks for. */
static int keep_text(struct feed *f, struct member *member, struct stream *content, struct err *err)
{
    const void *data;
    size_t len;

    if (member->size > IMAGE_JSON_LIMIT)
        return 0;
    f->text_bytes += member->size;
    if (f->text_bytes > MOST_TEXT)
        return err_set(err, ERR_LIMIT, "more than %d bytes of documents", MOST_TEXT);
    for (;;) {
        if (stream_peek(content, &data, &len, err) < 0)
            return -1;
        if (len == 0)
            return buf_check(&member->text, err);
        buf_append(&member->text, data, len);
        stream_advance(content, len);
    }
}

static int read_member(struct feed *f, struct archive_entry *entry, struct err *err)
{
    mode_t type = archive_entry_filetype(entry);
    bool linked = archive_entry_hardlink(entry) != NULL;

    if (type != AE_IFREG && type != AE_IFLNK && !linked)
        return 0;
    struct member *member = members_add(&f->members, f->archive, entry, err);
    if (!member)
        return -1;
    if (member->link)
        return 0;
    struct stream *content = member_stream(f);
    if (member_sniff(&f->member, err) < 0 ||
        (is_layer(&f->member) ? record_layer(f, member, content, err)
                              : keep_text(f, member, content, err)) < 0)
        return err_wrap(err, "%s", member->name);
    return 0;
}

static int read_once(struct feed *f, struct err *err)
{
    struct archive_entry *entry;
    int rc;

    if (feed_begin(f, err) < 0)
        return feed_failed(f, err);
    while ((rc = next_member(f, &entry, err)) > 0)
        if (read_member(f, entry, err) < 0)
            return feed_failed(f, err);
    return rc < 0 ? feed_failed(f, err) : feed_end(f, err);
}

struct image *feed_image(const struct feed_ops *ops, void *ctx, struct err *err)
{
    _cleanup_feed_ struct feed *f = calloc(1, sizeof(*f));

    if (!f) {
        err_nomem(err);
        return NULL;
    }
    f->ops = ops;
    f->ctx = ctx;
    f->fd = f->members.fd = -1;
    if (read_once(f, err) < 0 || members_index(&f->members, err) < 0)
        return NULL;
    struct image *image = image_open_members(&f->members, err);
    if (!image) {
        engine_save_said(f->tail, f->tail_len, err);
        return NULL;
    }
    image->feed = steal_ptr(&f);
    return image;
}

/* ---- again ---- */

static const struct member *member_of(const struct feed *f, const struct layer *layer)
{
    for (size_t i = 0; i < f->members.count; i++)
        if (f->members.list[i].record && f->members.list[i].offset == layer->offset)
            return &f->members.list[i];
    return NULL;
}

static int find_again(struct feed *f, const struct member *member, struct err *err)
{
    struct archive_entry *entry;
    int rc;

    while ((rc = next_member(f, &entry, err)) > 0) {
        const char *text = archive_entry_pathname(entry);
        if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) || !text)
            continue;
        _cleanup_free_ char *name = members_clean_name(text, err);
        if (!name)
            return -1;
        if (strcmp(name, member->name) != 0)
            continue;
        if ((uint64_t)archive_entry_size(entry) != member->size)
            return err_set(err, ERR_DIGEST, "%s has another size the second time it is read",
                           member->name);
        return 0;
    }
    return rc < 0 ? -1
                  : err_set(err, ERR_DIGEST, "%s is not there the second time the image is read",
                            member->name);
}

struct layer_reader *feed_layer(struct feed *f, const struct layer *layer, struct err *err)
{
    const struct member *member = member_of(f, layer);

    if (!member) {
        err_set(err, ERR_FORMAT, "layer %u is not of this image", layer->number);
        return NULL;
    }
    if (find_again(f, member, err) < 0)
        return NULL;
    return layer_reader_open_from(layer, member_stream(f), NULL, err);
}
