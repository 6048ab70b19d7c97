#include "flatten/carve/carve.h"

#include "flatten/carve/carve_write.h"
#include "flatten/carve/inventory_list.h"
#include "flatten/carve/previous.h"
#include "flatten/carve/spool/spool_identities.h"
#include "flatten/squash/describe_image.h"
#include "flatten/squash/reading.h"
#include "flatten/stream/ustar.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *const carve_tier_names[] = {
    [TIER_SYSTEM] = "system",   [TIER_TOOLCHAIN] = "toolchain",     [TIER_FRAMEWORK] = "framework",
    [TIER_PACKAGE] = "package", [TIER_APPLICATION] = "application", [TIER_STATE] = "state",
};

/* An image on its way from its source to new layers. */
struct carving {
    struct image *image;
    const struct squash_options *options;
    const struct carve_options *carve;
    struct reading reading;
    struct spool *spool;
    struct layout_identity *identities; /* by record of the spool; NULL if they are not needed */
    struct identity_stamp *stamps;      /* likewise, for stable times */
    struct owners owners;
    struct carved *carved; /* borrowed */
    struct layout *layout; /* of it */
    struct buf link;       /* the target of the symbolic link that was asked for last */
    struct previous previous;
    struct layout_like like;
    double source_probes; /* mean; 0: not known */
    uint16_t *by_record;  /* by record of the spool: its layer */
};

static void carving_clear(struct carving *c)
{
    reading_end(&c->reading);
    cleanup_spool(&c->spool);
    free(c->identities);
    free(c->stamps);
    owners_clear(&c->owners);
    buf_free(&c->link);
    previous_clear(&c->previous);
    layout_like_clear(&c->like);
    free(c->by_record);
}

/* ---- reading ---- */

static enum merge_result read_tree(struct carving *c, struct merged_options *options,
                                   struct merged_report *report, struct err *err)
{
    cleanup_spool(&c->spool);
    c->spool = spool_new(c->carve->spool, options->max_size, err);
    return c->spool ? merged_entries(c->image, options, &c->spool->base, report, err)
                    : MERGE_FAILED;
}

/* No layer is written before all digests have been checked. */
static int read_image(struct carving *c, struct merged_report *report, struct err *err)
{
    struct merged_options options = c->options->merged;

    options.count_probes = options.kept == 0; /* those of the layout are without kept layers */
    enum merge_result result = read_tree(c, &options, report, err);

    if (result == MERGE_NEEDS_INDEX) {
        options.indexed = true;
        options.told = report->conflict;
        result = read_tree(c, &options, report, err);
    }
    if (result != MERGE_DONE || spool_finish(c->spool, err) < 0) {
        verifier_explain(c->reading.verifier, err);
        return -1;
    }
    c->source_probes = report->probes;
    return verifier_finish(c->reading.verifier, err);
}

static int find_identities(struct carving *c, struct err *err)
{
    bool stamps = c->carve->like && c->carve->stable_times;

    if (!c->carve->like && !c->carve->inventory)
        return 0;
    c->identities = spool_identities(c->spool, stamps ? &c->stamps : NULL, err);
    return c->identities ? 0 : -1;
}

/* ---- owners ---- */

static int64_t file_size(void *ctx, uint32_t node)
{
    const struct spool_record *r = spool_at(((struct carving *)ctx)->spool, node);

    return r && S_ISREG(r->mode) ? (int64_t)r->size : -1;
}

static int read_file(void *ctx, uint32_t node, uint64_t offset, void *data, size_t len,
                     struct err *err)
{
    return spool_read(((struct carving *)ctx)->spool,
                      spool_at(((struct carving *)ctx)->spool, node), offset, data, len, err);
}

static bool file_is_dir(void *ctx, uint32_t node)
{
    const struct spool_record *r = spool_at(((struct carving *)ctx)->spool, node);

    return node == TREE_ROOT || (r && S_ISDIR(r->mode));
}

static const char *file_link(void *ctx, uint32_t node)
{
    struct carving *c = ctx;
    const struct spool_record *r = spool_at(c->spool, node);
    struct err ignored = ERR_INIT;

    return r && S_ISLNK(r->mode) ? spool_target(c->spool, r, &c->link, &ignored) : NULL;
}

