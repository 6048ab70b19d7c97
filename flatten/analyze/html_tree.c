#include "flatten/analyze/html_page.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_DEPTH = 60, SHARES = 2000 };

struct weights {
    const struct layer_stack *s;
    uint64_t *live, *dead; /* bytes by node, with all below it */
    uint32_t *child,
        *next;      /* the first child that has bytes; the next of the same parent; 0: none */
    uint64_t least; /* smaller nodes are summed up */
    struct buf *out;
    struct buf path;
};

static void weights_clear(struct weights *w)
{
    free(w->live);
    free(w->dead);
    free(w->child);
    free(w->next);
    buf_free(&w->path);
}

static int weigh(struct weights *w, struct err *err)
{
    const struct layer_stack *s = w->s;
    size_t count = (size_t)s->nodes + 1;

    w->live = calloc(count, sizeof(*w->live));
    w->dead = calloc(count, sizeof(*w->dead));
    w->child = calloc(count, sizeof(*w->child));
    w->next = calloc(count, sizeof(*w->next));
    if (!w->live || !w->dead || !w->child || !w->next)
        return err_nomem(err);
    for (size_t i = 0; i < s->file_count; i++) {
        const struct stack_file *f = &s->files[i];
        if (f->layer && f->node < s->nodes)
            (f->killer ? w->dead : w->live)[f->node] += f->size;
    }
    for (uint32_t node = s->nodes; node-- > 1;) {
        uint32_t parent = tree_parent(s->tree, node);
        if (w->live[node] + w->dead[node] == 0)
            continue;
        w->live[parent] += w->live[node];
        w->dead[parent] += w->dead[node];
        w->next[node] = w->child[parent];
        w->child[parent] = node;
    }
    w->least = (w->live[TREE_ROOT] + w->dead[TREE_ROOT]) / SHARES;
    return 0;
}

static void put_sizes(struct weights *w, uint64_t live, uint64_t dead)
{
    buf_printf(w->out, "\"live\":%" PRIu64 ",\"dead\":%" PRIu64, live, dead);
}

static void put_name(struct weights *w, uint32_t node)
{
    const char *path = layer_stack_path(w->s, node, &w->path), *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    buf_puts(w->out, "{\"name\":");
    json_quote(w->out, name, strlen(name));
    buf_putc(w->out, ',');
}

static void put_node(struct weights *w, uint32_t node, unsigned depth);

static void put_children(struct weights *w, uint32_t node, unsigned depth)
{
    uint64_t live = 0, dead = 0;
    unsigned others = 0;
    const char *comma = "";

    buf_puts(w->out, ",\"children\":[");
    for (uint32_t child = w->child[node]; child; child = w->next[child]) {
        if (w->live[child] + w->dead[child] < w->least) {
            live += w->live[child];
            dead += w->dead[child];
            others++;
            continue;
        }
        buf_puts(w->out, comma);
        put_node(w, child, depth + 1);
        comma = ",";
    }
    if (others) {
        buf_printf(w->out, "%s{\"name\":\"(%u smaller)\",", comma, others);
        put_sizes(w, live, dead);
        buf_putc(w->out, '}');
    }
    buf_putc(w->out, ']');
}

static void put_node(struct weights *w, uint32_t node, unsigned depth)
{
    put_name(w, node);
    put_sizes(w, w->live[node], w->dead[node]);
    if (w->child[node] && depth < MOST_DEPTH)
        put_children(w, node, depth);
    buf_putc(w->out, '}');
}

int html_page_put_tree(const struct layer_stack *s, struct buf *out, struct err *err)
{
    _cleanup_(weights_clear) struct weights w = {.s = s, .out = out};

    if (weigh(&w, err) < 0)
        return -1;
    put_node(&w, TREE_ROOT, 0);
    return buf_check(&w.path, err) < 0 ? -1 : buf_check(out, err);
}
