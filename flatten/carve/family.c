#include "flatten/carve/family.h"

#include "flatten/carve/carve_layers.h"
#include "flatten/carve/family_files.h"
#include "flatten/carve/inventory_list.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct family {
    const struct carve_options *carve;
    struct family_member members[LAYOUT_MOST_IMAGES];
    size_t count;
    uint64_t at; /* where the next spool begins */
    struct layout_family layout;
    uint8_t *writers;    /* by layer: the member from whose spool it is written */
    size_t *written;     /* by layer: its index in `all` */
    struct squashed all; /* every layer once, in the order in which they were written */
};

static void member_clear(struct family_member *m)
{
    carve_tree_clear(&m->tree);
    placing_clear(&m->placing);
    free(m->nodes);
    free(m->files);
    layout_clear(&m->layout);
    free(m->by_record);
}

void family_free(struct family *f)
{
    for (size_t i = 0; i < f->count; i++)
        member_clear(&f->members[i]);
    layout_family_clear(&f->layout);
    free(f->writers);
    free(f->written);
    squashed_clear(&f->all);
    free(f);
}

struct family *family_new(const struct carve_options *carve, struct err *err)
{
    struct family *f = calloc(1, sizeof(*f));

    if (f)
        f->carve = carve;
    else
        err_nomem(err);
    return f;
}

int family_add(struct family *f, struct image *image, const struct squash_options *options,
               struct err *err)
{
    const struct carve_tree_options how = {.fd = f->carve->spool, .at = f->at, .identities = true};

    if (f->count == LAYOUT_MOST_IMAGES)
        return err_set(err, ERR_LIMIT, "more than %d images", LAYOUT_MOST_IMAGES);
    struct family_member *m = &f->members[f->count++];
    int rc = carve_tree_read(&m->tree, image, options, &how, &m->report, err);
    carve_tree_end_reading(&m->tree);
    m->tree.options = NULL;
    if (rc < 0)
        return -1;
    f->at = m->tree.spool->at;
    return 0;
}

/* ---- layout ---- */

/* Sets the layer of each file of the member. */
static int set_layers(struct family_member *m, struct err *err)
{
    const struct spool *s = m->tree.spool;

    m->by_record = calloc(s->record_count + 1, sizeof(*m->by_record));
    if (!m->by_record)
        return err_nomem(err);
    for (size_t i = 0; i < s->record_count; i++)
        if (!S_ISDIR(s->records[i].mode))
            m->by_record[i] = m->layout.by_file[m->placing.file_of[i]];
    return 0;
}

static int lay_out_member(struct family *f, size_t which, struct err *err)
{
    struct family_member *m = &f->members[which];
    const struct layout_input in = placing_input(&m->tree, &m->placing);
    const struct layout_family_member member = {
        .in = &in, .nodes = m->nodes, .files = m->files, .image = which};

    if (layout_family_image(&f->layout, &member, &m->layout, err) < 0)
        return -1;
    return set_layers(m, err);
}

static int lay_out(struct family *f, struct err *err)
{
    _cleanup_(family_files_clear) struct family_files files = {0};
    struct layout_input all;

    if (family_files_make(f->members, f->count, &files, err) < 0)
        return -1;
    const struct layout_family_input in = family_files_input(&files, f->count, &all);
    if (layout_family_make(&in, &f->carve->layout, &f->layout, err) < 0)
        return -1;
    for (size_t i = 0; i < f->count; i++)
        if (lay_out_member(f, i, err) < 0)
            return -1;
    return 0;
}

/* ---- writing ---- */

/* Returns a number that depends on what the image has, and not on where it was read. */
static uint64_t sum_of(const struct family_member *m)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < m->tree.spool->record_count; i++)
        sum += m->tree.identities[i].part[0];
    return sum;
}

/*
 * Chooses the member that each layer is written from: the layer may have no header for the root
 * directory if one of its images has none. Otherwise members differ only in the owner and the mode
 * of neutral headers; the choice does not depend on the order of the images.
 */
static void choose_writers(struct family *f)
{
    uint64_t sums[LAYOUT_MOST_IMAGES];
    bool rooted[LAYOUT_MOST_IMAGES];

    for (size_t i = 0; i < f->count; i++) {
        sums[i] = sum_of(&f->members[i]);
        rooted[i] = spool_at(f->members[i].tree.spool, TREE_ROOT) != NULL;
    }
    for (size_t layer = 0; layer < f->layout.count; layer++) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < f->count; i++) {
            if (!(f->layout.images[layer] >> i & 1))
                continue;
            if (best == SIZE_MAX || rooted[i] < rooted[best] ||
                (rooted[i] == rooted[best] && sums[i] < sums[best]))
                best = i;
        }
        f->writers[layer] = (uint8_t)best;
    }
}

