#include "flatten/analyze/html_page.h"

#include <inttypes.h>
#include <string.h>

/*
 * Bounds for the page: a part of a layer, a part of all layers, depth, nodes of all trees, and
 * bytes of names that are joined.
 */
enum {
    LAYER_SHARES = 100,
    ALL_SHARES = 2000,
    MOST_DEPTH = 60,
    MOST_NODES = 10000,
    MOST_NAME = 200,
};

enum { SEVERAL = UINT16_MAX, OWN_FILE = 0x80 };

/* Sums of a node and all below it; a tree is made for one layer after another. */
struct hidden_node {
    uint64_t bytes;
    uint32_t files;
    uint32_t child, next; /* the first child; the next of the same parent; 0: none */
    uint16_t of;          /* the layer that has the files; or SEVERAL */
    uint8_t causes;       /* a bit for each cause; OWN_FILE: one of the files has this path */
};

struct hidden {
    const struct layer_stack *s;
    struct hidden_node *nodes;
    uint32_t *touched; /* the nodes of the current tree */
    size_t touched_count;
    uint64_t least; /* smaller nodes are summed up */
    unsigned left;  /* how many nodes may still be written */
    struct buf *out;
    struct buf path;
};

static void hidden_clear(struct hidden *h)
{
    free(h->nodes);
    free(h->touched);
    buf_free(&h->path);
}

/* A file without content counts, too. */
static uint64_t weigh(uint64_t bytes, uint64_t files)
{
    return bytes + files;
}

/* ---- the tree of a layer ---- */

static void add_to_node(struct hidden *h, uint32_t node, const struct stack_file *f)
{
    struct hidden_node *n = &h->nodes[node];

    if (n->files == 0) {
        h->touched[h->touched_count++] = node;
        n->of = f->layer;
        if (node != TREE_ROOT) {
            struct hidden_node *parent = &h->nodes[tree_parent(h->s->tree, node)];
            n->next = parent->child;
            parent->child = node;
        }
    }
    n->bytes += f->size;
    n->files++;
    n->causes |= (uint8_t)(1U << f->cause);
    if (n->of != f->layer)
        n->of = SEVERAL;
}

static void add_file(struct hidden *h, const struct stack_file *f)
{
    for (uint32_t node = f->node;; node = tree_parent(h->s->tree, node)) {
        add_to_node(h, node, f);
        if (node == TREE_ROOT)
            break;
    }
    h->nodes[f->node].causes |= OWN_FILE;
}

static void forget_tree(struct hidden *h)
{
    for (size_t i = 0; i < h->touched_count; i++)
        h->nodes[h->touched[i]] = (struct hidden_node){0};
    h->touched_count = 0;
}

/* ---- writing ---- */

static void put_sums(struct hidden *h, uint64_t bytes, uint64_t files)
{
    buf_printf(h->out, ",\"bytes\":%" PRIu64 ",\"files\":%" PRIu64, bytes, files);
}

static void put_facts(struct hidden *h, const struct hidden_node *n)
{
    uint8_t causes = n->causes & (uint8_t)~OWN_FILE;

    put_sums(h, n->bytes, n->files);
    for (int cause = 0; cause < DEAD_CAUSES; cause++)
        if (causes == 1U << cause)
            buf_printf(h->out, ",\"cause\":\"%s\"", dead_cause_key[cause]);
    if (n->of != SEVERAL)
        buf_printf(h->out, ",\"of\":%u", n->of);
}

/* Appends the node's path below `above`, which is one of the directories over it. */
static void put_name(struct hidden *h, uint32_t node, uint32_t above)
{
    size_t skipped = strlen(layer_stack_path(h->s, above, &h->path));

    if (above != TREE_ROOT)
        skipped++;
    const char *name = layer_stack_path(h->s, node, &h->path) + (node == above ? 0 : skipped);
    buf_puts(h->out, "\"name\":");
    json_quote(h->out, name, strlen(name));
}

static void put_node(struct hidden *h, uint32_t node, uint32_t above, unsigned depth);

