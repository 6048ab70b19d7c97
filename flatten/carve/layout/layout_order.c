#include "flatten/carve/layout/layout_order.h"

#include <string.h>

/* The finalizer of splitmix64: every bit of the input reaches every bit of the result. */
static uint64_t mix(uint64_t h)
{
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    return h ^ (h >> 31);
}

uint64_t layout_hash_pair(uint64_t a, uint64_t b)
{
    return mix(mix(a + 0x9e3779b97f4a7c15u) ^ b);
}

/* FNV-1a, byte by byte, so that machines of either byte order agree. */
uint64_t layout_hash(const void *data, size_t len, uint64_t more)
{
    const unsigned char *p = data;
    uint64_t h = 0xcbf29ce484222325u ^ more;

    for (size_t i = 0; i < len; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return layout_hash_pair(h, len);
}

struct sorting {
    const struct tree *tree;
    const uint64_t *hash;
};

/* Names decide between equal hashes, which somebody can prepare. */
static int by_hash(const void *a, const void *b, void *ctx)
{
    const struct sorting *s = ctx;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    size_t left_len, right_len;

    if (s->hash[left] != s->hash[right])
        return s->hash[left] < s->hash[right] ? -1 : 1;
    const char *left_name = tree_name(s->tree, left, &left_len);
    const char *right_name = tree_name(s->tree, right, &right_len);
    int c = memcmp(left_name, right_name, left_len < right_len ? left_len : right_len);
    return c ? c : (left_len > right_len) - (left_len < right_len);
}

static void hash_paths(const struct tree *tree, uint64_t *hash)
{
    for (uint32_t node = 1; node < tree_count(tree); node++) {
        size_t len;
        const char *name = tree_name(tree, node, &len);
        hash[node] = layout_hash(name, len, hash[tree_parent(tree, node)]);
    }
}

/* Lists children by directory: those of a node are [first[node], first[node + 1]). */
static void list_children(const struct tree *tree, uint32_t *first, uint32_t *children)
{
    uint32_t count = tree_count(tree);

    for (uint32_t node = 1; node < count; node++)
        first[tree_parent(tree, node) + 1]++;
    for (uint32_t node = 0; node < count; node++)
        first[node + 1] += first[node];
    /* Filled backwards, the end of each list becomes its start: one place earlier. */
    for (uint32_t node = count; node-- > 1;)
        children[--first[tree_parent(tree, node) + 1]] = node;
    memmove(first, first + 1, count * sizeof(*first));
    first[count] = count - 1;
}

/* Nodes are numbered parents first: sizes are summed backwards, ranks given forwards. */
static void rank_paths(const struct tree *tree, const uint32_t *first, const uint32_t *children,
                       struct layout_order *out)
{
    uint32_t count = tree_count(tree);

    for (uint32_t node = 0; node < count; node++)
        out->end[node] = 1;
    for (uint32_t node = count; node-- > 1;)
        out->end[tree_parent(tree, node)] += out->end[node];
    for (uint32_t node = 0; node < count; node++) {
        uint32_t next = out->rank[node] + 1;
        for (uint32_t i = first[node]; i < first[node + 1]; i++) {
            out->rank[children[i]] = next;
            next += out->end[children[i]];
        }
    }
    for (uint32_t node = 0; node < count; node++)
        out->end[node] += out->rank[node];
}

int layout_order_make(const struct tree *tree, struct layout_order *out, struct err *err)
{
    uint32_t count = tree_count(tree);
    _cleanup_free_ uint32_t *first = calloc((size_t)count + 1, sizeof(*first));
    _cleanup_free_ uint32_t *children = calloc(count, sizeof(*children));

    *out = (struct layout_order){.hash = calloc(count, sizeof(*out->hash)),
                                 .rank = calloc(count, sizeof(*out->rank)),
                                 .end = calloc(count, sizeof(*out->end))};
    if (!first || !children || !out->hash || !out->rank || !out->end)
        return err_nomem(err);
    hash_paths(tree, out->hash);
    list_children(tree, first, children);
    struct sorting s = {tree, out->hash};
    for (uint32_t node = 0; node < count; node++)
        if (first[node + 1] - first[node] > 1)
            qsort_r(children + first[node], first[node + 1] - first[node], sizeof(*children),
                    by_hash, &s);
    rank_paths(tree, first, children, out);
    return 0;
}

void layout_order_clear(struct layout_order *o)
{
    free(o->hash);
    free(o->rank);
    free(o->end);
    *o = (struct layout_order){0};
}
