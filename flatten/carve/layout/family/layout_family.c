#include "flatten/carve/layout/family/layout_family.h"

#include "flatten/carve/layout/family/family_dirs.h"
#include "flatten/carve/layout/family/family_sets.h"
#include "flatten/carve/layout/layout_groups.h"
#include "flatten/carve/layout/layout_lookups.h"
#include "flatten/carve/layout/layout_order.h"
#include "flatten/carve/layout/layout_steps.h"

#include <stdlib.h>
#include <string.h>

/* A set of images, on its way to layers. */
struct plan {
    struct layout layout; /* of the files of the set alone */
    size_t layers;        /* at most */
};

struct planning {
    const struct layout_family_input *in;
    struct layout_wishes wishes; /* of an image */
    struct layout_order order;
    struct family_sets sets;
    uint32_t *names;    /* by file: index of its first further name; one more for the end */
    struct plan *plans; /* by set */
};

static void planning_clear(struct planning *p)
{
    for (size_t i = 0; p->plans && i < p->sets.count; i++)
        layout_clear(&p->plans[i].layout);
    free(p->plans);
    free(p->names);
    family_sets_clear(&p->sets);
    layout_order_clear(&p->order);
}

/* Returns the bytes of the largest image. */
static uint64_t largest_image(const struct layout_family_input *in)
{
    uint64_t bytes[LAYOUT_MOST_IMAGES] = {0}, most = 0;

    for (size_t i = 0; i < in->all->file_count; i++)
        for (uint64_t left = in->images[i]; left; left &= left - 1) {
            uint64_t *sum = &bytes[__builtin_ctzll(left)];
            *sum += in->all->files[i].bytes;
            most = *sum > most ? *sum : most;
        }
    return most;
}

static int planning_init(struct planning *p, const struct layout_options *options, struct err *err)
{
    const struct layout_input *all = p->in->all;

    if (layout_wishes_of(options, largest_image(p->in), &p->wishes, err) < 0 ||
        layout_order_make(all->tree, &p->order, err) < 0 ||
        family_sets_make(p->in, p->order.hash, p->wishes.layers, &p->sets, err) < 0)
        return -1;
    p->names = calloc(all->file_count + 2, sizeof(*p->names));
    p->plans = calloc(p->sets.count + 1, sizeof(*p->plans));
    if (!p->names || !p->plans)
        return err_nomem(err);
    for (size_t i = 0; i < all->name_count; i++)
        p->names[all->names[i].file + 1]++;
    for (size_t i = 0; i < all->file_count; i++)
        p->names[i + 1] += p->names[i];
    return 0;
}

/* ---- the layers of a set ---- */

/* The files of a set as an input of their own. */
struct excerpt {
    struct layout_file *files;
    struct layout_name *names;
    size_t file_count, name_count;
};

static void excerpt_clear(struct excerpt *e)
{
    free(e->files);
    free(e->names);
}

static int excerpt_make(const struct planning *p, const struct family_set *set, struct excerpt *e,
                        struct err *err)
{
    const struct layout_input *all = p->in->all;
    const uint32_t *files = p->sets.files + set->start;
    size_t names = 0;

    e->file_count = set->end - set->start;
    for (size_t i = 0; i < e->file_count; i++)
        names += p->names[files[i] + 1] - p->names[files[i]];
    e->files = calloc(e->file_count + 1, sizeof(*e->files));
    e->names = calloc(names + 1, sizeof(*e->names));
    if (!e->files || !e->names)
        return err_nomem(err);
    for (size_t i = 0; i < e->file_count; i++) {
        e->files[i] = all->files[files[i]];
        for (uint32_t at = p->names[files[i]]; at < p->names[files[i] + 1]; at++)
            e->names[e->name_count++] =
                (struct layout_name){.node = all->names[at].node, .file = (uint32_t)i};
    }
    return 0;
}

/*
 * A small set that only some images have makes one layer: its parts would be layers that each of
 * these images searches.
 */
