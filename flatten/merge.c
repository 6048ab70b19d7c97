#include "flatten/merge.h"

#include "base/arena.h"

#include <limits.h>
#include <string.h>

enum { MOST_SYMLINKS = 40 }; /* as the kernel's MAXSYMLINKS */

/* What the layer at hand says of a path. */
enum merge_seen {
    SEEN_NOTHING, /* at most a whiteout */
    SEEN_IMPLIED, /* a directory that an entry below needs */
    SEEN_DIR,
    SEEN_SYMLINK,
    SEEN_HARDLINK,
    SEEN_OTHER,
};

/* What the newest layer that speaks of a path says. */
enum merge_decided { DECIDED_NOTHING, DECIDED_GONE, DECIDED_IMPLIED, DECIDED_DIR, DECIDED_OTHER };

/* A symbolic link of the layer at hand. */
struct symlink {
    const char *target;
    size_t len;
};

/* A hard link of the layer at hand, and what it is bound to. */
struct bound {
    uint32_t origin;  /* the node that brought the content */
    uint32_t ordinal; /* and its entry; unused when pending */
    bool pending;     /* origin lies in an older layer */
};

/* A link into an older layer, waiting for it. */
struct pending {
    uint32_t deferred, node, target;
    uint16_t layer;
};

struct merge {
    struct tree *tree;
    uint16_t layer;     /* at hand, from 1 */
    struct arena arena; /* of the layer at hand */
    struct symlink *symlinks;
    size_t symlink_count, symlink_cap;
    struct bound *bounds;
    size_t bound_count, bound_cap;
    uint32_t deferred_count;
    struct pending *pending;
    size_t pending_count, pending_cap;
    uint32_t *implied;
    size_t implied_count, implied_cap;
    struct merge_resolution *resolved;
    size_t resolved_count, resolved_cap;
    struct buf rest; /* of the path being walked */
};

/* Where a walk stands. */
struct place {
    uint32_t node;
    bool hidden; /* a newer layer hides what is below here */
};

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
    m->symlink_count = m->bound_count = 0;
    arena_free(&m->arena);
}

void merge_free(struct merge *m)
{
    forget_layer(m);
    cleanup_tree(&m->tree);
    buf_free(&m->rest);
    free(m->symlinks);
    free(m->bounds);
    free(m->pending);
    free(m->implied);
    free(m->resolved);
    free(m);
}

struct tree *merge_tree(struct merge *m)
{
    return m->tree;
}

int merge_begin_layer(struct merge *m, unsigned layer, struct err *err)
{
    if (layer >= MERGE_MOST_LAYERS)
        return err_set(err, ERR_LIMIT, "more than %d layers", MERGE_MOST_LAYERS);
    forget_layer(m);
    m->layer = (uint16_t)(layer + 1);
    return 0;
}

static struct tree_node *node_of(struct merge *m, uint32_t node)
{
    return tree_node(m->tree, node);
}

static bool blocks(const struct merge *m, const struct tree_node *n)
{
    return n->block > m->layer;
}

static bool decided_before(const struct merge *m, const struct tree_node *n)
{
    return n->decided > m->layer;
}

/* True if the layer at hand brought what is visible at this node. */
static bool ours(const struct merge *m, const struct tree_node *n)
{
    return n->decided == m->layer && n->decided_kind != DECIDED_GONE;
}

/* One more element at the end of a growing array, zeroed; NULL without memory. */
static void *push(void *list_ptr, size_t *count, size_t *cap, size_t size, struct err *err)
{
    void **list = list_ptr;

    if (*count == *cap) {
        size_t bigger = *cap ? *cap * 2 : 16;
        void *grown = realloc(*list, bigger * size);
        if (!grown) {
            err_nomem(err);
            return NULL;
        }
        *list = grown;
        *cap = bigger;
    }
    return memset((char *)*list + size * (*count)++, 0, size);
}

