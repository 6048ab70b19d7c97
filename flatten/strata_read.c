#include "flatten/strata_read.h"

#include <string.h>

static int on_file(void *ctx, const struct layer *layer, const struct layer_entry *e, uint32_t node,
                   uint32_t inode, struct err *err)
{
    struct strata_file file = {.size = (uint64_t)archive_entry_size(e->header),
                               .node = node,
                               .ordinal = e->in.ordinal,
                               .layer = (uint16_t)layer->number};

    return strata_add_file(ctx, inode, &file, err);
}

static int on_holds(void *ctx, struct tree *tree, unsigned layer, uint32_t node,
                    enum model_kind kind, const struct model_slot *slot, struct err *err)
{
    ((struct strata *)ctx)->tree = tree;
    return strata_hold(ctx, layer, node, kind, slot, err);
}

int strata_read(const struct image *image, const struct merged_options *options, struct strata *out,
                struct index **index, struct merged_report *report, struct err *err)
{
    struct index_observer observer = {.ctx = out, .file = on_file, .holds = on_holds};
    struct merged_options o = *options;

    if (image->layer_count > STRATA_MOST_LAYERS)
        return err_set(err, ERR_LIMIT, "more than %d layers", STRATA_MOST_LAYERS);
    *out = (struct strata){.layers = (unsigned)image->layer_count};
    *report = (struct merged_report){.layers = (unsigned)image->layer_count};
    o.semantics = SEMANTICS_OVERLAY;
    o.observer = &observer;
    *index = index_new(image, &o, report, err);
    if (!*index)
        return -1;
    out->tree = (*index)->tree;
    return 0;
}

/* ---- contents ---- */

/* Half a SHA-256: enough that equal means equal. */
struct content {
    unsigned char hash[SHA256_SIZE / 2];
    uint32_t inode;
};

struct contents {
    struct strata *strata;
    const uint8_t *wanted;
    struct sha256 *sha256;
    struct content *list;
    size_t count;
    size_t cursor; /* the first inode that may come next: they stand in the order of reading */
};

static void contents_clear(struct contents *c)
{
    cleanup_sha256(&c->sha256);
    free(c->list);
}

static int hash_zeros(struct sha256 *hash, uint64_t len, struct err *err)
{
    static const char zeros[64 * 1024];

    for (uint64_t piece; len > 0; len -= piece) {
        piece = len < sizeof(zeros) ? len : sizeof(zeros);
        if (sha256_update(hash, zeros, (size_t)piece, err) < 0)
            return -1;
    }
    return 0;
}

static unsigned nibble(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static int hash_file(struct contents *c, struct layer_reader *reader, uint32_t inode,
                     struct err *err)
{
    struct content *out = &c->list[c->count++];
    uint64_t at = 0, offset;
    struct digest digest;
    const void *data;
    size_t len;
    int rc;

    while ((rc = layer_reader_data(reader, &data, &len, &offset, err)) > 0) {
        if (offset < at)
            return err_set(err, ERR_FORMAT, "content out of order");
        if (hash_zeros(c->sha256, offset - at, err) < 0 ||
            sha256_update(c->sha256, data, len, err) < 0)
            return -1;
        at = offset + len;
    }
    uint64_t size = c->strata->files[inode].size;
    if (rc < 0 || (size > at && hash_zeros(c->sha256, size - at, err) < 0) ||
        sha256_finish(c->sha256, &digest, err) < 0)
        return -1;
    const char *hex = digest_hex(&digest);
    for (size_t i = 0; i < sizeof(out->hash); i++)
        out->hash[i] = (unsigned char)(nibble(hex[2 * i]) << 4 | nibble(hex[2 * i + 1]));
    out->inode = inode;
    return 0;
}

/* The next wanted file of the layer; false when there is none. */
static bool next_wanted(struct contents *c, unsigned layer)
{
    const struct strata *s = c->strata;

    while (c->cursor < s->file_count && s->files[c->cursor].layer <= layer &&
           (s->files[c->cursor].layer != layer || !c->wanted[c->cursor]))
        c->cursor++;
    return c->cursor < s->file_count && s->files[c->cursor].layer == layer;
}

static int read_layer(struct contents *c, const struct layer *layer, struct err *err)
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
        if (c->strata->files[c->cursor].ordinal != e.in.ordinal)
            continue;
        if (hash_file(c, reader, (uint32_t)c->cursor, err) < 0)
            return layer_entry_wrap(layer, &e, err);
        c->cursor++;
    } while (next_wanted(c, layer->number));
    return 0;
}

static int by_hash(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(((struct content *)NULL)->hash));
}

static void number_contents(struct contents *c)
{
    uint32_t number = 0;

    qsort(c->list, c->count, sizeof(*c->list), by_hash);
    for (size_t i = 0; i < c->count; i++) {
        if (i == 0 || by_hash(&c->list[i - 1], &c->list[i]) != 0)
            number++;
        c->strata->files[c->list[i].inode].content = number;
    }
}

int strata_read_contents(const struct image *image, struct strata *s, const uint8_t *wanted,
                         struct err *err)
{
    _cleanup_(contents_clear) struct contents c = {.strata = s, .wanted = wanted};
    size_t count = 0;

    for (size_t i = 0; i < s->file_count; i++)
        count += s->files[i].layer && wanted[i];
    if (count == 0)
        return 0;
    c.sha256 = sha256_new(err);
    c.list = calloc(count, sizeof(*c.list));
    if (!c.sha256)
        return -1;
    if (!c.list)
        return err_nomem(err);
    for (size_t i = 0; i < image->layer_count; i++)
        if (next_wanted(&c, image->layers[i].number) && read_layer(&c, &image->layers[i], err) < 0)
            return -1;
    number_contents(&c);
    return 0;
}
