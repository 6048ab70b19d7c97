#include "flatten/carve/inventory/inventory_internal.h"

#include "base/base64.h"
#include "base/path.h"
#include "flatten/merge/tree/array.h"
#include "flatten/merge/tree/merged_limits.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { MOST_DEPTH = 2048 };

/* Bytes that are not read yet. */
struct part {
    const unsigned char *at, *end;
};

/* A directory of the path that was read last: the path up to `end` is `node`. */
struct step {
    size_t end;
    uint32_t node;
};

struct reading {
    struct inventory *out;
    struct tree *tree; /* borrowed */
    const struct inventory_known *known;
    struct sha256 *sha256;
    struct part all, facts, paths, digests;
    struct buf path;
    struct step *steps;
    size_t step_count, step_cap;
    uint8_t *flags;     /* by entry */
    uint32_t own_paths; /* nodes that the tree had before */
};

static void reading_clear(struct reading *r)
{
    cleanup_sha256(&r->sha256);
    buf_free(&r->path);
    free(r->steps);
    free(r->flags);
}

/* ---- bytes ---- */

static int broken(struct err *err)
{
    err_set(err, ERR_FORMAT, "its inventory is broken");
    return -1;
}

static int take_bytes(struct part *p, size_t len, const unsigned char **out, struct err *err)
{
    if (len > (size_t)(p->end - p->at))
        return broken(err);
    *out = p->at;
    p->at += len;
    return 0;
}

static int take_part(struct part *p, size_t len, struct part *out, struct err *err)
{
    if (take_bytes(p, len, &out->at, err) < 0)
        return -1;
    out->end = out->at + len;
    return 0;
}

static int take_number(struct part *p, uint64_t most, size_t *out, struct err *err)
{
    uint64_t number = 0;

    for (unsigned shift = 0; shift < 63 && p->at < p->end; shift += 7) {
        number |= (uint64_t)(*p->at & 0x7f) << shift;
        if (*p->at++ < 0x80) {
            *out = (size_t)number;
            return number > most ? broken(err) : 0;
        }
    }
    return broken(err);
}

static int take_identity(struct reading *r, struct layout_identity *out, struct err *err)
{
    const unsigned char *bytes;

    if (take_bytes(&r->digests, sizeof(out->part), &bytes, err) < 0)
        return -1;
    memcpy(out->part, bytes, sizeof(out->part));
    return 0;
}

/* ---- paths ---- */

/* Adds a directory or the name at its end. The path is to be clean, and no name is a whiteout's. */
static int add_step(struct reading *r, size_t begin, size_t end, struct err *err)
{
    const char *name = r->path.data + begin;
    uint32_t parent = r->step_count ? r->steps[r->step_count - 1].node : TREE_ROOT;

    if (!path_component_valid(name, end - begin) || strncmp(name, ".wh.", 4) == 0 ||
        r->step_count == MOST_DEPTH)
        return broken(err);
    struct step *step = ARRAY_PUSH(r, step, steps, err);
    if (!step)
        return -1;
    step->end = end;
    step->node = tree_child(r->tree, parent, name, end - begin, err);
    return step->node == TREE_NONE ? -1 : 0;
}

/* True if the last step is a directory of the path, or the path, by its first `shared` bytes. */
static bool is_on_path(const struct reading *r, size_t shared)
{
    size_t end = r->steps[r->step_count - 1].end;

    return end <= shared && (end == r->path.len || r->path.data[end] == '/');
}

/* Returns the node of the path, whose first `shared` bytes are those of the path before it. */
static uint32_t node_of(struct reading *r, size_t shared, struct err *err)
{
    size_t at;

    while (r->step_count > 0 && !is_on_path(r, shared))
        r->step_count--;
    if (r->path.len == 0)
        return TREE_ROOT;
    for (at = r->step_count ? r->steps[r->step_count - 1].end : 0; at < r->path.len;) {
        size_t begin = r->step_count ? at + 1 : 0;
        at = begin + strcspn(r->path.data + begin, "/");
        if (add_step(r, begin, at, err) < 0)
            return TREE_NONE;
    }
    return r->steps[r->step_count - 1].node;
}

