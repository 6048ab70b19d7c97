#include "flatten/merge/merge.h"

#include "flatten/merge/merge_walk.h"
#include "flatten/merge/tree/array.h"

#include <string.h>

struct merge *merge_new(struct err *err)
{
    _cleanup_merge_ struct merge *m = calloc(1, sizeof(*m));

    if (!m) {
        err_nomem(err);
        return NULL;
    }
    m->tree = tree_new(err);
    return m->tree ? steal_ptr(&m) : NULL;
}

static void forget_layer(struct merge *m)
{
    m->symlink_count = m->bound_count = m->touch_count = 0;
    arena_free(&m->arena);
}

void merge_free(struct merge *m)
{
    forget_layer(m);
    cleanup_tree(&m->tree);
    buf_free(&m->rest);
    free(m->symlinks);
    free(m->bounds);
    free(m->implied);
    free(m->touched);
    free(m);
}

struct tree *merge_tree(struct merge *m)
{
    return m->tree;
}

void merge_list_layers(struct merge *m)
{
    m->lists = true;
}

static enum layer_probe_kind probe_kind(const struct merge *m, const struct tree_node *n)
{
    if (n->seen_kind == SEEN_NOTHING)
        return PROBE_WHITEOUT;
    if (n->seen_kind > SEEN_DIR)
        return PROBE_FILE;
    return n->block == m->layer ? PROBE_OPAQUE_DIR : PROBE_DIR;
}

int merge_list_layer(const struct merge *m, struct layer_probes *out, struct err *err)
{
    for (size_t i = 0; i < m->touch_count; i++)
        if (layer_probes_add(out, m->touched[i], m->layer, probe_kind(m, node_of(m, m->touched[i])),
                             err) < 0)
            return -1;
    return 0;
}

int merge_begin_layer(struct merge *m, unsigned layer, struct err *err)
{
    if (layer >= MERGE_MOST_LAYERS)
        return err_set(err, ERR_LIMIT, "more than %d layers", MERGE_MOST_LAYERS);
    forget_layer(m);
    m->layer = (uint16_t)(layer + 1);
    return 0;
}

/* Hides everything older below the node. */
static void set_block(const struct merge *m, struct tree_node *n)
{
    if (!n->block)
        n->block = m->layer;
}

static bool is_decided_before(const struct merge *m, const struct tree_node *n)
{
    return n->decided > m->layer;
}

/* True if the current layer has what is visible at this node. */
static bool is_ours(const struct merge *m, const struct tree_node *n)
{
    return n->decided == m->layer && n->decided_kind != DECIDED_GONE;
}

/* ---- hard links ---- */

/* Finds the entry that a link is bound to. Returns 0, -1, or 1 if it is not in the current layer.
 */
static int bind_link(struct merge *m, const struct entry_info *in, struct bound *out,
                     struct err *err)
{
    struct place at;
    const char *name;

    if (in->link_len == 0)
        return err_set(err, ERR_FORMAT, "hard link to the root directory");
    if (merge_walk(m, in->link, in->link_len, WALK_LOOK, &at, &name, err) < 0)
        return -1;
    uint32_t target = tree_find(m->tree, at.node, name, strlen(name));
    const struct tree_node *t = target == TREE_NONE ? NULL : node_of(m, target);
    if (!t || t->seen != m->layer)
        return 1;
    switch ((enum merge_seen)t->seen_kind) {
    case SEEN_DIR:
    case SEEN_IMPLIED:
        return err_set(err, ERR_FORMAT, "hard link to a directory");
    case SEEN_NOTHING:
        return err_set(err, ERR_FORMAT,
                       "hard link to a path that a whiteout in the same layer hides");
    case SEEN_HARDLINK:
        *out = m->bounds[t->extra];
        return 0;
    case SEEN_SYMLINK:
        *out = (struct bound){target, t->ordinal, m->symlinks[t->extra].attributes};
        return 0;
    case SEEN_OTHER:
        *out = (struct bound){target, t->ordinal, t->extra};
        return 0;
    }
    return 1;
}

