/*
 * The tree of a stack by the plainest reading of docs/merging.md (overlay): each layer is unpacked
 * alone, and each path is looked up from the newest layer to the oldest. Slow, and only for stacks
 * that every reader understands alike: model_merge returns false for others.
 */
#ifndef TESTS_FUZZ_MODEL_H
#define TESTS_FUZZ_MODEL_H

#include "fuzz.h"
#include "fuzz_stack.h"
#include "tests/unit/lib/merge/tree_result.h"

enum { MODEL_PATH = 16, MODEL_NAMES = 4 * FUZZ_STACK_ENTRIES };

struct model_name {
    char path[MODEL_PATH];
    const struct stack_entry *content; /* NULL: a directory that no entry describes */
    bool directory, hides, opaque;
};

struct model_layer {
    struct model_name list[MODEL_NAMES];
    size_t count;
};

struct model_merge {
    struct model_layer layers[FUZZ_STACK_LAYERS];
    const struct stack_entry *root; /* the newest entry for the root; or NULL */
    struct result *out;
    struct {
        const struct stack_entry *content;
        char path[MODEL_PATH];
    } leaves[MODEL_NAMES]; /* written so far */
    size_t leaf_count;
};

static inline struct model_name *model_find(struct model_layer *l, const char *path)
{
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->list[i].path, path) == 0)
            return &l->list[i];
    return NULL;
}

/* Finds the name, or makes it. */
static inline struct model_name *model_name(struct model_layer *l, const char *path)
{
    struct model_name *n = model_find(l, path);

    if (n)
        return n;
    must(l->count < MODEL_NAMES && strlen(path) < MODEL_PATH);
    n = &l->list[l->count++];
    *n = (struct model_name){0};
    strcpy(n->path, path);
    return n;
}

static inline bool model_is_below(const char *path, const char *dir)
{
    size_t len = strlen(dir);

    return strncmp(path, dir, len) == 0 && path[len] == '/';
}

/* ---- unpacking a layer ---- */

/* Makes the directories above the path. */
static inline bool model_make_parents(struct model_layer *l, const char *path)
{
    char dir[MODEL_PATH];

    for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
        snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
        const struct model_name *known = model_find(l, dir);
        if (known && !known->directory)
            return false;
        model_name(l, dir)->directory = true;
    }
    return true;
}

/* Removes what is below a directory that something replaces. */
static inline bool model_empty(struct model_layer *l, const char *dir)
{
    size_t kept = 0;

    for (size_t i = 0; i < l->count; i++) {
        const struct model_name *n = &l->list[i];
        bool below = model_is_below(n->path, dir);
        if (below && (n->hides || n->opaque))
            return false;
        if (!below)
            l->list[kept++] = *n;
    }
    l->count = kept;
    return true;
}

static inline bool model_put_content(struct model_layer *l, const struct stack_entry *e)
{
    const char *path = e->info.path;
    const struct model_name *old = model_find(l, path);
    const struct model_name *target =
        e->info.kind == ENTRY_HARDLINK ? model_find(l, e->info.link) : NULL;
    const struct stack_entry *content = target ? target->content : e;

    if (old && (old->hides || old->opaque))
        return false;
    if (e->info.kind == ENTRY_HARDLINK &&
        (!target || target == old || target->directory || target->hides))
        return false;
    if (old && old->directory && !model_empty(l, path))
        return false;
    struct model_name *n = model_name(l, path);
    n->directory = false;
    n->content = content;
    return true;
}

static inline bool model_put(struct model_layer *l, const struct stack_entry *e)
{
    const char *path = e->info.path;

    if (!model_make_parents(l, path))
        return false;
    const struct model_name *old = model_find(l, path);
    switch (e->info.kind) {
    case ENTRY_WHITEOUT:
        if (old && !old->hides)
            return false;
        model_name(l, path)->hides = true;
        return true;
    case ENTRY_OPAQUE:
        if (old && !old->directory)
            return false;
        model_name(l, path)->directory = true;
        model_name(l, path)->opaque = true;
        return true;
    case ENTRY_DIR:
        if (old && old->hides)
            return false;
        model_name(l, path)->directory = true;
        model_name(l, path)->content = e;
        return true;
    default:
        return model_put_content(l, e);
    }
}

