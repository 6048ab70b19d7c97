#include "flatten/carve/layout/layout_groups.h"

static int by_rank(const void *a, const void *b, void *ctx)
{
    const struct layout_groups *g = ctx;
    uint32_t left = g->order->rank[g->nodes[*(const uint32_t *)a]];
    uint32_t right = g->order->rank[g->nodes[*(const uint32_t *)b]];

    return left < right ? -1 : left > right;
}

struct cutting {
    struct layout_groups *g;
    const uint32_t *files; /* in the order of their ranks: those below a directory are a range */
    uint64_t *sum;         /* bytes of the files before that index */
    uint32_t owner;
};

static void cutting_clear(struct cutting *c)
{
    free(c->sum);
}

/* The files [start, end) that a directory has under one name. */
struct branch {
    size_t start, end;
    uint32_t node;
    uint64_t bytes;
};

static uint32_t node_at(const struct cutting *c, size_t i)
{
    return c->g->nodes[c->files[i]];
}

/* Returns the index of the first file in [start, end) that does not lie below the node. */
static size_t end_of(const struct cutting *c, uint32_t node, size_t start, size_t end)
{
    const struct layout_order *order = c->g->order;

    while (start < end) {
        size_t middle = start + (end - start) / 2;
        if (order->rank[node_at(c, middle)] < order->end[node])
            start = middle + 1;
        else
            end = middle;
    }
    return start;
}

/* Returns the branch of `dir` that begins at `start`. */
static struct branch branch_at(const struct cutting *c, uint32_t dir, size_t start, size_t end)
{
    const struct tree *tree = c->g->in->tree;
    struct branch b = {.start = start, .node = node_at(c, start)};
    bool file = b.node == dir || tree_parent(tree, b.node) == dir;

    while (!file && tree_parent(tree, b.node) != dir)
        b.node = tree_parent(tree, b.node);
    b.end = file ? start + 1 : end_of(c, b.node, start + 1, end);
    b.bytes = c->sum[b.end] - c->sum[start];
    return b;
}

static bool is_large(const struct cutting *c, uint64_t bytes)
{
    return bytes > c->g->cap / 4;
}

static void put_branch(const struct cutting *c, const struct branch *b, uint32_t group)
{
    for (size_t i = b->start; i < b->end; i++)
        layout_groups_put(c->g, group, c->files[i]);
}

static int add_part(const struct cutting *c, const struct branch *b, struct err *err)
{
    uint32_t group = layout_groups_add(c->g, c->owner, b->node, 0, err);

    if (group == LAYOUT_NONE)
        return -1;
    put_branch(c, b, group);
    return 0;
}

/* ---- the rest of a directory ---- */

/* Bins, each a group once it has a file. */
struct rest {
    uint64_t *load;
    uint32_t *groups;
    size_t count;
};

static void rest_clear(struct rest *r)
{
    free(r->load);
    free(r->groups);
}

static int rest_init(struct rest *r, uint64_t bytes, uint64_t cap, struct err *err)
{
    r->count = bytes <= cap ? 1 : layout_bins_for(bytes, cap);
    r->load = calloc(r->count, sizeof(*r->load));
    r->groups = calloc(r->count, sizeof(*r->groups));
    if (!r->load || !r->groups)
        return err_nomem(err);
    for (size_t i = 0; i < r->count; i++)
        r->groups[i] = LAYOUT_NONE;
    return 0;
}

static int put_in_rest(const struct cutting *c, struct rest *r, uint32_t dir,
                       const struct branch *b, struct err *err)
{
    uint64_t key = c->g->order->hash[b->node];
    size_t bin = layout_bin_choose(r->load, r->count, key, b->bytes, c->g->cap);

    if (r->groups[bin] == LAYOUT_NONE)
        r->groups[bin] = layout_groups_add(c->g, c->owner, dir, bin, err);
    if (r->groups[bin] == LAYOUT_NONE)
        return -1;
    r->load[bin] += b->bytes;
    put_branch(c, b, r->groups[bin]);
    return 0;
}

static int cut_rest(const struct cutting *c, const struct branch *dir, uint64_t bytes,
                    struct err *err)
{
    _cleanup_(rest_clear) struct rest r = {0};

    if (rest_init(&r, bytes, c->g->cap, err) < 0)
        return -1;
    for (size_t next = dir->start; next < dir->end;) {
        struct branch b = branch_at(c, dir->node, next, dir->end);
        if (!is_large(c, b.bytes) && put_in_rest(c, &r, dir->node, &b, err) < 0)
            return -1;
        next = b.end;
    }
    return 0;
}

/* Calls itself for branches above the cap: as deep as the path has directories, 2,048 at most. */
static int cut_dir(const struct cutting *c, const struct branch *dir, struct err *err)
{
    uint64_t rest = 0;

    for (size_t next = dir->start; next < dir->end;) {
        struct branch b = branch_at(c, dir->node, next, dir->end);
        bool whole = b.bytes <= c->g->cap || b.node == node_at(c, b.start);
        next = b.end;
        if (!is_large(c, b.bytes))
            rest += b.bytes;
        else if ((whole ? add_part(c, &b, err) : cut_dir(c, &b, err)) < 0)
            return -1;
    }
    return cut_rest(c, dir, rest, err);
}

/* A large file is a part of its own, as what lies beside it often changes at other times. Returns
 * how many files are left, or SIZE_MAX. */
static size_t cut_large_files(struct layout_groups *g, uint32_t owner, uint32_t *files,
                              size_t count, struct err *err)
{
    size_t left = 0;

    for (size_t i = 0; i < count; i++) {
        if (g->in->files[files[i]].bytes <= g->cap / 4) {
            uint32_t file = files[i];
            files[i] = files[left];
            files[left++] = file;
            continue;
        }
        uint32_t group = layout_groups_add(g, owner, g->nodes[files[i]], 0, err);
        if (group == LAYOUT_NONE)
            return SIZE_MAX;
        layout_groups_put(g, group, files[i]);
    }
    return left;
}

int layout_cut(struct layout_groups *g, uint32_t owner, uint32_t *files, size_t count,
               struct err *err)
{
    _cleanup_(cutting_clear) struct cutting c = {.g = g, .files = files, .owner = owner};
    size_t left = cut_large_files(g, owner, files, count, err);

    if (left == SIZE_MAX)
        return -1;
    c.sum = calloc(left + 1, sizeof(*c.sum));
    if (!c.sum)
        return err_nomem(err);
    qsort_r(files, left, sizeof(*files), by_rank, g);
    for (size_t i = 0; i < left; i++)
        c.sum[i + 1] = c.sum[i] + g->in->files[files[i]].bytes;
    const struct branch all = {.end = left, .node = TREE_ROOT, .bytes = c.sum[left]};
    if (all.bytes > g->cap)
        return cut_dir(&c, &all, err);
    return left ? add_part(&c, &all, err) : 0;
}