#define PUSH(m, name, names, err)                                                                  \
    push(&(m)->names, &(m)->name##_count, &(m)->name##_cap, sizeof(*(m)->names), err)

static bool is_at_or_above(struct merge *m, uint32_t node, uint32_t below)
{
    for (; below != TREE_NONE; below = node_of(m, below)->parent)
        if (below == node)
            return true;
    return false;
}

static int missing_target(struct merge *m, const struct pending *p, struct err *err)
{
    _cleanup_buf_ struct buf link = BUF_INIT, target = BUF_INIT;

    tree_path(m->tree, p->node, &link);
    tree_path(m->tree, p->target, &target);
    return err_set(err, ERR_FORMAT, "layer %u: hard link %s: its target %s does not exist",
                   p->layer, link.data ? link.data : "", target.data ? target.data : "");
}

/* A directory here, older than a link to this name: the link has no target. */
static int no_pending_at(struct merge *m, uint32_t node, struct err *err)
{
    for (size_t i = 0; i < m->pending_count; i++)
        if (m->pending[i].target == node && m->pending[i].layer > m->layer)
            return missing_target(m, &m->pending[i], err);
    return 0;
}

/* Hides what is older below the node; a link that waits for something there waits in vain. */
static int set_block(struct merge *m, uint32_t node, bool node_too, struct err *err)
{
    struct tree_node *n = node_of(m, node);

    for (size_t i = 0; i < m->pending_count; i++) {
        const struct pending *p = &m->pending[i];
        bool hit = is_at_or_above(m, node, p->target) && (node_too || node != p->target);
        if (hit && p->layer > m->layer)
            return missing_target(m, p, err);
    }
    if (!n->block)
        n->block = m->layer;
    return 0;
}

/* ---- walking ---- */

/* Marks a directory to be written before the entry that needs it. */
static int imply_visible(struct merge *m, uint32_t node, struct err *err)
{
    struct tree_node *n = node_of(m, node);
    uint32_t *implied = PUSH(m, implied, implied, err);

    if (!implied)
        return -1;
    *implied = node;
    n->decided = m->layer;
    n->decided_kind = DECIDED_IMPLIED;
    return 0;
}

/* Notes that the layer has a directory here because something lies in it. */
static int imply(struct merge *m, struct place *at, struct err *err)
{
    struct tree_node *n = node_of(m, at->node);

    if (n->seen == m->layer && n->seen_kind >= SEEN_SYMLINK)
        return err_set(err, ERR_FORMAT, "its parent is not a directory in the same layer");
    if (n->seen != m->layer || n->seen_kind == SEEN_NOTHING) {
        bool vacant = !n->decided || (n->decided == m->layer && n->decided_kind == DECIDED_GONE);
        n->seen = m->layer;
        n->seen_kind = SEEN_IMPLIED;
        if (no_pending_at(m, at->node, err) < 0)
            return -1;
        if (!at->hidden && vacant && at->node != TREE_ROOT && imply_visible(m, at->node, err) < 0)
            return -1;
    }
    at->hidden = at->hidden || blocks(m, n);
    return 0;
}

static const struct symlink *find_symlink(struct merge *m, uint32_t node)
{
    const struct tree_node *n = node_of(m, node);

    return n->seen == m->layer && n->seen_kind == SEEN_SYMLINK ? &m->symlinks[n->extra] : NULL;
}

/* Hiddenness is a property of the path, so after ".." or an absolute link it is found anew. */
static struct place place_of(struct merge *m, uint32_t node)
{
    struct place at = {.node = node};

    for (uint32_t n = node; n != TREE_NONE; n = node_of(m, n)->parent)
        at.hidden = at.hidden || blocks(m, node_of(m, n));
    return at;
}

/* Puts a link's target before what is left of the path. */
static int follow(struct merge *m, const struct symlink *s, size_t used, struct err *err)
{
    struct buf joined = BUF_INIT;

    buf_append(&joined, s->target, s->len);
    buf_putc(&joined, '/');
    buf_append(&joined, m->rest.data + used, m->rest.len - used);
    if (joined.len > PATH_MAX * 16) {
        buf_free(&joined);
        return err_set(err, ERR_FORMAT, "symbolic links make its path too long");
    }
    buf_free(&m->rest);
    m->rest = joined;
    return buf_check(&m->rest, err);
}

/*
 * Walks to the parent of the path's last name, which is left in *name. Directories on the way are
 * implied by the layer, unless `look` (a link's target), which only follows.
 */
static int walk(struct merge *m, const char *path, size_t len, bool look, struct place *at,
                const char **name, size_t *name_len, struct err *err)
{
    size_t used = 0, links = 0;

    *at = (struct place){.node = TREE_ROOT};
    buf_truncate(&m->rest, 0);
    buf_append(&m->rest, path, len);
    if (buf_check(&m->rest, err) < 0)
        return -1;
    if (!look && imply(m, at, err) < 0)
        return -1;
    for (;;) {
        used += strspn(m->rest.data + used, "/");
        const char *start = m->rest.data + used;
        size_t size = strcspn(start, "/");
        if (start[size] == '\0' || start[size + strspn(start + size, "/")] == '\0') {
            *name = start;
            *name_len = size;
            return 0;
        }
        used += size;
        if (size == 1 && start[0] == '.')
            continue;
        if (size == 2 && start[0] == '.' && start[1] == '.') {
            uint32_t up = node_of(m, at->node)->parent;
            *at = place_of(m, up == TREE_NONE ? TREE_ROOT : up);
            continue;
        }
        uint32_t child = tree_child(m->tree, at->node, start, size, err);
        if (child == TREE_NONE)
            return -1;
        const struct symlink *s = find_symlink(m, child);
        if (s) {
            if (++links > MOST_SYMLINKS)
                return err_set(err, ERR_FORMAT, "too many symbolic links on its path");
            if (follow(m, s, used, err) < 0)
                return -1;
            used = 0;
            if (m->rest.data[0] == '/')
                *at = place_of(m, TREE_ROOT);
            continue;
        }
        at->node = child;
        if (!look && imply(m, at, err) < 0)
            return -1;
    }
}

/* ---- hard links ---- */

/* Finds what a link's target is bound to in the layer at hand, or that it lies in an older one. */
static int bind_link(struct merge *m, const struct merge_input *in, struct bound *out,
                     struct err *err)
{
    struct place at;
    const char *name;
    size_t len;

    if (in->link_len == 0)
        return err_set(err, ERR_FORMAT, "hard link to the root directory");
    if (walk(m, in->link, in->link_len, true, &at, &name, &len, err) < 0)
        return -1;
    uint32_t target = tree_child(m->tree, at.node, name, len, err);
    if (target == TREE_NONE)
        return -1;
    const struct tree_node *t = node_of(m, target);
    if (t->seen == m->layer && (t->seen_kind == SEEN_DIR || t->seen_kind == SEEN_IMPLIED))
        return err_set(err, ERR_FORMAT, "hard link to a directory");
    if (t->seen == m->layer && t->seen_kind == SEEN_HARDLINK)
        *out = m->bounds[t->extra];
    else if (t->seen == m->layer && t->seen_kind != SEEN_NOTHING)
        *out = (struct bound){.origin = target, .ordinal = t->ordinal};
    else
        *out = (struct bound){.origin = target, .pending = true};
    return 0;
}

static int resolve(struct merge *m, uint32_t deferred, uint32_t node, uint32_t target,
                   uint32_t ordinal, struct err *err)
{
    struct merge_resolution *r = PUSH(m, resolved, resolved, err);

    if (!r)
        return -1;
    *r = (struct merge_resolution){deferred, node, target, ordinal};
    return 0;
}

static bool written_here(struct merge *m, uint32_t node)
{
    const struct tree_node *n = node_of(m, node);

    return n->decided == m->layer && n->decided_kind == DECIDED_OTHER;
}

/* What becomes of a visible hard link. */
static int place_link(struct merge *m, const struct bound *b, struct merge_output *out,
                      struct err *err)
{
    if (!b->pending && written_here(m, b->origin)) {
        out->action = MERGE_LINK;
        out->target = b->origin;
        return 0;
    }
    out->action = MERGE_DEFER;
    out->deferred = m->deferred_count++;
    if (!b->pending)
        return resolve(m, out->deferred, out->node, TREE_NONE, b->ordinal, err);
    out->divergence = MERGE_OLD_LINK;
    struct pending *p = PUSH(m, pending, pending, err);
    if (!p)
        return -1;
    *p = (struct pending){out->deferred, out->node, b->origin, m->layer};
    return 0;
}

/* Answers the links of newer layers that waited for this entry. */
static int answer_pending(struct merge *m, uint32_t node, const struct bound *b, struct err *err)
{
    for (size_t i = 0; i < m->pending_count;) {
        struct pending *p = &m->pending[i];
        if (p->target != node || p->layer == m->layer) {
            i++;
            continue;
        }
        if (b->pending) { /* this entry waits itself: both wait for the same */
            p->target = b->origin;
            i++;
            continue;
        }
        bool written = written_here(m, b->origin);
        if (resolve(m, p->deferred, p->node, written ? b->origin : TREE_NONE, b->ordinal, err) < 0)
            return -1;
        *p = m->pending[--m->pending_count];
    }
    return 0;
}

/* ---- entries ---- */

static int enter_dir(struct merge *m, const struct place *at, struct tree_node *n,
                     struct merge_output *out, struct err *err)
{
    bool seen = n->seen == m->layer;

    if (seen && n->seen_kind >= SEEN_SYMLINK) {
        out->action = MERGE_CONFLICT;
        return 0;
    }
    if (seen && n->seen_kind != SEEN_NOTHING) {
        if (!at->hidden && ours(m, n))
            out->action = MERGE_CONFLICT;
        return 0;
    }
    if (seen && n->block == m->layer) {
        n->block = 0;
        out->divergence = MERGE_WHITEOUT_DIR;
    }
    n->seen = m->layer;
    n->seen_kind = SEEN_DIR;
    if (no_pending_at(m, out->node, err) < 0)
        return -1;
    if (at->hidden || decided_before(m, n))
        return 0;
    n->decided = m->layer;
    n->decided_kind = DECIDED_DIR;
    out->action = MERGE_EMIT;
    return 0;
}

static int note_kind(struct merge *m, const struct merge_input *in, struct tree_node *n,
                     const struct bound *b, struct err *err)
{
    n->seen = m->layer;
    n->ordinal = in->ordinal;
    n->seen_kind = SEEN_OTHER;
    if (in->kind == MERGE_SYMLINK) {
        struct symlink *s = PUSH(m, symlink, symlinks, err);
        if (!s)
            return -1;
        s->len = in->link_len;
        s->target = arena_strndup(&m->arena, in->link, in->link_len);
        n->seen_kind = SEEN_SYMLINK;
        n->extra = (uint32_t)(m->symlink_count - 1);
        return s->target ? 0 : err_nomem(err);
    }
    if (in->kind == MERGE_HARDLINK) {
        struct bound *kept = PUSH(m, bound, bounds, err);
        if (!kept)
            return -1;
        *kept = *b;
        n->seen_kind = SEEN_HARDLINK;
        n->extra = (uint32_t)(m->bound_count - 1);
    }
    return 0;
}

static int enter_other(struct merge *m, const struct place *at, const struct merge_input *in,
                       struct merge_output *out, struct err *err)
{
    struct bound b = {.origin = out->node, .ordinal = in->ordinal};

    if (in->kind == MERGE_HARDLINK && bind_link(m, in, &b, err) < 0)
        return -1;
    struct tree_node *n = node_of(m, out->node);
    if (n->seen == m->layer && n->seen_kind != SEEN_NOTHING) {
        out->action = MERGE_CONFLICT;
        return 0;
    }
    if (note_kind(m, in, n, &b, err) < 0 || set_block(m, out->node, false, err) < 0)
        return -1;
    if (!at->hidden && !decided_before(m, n)) {
        n->decided = m->layer;
        n->decided_kind = DECIDED_OTHER;
        out->action = MERGE_EMIT;
        if (in->kind == MERGE_HARDLINK && place_link(m, &b, out, err) < 0)
            return -1;
    } else if (in->kind == MERGE_SYMLINK && !at->hidden && n->decided_kind == DECIDED_IMPLIED) {
        out->divergence = MERGE_LINK_SHADOWED;
    }
    return answer_pending(m, out->node, &b, err);
}

static int enter_whiteout(struct merge *m, const struct place *at, struct tree_node *n,
                          struct merge_output *out, struct err *err)
{
    if (n->seen == m->layer && n->seen_kind != SEEN_NOTHING) {
        out->divergence = MERGE_WHITEOUT_AFTER;
    } else {
        n->seen = m->layer;
        n->seen_kind = SEEN_NOTHING;
        if (!at->hidden && !n->decided) {
            n->decided = m->layer;
            n->decided_kind = DECIDED_GONE;
        }
    }
    return set_block(m, out->node, true, err);
}

static int enter(struct merge *m, const struct merge_input *in, struct merge_output *out,
                 struct err *err)
{
    struct place at;
    const char *name;
    size_t len;

    if (walk(m, in->path, in->path_len, false, &at, &name, &len, err) < 0)
        return -1;
    out->node = tree_child(m->tree, at.node, name, len, err);
    if (out->node == TREE_NONE)
        return -1;
    switch (in->kind) {
    case MERGE_DIR:
        return enter_dir(m, &at, node_of(m, out->node), out, err);
    case MERGE_WHITEOUT:
        return enter_whiteout(m, &at, node_of(m, out->node), out, err);
    default:
        return enter_other(m, &at, in, out, err);
    }
}

/* The root is there without being asked for; only its newest attributes count. */
static int enter_root(struct merge *m, const struct merge_input *in, struct merge_output *out,
                      struct err *err)
{
    struct tree_node *root = node_of(m, TREE_ROOT);

    if (in->kind != MERGE_DIR)
        return err_set(err, ERR_FORMAT, "the root is not a directory");
    out->node = TREE_ROOT;
    if (!root->decided) {
        root->decided = m->layer;
        out->action = MERGE_EMIT;
    }
    return 0;
}

/* The marker's directory is there because the marker is: walked to as the parent of ".". */
static int enter_opaque(struct merge *m, const struct merge_input *in, struct merge_output *out,
                        struct err *err)
{
    _cleanup_buf_ struct buf path = BUF_INIT;
    struct place at;
    const char *name;
    size_t len;

    buf_append(&path, in->path, in->path_len);
    buf_puts(&path, "/.");
    if (buf_check(&path, err) < 0 || walk(m, path.data, path.len, false, &at, &name, &len, err) < 0)
        return -1;
    if (at.node == TREE_ROOT) {
        out->divergence = MERGE_OPAQUE_ROOT;
        return 0;
    }
    return set_block(m, at.node, false, err);
}

int merge_entry(struct merge *m, const struct merge_input *in, struct merge_output *out,
                struct err *err)
{
    int rc;

    m->implied_count = m->resolved_count = 0;
    *out = (struct merge_output){.action = MERGE_SKIP, .node = TREE_NONE, .target = TREE_NONE};
    if (in->kind == MERGE_OPAQUE)
        rc = enter_opaque(m, in, out, err);
    else if (in->path_len == 0)
        rc = enter_root(m, in, out, err);
    else
        rc = enter(m, in, out, err);
    out->implied = m->implied;
    out->implied_count = m->implied_count;
    out->resolved = m->resolved;
    out->resolved_count = m->resolved_count;
    return rc;
}

int merge_finish(struct merge *m, struct err *err)
{
    return m->pending_count ? missing_target(m, &m->pending[0], err) : 0;
}