/* Gives notice of something about the image as a whole. */
static void tell(const struct carving *c, const char *of, const char *text)
{
    const struct merged_options *o = &c->options->merged;

    if (o->notice)
        o->notice(o->notice_ctx, 0, of, text);
}

static int find_owners(struct carving *c, struct err *err)
{
    const struct owner_source source = {.tree = c->spool->tree,
                                        .size = file_size,
                                        .read = read_file,
                                        .is_dir = file_is_dir,
                                        .link = file_link,
                                        .ctx = c};

    if (owners_find(&source, &c->owners, err) < 0)
        return -1;
    if (c->owners.rpm_unread)
        tell(c, "packages",
             "its rpm database is in a form that is not read: its files are placed by directory");
    if (c->owners.cut)
        tell(c, "packages",
             "some databases of packages are too large: their files are placed by directory");
    return 0;
}

/* ---- layout ---- */

/* The files of the spool as layout_make takes them: without directories. */
struct placing {
    struct layout_file *files;
    struct layout_name *names;
    uint32_t *file_of; /* by record: its index in `files` */
    uint8_t *is_dir;   /* by node */
    size_t count;
};

static void placing_clear(struct placing *p)
{
    free(p->files);
    free(p->names);
    free(p->file_of);
    free(p->is_dir);
}

/* Returns about how many bytes of a layer the file takes, with a header for each name. */
static uint64_t layer_bytes(const struct spool_record *r)
{
    return r->size + ustar_padding(r->size) + (uint64_t)r->names * USTAR_BLOCK;
}

/* Whiteouts hide what the kept layers have: they go below all that is carved. */
static bool is_whiteout(struct tree *tree, uint32_t node)
{
    size_t len;
    const char *name = tree_name(tree, node, &len);

    return len > 4 && memcmp(name, ".wh.", 4) == 0;
}

static int list_files(const struct spool *s, const struct owners *owners, struct placing *p,
                      struct err *err)
{
    p->files = calloc(s->record_count + 1, sizeof(*p->files));
    p->names = calloc(s->name_count + 1, sizeof(*p->names));
    p->file_of = calloc(s->record_count + 1, sizeof(*p->file_of));
    p->is_dir = calloc(tree_count(s->tree), sizeof(*p->is_dir));
    if (!p->files || !p->names || !p->file_of || !p->is_dir)
        return err_nomem(err);
    p->is_dir[TREE_ROOT] = 1;
    for (size_t i = 0; i < s->record_count; i++) {
        const struct spool_record *r = &s->records[i];
        if (S_ISDIR(r->mode)) {
            p->is_dir[r->node] = 1;
            continue;
        }
        if (is_whiteout(s->tree, r->node))
            continue;
        p->file_of[i] = (uint32_t)p->count;
        p->files[p->count++] = (struct layout_file){
            .node = r->node, .owner = owners->by_node[r->node], .bytes = layer_bytes(r)};
    }
    for (size_t i = 0; i < s->name_count; i++) {
        const struct spool_name *name = &s->names[i];
        struct layout_file *file = &p->files[p->file_of[name->record]];
        file->owner = owners_stronger(owners, file->owner, owners->by_node[name->node]);
        p->names[i] = (struct layout_name){name->node, p->file_of[name->record]};
    }
    return 0;
}

/* Sets the layer that writes each file: files of kept layers are in none. */
static int set_layers(struct carving *c, const struct placing *p, struct err *err)
{
    const struct spool *s = c->spool;
    size_t kept = c->like.kept;

    c->by_record = calloc(s->record_count + 1, sizeof(*c->by_record));
    if (!c->by_record)
        return err_nomem(err);
    for (size_t i = 0; i < s->record_count; i++) {
        if (S_ISDIR(s->records[i].mode) || is_whiteout(s->tree, s->records[i].node))
            continue;
        uint16_t layer = c->layout->by_file[p->file_of[i]];
        c->by_record[i] = layer < kept ? CARVE_ELSEWHERE : (uint16_t)(layer - kept);
    }
    return 0;
}

/* Returns the identities by node. The caller frees them; NULL without memory. */
static struct layout_identity *list_identities(const struct carving *c, struct err *err)
{
    const struct spool *s = c->spool;
    uint32_t count = tree_count(s->tree);
    struct layout_identity *list = calloc(count, sizeof(*list));

