#include "flatten/layer/layer_record.h"

#include "flatten/layer/attributes.h"
#include "flatten/layer/emit.h"

#include <string.h>

/* Followed by the rest of the path, the link and the attributes, each with its NUL or size. */
struct packed {
    uint64_t size;
    int64_t mtime;
    const char *dropped;                             /* a constant */
    uint32_t nanoseconds, ordinal, link, attributes; /* the last two: bytes */
    uint16_t shared,
        rest; /* of the path: what it has in common with the one before; and what not */
    uint8_t kind;
};

static size_t shared_with(const struct buf *last, const struct merge_input *in)
{
    size_t len = 0;

    while (len < last->len && len < in->path_len && last->data[len] == in->path[len])
        len++;
    return len;
}

static bool is_described(enum merge_kind kind)
{
    return kind == MERGE_DIR || kind == MERGE_HARDLINK;
}

int layer_record_add(struct layer_record *r, const struct layer_entry *e, struct err *err)
{
    const struct merge_input *in = &e->in;
    struct attributes *attributes = NULL;

    if (is_described(in->kind) && !(attributes = attributes_of(e->header, err)))
        return -1;
    size_t shared = shared_with(&r->path, in);
    const struct packed p = {
        .size = (uint64_t)archive_entry_size(e->header),
        .dropped = e->dropped,
        .mtime = archive_entry_mtime(e->header),
        .nanoseconds = (uint32_t)archive_entry_mtime_nsec(e->header),
        .ordinal = in->ordinal,
        .link = (uint32_t)in->link_len,
        .attributes = attributes ? (uint32_t)attributes_size(attributes) : 0,
        .shared = (uint16_t)shared, /* layer_reader takes no path of PATH_MAX bytes */
        .rest = (uint16_t)(in->path_len - shared),
        .kind = (uint8_t)in->kind,
    };
    buf_append(&r->entries, &p, sizeof(p));
    buf_append(&r->entries, in->path + shared, p.rest);
    if (p.link) {
        buf_append(&r->entries, in->link, p.link);
        buf_putc(&r->entries, '\0');
    }
    if (p.attributes)
        buf_append(&r->entries, attributes, p.attributes);
    cleanup_attributes(&attributes);
    buf_truncate(&r->path, shared);
    buf_append(&r->path, in->path + shared, p.rest);
    return buf_check(&r->path, err) < 0 ? -1 : buf_check(&r->entries, err);
}

void layer_record_close(struct layer_record *r)
{
    buf_free(&r->path);
    r->path = (struct buf)BUF_INIT;
}

void layer_record_clear(struct layer_record *r)
{
    buf_free(&r->entries);
    buf_free(&r->path);
}

size_t layer_record_size(const struct layer_record *r)
{
    return r->entries.len;
}

/* ---- reading ---- */

static int unpack_described(struct layer_replay *r, size_t size, struct err *err)
{
    struct attributes *copy = malloc(size); /* aligned */

    if (!copy)
        return err_nomem(err);
    memcpy(copy, r->record->entries.data + r->at, size);
    r->at += size;
    cleanup_entry(&r->header);
    r->header = attributes_entry(copy, err);
    attributes_free(copy);
    return r->header ? 0 : -1;
}

static int unpack_header(struct layer_replay *r, const struct packed *p, struct err *err)
{
    if (p->attributes) {
        if (unpack_described(r, p->attributes, err) < 0)
            return -1;
    } else if (r->header) {
        archive_entry_clear(r->header);
    } else if (!(r->header = archive_entry_new())) {
        return err_nomem(err);
    }
    archive_entry_set_size(r->header, (int64_t)p->size);
    archive_entry_set_mtime(r->header, p->mtime, p->nanoseconds);
    return 0;
}

int layer_replay_next(struct layer_replay *r, struct layer_entry *out, struct err *err)
{
    const struct buf *entries = &r->record->entries;
    const char *link = "";
    struct packed p;

    if (r->at == entries->len)
        return 0;
    memcpy(&p, entries->data + r->at, sizeof(p));
    r->at += sizeof(p);
    buf_truncate(&r->path, p.shared);
    buf_append(&r->path, entries->data + r->at, p.rest);
    r->at += p.rest;
    if (p.link) {
        link = entries->data + r->at;
        r->at += p.link + 1;
    }
    if (buf_check(&r->path, err) < 0 || unpack_header(r, &p, err) < 0)
        return -1;
    *out = (struct layer_entry){
        .in = {.kind = (enum merge_kind)p.kind,
               .path = r->path.data ? r->path.data : "",
               .path_len = r->path.len,
               .link = link,
               .link_len = p.link,
               .ordinal = p.ordinal},
        .header = r->header,
        .dropped = p.dropped,
    };
    return 1;
}

void layer_replay_clear(struct layer_replay *r)
{
    buf_free(&r->path);
    cleanup_entry(&r->header);
}
