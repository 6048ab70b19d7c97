#include "flatten/carve/inventory/inventory_internal.h"

#include "base/base64.h"

#include <string.h>
#include <zstd.h>

enum {
    LEVEL = 12
}; /* of zstd: paths become a third smaller than at 3, in half a second a million */

struct writing {
    const struct inventory *in;
    struct tree *tree; /* borrowed */
    struct sha256 *sha256;
    struct buf facts, paths, digests;
    struct buf path, before; /* of the entry, and of the one before */
};

static void writing_clear(struct writing *w)
{
    cleanup_sha256(&w->sha256);
    buf_free(&w->facts);
    buf_free(&w->paths);
    buf_free(&w->digests);
    buf_free(&w->path);
    buf_free(&w->before);
}

static void put_number(struct buf *out, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        buf_putc(out, (char)(number | 0x80));
    buf_putc(out, (char)number);
}

static void put_identity(struct writing *w, const struct layout_identity *identity)
{
    buf_append(&w->digests, identity->part, sizeof(identity->part));
}

/* ---- entries ---- */

static int put_path(struct writing *w, uint32_t node, struct err *err)
{
    struct buf before = w->before;
    size_t shared = 0;

    w->before = w->path;
    w->path = before;
    if (!tree_path_in(w->tree, node, &w->path))
        return err_nomem(err);
    while (shared < w->before.len && shared < w->path.len &&
           w->before.data[shared] == w->path.data[shared])
        shared++;
    put_number(&w->paths, shared);
    buf_append(&w->paths, w->path.data + shared, w->path.len - shared + 1);
    return 0;
}

static bool is_link(const struct writing *w, size_t i)
{
    return w->in->entries[i].kind == LAYOUT_FILE && w->in->entries[i].inode != i;
}

static bool is_own(const struct layout_entry *e)
{
    return e->kind == LAYOUT_FILE && e->bytes >= INVENTORY_LARGE;
}

static bool is_shared(const struct writing *w, size_t i)
{
    const struct layout_entry *e = &w->in->entries[i];

    return (e->kind == LAYOUT_FILE || e->kind == LAYOUT_DIR) && !is_link(w, i) && !is_own(e) &&
           inventory_has_identity(&e->identity);
}

/* Puts the digest of all that share it, from entry `first` to the end of its group. */
static int put_shared(struct writing *w, size_t first, struct err *err)
{
    const struct inventory *in = w->in;
    struct layout_identity digest;

    for (size_t i = first; i < in->entry_count && in->groups[i] == in->groups[first] &&
                           in->entries[i].layer == in->entries[first].layer;
         i++)
        if (is_shared(w, i) && inventory_share_add(w->sha256, &in->entries[i].identity, err) < 0)
            return -1;
    if (inventory_share_end(w->sha256, &digest, err) < 0)
        return -1;
    put_identity(w, &digest);
    return 0;
}

/* `*sharing`: the group that the last shared digest is of, and its layer; both from 1. */
static int put_entry(struct writing *w, size_t i, uint64_t *sharing, struct err *err)
{
    const struct layout_entry *e = &w->in->entries[i];
    bool shared = is_shared(w, i), first = shared && *sharing != w->in->groups[i] + 1;
    bool own = is_own(e) && !is_link(w, i) && inventory_has_identity(&e->identity);

    buf_putc(&w->facts,
             (char)(e->kind | (is_link(w, i) ? INVENTORY_LINK : 0) | (own ? INVENTORY_OWN : 0) |
                    (shared ? INVENTORY_SHARED : 0) | (first ? INVENTORY_FIRST : 0)));
    if (is_link(w, i))
        put_number(&w->facts, i - e->inode);
    else if (e->kind == LAYOUT_FILE)
        put_number(&w->facts, e->bytes / INVENTORY_BLOCK);
    if (own)
        put_identity(w, &e->identity);
    if (first)
        *sharing = w->in->groups[i] + 1;
    if (first && put_shared(w, i, err) < 0)
        return -1;
    return put_path(w, e->node, err);
}

static int put_layer(struct writing *w, size_t layer, size_t *at, struct err *err)
{
    const struct inventory *in = w->in;
    size_t end = *at;
    uint64_t sharing = 0;

    while (end < in->entry_count && in->entries[end].layer == layer)
        end++;
    put_number(&w->facts, end - *at);
    for (; *at < end; ++*at)
        if (put_entry(w, *at, &sharing, err) < 0)
            return -1;
    return 0;
}

/* ---- the text ---- */

static int put_all(const struct writing *w, struct buf *out, struct err *err)
{
    buf_putc(out, INVENTORY_VERSION);
    put_number(out, w->in->layer_count);
    for (size_t i = 0; i < w->in->layer_count; i++) {
        unsigned char id[SHA256_SIZE];
        digest_bytes(&w->in->diff_ids[i], id, sizeof(id));
        buf_append(out, id, sizeof(id));
    }
    put_number(out, w->in->entry_count);
    put_number(out, w->facts.len);
    put_number(out, w->paths.len);
    put_number(out, w->digests.len);
    buf_append(out, w->facts.data ? w->facts.data : "", w->facts.len);
    buf_append(out, w->paths.data ? w->paths.data : "", w->paths.len);
    buf_append(out, w->digests.data ? w->digests.data : "", w->digests.len);
    if (buf_check(&w->facts, err) < 0 || buf_check(&w->paths, err) < 0 ||
        buf_check(&w->digests, err) < 0 || buf_check(out, err) < 0)
        return -1;
    return out->len <= INVENTORY_MOST_BYTES && w->in->entry_count <= INVENTORY_MOST_ENTRIES
               ? 0
               : err_set(err, ERR_LIMIT, "too many files");
}

static int put_text(const struct buf *all, struct buf *out, struct err *err)
{
    _cleanup_buf_ struct buf packed = BUF_INIT;
    size_t most = ZSTD_compressBound(all->len);
    char *end = buf_reserve(&packed, most);

    if (!end)
        return err_nomem(err);
    size_t len = ZSTD_compress(end, most, all->data, all->len, LEVEL);
    if (ZSTD_isError(len))
        return err_set(err, ERR_SYSTEM, "zstd: %s", ZSTD_getErrorName(len));
    if (len / 3 * 4 + 4 > INVENTORY_MOST_TEXT)
        return err_set(err, ERR_LIMIT, "too many files");
    base64_encode(out, end, len);
    return buf_check(out, err);
}

int inventory_write(const struct inventory *in, struct tree *tree, struct buf *out, struct err *err)
{
    _cleanup_(writing_clear) struct writing w = {.in = in, .tree = tree, .sha256 = sha256_new(err)};
    _cleanup_buf_ struct buf all = BUF_INIT;
    size_t at = 0;

    if (!w.sha256)
        return -1;
    for (size_t layer = 0; layer < in->layer_count; layer++)
        if (put_layer(&w, layer, &at, err) < 0)
            return -1;
    return put_all(&w, &all, err) < 0 ? -1 : put_text(&all, out, err);
}