/* ---- entries ---- */

static int enter_dir(struct merge *m, const struct place *at, struct tree_node *n,
                     struct merge_output *out, struct err *err)
{
    bool seen = n->seen == m->layer;

    if (seen && n->seen_kind != SEEN_NOTHING) {
        if (n->seen_kind >= SEEN_SYMLINK || (!place_hidden(at) && is_ours(m, n)))
            out->action = MERGE_CONFLICT;
        else
            n->seen_kind = SEEN_DIR;
        return 0;
    }
    if (seen && n->block == m->layer) {
        n->block = 0;
        out->divergence = DIVERGENCE_WHITEOUT_DIR;
    }
    if (merge_see(m, out->node, SEEN_DIR, err) < 0)
        return -1;
    if (place_hidden(at) || is_decided_before(m, n))
        return 0;
    n->decided = m->layer;
    n->decided_kind = DECIDED_DIR;
    out->action = MERGE_EMIT;
    return 0;
}

/* Notes which kind of entry the layer has at the node. */
static int note_kind(struct merge *m, const struct entry_info *in, uint32_t node,
                     const struct bound *b, struct err *err)
{
    struct tree_node *n = node_of(m, node);

    if (merge_see(m, node, SEEN_OTHER, err) < 0)
        return -1;
    n->ordinal = in->ordinal;
    if (in->kind == ENTRY_SYMLINK) {
        struct symlink *s = ARRAY_PUSH(m, symlink, symlinks, err);
        if (!s)
            return -1;
        s->len = in->link_len;
        s->target = arena_strndup(&m->arena, in->link, in->link_len);
        s->attributes = in->attributes;
        n->seen_kind = SEEN_SYMLINK;
        n->extra = (uint32_t)(m->symlink_count - 1);
        return s->target ? 0 : err_nomem(err);
    }
    if (in->kind == ENTRY_HARDLINK) {
        struct bound *kept = ARRAY_PUSH(m, bound, bounds, err);
        if (!kept)
            return -1;
        *kept = *b;
        n->seen_kind = SEEN_HARDLINK;
        n->extra = (uint32_t)(m->bound_count - 1);
        return 0;
    }
    n->extra = in->attributes;
    return 0;
}

/* Decides a visible hard link: its origin was written, or was hidden when it was read. */
static void place_link(struct merge *m, const struct bound *b, struct merge_output *out)
{
    const struct tree_node *origin = node_of(m, b->origin);

    if (is_ours(m, origin) && origin->decided_kind == DECIDED_OTHER) {
        out->action = MERGE_LINK;
        out->target = b->origin;
    } else {
        out->action = MERGE_DEFER;
        out->ordinal = b->ordinal;
    }
}

static int enter_other(struct merge *m, const struct place *at, const struct entry_info *in,
                       struct merge_output *out, struct err *err)
{
    struct bound b = {.origin = out->node, .attributes = in->attributes};
    int elsewhere = in->kind == ENTRY_HARDLINK ? bind_link(m, in, &b, err) : 0;
    struct tree_node *n = node_of(m, out->node);

    if (elsewhere < 0)
        return -1;
    if (elsewhere || b.attributes != in->attributes ||
        (n->seen == m->layer && n->seen_kind != SEEN_NOTHING)) {
        out->action = MERGE_CONFLICT;
        return 0;
    }
    if (note_kind(m, in, out->node, &b, err) < 0)
        return -1;
    set_block(m, n);
    if (!place_hidden(at) && !is_decided_before(m, n)) {
        n->decided = m->layer;
        n->decided_kind = DECIDED_OTHER;
        out->action = MERGE_EMIT;
        if (in->kind == ENTRY_HARDLINK)
            place_link(m, &b, out);
    } else if (in->kind == ENTRY_SYMLINK && !place_hidden(at) &&
               n->decided_kind == DECIDED_IMPLIED) {
        out->divergence = DIVERGENCE_LINK_SHADOWED;
    }
    return 0;
}

