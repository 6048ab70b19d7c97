#include "flatten/carve/carve.h"

#include "flatten/carve/carve_layers.h"
#include "flatten/carve/carve_tree.h"
#include "flatten/carve/inventory_list.h"
#include "flatten/carve/previous.h"
#include "flatten/layer/verifier.h"
#include "flatten/squash/describe_image.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *const carve_tier_names[] = {
    [TIER_SYSTEM] = "system",   [TIER_TOOLCHAIN] = "toolchain",     [TIER_FRAMEWORK] = "framework",
    [TIER_PACKAGE] = "package", [TIER_APPLICATION] = "application", [TIER_STATE] = "state",
};

/* An image on its way from its source to new layers. */
struct carving {
    struct carve_tree tree;
    const struct squash_options *options;
    const struct carve_options *carve;
    struct carved *carved; /* borrowed */
    struct layout *layout; /* of it */
    struct previous previous;
    struct layout_like like;
    double source_probes; /* mean; 0: not known */
    uint16_t *by_record;  /* by record of the spool: its layer */
};

static void carving_clear(struct carving *c)
{
    carve_tree_clear(&c->tree);
    previous_clear(&c->previous);
    layout_like_clear(&c->like);
    free(c->by_record);
}

/* ---- layout ---- */

/* Sets the layer that writes each file: files of kept layers are in none. */
static int set_layers(struct carving *c, const struct placing *p, struct err *err)
{
    const struct spool *s = c->tree.spool;
    size_t kept = c->like.kept;

    c->by_record = calloc(s->record_count + 1, sizeof(*c->by_record));
    if (!c->by_record)
        return err_nomem(err);
    for (size_t i = 0; i < s->record_count; i++) {
        if (S_ISDIR(s->records[i].mode) || placing_skips(s->tree, s->records[i].node))
            continue;
        uint16_t layer = c->layout->by_file[p->file_of[i]];
        c->by_record[i] = layer < kept ? CARVE_ELSEWHERE : (uint16_t)(layer - kept);
    }
    return 0;
}

/*
 * Makes room for identities that are computed while layers are written: without --like the
 * inventory alone needs them.
 */
static int prepare_identities(struct carving *c, const struct sink *sink, struct err *err)
{
    if (!sink || !c->carve->inventory || c->options->merged.kept > 0 || c->carve->like)
        return 0;
    c->tree.identities = calloc(c->tree.spool->record_count + 1, sizeof(*c->tree.identities));
    return c->tree.identities ? 0 : err_nomem(err);
}

/* Returns the identities by node. The caller frees them; NULL without memory. */
static struct layout_identity *list_identities(const struct carving *c, struct err *err)
{
    const struct spool *s = c->tree.spool;
    uint32_t count = tree_count(s->tree);
    struct layout_identity *list = calloc(count, sizeof(*list));

    for (uint32_t node = 0; list && node < count; node++) {
        const struct spool_record *r = spool_at(s, node);
        if (r)
            list[node] = c->tree.identities[r - s->records];
    }
    if (!list)
        err_nomem(err);
    return list;
}

/* Returns how many of the oldest layers a host that has the previous version reuses. */
static size_t kept_in_place(const struct layout_like *like)
{
    size_t count = 0;

    while (count < like->kept && like->previous[count] == count)
        count++;
    return count;
}

/* A new layer may turn out to be the one that the previous version has there. */
static void find_same(struct carving *c, const struct squashed *out)
{
    const struct image *like = c->carve->like;
    size_t *same = &c->layout->in_place;

    while (like && *same < out->count && *same < like->layer_count &&
           digest_equal(&out->layers[*same].digest, &like->layers[*same].digest))
        ++*same;
}

/* Returns why no layer of the previous version is kept: what an option could change comes first. */
static enum layout_fate main_fate(const struct layout_like *like, size_t layers)
{
    enum layout_fate last = LAYOUT_STATE;

    for (size_t i = 0; i < layers; i++)
        if (like->fates[i] > last)
            last = (enum layout_fate)like->fates[i];
    return last;
}

/* Without options, layers are made anew that were perhaps asked for. */
static void tell_slow(const struct carving *c)
{
    const struct layout_options *o = &c->carve->layout;
    size_t slow = 0;

    for (size_t i = 0; i < c->previous.view.layer_count; i++)
        slow += c->like.fates[i] == LAYOUT_SLOW;
    if (slow == 0 || o->cap > 0 || o->layers > 0)
        return;
    _cleanup_free_ char *text =
        strf("%zu layer%s made anew, as lookups would search too many; if it was made with "
             "--layers or --layer-size, give them again",
             slow, slow == 1 ? " is" : "s are");
    if (text)
        carve_tell(c->options, "--like", text);
}

