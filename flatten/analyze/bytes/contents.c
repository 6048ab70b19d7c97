#include "flatten/analyze/bytes/contents.h"

#include "base/hash.h"

#include <string.h>

void contents_clear(struct contents *c)
{
    free(c->hashes.list);
    free(c->heads.list);
    free(c->times.list);
    *c = (struct contents){0};
}

uint32_t contents_u32(const unsigned char *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static int by_inode(const void *a, const void *b)
{
    const struct content *x = a, *y = b;

    return x->inode < y->inode ? -1 : x->inode > y->inode;
}

static int by_bytes(const void *a, const void *b)
{
    int diff = memcmp(a, b, CONTENT_BYTES);

    return diff ? diff : by_inode(a, b);
}

void contents_sort(struct content_list *list)
{
    if (list->count)
        qsort(list->list, list->count, sizeof(*list->list), by_bytes);
}

const struct content *contents_find(const struct content_list *list, uint32_t inode)
{
    const struct content key = {.inode = inode};

    return list->count ? bsearch(&key, list->list, list->count, sizeof(key), by_inode) : NULL;
}

struct reading {
    struct layer_stack *stack;
    const uint8_t *wanted;
    struct contents *out;
    struct sha256 *sha256;
};

static int content_list_add(struct content_list *to, uint32_t inode, const unsigned char *bytes,
                            struct err *err)
{
    if (to->count == to->cap) {
        size_t cap = to->cap ? to->cap * 2 : 256;
        struct content *list = realloc(to->list, cap * sizeof(*list));
        if (!list)
            return err_nomem(err);
        to->list = list;
        to->cap = cap;
    }
    struct content *c = &to->list[to->count++];
    memcpy(c->bytes, bytes, sizeof(c->bytes));
    c->inode = inode;
    return 0;
}

static int content_add_hash(struct reading *r, uint32_t inode, struct err *err)
{
    unsigned char bytes[CONTENT_BYTES];

    if (sha256_finish_bytes(r->sha256, bytes, sizeof(bytes), err) < 0)
        return -1;
    return content_list_add(&r->out->hashes, inode, bytes, err);
}

/* Collects what is wanted of a file, as its bytes come in order. */
struct file_reading {
    struct sha256 *sha256;     /* or NULL */
    struct hash_stream *quick; /* or NULL */
    char *copy;                /* of all content; or NULL */
    bool head;
    uint64_t at;
    unsigned char bytes[CONTENT_BYTES];
};

/* `data` NULL: zeros. */
static int file_reading_add(struct file_reading *f, const unsigned char *data, uint64_t len,
                            struct err *err)
{
    static const unsigned char zeros[64 * 1024];

    while (len > 0) {
        size_t piece = data || len < sizeof(zeros) ? (size_t)len : sizeof(zeros);
        const unsigned char *from = data ? data : zeros;
        if (f->at < sizeof(f->bytes)) {
            size_t room = sizeof(f->bytes) - (size_t)f->at;
            memcpy(f->bytes + f->at, from, piece < room ? piece : room);
        }
        if (f->copy)
            memcpy(f->copy + f->at, from, piece);
        if (f->sha256 && sha256_update(f->sha256, from, piece, err) < 0)
            return -1;
        if (f->quick)
            hash_stream_add(f->quick, from, piece);
        f->at += piece;
        data = data ? data + piece : NULL;
        len -= piece;
    }
    return 0;
}

static int file_reading_run(struct file_reading *f, struct layer_reader *reader, uint64_t size,
                            struct err *err)
{
    uint64_t offset;
    const void *data;
    size_t len;
    int rc = 1;

    while ((f->sha256 || f->quick || f->at < sizeof(f->bytes)) &&
           (rc = layer_reader_data(reader, &data, &len, &offset, err)) > 0) {
        if (offset < f->at || offset > size || len > size - offset)
            return err_set(err, ERR_FORMAT, "content beyond the entry's size");
        if (file_reading_add(f, NULL, offset - f->at, err) < 0 ||
            file_reading_add(f, data, len, err) < 0)
            return -1;
    }
    if (rc < 0)
        return -1;
    return rc == 0 ? file_reading_add(f, NULL, size - f->at, err) : 0;
}

int contents_copy(struct layer_reader *reader, uint64_t size, char *data, uint64_t *out,
                  struct err *err)
{
    struct hash_stream hash;
    struct file_reading f = {.quick = &hash, .copy = data};

    hash_stream_begin(&hash);
    if (file_reading_run(&f, reader, size, err) < 0)
        return -1;
    uint64_t found = hash_stream_end(&hash);
    *out = found ? found : 1;
    return 0;
}

int contents_quick(struct layer_reader *reader, uint64_t size, uint64_t *out, struct err *err)
{
    return contents_copy(reader, size, NULL, out, err);
}

static int read_wanted(void *ctx, struct layer_reader *reader, const struct layer_entry *e,
                       uint32_t inode, struct err *err)
{
    struct reading *r = ctx;
    uint8_t wanted = r->wanted[inode];
    struct stack_file *file = &r->stack->files[inode];
    struct file_reading f = {.sha256 = wanted & CONTENT_HASH ? r->sha256 : NULL,
                             .head = wanted & CONTENT_HEAD};

    if (wanted & CONTENT_TIME) {
        uint32_t seconds = (uint32_t)archive_entry_mtime(e->header);
        const unsigned char bytes[CONTENT_BYTES] = {
            (unsigned char)seconds, (unsigned char)(seconds >> 8), (unsigned char)(seconds >> 16),
            (unsigned char)(seconds >> 24)};
        if (content_list_add(&r->out->times, inode, bytes, err) < 0)
            return -1;
    }
    if (wanted & CONTENT_QUICK)
        return contents_quick(reader, file->size, &file->quick, err);
    if (!f.sha256 && !f.head)
        return 0;
    if (file_reading_run(&f, reader, file->size, err) < 0)
        return -1;
    if (f.head && f.at >= sizeof(f.bytes) &&
        content_list_add(&r->out->heads, inode, f.bytes, err) < 0)
        return -1;
    return f.sha256 ? content_add_hash(r, inode, err) : 0;
}

/* Files are in the order of layers and entries: one cursor is enough for the whole image. */
struct walk {
    const struct layer_stack *stack;
    const uint8_t *wanted;
    contents_visit *visit;
    void *ctx;
    size_t cursor;
};

/* Moves to the next wanted file of the layer. Returns false if there is none. */
static bool next_wanted(struct walk *w, unsigned layer)
{
    const struct layer_stack *s = w->stack;

    while (w->cursor < s->file_count && s->files[w->cursor].layer <= layer &&
           (s->files[w->cursor].layer != layer || !w->wanted[w->cursor]))
        w->cursor++;
    return w->cursor < s->file_count && s->files[w->cursor].layer == layer;
}

static int walk_layer(struct walk *w, const struct layer *layer, struct err *err)
{
    _cleanup_layer_reader_ struct layer_reader *reader = layer_reader_open_unchecked(layer, err);
    struct layer_entry e;

    if (!reader)
        return -1;
    do {
        int rc = layer_reader_next(reader, &e, err);
        if (rc < 0)
            return -1;
        if (rc == 0)
            return err_set(err, ERR_FORMAT, "layer %u changed while it was read", layer->number);
        if (w->stack->files[w->cursor].ordinal != e.info.ordinal)
            continue;
        if (w->visit(w->ctx, reader, &e, (uint32_t)w->cursor, err) < 0)
            return layer_entry_wrap(layer, &e, err);
        w->cursor++;
    } while (next_wanted(w, layer->number));
    return 0;
}

int contents_walk(const struct image *image, const struct layer_stack *s, const uint8_t *wanted,
                  contents_visit *visit, void *ctx, struct err *err)
{
    struct walk w = {.stack = s, .wanted = wanted, .visit = visit, .ctx = ctx};

    for (size_t i = 0; i < image->layer_count; i++)
        if (next_wanted(&w, image->layers[i].number) && walk_layer(&w, &image->layers[i], err) < 0)
            return -1;
    return 0;
}

int contents_read(const struct image *image, struct layer_stack *s, const uint8_t *wanted,
                  struct contents *out, struct err *err)
{
    _cleanup_sha256_ struct sha256 *sha256 = sha256_new(err);
    struct reading r = {.stack = s, .wanted = wanted, .out = out, .sha256 = sha256};

    *out = (struct contents){0};
    return sha256 ? contents_walk(image, s, wanted, read_wanted, &r, err) : -1;
}
