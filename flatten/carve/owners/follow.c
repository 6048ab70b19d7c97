#include "flatten/carve/owners/finder.h"

#include <string.h>

enum { NAME_MOST = 255 };

/* Cuts the last ".WORD" off a name that has more than that. Returns true if there was one. */
static bool cut_word(struct node_name *name)
{
    const char *dot = memrchr(name->text, '.', name->len);

    if (!dot || dot == name->text)
        return false;
    name->len = (size_t)(dot - name->text);
    return true;
}

/*
 * Returns the node of the source of a compiled file, or TREE_NONE: DIR/m.py for DIR/m.pyc,
 * DIR/__pycache__/m.cpython-311.pyc and DIR/__pycache__/m.cpython-311.opt-1.pyc (PEP 3147, 488).
 */
static uint32_t find_source(const struct finder *f, uint32_t node, struct node_name name)
{
    const struct tree *tree = f->source->tree;
    uint32_t dir = tree_parent(tree, node);
    char source[NAME_MOST];

    cut_word(&name);
    if (node_name_is(finder_name(f, dir), "__pycache__")) {
        const char *last = memrchr(name.text, '.', name.len);
        if (last && strncmp(last, ".opt-", 5) == 0)
            cut_word(&name);
        if (!cut_word(&name))
            return TREE_NONE;
        dir = tree_parent(tree, dir);
    }
    if (name.len + 3 > sizeof(source))
        return TREE_NONE;
    memcpy(source, name.text, name.len);
    memcpy(source + name.len, ".py", 3);
    return tree_find(tree, dir, source, name.len + 3);
}

static void follow_compiled(struct finder *f, uint32_t node)
{
    struct node_name name = finder_name(f, node);

    if (!node_name_ends(name, ".pyc"))
        return;
    uint32_t source = find_source(f, node, name);
    if (source != TREE_NONE && f->out->by_node[source] != OWNERS_NOBODY)
        f->out->by_node[node] = f->out->by_node[source];
}

/* Returns true for the links that update-alternatives makes. */
static bool is_alternative(const struct finder *f, uint32_t node, const char *target)
{
    static const char alternatives[] = "/etc/alternatives/";

    return tree_parent(f->source->tree, node) == f->alternatives ||
           strncmp(target, alternatives, sizeof(alternatives) - 1) == 0;
}

/*
 * Other links are followed within their directory only: a virtual environment of Python, whose
 * python3 leads to /usr/bin by way of its python, is no part of the system.
 */
static void follow_link(struct finder *f, uint32_t node)
{
    const struct owner_source *s = f->source;
    const char *target = s->link(s->ctx, node);
    uint32_t dir = tree_parent(s->tree, node);

    if (!target)
        return;
    size_t len = strlen(target);
    bool alternative = is_alternative(f, node, target);
    if ((!alternative && strchr(target, '/')) || len >= f->left)
        return;
    f->left -= len;
    uint32_t end = finder_walk(f, dir, target, len, true);
    if (end != TREE_NONE && !s->is_dir(s->ctx, end) &&
        (alternative || tree_parent(s->tree, end) == dir))
        f->out->by_node[node] = f->out->by_node[end];
}

void follow_all(struct finder *f)
{
    const struct owner_source *s = f->source;

    for (uint32_t node = 1; node < f->out->node_count; node++)
        if (f->out->by_node[node] == OWNERS_NOBODY && !s->is_dir(s->ctx, node))
            follow_link(f, node);
    for (uint32_t node = 1; node < f->out->node_count; node++)
        if (!s->is_dir(s->ctx, node))
            follow_compiled(f, node);
}
