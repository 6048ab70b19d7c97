/* Runs merge.c over a stack of layers (stack.h) and carries out its decisions on `result`. */
#ifndef TESTS_MERGE_RUN_H
#define TESTS_MERGE_RUN_H

#include "flatten/merge/merge.h"
#include "tests/unit/lib/merge/stack.h"
#include "tests/unit/lib/merge/tree_result.h"

/* A link that waits for its layer to be read again. */
struct waiting {
    uint32_t node, ordinal;
};

struct merge_run {
    const struct stack *stack;
    struct merge *merge;
    struct result result;
    struct waiting waiting[STACK_MOST];
    size_t waiting_count; /* of the current layer */
    const char *divergence;
    bool conflict;
};

static inline char *run_path(struct merge_run *r, uint32_t node)
{
    struct buf path = BUF_INIT;
    struct err err;

    tree_path(merge_tree(r->merge), node, &path);
    char *taken = buf_take(&path, &err);
    if (!taken)
        abort();
    return taken;
}

static inline char *run_origin(const struct stack_entry *e)
{
    return e->copy > 1 ? strf("%u:%s#%u", e->layer, e->info.path, e->copy)
                       : strf("%u:%s", e->layer, e->info.path);
}

static inline void run_content(struct merge_run *r, const struct stack_entry *e, const char *path)
{
    char what[128];
    _cleanup_free_ char *origin = run_origin(e);

    snprintf(what, sizeof(what), ">%s", e->info.kind == ENTRY_SYMLINK ? e->info.link : "");
    if (e->info.kind == ENTRY_FILE)
        result_add_file(&r->result, path, origin);
    else if (e->info.kind == ENTRY_DIR)
        result_add_dir(&r->result, path, e->layer);
    else
        result_add_other(&r->result, path, e->info.kind == ENTRY_SYMLINK ? what : "%");
}

static inline void run_link(struct merge_run *r, uint32_t node, uint32_t target)
{
    _cleanup_free_ char *path = run_path(r, node), *to = run_path(r, target);

    result_add_link(&r->result, path, to);
}

static inline void run_act(struct merge_run *r, const struct stack_entry *e,
                           const struct merge_output *out)
{
    for (size_t i = 0; i < out->implied_count; i++) {
        _cleanup_free_ char *path = run_path(r, out->implied[i]);
        result_add_dir(&r->result, path, 0);
    }
    if (out->action == MERGE_EMIT) {
        _cleanup_free_ char *path = run_path(r, out->node);
        run_content(r, e, path);
    } else if (out->action == MERGE_LINK) {
        run_link(r, out->node, out->target);
    } else if (out->action == MERGE_DEFER) {
        r->waiting[r->waiting_count++] = (struct waiting){out->node, out->ordinal};
    }
}

/* Ends a layer: adds the waiting links, which have the content of hidden entries. */
static inline void run_look_again(struct merge_run *r, unsigned layer)
{
    for (const struct stack_entry *e = r->stack->list; e < r->stack->list + r->stack->count; e++) {
        const struct waiting *first = NULL;
        for (size_t i = 0; e->layer == layer && i < r->waiting_count; i++) {
            const struct waiting *w = &r->waiting[i];
            if (w->ordinal != e->info.ordinal)
                continue;
            if (first) {
                run_link(r, w->node, first->node);
                continue;
            }
            first = w;
            _cleanup_free_ char *path = run_path(r, w->node);
            run_content(r, e, path);
        }
    }
    r->waiting_count = 0;
}

static inline int run_layer(struct merge_run *r, unsigned layer, struct err *err)
{
    if (merge_begin_layer(r->merge, layer - 1, err) < 0)
        return -1;
    for (const struct stack_entry *e = r->stack->list; e < r->stack->list + r->stack->count; e++) {
        struct merge_output out;
        if (e->layer != layer)
            continue;
        if (merge_entry(r->merge, &e->info, &out, err) < 0)
            return -1;
        if (out.divergence)
            r->divergence = out.divergence;
        r->conflict = out.action == MERGE_CONFLICT;
        if (r->conflict)
            return 1;
        run_act(r, e, &out);
    }
    run_look_again(r, layer);
    return 0;
}

/* Returns 0, -1, or 1 for a conflict. The caller made `merge`. */
static inline int merge_run(struct merge_run *r, struct err *err)
{
    for (unsigned layer = r->stack->layers; layer > 0; layer--) {
        int rc = run_layer(r, layer, err);
        if (rc != 0)
            return rc;
    }
    return 0;
}

#endif
