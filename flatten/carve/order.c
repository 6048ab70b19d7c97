#include "flatten/carve/order.h"

#include <stdlib.h>
#include <string.h>

/* Compares siblings by name, others by their directory. */
static int by_parent_and_name(const void *a, const void *b, void *ctx)
{
    struct tree *tree = ctx;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    uint32_t left_dir = tree_parent(tree, left), right_dir = tree_parent(tree, right);
    size_t left_len, right_len;

    if (left_dir != right_dir)
        return left_dir < right_dir ? -1 : 1;
    const char *left_name = tree_name(tree, left, &left_len);
    const char *right_name = tree_name(tree, right, &right_len);
    int c = memcmp(left_name, right_name, left_len < right_len ? left_len : right_len);
    return c ? c : (left_len > right_len) - (left_len < right_len);
}

/* Sets first[dir] to the index of its first child, and last[dir] to that behind its last one. */
static void find_children(struct tree *tree, const uint32_t *sorted, uint32_t count,
                          uint32_t *first, uint32_t *last)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t dir = tree_parent(tree, sorted[i]);
        if (i == 0 || dir != tree_parent(tree, sorted[i - 1]))
            first[dir] = i;
        last[dir] = i + 1;
    }
}

uint32_t *order_paths(struct tree *tree, struct err *err)
{
    uint32_t count = tree_count(tree), done = 0, waiting = 0;
    _cleanup_free_ uint32_t *sorted = calloc(count, sizeof(*sorted));
    _cleanup_free_ uint32_t *first = calloc(count, sizeof(*first));
    _cleanup_free_ uint32_t *last = calloc(count, sizeof(*last));
    _cleanup_free_ uint32_t *stack = calloc(count, sizeof(*stack));
    _cleanup_free_ uint32_t *order = calloc(count, sizeof(*order));

    if (!sorted || !first || !last || !stack || !order) {
        err_nomem(err);
        return NULL;
    }
    for (uint32_t i = 1; i < count; i++)
        sorted[i - 1] = i;
    qsort_r(sorted, count - 1, sizeof(*sorted), by_parent_and_name, tree);
    find_children(tree, sorted, count - 1, first, last);
    stack[waiting++] = TREE_ROOT;
    while (waiting > 0) {
        uint32_t node = stack[--waiting];
        order[done++] = node;
        for (uint32_t i = last[node]; i-- > first[node];)
            stack[waiting++] = sorted[i];
    }
    return steal_ptr(&order);
}