static struct layout_wishes wishes_of(const struct planning *p, const struct family_set *set,
                                      size_t most)
{
    unsigned size = family_set_size(set->images);
    bool small = size < p->in->image_count && set->bytes <= p->wishes.cap / 4;

    return (struct layout_wishes){.cap = p->wishes.cap,
                                  .layers = small && size > 1 ? 1 : most,
                                  .together = small,
                                  .state = size == 1};
}

static int make_set(struct planning *p, size_t which, size_t most, struct err *err)
{
    const struct family_set *set = &p->sets.list[which];
    struct layout_wishes wishes = wishes_of(p, set, most);
    struct layout *out = &p->plans[which].layout;
    _cleanup_(excerpt_clear) struct excerpt e = {0};
    _cleanup_layout_groups_ struct layout_groups g = {0};

    layout_clear(out);
    if (excerpt_make(p, set, &e, err) < 0)
        return -1;
    const struct layout_input in = {.tree = p->in->all->tree,
                                    .files = e.files,
                                    .file_count = e.file_count,
                                    .names = e.names,
                                    .name_count = e.name_count,
                                    .owners = p->in->all->owners};
    if (!(out->by_file = calloc(e.file_count + 1, sizeof(*out->by_file))))
        return err_nomem(err);
    if (layout_groups_init(&in, &p->order, NULL, 0, &g, err) < 0)
        return -1;
    return layout_append(&g, &wishes, false, out, err);
}

/* ---- the layers of an image ---- */

/*
 * Lowers plan->layers for the sets of an image that has too many layers: each set keeps one, and
 * the others are divided in proportion.
 */
static bool share_layers(struct planning *p, size_t image)
{
    size_t sets = 0, layers = 0;

    for (size_t i = 0; i < p->sets.count; i++)
        if (p->sets.list[i].images >> image & 1) {
            sets++;
            layers += p->plans[i].layout.count;
        }
    if (layers <= p->wishes.layers)
        return false;
    for (size_t i = 0; i < p->sets.count; i++) {
        size_t more = p->plans[i].layout.count - 1;
        size_t share = 1 + more * (p->wishes.layers - sets) / (layers - sets);
        if ((p->sets.list[i].images >> image & 1) && share < p->plans[i].layers)
            p->plans[i].layers = share;
    }
    return true;
}

static int make_sets(struct planning *p, struct err *err)
{
    bool over = false;

    for (size_t i = 0; i < p->sets.count; i++) {
        p->plans[i].layers = p->wishes.layers;
        if (make_set(p, i, p->wishes.layers, err) < 0)
            return -1;
    }
    for (size_t image = 0; image < p->in->image_count; image++)
        over |= share_layers(p, image);
    for (size_t i = 0; over && i < p->sets.count; i++)
        if (p->plans[i].layers < p->plans[i].layout.count &&
            make_set(p, i, p->plans[i].layers, err) < 0)
            return -1;
    return 0;
}

/* ---- all layers ---- */

static int by_layer(const void *a, const void *b)
{
    const struct layout_piece *left = a, *right = b;

    if (left->layer != right->layer)
        return left->layer < right->layer ? -1 : 1;
    return (left->file > right->file) - (left->file < right->file);
}

/* Moves the layers of a set to the end of the family's. */
static void take_set(const struct planning *p, size_t which, struct layout_family *out)
{
    const struct family_set *set = &p->sets.list[which];
    struct layout *l = &p->plans[which].layout;

    for (size_t i = set->start; i < set->end; i++)
        out->pieces[out->piece_count++] = (struct layout_piece){
            p->sets.files[i], (uint32_t)out->count + l->by_file[i - set->start]};
    for (size_t i = 0; i < l->count; i++) {
        out->layers[out->count] = l->layers[i];
        l->layers[i].label = NULL;
        out->images[out->count++] = set->images;
    }
}