static void put_children(struct hidden *h, uint32_t node, unsigned depth)
{
    uint64_t bytes = 0, files = 0;
    unsigned others = 0;
    const char *comma = "";

    buf_puts(h->out, ",\"children\":[");
    for (uint32_t at = h->nodes[node].child; at; at = h->nodes[at].next) {
        const struct hidden_node *child = &h->nodes[at];
        if (weigh(child->bytes, child->files) < h->least || h->left == 0) {
            bytes += child->bytes;
            files += child->files;
            others++;
            continue;
        }
        h->left--;
        buf_puts(h->out, comma);
        put_node(h, at, node, depth + 1);
        comma = ",";
    }
    if (others) {
        buf_printf(h->out, "%s{\"others\":%u", comma, others);
        put_sums(h, bytes, files);
        buf_putc(h->out, '}');
    }
    buf_putc(h->out, ']');
}

/* A directory with only one thing in it shares its line with that, unless the line gets long. */
static uint32_t join_directories(const struct hidden *h, uint32_t node)
{
    const struct hidden_node *n = &h->nodes[node];

    for (size_t len = 0;
         n->child && !(n->causes & OWN_FILE) && !h->nodes[n->child].next && len < MOST_NAME;) {
        node = n->child;
        n = &h->nodes[node];
        len += tree_node(h->s->tree, node)->name_len + 1;
    }
    return node;
}

static void put_node(struct hidden *h, uint32_t node, uint32_t above, unsigned depth)
{
    node = join_directories(h, node);
    const struct hidden_node *n = &h->nodes[node];

    buf_putc(h->out, '{');
    put_name(h, node, above);
    put_facts(h, n);
    if (n->child && depth < MOST_DEPTH)
        put_children(h, node, depth);
    buf_putc(h->out, '}');
}

static void put_layer(struct hidden *h, unsigned layer, uint64_t all)
{
    const struct hidden_node *root = &h->nodes[TREE_ROOT];
    uint64_t least = weigh(root->bytes, root->files) / LAYER_SHARES;

    h->least = least > all / ALL_SHARES ? least : all / ALL_SHARES;
    buf_printf(h->out, "{\"by\":%u", layer);
    put_sums(h, root->bytes, root->files);
    buf_puts(h->out, ",\"tree\":");
    put_node(h, TREE_ROOT, TREE_ROOT, 0);
    buf_putc(h->out, '}');
}

/* ---- all layers ---- */

static bool is_hidden(const struct layer_stack *s, const struct stack_file *f)
{
    return f->layer && f->killer && f->node < s->nodes;
}

/* Lists the hidden files by the layer that hides them: those of layer n end at ends[n]. */
static uint32_t *sort_by_killer(const struct layer_stack *s, uint32_t *ends, struct err *err)
{
    uint32_t *list = calloc(s->file_count + 1, sizeof(*list));

    if (!list) {
        err_nomem(err);
        return NULL;
    }
    for (size_t i = 0; i < s->file_count; i++)
        if (is_hidden(s, &s->files[i]))
            ends[s->files[i].killer + 1]++;
    for (unsigned layer = 1; layer <= s->layers + 1; layer++)
        ends[layer] += ends[layer - 1];
    for (size_t i = 0; i < s->file_count; i++)
        if (is_hidden(s, &s->files[i]))
            list[ends[s->files[i].killer]++] = (uint32_t)i;
    return list;
}

int html_page_put_hidden(const struct layer_stack *s, struct buf *out, struct err *err)
{
    _cleanup_(hidden_clear) struct hidden h = {.s = s, .out = out, .left = MOST_NODES};
    _cleanup_free_ uint32_t *ends = calloc((size_t)s->layers + 2, sizeof(*ends));
    _cleanup_free_ uint32_t *list = ends ? sort_by_killer(s, ends, err) : NULL;
    uint64_t all = 0;
    const char *comma = "";

    h.nodes = calloc((size_t)s->nodes + 1, sizeof(*h.nodes));
    h.touched = calloc((size_t)s->nodes + 1, sizeof(*h.touched));
    if (!list || !h.nodes || !h.touched)
        return err_nomem(err);
    for (size_t i = 0; i < s->file_count; i++)
        if (is_hidden(s, &s->files[i]))
            all += weigh(s->files[i].size, 1);
    buf_putc(out, '[');
    for (unsigned layer = 1; layer <= s->layers; layer++) {
        for (uint32_t i = ends[layer - 1]; i < ends[layer]; i++)
            add_file(&h, &s->files[list[i]]);
        if (h.touched_count == 0)
            continue;
        buf_puts(out, comma);
        put_layer(&h, layer, all);
        comma = ",";
        forget_tree(&h);
    }
    buf_putc(out, ']');
    return buf_check(&h.path, err) < 0 ? -1 : buf_check(out, err);
}