/* Gives notice of a previous version that helps little. */
static void tell_like(const struct carving *c)
{
    static const char *const reasons[LAYOUT_FATES] = {
        [LAYOUT_STATE] = "it has only the newest, which is always made anew",
        [LAYOUT_UNSOUND] = "engines disagree about its layers, or about the root directory",
        [LAYOUT_UNUSED] = "none of its files is the same",
        [LAYOUT_DEAD] = "too few of its files are the same",
        [LAYOUT_MANY] = "with the new ones they are more than --layers",
        [LAYOUT_SLOW] = "lookups would have to search too many layers",
    };
    enum layout_fate fate = main_fate(&c->like, c->previous.view.layer_count);
    bool may_be_times = !c->carve->stable_times && (fate == LAYOUT_UNUSED || fate == LAYOUT_DEAD);

    if (!c->previous.carved)
        carve_tell(c->options, "--like",
                   "it was never carved: its layers are kept as they are, or not at all");
    if (c->like.kept > 0) {
        tell_slow(c);
        return;
    }
    _cleanup_free_ char *text =
        strf("no layer of it is kept: %s%s", reasons[fate],
             may_be_times ? "; if only times differ, --stable-times helps" : "");
    if (text)
        carve_tell(c->options, "--like", text);
}

/* Leaves room for the layers that are kept below. */
static int leave_room(struct layout_options *o, size_t kept, struct err *err)
{
    size_t wanted = o->layers ? o->layers : LAYOUT_LAYERS;

    if (kept >= CARVE_MOST_LAYERS)
        return err_set(err, ERR_LIMIT,
                       "%zu layers are kept, and Docker takes at most %d: keep fewer by "
                       "--keep-base",
                       kept, CARVE_MOST_LAYERS);
    if (wanted <= CARVE_MOST_LAYERS - kept)
        return 0;
    if (o->cap == 0 && o->layers == 0)
        o->cap = LAYOUT_CAP;
    o->layers = CARVE_MOST_LAYERS - kept;
    return 0;
}

static int make_layout(struct carving *c, const struct layout_input *in, struct err *err)
{
    const struct carve_options *o = c->carve;
    struct layout_options alone = o->layout;

    alone.source_probes = c->source_probes;
    if (!o->like)
        return leave_room(&alone, c->options->merged.kept, err) < 0
                   ? -1
                   : layout_make(in, &alone, c->layout, err);
    _cleanup_free_ struct layout_identity *identities = list_identities(c, err);
    const struct layout_like_options options = {
        .layout = o->layout, .max_dead = o->max_dead, .max_probes = LAYOUT_MAX_PROBES};
    if (!identities ||
        layout_like_make(in, identities, &c->previous.view, &options, &c->like, err) < 0)
        return -1;
    *c->layout = c->like.layout;
    c->layout->in_place = kept_in_place(&c->like);
    tell_like(c);
    c->like.layout = (struct layout){0};
    return 0;
}

static int place_files(struct carving *c, struct err *err)
{
    _cleanup_(placing_clear) struct placing p = {0};

    if (placing_list(&c->tree, &p, err) < 0)
        return -1;
    const struct layout_input in = placing_input(&c->tree, &p);
    bool adds_nothing = c->options->merged.kept > 0 && c->tree.spool->record_count == 0;
    if (!adds_nothing && make_layout(c, &in, err) < 0)
        return -1;
    return set_layers(c, &p, err);
}

/* Sets *done if the previous version's inventory could be used. It is believed (inventory.h). */
static int take_inventory(struct carving *c, const char *text, bool *done, struct err *err)
{
    _cleanup_free_ struct layout_identity *identities = list_identities(c, err);
    const struct inventory_known known = {identities, tree_count(c->tree.spool->tree)};
    _cleanup_inventory_ struct inventory inventory = {0};

    if (!identities)
        return -1;
    *done = inventory_read(text, c->tree.spool->tree, &known, &inventory, err) == 0 &&
            previous_take(c->carve->like, &inventory, &c->previous, err) == 0;
    return !*done && err->kind == ERR_SYSTEM ? -1 : 0;
}

/* Replaces an error about content by its cause, if a layer is not what its digest says. */
static void explain_content(struct image *like, struct err *err)
{
    struct err cause = ERR_INIT;

    if (err->kind != ERR_FORMAT && err->kind != ERR_LIMIT && err->kind != ERR_UNSUPPORTED)
        return;
    _cleanup_verifier_ struct verifier *v = verifier_new(like, &cause);
    if (v && verifier_finish(v, &cause) < 0 && cause.kind == ERR_DIGEST)
        *err = cause;
}

static int read_layers(struct carving *c, struct image *like, struct err *err)
{
    for (size_t i = 0; i < like->layer_count; i++)
        if (like->layers[i].fd < 0 && like->layers[i].store &&
            layer_fetch(&like->layers[i], err) < 0)
            return -1;
    if (previous_read(like, c->tree.spool->tree, c->tree.stamps, &c->previous, err) == 0)
        return 0;
    explain_content(like, err);
    return -1;
}