static int take_sets(const struct planning *p, struct layout_family *out, struct err *err)
{
    size_t layers = 0;

    for (size_t i = 0; i < p->sets.count; i++)
        layers += p->plans[i].layout.count;
    out->layers = calloc(layers + 1, sizeof(*out->layers));
    out->images = calloc(layers + 1, sizeof(*out->images));
    out->pieces = calloc(p->sets.file_count + 1, sizeof(*out->pieces));
    if (!out->layers || !out->images || !out->pieces)
        return err_nomem(err);
    for (size_t i = 0; i < p->sets.count; i++)
        take_set(p, i, out);
    qsort(out->pieces, out->piece_count, sizeof(*out->pieces), by_layer);
    return 0;
}

int layout_family_make(const struct layout_family_input *in, const struct layout_options *options,
                       struct layout_family *out, struct err *err)
{
    _cleanup_(planning_clear) struct planning p = {.in = in};

    *out = (struct layout_family){0};
    if (in->image_count > LAYOUT_MOST_IMAGES)
        return err_set(err, ERR_LIMIT, "more than %d images", LAYOUT_MOST_IMAGES);
    if (planning_init(&p, options, err) < 0 || make_sets(&p, err) < 0 ||
        take_sets(&p, out, err) < 0)
        return -1;
    return family_dirs_find(in, out, err);
}

void layout_family_clear(struct layout_family *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->layers[i].label);
    free(f->layers);
    free(f->images);
    free(f->pieces);
    free(f->in_state);
    *f = (struct layout_family){0};
}

/* ---- one image ---- */

/* Copies the layers that the image has; now[layer] is its number there. */
static int copy_layers(const struct layout_family *f, size_t image, uint16_t *now,
                       struct layout *out, struct err *err)
{
    out->layers = calloc(f->count + 1, sizeof(*out->layers));
    if (!out->layers)
        return err_nomem(err);
    for (size_t i = 0; i < f->count; i++) {
        if (!(f->images[i] >> image & 1))
            continue;
        now[i] = (uint16_t)out->count;
        struct layout_layer *to = &out->layers[out->count++];
        *to = f->layers[i];
        if (!(to->label = strdup(f->layers[i].label)))
            return err_nomem(err);
    }
    return 0;
}

static int place_files(const struct layout_family *f, const struct layout_family_member *m,
                       size_t all_files, struct layout *out, struct err *err)
{
    _cleanup_free_ uint16_t *now = calloc(f->count + 1, sizeof(*now));
    _cleanup_free_ uint16_t *layers = calloc(all_files + 1, sizeof(*layers));

    out->by_file = calloc(m->in->file_count + 1, sizeof(*out->by_file));
    if (!now || !layers || !out->by_file)
        return err_nomem(err);
    if (copy_layers(f, m->image, now, out, err) < 0)
        return -1;
    for (size_t i = 0; i < f->piece_count; i++)
        if (f->images[f->pieces[i].layer] >> m->image & 1)
            layers[f->pieces[i].file] = now[f->pieces[i].layer];
    for (size_t i = 0; i < m->in->file_count; i++)
        out->by_file[i] = layers[m->files[i]];
    return 0;
}

static size_t count_files(const struct layout_family *f)
{
    uint32_t most = 0;

    for (size_t i = 0; i < f->piece_count; i++)
        most = f->pieces[i].file > most ? f->pieces[i].file : most;
    return (size_t)most + 1;
}

int layout_family_image(const struct layout_family *f, const struct layout_family_member *m,
                        struct layout *out, struct err *err)
{
    size_t nodes = tree_count(m->in->tree);
    _cleanup_free_ uint8_t *in_state = calloc(nodes, sizeof(*in_state));

    *out = (struct layout){0};
    if (!in_state)
        return err_nomem(err);
    if (place_files(f, m, count_files(f), out, err) < 0)
        return -1;
    for (size_t i = 0; i < nodes; i++)
        in_state[i] = f->in_state[m->nodes[i]] >> m->image & 1;
    return layout_count_lookups(m->in, in_state, out, err);
}
