#include "flatten/carve/layout/layout.h"

#include "flatten/carve/layout/layout_label.h"
#include "flatten/carve/layout/layout_lookups.h"
#include "flatten/carve/layout/layout_steps.h"

#include <string.h>

/* Fewer layers are tried if all headers together exceed the source's probes by less than this. */
#define NEAR 1.05

enum { FEWER = 2 }; /* times: an eighth less, and a quarter */

void layout_clear(struct layout *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->layers[i].label);
    free(l->layers);
    free(l->by_file);
    free(l->described);
    *l = (struct layout){0};
}

/* Without a cap, as many layers are made as there may be: the least power of two that suffices. */
static uint64_t cap_for(uint64_t total, size_t layers)
{
    uint64_t cap = 1;

    while (cap < total / layers)
        cap *= 2;
    return cap;
}

int layout_wishes_of(const struct layout_options *options, uint64_t total,
                     struct layout_wishes *out, struct err *err)
{
    size_t layers = options->layers ? options->layers : LAYOUT_LAYERS;
    uint64_t cap = options->cap;

    if (layers > LAYOUT_MOST_LAYERS)
        return err_set(err, ERR_USAGE,
                       "%zu layers are too many: Docker takes no image with more than %d", layers,
                       LAYOUT_MOST_LAYERS);
    if (cap == 0)
        cap = options->layers ? cap_for(total, layers) : LAYOUT_CAP;
    *out = (struct layout_wishes){.cap = cap, .layers = layers, .state = true};
    return 0;
}

uint64_t layout_total(const struct layout_input *in)
{
    uint64_t total = 0;

    for (size_t i = 0; i < in->file_count; i++)
        total += in->files[i].bytes;
    return total;
}

int layout_append(struct layout_groups *g, const struct layout_wishes *wishes, bool update,
                  struct layout *out, struct err *err)
{
    struct layout_bins bins = {0};
    size_t first = out->count;
    _cleanup_free_ struct layout_bin *list = NULL;

    int rc = layout_bins_make(g, wishes, &bins, err);
    list = bins.list;
    if (rc < 0)
        return -1;
    struct layout_layer *layers =
        realloc(out->layers, (first + bins.count + 1) * sizeof(*out->layers));
    if (!layers)
        return err_nomem(err);
    out->layers = layers;
    memset(layers + first, 0, (bins.count + 1) * sizeof(*layers));
    out->count += bins.count;
    for (size_t i = 0; i < bins.count; i++) {
        layers[first + i].tier = list[i].last ? TIER_STATE : list[i].tier;
        layers[first + i].bytes = list[i].bytes;
        layers[first + i].files = list[i].files;
    }
    for (size_t i = 0; i < g->in->file_count; i++)
        if (g->by_file[i] != LAYOUT_NONE)
            out->by_file[i] = (uint16_t)(first + g->list[g->by_file[i]].layer);
    return layout_label(g, &bins, update, layers + first, err);
}

static int place_files(const struct layout_input *in, const struct layout_wishes *wishes,
                       struct layout *out, struct err *err)
{
    _cleanup_layout_order_ struct layout_order order = {0};
    _cleanup_layout_groups_ struct layout_groups g = {0};

    if (layout_order_make(in->tree, &order, err) < 0 ||
        layout_groups_init(in, &order, NULL, 0, &g, err) < 0)
        return -1;
    return layout_append(&g, wishes, false, out, err);
}

static int count_lookups(const struct layout_input *in, const uint8_t *in_state, size_t describing,
                         struct layout *out, struct err *err)
{
    _cleanup_layout_lookups_ struct layout_lookups l = {.in = in,
                                                        .by_file = out->by_file,
                                                        .layers = out->count,
                                                        .describing = describing,
                                                        .also = in_state};

    if (layout_lookups_count(&l, err) < 0)
        return -1;
    out->split_dirs = l.split_dirs;
    out->probes = l.probes;
    free(out->described);
    out->described = steal_ptr(&l.described);
    return 0;
}

int layout_count_lookups(const struct layout_input *in, const uint8_t *in_state, struct layout *out,
                         struct err *err)
{
    return count_lookups(in, in_state, out->count - 1, out, err);
}

/*
 * Lets the newest layers describe split directories: as few as keep to the limit. The more may, the
 * fewer are the probes.
 */
static int keep_to(double limit, const struct layout_input *in, struct layout *out, struct err *err)
{
    size_t most = out->count - 1, least = 0; /* the oldest that may: at most, and at least */

    while (least + 1 < most) {
        size_t middle = least + (most - least) / 2;
        if (count_lookups(in, NULL, middle, out, err) < 0)
            return -1;
        *(out->probes <= limit ? &least : &most) = middle;
    }
    return count_lookups(in, NULL, least, out, err);
}

/* The probes of a layout against those of the source. */
enum slowness { SLOWER, HARDLY_SLOWER, NOT_SLOWER };

/* The state layer alone describes them, if all others together could not keep to a limit. */
static int place_headers(const struct layout_input *in, double source_probes, struct layout *out,
                         enum slowness *slowness, struct err *err)
{
    const double limits[] = {source_probes, LAYOUT_PROBES};
    double least;

    if (count_lookups(in, NULL, 0, out, err) < 0)
        return -1;
    least = out->probes;
    *slowness = source_probes <= 0 || least <= source_probes ? NOT_SLOWER
                : least <= source_probes * NEAR              ? HARDLY_SLOWER
                                                             : SLOWER;
    if (count_lookups(in, NULL, out->count - 1, out, err) < 0)
        return -1;
    for (size_t i = 0; source_probes > 0 && i < 2; i++)
        if (out->probes > limits[i] && least <= limits[i])
            return keep_to(limits[i], in, out, err);
    return 0;
}

static int make_once(const struct layout_input *in, const struct layout_wishes *wishes,
                     double source_probes, struct layout *out, enum slowness *slowness,
                     struct err *err)
{
    *out = (struct layout){.by_file = calloc(in->file_count + 1, sizeof(*out->by_file))};
    if (!out->by_file)
        return err_nomem(err);
    if (place_files(in, wishes, out, err) < 0)
        return -1;
    return place_headers(in, source_probes, out, slowness, err);
}

int layout_make(const struct layout_input *in, const struct layout_options *options,
                struct layout *out, struct err *err)
{
    struct layout_wishes wishes;
    enum slowness slowness;

    *out = (struct layout){0};
    if (layout_wishes_of(options, layout_total(in), &wishes, err) < 0 ||
        make_once(in, &wishes, options->source_probes, out, &slowness, err) < 0)
        return -1;
    for (unsigned i = 0; slowness == HARDLY_SLOWER && i < FEWER && out->count > 8; i++) {
        _cleanup_layout_ struct layout other = {0};
        wishes.layers = out->count - out->count / 8 * (i + 1);
        if (make_once(in, &wishes, options->source_probes, &other, &slowness, err) < 0)
            return -1;
        if (slowness == NOT_SLOWER) {
            const struct layout slower = *out;
            *out = other;
            other = slower;
        }
    }
    return 0;
}