static uint32_t take_path(struct reading *r, struct err *err)
{
    size_t shared;

    if (take_number(&r->paths, r->path.len, &shared, err) < 0)
        return TREE_NONE;
    const unsigned char *rest = r->paths.at;
    const unsigned char *end = memchr(rest, '\0', (size_t)(r->paths.end - rest));
    if (!end || (size_t)(end - rest) > PATH_LIMIT - shared) {
        broken(err);
        return TREE_NONE;
    }
    r->paths.at = end + 1;
    buf_truncate(&r->path, shared);
    buf_append(&r->path, rest, (size_t)(end - rest));
    return buf_check(&r->path, err) < 0 ? TREE_NONE : node_of(r, shared, err);
}

/* ---- entries ---- */

static int take_file(struct reading *r, size_t i, uint8_t flags, struct err *err)
{
    struct layout_entry *e = &r->out->entries[i];
    size_t number;

    if (!(flags & INVENTORY_LINK)) {
        if (take_number(&r->facts, (uint64_t)INT64_MAX / INVENTORY_BLOCK, &number, err) < 0)
            return -1;
        e->bytes = (uint64_t)number * INVENTORY_BLOCK;
        return 0;
    }
    if (take_number(&r->facts, i, &number, err) < 0)
        return -1;
    e->inode = (uint32_t)(i - number);
    const struct layout_entry *file = &r->out->entries[e->inode];
    return number > 0 && file->layer == e->layer && file->kind == LAYOUT_FILE &&
                   file->inode == e->inode
               ? 0
               : broken(err);
}

static int check_flags(uint8_t flags, struct err *err)
{
    unsigned kind = flags & INVENTORY_KIND;
    unsigned how = flags & (INVENTORY_LINK | INVENTORY_OWN | INVENTORY_SHARED);
    bool one = how == 0 || how == INVENTORY_LINK || how == INVENTORY_OWN || how == INVENTORY_SHARED;

    if (!one || flags >= 2 * INVENTORY_FIRST || (how == INVENTORY_LINK && kind != LAYOUT_FILE) ||
        (how && kind != LAYOUT_FILE && kind != LAYOUT_DIR) ||
        ((flags & INVENTORY_FIRST) && how != INVENTORY_SHARED))
        return broken(err);
    return 0;
}

static int take_entry(struct reading *r, size_t i, size_t layer, struct err *err)
{
    const struct merged_report report = {.entries_in = r->own_paths + i};
    struct layout_entry *e = &r->out->entries[i];
    const unsigned char *flags;

    if (take_bytes(&r->facts, 1, &flags, err) < 0 || check_flags(*flags, err) < 0)
        return -1;
    *e = (struct layout_entry){
        .inode = (uint32_t)i, .layer = (uint16_t)layer, .kind = *flags & INVENTORY_KIND};
    r->flags[i] = *flags;
    if (e->kind == LAYOUT_FILE && take_file(r, i, *flags, err) < 0)
        return -1;
    /* The first of those that share a digest holds it until it is compared. */
    if ((*flags & (INVENTORY_OWN | INVENTORY_FIRST)) && take_identity(r, &e->identity, err) < 0)
        return -1;
    e->node = take_path(r, err);
    return e->node == TREE_NONE ? -1 : merged_check_implied(r->tree, &report, err);
}

static int take_entries(struct reading *r, size_t count, struct err *err)
{
    size_t at = 0, more;

    for (size_t layer = 0; layer < r->out->layer_count; layer++) {
        if (take_number(&r->facts, count - at, &more, err) < 0)
            return -1;
        for (size_t end = at + more; at < end; at++)
            if (take_entry(r, at, layer, err) < 0)
                return -1;
    }
    return at == count && r->facts.at == r->facts.end && r->paths.at == r->paths.end &&
                   r->digests.at == r->digests.end
               ? 0
               : broken(err);
}

/* ---- identities ---- */

static struct layout_identity known_at(const struct reading *r, uint32_t node)
{
    return node < r->known->count ? r->known->list[node] : (struct layout_identity){{0, 0}};
}

/* Gives the entries from `first` on that share a digest their identities, if all are the same. */
static int compare_shared(struct reading *r, size_t first, struct err *err)
{
    struct inventory *out = r->out;
    struct layout_identity digest = out->entries[first].identity, actual;
    size_t end = first;

    do {
        const struct layout_identity known = known_at(r, out->entries[end].node);
        if ((r->flags[end] & INVENTORY_SHARED) && inventory_share_add(r->sha256, &known, err) < 0)
            return -1;
        end++;
    } while (end < out->entry_count && !(r->flags[end] & INVENTORY_FIRST));
    if (inventory_share_end(r->sha256, &actual, err) < 0)
        return -1;
    bool same = memcmp(&actual, &digest, sizeof(actual)) == 0;
    for (size_t i = first; i < end; i++)
        if (r->flags[i] & INVENTORY_SHARED)
            out->entries[i].identity =
                same ? known_at(r, out->entries[i].node) : (struct layout_identity){{0, 0}};
    return 0;
}