    for (uint32_t node = 0; list && node < count; node++) {
        const struct spool_record *r = spool_at(s, node);
        if (r)
            list[node] = c->identities[r - s->records];
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

/* Gives notice of a previous version that helps little. */
static void tell_like(const struct carving *c)
{
    if (!c->previous.carved)
        tell(c, "--like", "it was never carved: its layers are kept as they are, or not at all");
    if (c->like.kept == 0)
        tell(c, "--like", "no layer of it is kept: too few of its files are the same");
}

static int make_layout(struct carving *c, const struct layout_input *in, struct err *err)
{
    const struct carve_options *o = c->carve;
    struct layout_options alone = o->layout;

    alone.source_probes = c->source_probes;
    if (!o->like)
        return layout_make(in, &alone, c->layout, err);
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
    const struct spool *s = c->spool;
    _cleanup_(placing_clear) struct placing p = {0};

    if (list_files(s, &c->owners, &p, err) < 0)
        return -1;
    const struct layout_input in = {.tree = s->tree,
                                    .files = p.files,
                                    .file_count = p.count,
                                    .names = p.names,
                                    .name_count = s->name_count,
                                    .is_dir = p.is_dir,
                                    .owners = &c->owners};
    return make_layout(c, &in, err) < 0 ? -1 : set_layers(c, &p, err);
}

/* Sets *done if the previous version's inventory could be used. It is believed (inventory.h). */
static int take_inventory(struct carving *c, const char *text, bool *done, struct err *err)
{
    _cleanup_free_ struct layout_identity *identities = list_identities(c, err);
    const struct inventory_known known = {identities, tree_count(c->spool->tree)};
    _cleanup_inventory_ struct inventory inventory = {0};

    if (!identities)
        return -1;
    *done = inventory_read(text, c->spool->tree, &known, &inventory, err) == 0 &&
            previous_take(c->carve->like, &inventory, &c->previous, err) == 0;
    return !*done && err->kind == ERR_SYSTEM ? -1 : 0;
}

static int read_layers(struct carving *c, struct image *like, struct err *err)
{
    for (size_t i = 0; i < like->layer_count; i++)
        if (like->layers[i].fd < 0 && like->layers[i].store &&
            layer_fetch(&like->layers[i], err) < 0)
            return -1;
    return previous_read(like, c->spool->tree, c->stamps, &c->previous, err);
}

/* Reads no layer of a previous version that was opened without them, if its inventory suffices. */
static int read_previous(struct carving *c, struct err *err)
{
    struct image *like = c->carve->like;
    const struct json *root = like && like->manifest ? json_root(like->manifest) : NULL;
    const char *text = json_text(json_path(root, "annotations", ANNOTATION_INVENTORY, NULL));
    bool outlined = like && !c->stamps && like->layer_count > 0 && like->layers[0].store;
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
        tell(c, "--like", text ? err->msg : "it has no inventory: its layers are fetched");
    *err = (struct err)ERR_INIT;
    previous_clear(&c->previous);
    c->previous = (struct previous){0};
    return read_layers(c, like, err) < 0 ? err_wrap(err, "--like") : 0;
}

static int take_times(struct carving *c, struct err *err)
{
    const struct times_source previous = {&c->previous.view, c->previous.stamps};

    if (!c->stamps)
        return 0;
    int rc =
        stable_times_take(c->spool, c->stamps, c->identities, &previous, &c->carved->times, err);
    free(steal_ptr(&c->stamps));
    free(steal_ptr(&c->previous.stamps));
    return rc;
}

/* ---- writing ---- */

static int write_layer(struct carving *c, struct carve_writer *files, size_t layer,
                       struct sink *sink, struct squashed *out, struct err *err)
{
    off_t offset;
    int fd;

    if (sink_begin_layer(sink, false, &fd, &offset, err) < 0)
        return -1;
    _cleanup_layer_writer_ struct layer_writer *w =
        layer_writer_new(fd, offset, &c->options->compress, c->reading.hasher, err);
    if (!w)
        return -1;
    layer_writer_limit(w, c->options->merged.max_size);
    if (carve_write_layer(files, layer, layer_writer_sink(w), err) < 0 ||
        layer_writer_finish(w, &out->layers[out->count], err) < 0)
        return -1;
    return squashed_end_layer(out, fd, offset, c->options, sink, err);
}

static int write_layers(struct carving *c, struct sink *sink, struct squashed *out, struct err *err)
{
    const struct carve_plan plan = {.spool = c->spool,
                                    .by_record = c->by_record,
                                    .layer_count = c->layout->count - c->like.kept,
                                    .described = c->layout->described,
                                    .kept = c->like.kept,
                                    .whiteouts = c->like.whiteouts,
                                    .whiteout_count = c->like.whiteout_count};
    _cleanup_(carve_writer_clear) struct carve_writer files = {0};

    if (carve_writer_init(&files, &plan, err) < 0)
        return -1;
    for (size_t i = 0; i < plan.layer_count; i++) {
        if (sink && write_layer(c, &files, i, sink, out, err) < 0)
            return -1;
        out->count++;
    }
    if (sink)
        out->report.entries_out = files.entries;
    return 0;
}

/* Keeps layers of the source, below all that is carved, or of the previous version. */
static int keep_layers(struct carving *c, struct sink *sink, struct squashed *out, struct err *err)
{
    struct image *like = c->carve->like;

    for (size_t i = 0; sink && i < out->kept; i++) {
        struct layer *layer = like ? &like->layers[c->like.previous[i]] : &c->image->layers[i];
        if (squashed_keep_layer(out, layer, c->options->readable, sink, err) < 0)
            return -1;
    }
    out->count = out->kept;
    return 0;
}

/* Makes the inventory, unless it would be too large. Layers below those carved are not listed. */
static int make_inventory(struct carving *c, struct squashed *out, struct err *err)
{
    const struct inventory_source source = {.spool = c->spool,
                                            .identities = c->identities,
                                            .owners = &c->owners,
                                            .by_record = c->by_record,
                                            .described = c->layout->described,
                                            .previous = &c->previous.view,
                                            .kept = c->like.previous,
                                            .kept_count = c->like.kept,
                                            .layers = out->layers,
                                            .layer_count = out->count};
    _cleanup_inventory_ struct inventory inventory = {0};
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (!c->carve->inventory || c->options->merged.kept > 0 || out->count < 2)
        return 0;
    int rc = inventory_list(&source, &inventory, err);
    if (rc == 0)
        rc = inventory_write(&inventory, c->spool->tree, &text, err);
    if (rc < 0 && err->kind == ERR_LIMIT) {
        tell(c, "inventory", "too many files for it: --like will fetch the layers");
        *err = (struct err)ERR_INIT;
        return 0;
    }
    return rc == 0 && (out->inventory = buf_take(&text, err)) ? 0 : -1;
}

int carve_layers(struct image *image, const struct squash_options *options,
                 const struct carve_options *carve, struct sink *sink, struct squashed *out,
                 struct carved *carved, struct err *err)
{
    _cleanup_(carving_clear) struct carving c = {.image = image,
                                                 .options = options,
                                                 .carve = carve,
                                                 .reading = {.image = image},
                                                 .carved = carved,
                                                 .layout = &carved->layout,
                                                 .link = BUF_INIT};
    struct merged_report report;

    if (reading_begin(&c.reading, image, options, err) < 0 || read_image(&c, &report, err) < 0 ||
        find_identities(&c, err) < 0 || find_owners(&c, err) < 0 || read_previous(&c, err) < 0 ||
        take_times(&c, err) < 0 || place_files(&c, err) < 0)
        return -1;
    size_t kept = carve->like ? c.like.kept : options->merged.kept;
    size_t count = carved->layout.count + options->merged.kept;
    if (count > CARVE_MOST_LAYERS)
        return err_set(err, ERR_LIMIT,
                       "%zu layers with the kept ones, and Docker takes at most %d: set --layers",
                       count, CARVE_MOST_LAYERS);
    if (squashed_init(count, kept, out, err) < 0)
        return -1;
    out->report = report;
    if (keep_layers(&c, sink, out, err) < 0 || write_layers(&c, sink, out, err) < 0)
        return -1;
    return sink ? make_inventory(&c, out, err) : 0;
}

void carved_clear(struct carved *c)
{
    layout_clear(&c->layout);
    *c = (struct carved){0};
}
