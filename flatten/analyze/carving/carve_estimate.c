#include "flatten/analyze/carving/carve_estimate.h"

#include "flatten/analyze/carving/carve_files.h"
#include "flatten/carve/pull/pull_cost.h"
#include "flatten/carve/pull/pull_image.h"

enum { THREE = 1 }; /* index of three streams */
static const double least_gain = 0.8;

const unsigned carve_streams[CARVE_STREAMS] = {1, 3, 10};

static void sum_pull(const struct pull_layer *layers, size_t count, struct carve_pull *out)
{
    out->bytes = pull_bytes(layers, count);
    for (size_t i = 0; i < CARVE_STREAMS; i++)
        out->seconds[i] = pull_seconds(layers, count, carve_streams[i], &pull_default_rates);
}

/* Layers in an engine's store have no blobs: their sizes follow from their content. */
static int pull_source(const struct carve_input *in, struct carve_pull *out, struct err *err)
{
    size_t count = in->image->layer_count;
    _cleanup_free_ struct pull_layer *layers = calloc(count + 1, sizeof(*layers));

    if (!layers)
        return err_nomem(err);
    if (!pull_image_list(in->image, 0, in->payload, layers))
        for (size_t i = 0; i < count; i++)
            layers[i] = (struct pull_layer){(uint64_t)((double)in->layers[i] * PULL_ASSUMED_RATIO),
                                            in->layers[i]};
    sum_pull(layers, count, out);
    for (size_t i = 0; i < count; i++)
        if (in->layers[i] > out->largest)
            out->largest = in->layers[i];
    return 0;
}

static bool is_large(const struct carve_input *in, uint64_t layer)
{
    return layer > in->live / 2;
}

/* Returns true if the best of all layouts could pay: of equal layers, without anything besides. */
static bool might_pay(const struct carve_input *in, const struct carve_estimate *e)
{
    double packed = (double)in->live * pull_image_share(in->image, 0, in->payload);
    double pulled = packed / carve_streams[THREE] / pull_default_rates.stream;
    double unpacked = (double)in->live / pull_default_rates.unpack;

    if (in->live < CARVE_LEAST)
        return false;
    return is_large(in, e->source.largest) ||
           (pulled > unpacked ? pulled : unpacked) <= least_gain * e->source.seconds[THREE];
}

static bool does_pay(const struct carve_input *in, const struct carve_estimate *e)
{
    double before = e->source.seconds[THREE], after = e->carved.seconds[THREE];

    return after <= least_gain * before ||
           (after <= before && is_large(in, e->source.largest) && !is_large(in, e->carved.largest));
}

static int pull_carved(const struct carve_input *in, const struct layout *layout,
                       struct carve_estimate *e, struct err *err)
{
    double share = pull_image_share(in->image, 0, in->payload);
    _cleanup_free_ struct pull_layer *layers = calloc(layout->count + 1, sizeof(*layers));

    if (!layers)
        return err_nomem(err);
    for (size_t i = 0; i < layout->count; i++) {
        uint64_t bytes = layout->layers[i].bytes;
        layers[i] = (struct pull_layer){(uint64_t)((double)bytes * share), bytes};
        if (bytes > e->carved.largest)
            e->carved.largest = bytes;
    }
    sum_pull(layers, layout->count, &e->carved);
    e->layers = layout->count;
    e->probes = layout->probes;
    return 0;
}

static int make_layout(const struct carve_input *in, struct layout *out, struct err *err)
{
    const struct layout_options options = {0};
    _cleanup_(carve_files_clear) struct carve_files f = {0};

    if (carve_files_list(in, &f, err) < 0)
        return -1;
    const struct layout_input layout = {.tree = in->stack->tree,
                                        .files = f.files,
                                        .file_count = f.file_count,
                                        .names = f.names,
                                        .name_count = f.name_count,
                                        .is_dir = f.is_dir,
                                        .owners = in->owners};
    return layout_make(&layout, &options, out, err);
}

int carve_estimate_make(const struct carve_input *in, struct carve_estimate *out, struct err *err)
{
    struct carve_estimate e = {.estimated = !pull_image_is_packed(in->image)};
    _cleanup_layout_ struct layout layout = {0};

    *out = (struct carve_estimate){0};
    if (pull_source(in, &e.source, err) < 0)
        return -1;
    if (!might_pay(in, &e))
        return 0;
    if (make_layout(in, &layout, err) < 0 || pull_carved(in, &layout, &e, err) < 0)
        return -1;
    e.pays = does_pay(in, &e);
    if (e.pays)
        *out = e;
    return 0;
}