static int compare_all(struct reading *r, struct err *err)
{
    struct inventory *out = r->out;

    for (size_t i = 0; i < out->entry_count; i++)
        if ((r->flags[i] & INVENTORY_FIRST) && compare_shared(r, i, err) < 0)
            return -1;
    for (size_t i = 0; i < out->entry_count; i++)
        if (r->flags[i] & INVENTORY_LINK)
            out->entries[i].identity = out->entries[out->entries[i].inode].identity;
    return 0;
}

/* ---- the text ---- */

static int take_layers(struct reading *r, struct err *err)
{
    struct inventory *out = r->out;
    const unsigned char *bytes;

    if (take_number(&r->all, LAYOUT_MOST_LAYERS, &out->layer_count, err) < 0)
        return -1;
    out->diff_ids = calloc(out->layer_count + 1, sizeof(*out->diff_ids));
    if (!out->diff_ids)
        return err_nomem(err);
    for (size_t i = 0; i < out->layer_count; i++) {
        if (take_bytes(&r->all, SHA256_SIZE, &bytes, err) < 0)
            return -1;
        digest_of_bytes(bytes, &out->diff_ids[i]);
    }
    return 0;
}

static int take_all(struct reading *r, struct err *err)
{
    struct inventory *out = r->out;
    size_t count, facts, paths, digests;
    const unsigned char *version;

    if (take_bytes(&r->all, 1, &version, err) < 0)
        return -1;
    if (*version != INVENTORY_VERSION)
        return err_set(err, ERR_FORMAT, "its inventory is of another version of flatten");
    if (take_layers(r, err) < 0 || take_number(&r->all, INVENTORY_MOST_ENTRIES, &count, err) < 0 ||
        take_number(&r->all, INVENTORY_MOST_BYTES, &facts, err) < 0 ||
        take_number(&r->all, INVENTORY_MOST_BYTES, &paths, err) < 0 ||
        take_number(&r->all, INVENTORY_MOST_BYTES, &digests, err) < 0 ||
        take_part(&r->all, facts, &r->facts, err) < 0 ||
        take_part(&r->all, paths, &r->paths, err) < 0 ||
        take_part(&r->all, digests, &r->digests, err) < 0)
        return -1;
    if (count > facts || r->all.at != r->all.end)
        return broken(err);
    out->entries = calloc(count + 1, sizeof(*out->entries));
    r->flags = calloc(count + 1, sizeof(*r->flags));
    if (!out->entries || !r->flags)
        return err_nomem(err);
    out->entry_count = out->entry_cap = count;
    return take_entries(r, count, err) < 0 ? -1 : compare_all(r, err);
}

static int unpack(const char *text, struct buf *out, struct err *err)
{
    _cleanup_buf_ struct buf packed = BUF_INIT;
    size_t len = strlen(text);

    if (len > INVENTORY_MOST_TEXT)
        return err_set(err, ERR_LIMIT, "its inventory is too large");
    if (!base64_decode(&packed, text, len) || buf_check(&packed, err) < 0 || packed.len == 0)
        return broken(err);
    unsigned long long size = ZSTD_getFrameContentSize(packed.data, packed.len);
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR)
        return broken(err);
    if (size > INVENTORY_MOST_BYTES)
        return err_set(err, ERR_LIMIT, "its inventory is too large");
    char *end = buf_reserve(out, (size_t)size + 1);
    if (!end)
        return err_nomem(err);
    size_t got = ZSTD_decompress(end, (size_t)size, packed.data, packed.len);
    if (ZSTD_isError(got) || got != size)
        return broken(err);
    out->len = got;
    return 0;
}

int inventory_read(const char *text, struct tree *tree, const struct inventory_known *known,
                   struct inventory *out, struct err *err)
{
    _cleanup_buf_ struct buf all = BUF_INIT;
    _cleanup_(reading_clear) struct reading r = {.out = out,
                                                 .tree = tree,
                                                 .known = known,
                                                 .sha256 = sha256_new(err),
                                                 .own_paths = tree_count(tree)};

    *out = (struct inventory){0};
    if (!r.sha256 || unpack(text, &all, err) < 0)
        return -1;
    r.all.at = (const unsigned char *)all.data;
    r.all.end = r.all.at + all.len;
    return take_all(&r, err);
}