/* Reads no layer of a previous version that was opened without them, if its inventory suffices. */
static int read_previous(struct carving *c, struct err *err)
{
    struct image *like = c->carve->like;
    const struct json *root = like && like->manifest ? json_root(like->manifest) : NULL;
    const char *text = json_text(json_path(root, "annotations", ANNOTATION_INVENTORY, NULL));
    bool outlined = like && !c->tree.stamps && like->layer_count > 0 && like->layers[0].store;
    bool done = false;

    if (!like)
        return 0;
    for (size_t i = 0; i < like->layer_count; i++)
        like->layers[i].max_size = c->options->merged.max_size;
    if (outlined && text && take_inventory(c, text, &done, err) < 0)
        return err_wrap(err, "--like");
    if (done)
        return 0;
    if (outlined)
        carve_tell(c->options, "--like",
                   text ? err->msg : "it has no inventory: its layers are fetched");
    *err = (struct err)ERR_INIT;
    previous_clear(&c->previous);
    c->previous = (struct previous){0};
    return read_layers(c, like, err) < 0 ? err_wrap(err, "--like") : 0;
}

static int take_times(struct carving *c, struct err *err)
{
    const struct times_source previous = {&c->previous.view, c->previous.stamps};

    if (!c->tree.stamps)
        return 0;
    int rc = stable_times_take(c->tree.spool, c->tree.stamps, c->tree.identities, &previous,
                               &c->carved->times, err);
    free(steal_ptr(&c->tree.stamps));
    free(steal_ptr(&c->previous.stamps));
    return rc;
}

/* ---- writing ---- */

static int write_layers(struct carving *c, struct sink *sink, struct squashed *out, struct err *err)
{
    const struct carve_plan plan = {.spool = c->tree.spool,
                                    .by_record = c->by_record,
                                    .layer_count = c->layout->count - c->like.kept,
                                    .described = c->layout->described,
                                    .kept = c->like.kept,
                                    .whiteouts = c->like.whiteouts,
                                    .whiteout_count = c->like.whiteout_count,
                                    .identities = c->carve->like ? NULL : c->tree.identities};

    if (sink)
        return carve_put_layers(&plan, c->options, sink, out, err);
    out->count += plan.layer_count;
    return 0;
}

/* Keeps layers of the source, below all that is carved, or of the previous version. */
static int keep_layers(struct carving *c, struct sink *sink, struct squashed *out, struct err *err)
{
    struct image *like = c->carve->like;

    for (size_t i = 0; sink && i < out->kept; i++) {
        struct layer *layer = like ? &like->layers[c->like.previous[i]] : &c->tree.image->layers[i];
        if (squashed_keep_layer(out, layer, c->options->readable, sink, err) < 0)
            return -1;
    }
    out->count = out->kept;
    return 0;
}

/* Layers below those carved are not listed. */
static int make_inventory(struct carving *c, struct squashed *out, struct err *err)
{
    const struct inventory_source source = {.spool = c->tree.spool,
                                            .identities = c->tree.identities,
                                            .owners = &c->tree.owners,
                                            .by_record = c->by_record,
                                            .described = c->layout->described,
                                            .previous = &c->previous.view,
                                            .kept = c->like.previous,
                                            .kept_count = c->like.kept,
                                            .layers = out->layers,
                                            .layer_count = out->count};

    if (!c->carve->inventory || c->options->merged.kept > 0 || out->count < 2)
        return 0;
    return inventory_text(&source, c->options, &out->inventory, err);
}

/*
 * Returns how large files are compressed while the image is read; NULL if they stay as they are
 * until their layer is written. Levels above PACKED_LEVEL lose more by small frames. With --like
 * few files may be written.
 */
static const struct compress_options *packing(const struct squash_options *options,
                                              const struct carve_options *carve,
                                              const struct sink *sink)
{
    enum { PACKED_LEVEL = 5 };
    const struct compress_options *c = &options->compress;
    bool pays = c->kind == COMPRESSION_ZSTD && c->level <= PACKED_LEVEL;

    return sink && !carve->like && pays ? c : NULL;
}

int carve_layers(struct image *image, const struct squash_options *options,
                 const struct carve_options *carve, struct sink *sink, struct squashed *out,
                 struct carved *carved, struct err *err)
{
    _cleanup_(carving_clear) struct carving c = {
        .options = options, .carve = carve, .carved = carved, .layout = &carved->layout};
    const struct carve_tree_options how = {.fd = carve->spool,
                                           .identities = carve->like,
                                           .stamps = carve->like && carve->stable_times,
                                           .pack = packing(options, carve, sink)};
    struct merged_report report;

    if (carve_tree_read(&c.tree, image, options, &how, &report, err) < 0 ||
        read_previous(&c, err) < 0 || take_times(&c, err) < 0)
        return -1;
    c.source_probes = report.probes;
    if (place_files(&c, err) < 0)
        return -1;
    size_t kept = carve->like ? c.like.kept : options->merged.kept;
    if (squashed_init(carved->layout.count + options->merged.kept, kept, out, err) < 0)
        return -1;
    out->report = report;
    if (prepare_identities(&c, sink, err) < 0 || keep_layers(&c, sink, out, err) < 0 ||
        write_layers(&c, sink, out, err) < 0)
        return -1;
    if (!sink)
        return 0;
    find_same(&c, out);
    return make_inventory(&c, out, err);
}

void carved_clear(struct carved *c)
{
    layout_clear(&c->layout);
    free(c->images);
    *c = (struct carved){0};
}