/* Lists the layers that are written from the member: by layer of the image, or CARVE_ELSEWHERE. */
static size_t list_layers(const struct family *f, size_t which, uint16_t *numbers, size_t *layers)
{
    size_t count = 0, at = 0;

    for (size_t layer = 0; layer < f->layout.count; layer++) {
        if (!(f->layout.images[layer] >> which & 1))
            continue;
        bool writes = f->writers[layer] == which;
        numbers[at++] = writes ? (uint16_t)count : CARVE_ELSEWHERE;
        if (writes)
            layers[count++] = layer;
    }
    return count;
}

/* Lists by node the layer that describes it, by the same numbers. NULL without memory. */
static uint16_t *list_described(const struct family_member *m, const uint16_t *numbers)
{
    uint32_t nodes = tree_count(m->tree.spool->tree);
    uint16_t *described = calloc(nodes, sizeof(*described));

    for (uint32_t node = 0; described && node < nodes; node++) {
        uint16_t layer = m->layout.described[node];
        described[node] = layer == LAYOUT_NOT_DESCRIBED ? LAYOUT_NOT_DESCRIBED : numbers[layer];
    }
    return described;
}

static int write_member(struct family *f, size_t which, const struct squash_options *options,
                        struct sink *sink, struct err *err)
{
    const struct family_member *m = &f->members[which];
    size_t records = m->tree.spool->record_count;
    _cleanup_free_ uint16_t *numbers = calloc(m->layout.count + 1, sizeof(*numbers));
    _cleanup_free_ uint16_t *by_record = calloc(records + 1, sizeof(*by_record));
    _cleanup_free_ size_t *layers = calloc(m->layout.count + 1, sizeof(*layers));

    if (!numbers || !by_record || !layers)
        return err_nomem(err);
    size_t count = list_layers(f, which, numbers, layers);
    _cleanup_free_ uint16_t *described = list_described(m, numbers);
    if (!described)
        return err_nomem(err);
    const struct carve_plan plan = {.spool = m->tree.spool,
                                    .by_record = by_record,
                                    .layer_count = count,
                                    .described = described};
    for (size_t i = 0; i < records; i++)
        by_record[i] = numbers[m->by_record[i]];
    for (size_t i = 0; i < count; i++)
        f->written[layers[i]] = f->all.count + i;
    if (!sink)
        f->all.count += count;
    else if (carve_put_layers(&plan, options, sink, &f->all, err) < 0)
        return -1;
    return 0;
}

static int write_members(struct family *f, const struct squash_options *options, struct sink *sink,
                         struct err *err)
{
    for (size_t i = 0; i < f->count; i++)
        if (write_member(f, i, options, sink, err) < 0)
            return -1;
    return 0;
}

int family_write(struct family *f, const struct squash_options *options, struct sink *sink,
                 struct err *err)
{
    if (lay_out(f, err) < 0)
        return -1;
    f->writers = calloc(f->layout.count + 1, sizeof(*f->writers));
    f->written = calloc(f->layout.count + 1, sizeof(*f->written));
    if (!f->writers || !f->written)
        return err_nomem(err);
    choose_writers(f);
    return squashed_init(f->layout.count, 0, &f->all, err) < 0
               ? -1
               : write_members(f, options, sink, err);
}

/* ---- results ---- */

static int take_layers(struct family *f, size_t which, bool readable, struct squashed *out,
                       struct carved *carved, struct err *err)
{
    for (size_t layer = 0; layer < f->layout.count; layer++) {
        if (!(f->layout.images[layer] >> which & 1))
            continue;
        carved->images[out->count] = f->layout.images[layer];
        if (squashed_share_layer(out, &f->all, f->written[layer], readable, err) < 0)
            return -1;
    }
    return 0;
}

static int take_inventory(const struct family *f, const struct family_member *m,
                          const struct squash_options *options, const struct carved *carved,
                          struct squashed *out, struct err *err)
{
    const struct inventory_source source = {.spool = m->tree.spool,
                                            .identities = m->tree.identities,
                                            .owners = &m->tree.owners,
                                            .by_record = m->by_record,
                                            .described = carved->layout.described,
                                            .layers = out->layers,
                                            .layer_count = out->count};

    if (!f->carve->inventory || out->count < 2)
        return 0;
    return inventory_text(&source, options, &out->inventory, err);
}

int family_take(struct family *f, size_t which, const struct squash_options *options,
                struct squashed *out, struct carved *carved, struct err *err)
{
    struct family_member *m = &f->members[which];

    *carved = (struct carved){.layout = m->layout};
    m->layout = (struct layout){0};
    carved->images = calloc(carved->layout.count + 1, sizeof(*carved->images));
    if (!carved->images)
        return err_nomem(err);
    if (squashed_init(carved->layout.count, 0, out, err) < 0)
        return -1;
    out->report = m->report;
    if (take_layers(f, which, options->readable, out, carved, err) < 0)
        return -1;
    return f->all.layers[0].size ? take_inventory(f, m, options, carved, out, err) : 0;
}