static int enter_whiteout(struct merge *m, const struct place *at, struct tree_node *n,
                          struct merge_output *out, struct err *err)
{
    if (n->seen == m->layer && n->seen_kind == SEEN_IMPLIED)
        return err_set(err, ERR_FORMAT,
                       "a whiteout of a directory that the same layer has entries "
                       "in: engines refuse to unpack it");
    if (n->seen == m->layer && n->seen_kind != SEEN_NOTHING) {
        out->divergence = DIVERGENCE_WHITEOUT_AFTER;
    } else {
        if (merge_see(m, out->node, SEEN_NOTHING, err) < 0)
            return -1;
        if (!place_hidden(at) && !n->decided) {
            n->decided = m->layer;
            n->decided_kind = DECIDED_GONE;
        }
    }
    set_block(m, n);
    return 0;
}

static int enter_path(struct merge *m, const struct entry_info *in, struct merge_output *out,
                      struct err *err)
{
    enum walk_mode mode = in->kind == ENTRY_WHITEOUT ? WALK_WHITEOUT : WALK_ENTRY;
    struct place at;
    const char *name;

    if (merge_walk(m, in->path, in->path_len, mode, &at, &name, err) < 0)
        return -1;
    if (!name)
        return 0;
    out->node = tree_child(m->tree, at.node, name, strlen(name), err);
    if (out->node == TREE_NONE)
        return -1;
    switch (in->kind) {
    case ENTRY_DIR:
        return enter_dir(m, &at, node_of(m, out->node), out, err);
    case ENTRY_WHITEOUT:
        return enter_whiteout(m, &at, node_of(m, out->node), out, err);
    default:
        return enter_other(m, &at, in, out, err);
    }
}

/* The root exists without an entry; an entry for it has only attributes, of which the newest count.
 */
static int enter_root(struct merge *m, const struct entry_info *in, struct merge_output *out,
                      struct err *err)
{
    struct tree_node *root = node_of(m, TREE_ROOT);

    if (in->kind != ENTRY_DIR)
        return err_set(err, ERR_FORMAT, "the root is not a directory");
    out->node = TREE_ROOT;
    if (!root->decided) {
        root->decided = m->layer;
        out->action = MERGE_EMIT;
    } else if (root->decided == m->layer) {
        out->action = MERGE_CONFLICT;
    }
    return 0;
}

/* An opaque marker implies its directory, so it is walked to as the parent of ".". */
static int enter_opaque(struct merge *m, const struct entry_info *in, struct merge_output *out,
                        struct err *err)
{
    _cleanup_buf_ struct buf path = BUF_INIT;
    struct place at;
    const char *name;

    buf_append(&path, in->path, in->path_len);
    buf_puts(&path, "/.");
    if (buf_check(&path, err) < 0 ||
        merge_walk(m, path.data, path.len, WALK_WHITEOUT, &at, &name, err) < 0)
        return -1;
    if (name && at.node == TREE_ROOT)
        out->divergence = DIVERGENCE_OPAQUE_ROOT;
    else if (name)
        set_block(m, node_of(m, at.node));
    return 0;
}

int merge_entry(struct merge *m, const struct entry_info *in, struct merge_output *out,
                struct err *err)
{
    int rc;

    m->implied_count = 0;
    *out = (struct merge_output){.action = MERGE_SKIP, .node = TREE_NONE, .target = TREE_NONE};
    if (in->kind == ENTRY_OPAQUE)
        rc = enter_opaque(m, in, out, err);
    else if (in->path_len == 0)
        rc = enter_root(m, in, out, err);
    else
        rc = enter_path(m, in, out, err);
    out->implied = m->implied;
    out->implied_count = m->implied_count;
    return rc;
}
