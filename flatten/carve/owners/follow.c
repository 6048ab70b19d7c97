#include "flatten/carve/owners/finder.h"
#include "flatten/carve/owners/python_source.h"

#include <string.h>

static void follow_compiled(struct finder *f, uint32_t node)
{
    uint32_t source = pyc_source(f->source->tree, node);

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
    bool alternative = is_alternative(f, node, target);
    if (!alternative && strchr(target, '/'))
        return;
    struct node_name name = finder_name(f, node);
    uint32_t end = finder_walk(f, dir, name.text, name.len, true);
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
