#include "flatten/carve/layout/family/family_dirs.h"

#include <stdlib.h>

struct finding {
    const struct layout_family_input *in;
    struct layout_family *f;
    uint32_t *names; /* by file: index of its first further name; one more for the end */
    uint32_t *dirs;  /* by node: index of its first header; one more for the end */
    struct layout_family_dir *headers; /* by node */
    uint64_t *once, *twice;            /* by node: images of which so many layers have it */
    uint32_t *marks;                   /* by node: the layer that was counted last, plus 1 */
    bool changed;
};

static void finding_clear(struct finding *d)
{
    free(d->names);
    free(d->dirs);
    free(d->headers);
    free(d->once);
    free(d->twice);
    free(d->marks);
}

static void list_headers(struct finding *d, size_t nodes)
{
    for (size_t i = 0; i < d->in->dir_count; i++)
        d->dirs[d->in->dirs[i].node + 1]++;
    for (size_t i = 0; i < nodes; i++)
        d->dirs[i + 1] += d->dirs[i];
    for (size_t i = d->in->dir_count; i-- > 0;)
        d->headers[--d->dirs[d->in->dirs[i].node + 1]] = d->in->dirs[i];
    /* dirs[node + 1] is the start of the node now. */
    for (size_t i = 0; i < nodes; i++)
        d->dirs[i] = d->dirs[i + 1];
    d->dirs[nodes] = (uint32_t)d->in->dir_count;
}

static int finding_init(struct finding *d, struct err *err)
{
    const struct layout_input *all = d->in->all;
    size_t nodes = tree_count(all->tree);

    d->names = calloc(all->file_count + 2, sizeof(*d->names));
    d->dirs = calloc(nodes + 2, sizeof(*d->dirs));
    d->headers = calloc(d->in->dir_count + 1, sizeof(*d->headers));
    d->once = calloc(nodes, sizeof(*d->once));
    d->twice = calloc(nodes, sizeof(*d->twice));
    d->marks = calloc(nodes, sizeof(*d->marks));
    d->f->in_state = calloc(nodes, sizeof(*d->f->in_state));
    if (!d->names || !d->dirs || !d->headers || !d->once || !d->twice || !d->marks ||
        !d->f->in_state)
        return err_nomem(err);
    for (size_t i = 0; i < all->name_count; i++)
        d->names[all->names[i].file + 1]++;
    for (size_t i = 0; i < all->file_count; i++)
        d->names[i + 1] += d->names[i];
    list_headers(d, nodes);
    return 0;
}

/* ---- layers ---- */

typedef void visit_dir(struct finding *d, uint32_t dir, uint64_t images);

static void count_dir(struct finding *d, uint32_t dir, uint64_t images)
{
    d->twice[dir] |= d->once[dir] & images;
    d->once[dir] |= images;
}

static bool has_one_header(const struct finding *d, uint32_t dir, uint64_t images)
{
    for (uint32_t i = d->dirs[dir]; i < d->dirs[dir + 1]; i++)
        if ((images & ~d->headers[i].images) == 0)
            return true;
    return false;
}

static void decide_dir(struct finding *d, uint32_t dir, uint64_t images)
{
    uint64_t *state = &d->f->in_state[dir];

    if ((*state & images) == images)
        return;
    if (((*state | d->twice[dir]) & images) == 0 && has_one_header(d, dir, images))
        return;
    *state |= images;
    d->changed = true;
}

static void visit_above(struct finding *d, uint32_t node, uint32_t layer, visit_dir *visit)
{
    const struct tree *tree = d->in->all->tree;

    for (uint32_t dir = tree_parent(tree, node); dir != TREE_NONE && d->marks[dir] != layer + 1;
         dir = tree_parent(tree, dir)) {
        d->marks[dir] = layer + 1;
        visit(d, dir, d->f->images[layer]);
    }
}

/* Visits each directory of each layer. */
static void visit_layers(struct finding *d, visit_dir *visit)
{
    const struct layout_input *all = d->in->all;
    size_t nodes = tree_count(all->tree);

    for (size_t i = 0; i < nodes; i++)
        d->marks[i] = 0;
    for (size_t i = 0; i < d->f->piece_count; i++) {
        const struct layout_piece *piece = &d->f->pieces[i];
        visit_above(d, all->files[piece->file].node, piece->layer, visit);
        for (uint32_t name = d->names[piece->file]; name < d->names[piece->file + 1]; name++)
            visit_above(d, all->names[name].node, piece->layer, visit);
    }
}

/* Nodes are numbered parents first. */
static void spread_up(struct finding *d)
{
    uint64_t *state = d->f->in_state;

    for (uint32_t node = tree_count(d->in->all->tree); --node > TREE_ROOT;) {
        uint32_t above = tree_parent(d->in->all->tree, node);
        if ((state[above] | state[node]) == state[above])
            continue;
        state[above] |= state[node];
        d->changed = true;
    }
}

int family_dirs_find(const struct layout_family_input *in, struct layout_family *f, struct err *err)
{
    _cleanup_(finding_clear) struct finding d = {.in = in, .f = f};

    if (finding_init(&d, err) < 0)
        return -1;
    visit_layers(&d, count_dir);
    for (size_t i = 0; i < in->dir_count; i++) /* directories without files */
        f->in_state[in->dirs[i].node] |= in->dirs[i].images & ~d.once[in->dirs[i].node];
    do {
        d.changed = false;
        spread_up(&d);
        visit_layers(&d, decide_dir);
    } while (d.changed);
    return 0;
}
