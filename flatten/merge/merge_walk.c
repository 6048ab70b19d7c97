#include "flatten/merge/merge_walk.h"

#include "flatten/merge/tree/array.h"
#include "flatten/merge/tree/symlink_budget.h"

#include <string.h>

int merge_see(struct merge *m, uint32_t node, enum merge_seen kind, struct err *err)
{
    struct tree_node *n = node_of(m, node);
    bool listed = !m->lists || n->seen == m->layer;
    uint32_t *touched = listed ? NULL : ARRAY_PUSH(m, touch, touched, err);

    n->seen = m->layer;
    n->seen_kind = (uint8_t)kind;
    if (touched)
        *touched = node;
    return listed || touched ? 0 : -1;
}

/* True if a newer layer hides all that is older below the node. */
static bool is_hider(const struct merge *m, uint32_t node)
{
    return node_of(m, node)->block > m->layer;
}

/* Marks a directory to be written before the entry that needs it. */
static int imply_visible(struct merge *m, uint32_t node, struct err *err)
{
    struct tree_node *n = node_of(m, node);
    uint32_t *implied = ARRAY_PUSH(m, implied, implied, err);

    if (!implied)
        return -1;
    *implied = node;
    n->decided = m->layer;
    n->decided_kind = DECIDED_IMPLIED;
    return 0;
}

/* Notes that the layer has a directory here because an entry is below it. */
static int imply_dir(struct merge *m, struct place *at, struct err *err)
{
    struct tree_node *n = node_of(m, at->node);

    if (n->seen == m->layer && n->seen_kind >= SEEN_SYMLINK)
        return err_set(err, ERR_FORMAT, "its parent is not a directory in the same layer");
    if (n->seen != m->layer || n->seen_kind == SEEN_NOTHING) {
        bool vacant = !n->decided || (n->decided == m->layer && n->decided_kind == DECIDED_GONE);
        if (merge_see(m, at->node, SEEN_IMPLIED, err) < 0)
            return -1;
        if (!place_hidden(at) && vacant && at->node != TREE_ROOT &&
            imply_visible(m, at->node, err) < 0)
            return -1;
    }
    if (is_hider(m, at->node))
        at->hiders++;
    return 0;
}

/* Returns the symbolic link that the layer has here, also as a hard link to one; or NULL. */
static const struct symlink *find_symlink(struct merge *m, uint32_t node)
{
    const struct tree_node *n = node_of(m, node);

    if (n->seen == m->layer && n->seen_kind == SEEN_HARDLINK)
        n = node_of(m, m->bounds[n->extra].origin);
    return n->seen == m->layer && n->seen_kind == SEEN_SYMLINK ? &m->symlinks[n->extra] : NULL;
}

/* WALK_LOOK counts no hiders: a link is bound to what its own layer has, hidden or not. */
static void go_to_root(const struct merge *m, enum walk_mode mode, struct place *at)
{
    at->node = TREE_ROOT;
    at->hiders = 0;
    if (mode != WALK_LOOK && is_hider(m, TREE_ROOT))
        at->hiders = 1;
}

static void go_up(const struct merge *m, enum walk_mode mode, struct place *at)
{
    uint32_t up = node_of(m, at->node)->parent;

    if (up == TREE_NONE)
        return;
    if (mode != WALK_LOOK && is_hider(m, at->node))
        at->hiders--;
    at->node = up;
}

/* Puts a link's target before the rest of the path. */
static int follow_symlink(struct merge *m, const struct symlink *s, size_t used,
                          struct symlink_budget *links, struct err *err)
{
    struct buf joined = BUF_INIT;

    if (symlink_budget_spend(links, s->len, err) < 0)
        return -1;
    buf_append(&joined, s->target, s->len);
    buf_putc(&joined, '/');
    buf_append(&joined, m->rest.data + used, m->rest.len - used);
    buf_free(&m->rest);
    m->rest = joined;
    return buf_check(&m->rest, err);
}

static bool is_own_whiteout(struct merge *m, uint32_t node)
{
    const struct tree_node *n = node_of(m, node);

    return n->seen == m->layer && n->seen_kind == SEEN_NOTHING;
}

/* Walks one name that is not the last. Returns 0, -1, or 1 where WALK_WHITEOUT has nothing to hide.
 */
static int walk_name(struct merge *m, enum walk_mode mode, const char *name, size_t len,
                     size_t *used, struct place *at, struct symlink_budget *links, struct err *err)
{
    if (len == 1 && name[0] == '.')
        return 0;
    if (len == 2 && name[0] == '.' && name[1] == '.') {
        go_up(m, mode, at);
        return 0;
    }
    uint32_t child = tree_child(m->tree, at->node, name, len, err);
    if (child == TREE_NONE)
        return -1;
    const struct symlink *s = find_symlink(m, child);
    if (s) {
        if (follow_symlink(m, s, *used, links, err) < 0)
            return -1;
        *used = 0;
        if (m->rest.data[0] == '/')
            go_to_root(m, mode, at);
        return 0;
    }
    if (mode == WALK_WHITEOUT && is_own_whiteout(m, child))
        return 1;
    at->node = child;
    return mode == WALK_LOOK ? 0 : imply_dir(m, at, err);
}

int merge_walk(struct merge *m, const char *path, size_t len, enum walk_mode mode, struct place *at,
               const char **name, struct err *err)
{
    struct symlink_budget links = {0};
    size_t used = 0;

    *at = (struct place){.node = TREE_ROOT};
    buf_truncate(&m->rest, 0);
    buf_append(&m->rest, path, len);
    if (buf_check(&m->rest, err) < 0)
        return -1;
    if (mode != WALK_LOOK && imply_dir(m, at, err) < 0)
        return -1;
    for (;;) {
        used += strspn(m->rest.data + used, "/");
        *name = m->rest.data + used;
        size_t size = strcspn(*name, "/");
        if ((*name)[size] == '\0')
            return 0;
        used += size;
        int rc = walk_name(m, mode, *name, size, &used, at, &links, err);
        if (rc != 0) {
            *name = NULL;
            return rc < 0 ? -1 : 0;
        }
    }
}