static inline bool model_unpack(struct model_merge *m, const struct stack *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct stack_entry *e = &s->list[i];
        bool root = !*e->info.path;
        if (root && e->info.kind == ENTRY_DIR)
            m->root = e;
        else if (!root && !model_put(&m->layers[e->layer - 1], e))
            return false;
    }
    return true;
}

/* ---- looking paths up ---- */

/* The layers whose directories merge, newest first. */
struct model_stack {
    struct model_layer *list[FUZZ_STACK_LAYERS];
    size_t count;
};

static inline void model_write_leaf(struct model_merge *m, const char *path,
                                    const struct stack_entry *e)
{
    char link[64];

    for (size_t i = 0; i < m->leaf_count; i++)
        if (m->leaves[i].content == e) {
            result_add_link(m->out, path, m->leaves[i].path);
            return;
        }
    m->leaves[m->leaf_count].content = e;
    strcpy(m->leaves[m->leaf_count++].path, path);
    if (e->info.kind == ENTRY_FILE) {
        _cleanup_free_ char *origin =
            strf(e->copy > 1 ? "%u:%s#%u" : "%u:%s", e->layer, e->info.path, e->copy);
        result_add_file(m->out, path, origin);
        return;
    }
    snprintf(link, sizeof(link), ">%s", e->info.kind == ENTRY_SYMLINK ? e->info.link : "");
    result_add_other(m->out, path, e->info.kind == ENTRY_SYMLINK ? link : "%");
}

/* Writes what the layers show at that path; *below gets the layers of a directory. */
static inline void model_look_up(struct model_merge *m, const struct model_stack *layers,
                                 const char *path, struct model_stack *below)
{
    const struct model_name *first = NULL;

    below->count = 0;
    for (size_t i = 0; i < layers->count; i++) {
        const struct model_name *n = model_find(layers->list[i], path);
        if (!n)
            continue;
        if (n->hides || (first && !n->directory))
            break;
        first = first ? first : n;
        if (!n->directory)
            break;
        below->list[below->count++] = layers->list[i];
        if (n->opaque)
            break;
    }
    if (first && first->directory)
        result_add_dir(m->out, path, first->content ? first->content->layer : 0);
    else if (first)
        model_write_leaf(m, path, first->content);
}

static inline bool model_is_child(const char *path, const char *dir)
{
    return *dir ? model_is_below(path, dir) && !strchr(path + strlen(dir) + 1, '/')
                : !strchr(path, '/');
}

static inline void model_write_dir(struct model_merge *m, const struct model_stack *layers,
                                   const char *dir)
{
    for (size_t i = 0; i < layers->count; i++)
        for (size_t k = 0; k < layers->list[i]->count; k++) {
            const char *path = layers->list[i]->list[k].path;
            struct model_stack below;
            bool seen = !model_is_child(path, dir);
            for (size_t j = 0; j < i; j++)
                seen = seen || model_find(layers->list[j], path);
            if (seen)
                continue;
            model_look_up(m, layers, path, &below);
            model_write_dir(m, &below, path);
        }
}

/* Fills `out`; returns false for a stack beyond the model. */
static inline bool model_merge(const struct stack *s, struct result *out)
{
    static struct model_merge m;
    struct model_stack all = {.count = s->layers};

    m.root = NULL;
    m.leaf_count = 0;
    m.out = out;
    for (unsigned i = 0; i < s->layers; i++) {
        m.layers[i].count = 0;
        all.list[i] = &m.layers[s->layers - 1 - i];
    }
    if (!model_unpack(&m, s))
        return false;
    if (m.root)
        result_add_dir(out, "", m.root->layer);
    model_write_dir(&m, &all, "");
    return true;
}

/* Checks the text of a merged tree (result_text), if the model knows the stack. */
static inline void model_check(const struct stack *s, const char *merged)
{
    _cleanup_result_ struct result model = {0};
    _cleanup_buf_ struct buf expected = BUF_INIT;

    if (!model_merge(s, &model))
        return;
    result_text(&model, &expected);
    if (strcmp(merged, expected.data) == 0)
        return;
    fuzz_stack_print(s);
    fprintf(stderr, "merged: %s\nmodel:  %s\n", merged, expected.data);
    must(strcmp(merged, expected.data) == 0);
}

#endif
