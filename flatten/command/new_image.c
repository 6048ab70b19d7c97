#include "flatten/command/new_image.h"

#include "base/size.h"
#include "flatten/command/keeper_run.h"
#include "flatten/command/reference_parse.h"
#include "flatten/merge/merge.h"
#include "flatten/name/image_name.h"
#include "flatten/stream/cpus.h"
#include "flatten/wire/wire.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_GIB = 1 << 20 };

/* Old engines, which read archives and registries, cannot load zstd. */
static const char *default_compression(enum transport to)
{
    if (to == TRANSPORT_OCI || to == TRANSPORT_OCI_ARCHIVE)
        return "zstd";
    return to == TRANSPORT_REGISTRY ? "gzip" : "none";
}

/* Some bytes are taken for a unit that was forgotten. */
static int parse_layer_size(const char *text, uint64_t *cap, struct err *err)
{
    enum { LEAST = 1024 };

    if (!size_parse(text, cap) || *cap == 0)
        return err_set(err, ERR_USAGE,
                       "--layer-size=%s: expected a whole number with k, m, g or t, as in 512m",
                       text);
    if (*cap < LEAST)
        return err_set(err, ERR_USAGE,
                       "--layer-size=%s: a layer has 1k at least: did you mean %" PRIu64 "m?", text,
                       *cap);
    return 0;
}

/* Sets the size and the number of carved layers. */
static int prepare_carving(const struct squash_command *c, struct squash_run *run, struct err *err)
{
    bool counted = c->layers != CARVE_DEFAULT_LAYERS;
    bool dead_given = c->max_dead != CARVE_DEFAULT_DEAD;

    run->carve.layout.layers = counted ? (size_t)c->layers : 0;
    /* Archives of Docker have no manifest; where an engine has one, the layers are at hand. */
    run->carve.inventory = run->to->transport == TRANSPORT_OCI ||
                           run->to->transport == TRANSPORT_OCI_ARCHIVE ||
                           run->to->transport == TRANSPORT_REGISTRY;
    run->carve.max_dead = dead_given ? (double)c->max_dead / 100 : LAYOUT_MAX_DEAD;
    if (dead_given && c->max_dead > 100)
        return err_set(err, ERR_USAGE, "--max-dead=%" PRIu64 ": expected 0 to 100 per cent",
                       c->max_dead);
    if (dead_given && !c->like)
        return err_set(err, ERR_USAGE,
                       "--max-dead is about layers of a previous version: name it by --like=IMAGE");
    run->carve.stable_times = c->stable_times;
    if (c->stable_times && !c->like)
        return err_set(err, ERR_USAGE,
                       "--stable-times takes the times of a previous version: name it by "
                       "--like=IMAGE");
    if (c->like && c->keep_base)
        return err_set(err, ERR_USAGE, "--like cannot be used together with --keep-base");
    if (counted && (c->layers == 0 || c->layers > CARVE_MOST_LAYERS))
        return err_set(err, ERR_USAGE,
                       "--layers=%" PRIu64 ": expected 1 to %d: Docker takes no more layers",
                       c->layers, CARVE_MOST_LAYERS);
    return c->layer_size ? parse_layer_size(c->layer_size, &run->carve.layout.cap, err) : 0;
}

static int prepare_run(const struct squash_command *c, struct squash_run *run, struct err *err)
{
    const char *kind = default_compression(run->to->transport);
    int has_time = timestamp_choose(c->created, run->created, err);

    if (has_time < 0)
        return -1;
    if (!has_time)
        run->created[0] = '\0';
    if (c->into == 0 || c->into > MERGE_MOST_LAYERS)
        return err_set(err, ERR_USAGE, "--into=%" PRIu64 ": expected 1 to %d", c->into,
                       MERGE_MOST_LAYERS);
    if (compress_parse(c->compression ? c->compression : kind, &run->compress, err) < 0)
        return -1;
    run->compress.threads = c->threads > UINT16_MAX ? UINT16_MAX
                            : c->threads            ? (unsigned)c->threads
                                                    : cpus_usable();
    if (c->max_size == 0 || c->max_size > MOST_GIB)
        return err_set(err, ERR_USAGE, "--max-size=%" PRIu64 ": expected 1 to %d", c->max_size,
                       MOST_GIB);
    if (c->carve && prepare_carving(c, run, err) < 0)
        return -1;
    return layer_selection_parse(c->keep_base, c->last, &run->selection, err);
}

static int default_destination(const struct squash_command *c, const struct reference *from,
                               struct reference *to, struct err *err)
{
    if (!reference_is_engine(from))
        return err_set(err, ERR_USAGE,
                       "a destination is missing, as in oci:DIR:TAG, docker-archive:FILE or "
                       "docker://HOST/NAME:TAG");
    if (image_name_is_fixed(from->name))
        return err_set(err, ERR_USAGE,
                       "%s is an ID or a digest: give a destination, as in %sNAME:TAG", from->name,
                       reference_prefix(from->transport));
    _cleanup_free_ char *tagged = image_name_tagged(from->name, err);
    if (!tagged)
        return -1;
    to->transport = from->transport;
    to->name = strf("%s-%s", tagged, c->carve ? "carved" : "flat");
    if (from->store)
        to->store = strdup(from->store);
    return to->name && (to->store || !from->store) ? 0 : err_nomem(err);
}

static int choose_destination(const struct squash_command *c, const struct operands *operands,
                              const struct reference *from, struct reference *to, struct err *err)
{
    if (operands->count == 2)
        return reference_parse_destination(operands->list[1], to, err);
    if (c->dry_run)
        return 0;
    return default_destination(c, from, to, err);
}

/* Runs in the sandbox. Returns the exit status. */
static int squash_in_sandbox(struct reader *r, void *ctx, struct err *err)
{
    struct squash_run *run = ctx;

    run->reader = r;
    int rc = squash_run(run, err);
    if (rc == 0)
        rc = squash_print(run, err);
    squash_run_clear(run);
    return rc;
}

/* Parses the other image that is read: of --keep-base, or of --like. */
static int parse_other(const struct squash_command *c, const struct layer_selection *s,
                       struct reference *out, struct err *err)
{
    if (c->like)
        return reference_parse(c->like, out, err) < 0 ? err_wrap(err, "--like") : 0;
    return s->base && reference_parse(s->base, out, err) < 0 ? err_wrap(err, "--keep-base") : 0;
}

static bool holds_several(const struct reference *from)
{
    return !reference_is_engine(from) && from->transport != TRANSPORT_REGISTRY;
}

/* With --all-images neither end names an image; without it an image in an engine needs a name. */
static int check_names(const struct squash_command *c, const struct reference *from,
                       const struct reference *to, struct err *err)
{
    bool is_engine = reference_is_engine(to);
    const char *prefix = reference_prefix(to->transport);

    if (to->by_tag)
        return err_set(err, ERR_USAGE, "{tag} is for flatten carve --family alone");
    if (!c->all_images)
        return !is_engine || to->name
                   ? 0
                   : err_set(err, ERR_USAGE, "%s needs a name, as in %sNAME:TAG", prefix, prefix);
    if (!holds_several(from) || from->name)
        return err_set(err, ERR_USAGE,
                       "--all-images: the source must be an archive or a layout, without the name "
                       "of an image");
    if ((to->path || is_engine || to->name) && (!sink_holds_several(to) || to->name))
        return err_set(err, ERR_USAGE,
                       "--all-images: the images keep their names: the destination must be "
                       "docker-archive:FILE, oci:DIR, oci-archive:FILE, docker-daemon: or "
                       "containers-storage:, without a name");
    return 0;
}

/* Options that are about one image alone. */
static int check_family_options(const struct squash_command *c, struct err *err)
{
    const char *other = c->like           ? "--like"
                        : c->stable_times ? "--stable-times"
                        : c->keep_base    ? "--keep-base"
                                          : NULL;

    return other ? err_set(err, ERR_USAGE, "%s cannot be used together with --family", other) : 0;
}

static int check_family_destination(const struct reference *to, struct err *err)
{
    bool bare = !to->name && to->transport == TRANSPORT_DOCKER_ARCHIVE;

    if (to->by_tag && to->name && image_name_tag(to->name))
        return err_set(err, ERR_USAGE, "--family: %s:{tag} has two tags", to->name);
    if (!reference_is_engine(to) && (to->by_tag ? !bare : to->path && !to->name))
        return 0;
    return err_set(err, ERR_USAGE,
                   "--family: each image needs a name of its own: the destination must be oci:DIR, "
                   "oci-archive:FILE or docker-archive:FILE without a name, or end with {tag}, as "
                   "in docker://HOST/NAME:{tag}");
}

/* True if the tree that a container sees is enough: no layer is kept, split off or shown. */
static bool needs_no_layers(const struct squash_command *c)
{
    return !c->keep_base && !c->last && c->into == 1 && (c->carve || !c->dry_run) &&
           semantics_named(c->semantics) == SEMANTICS_OVERLAY;
}

int new_image(const struct squash_command *c, const struct operands *operands, struct err *err)
{
    _cleanup_reference_ struct reference from = {0}, base = {0}, to = {0};
    struct squash_run run = {.command = c, .to = &to};

    if (platform_check(c->platform, err) < 0 || reference_parse(operands->list[0], &from, err) < 0)
        return -1;
    reference_choose_engine(&from, c->quiet);
    if (choose_destination(c, operands, &from, &to, err) < 0 ||
        check_names(c, &from, &to, err) < 0 || prepare_run(c, &run, err) < 0 ||
        parse_other(c, &run.selection, &base, err) < 0)
        return -1;
    reference_choose_engine(&base, c->quiet);
    reference_choose_engine(&to, c->quiet);
    from.registry = base.registry = to.registry =
        (struct registry_options){c->insecure, c->retries, c->cert_dir, NULL};
    from.max_ratio = base.max_ratio = c->max_ratio;
    const struct reference sources[] = {[SQUASH_FROM] = from, [SQUASH_BASE] = base};
    const struct keeper_task task = {.sources = sources,
                                     .source_count = run.selection.base || c->like ? 2 : 1,
                                     .kept_from = c->like ? SQUASH_LIKE : SQUASH_FROM,
                                     .platform = c->platform,
                                     .destination = c->dry_run ? NULL : &to,
                                     .all_images = c->all_images,
                                     .walk = needs_no_layers(c) ? WALK_TREE : WALK_NONE,
                                     .walked = SQUASH_FROM + 1};
    run.from = sources;
    return keeper_run(&task, squash_in_sandbox, &run, err);
}

/* The sources and the destination of a family. */
struct family_references {
    struct reference sources[WIRE_MOST_SOURCES];
    size_t count;
    struct reference to;
};

static void family_references_clear(struct family_references *r)
{
    for (size_t i = 0; i < r->count; i++)
        reference_clear(&r->sources[i]);
    reference_clear(&r->to);
}

static int parse_family(const struct squash_command *c, const struct operands *operands,
                        struct family_references *out, struct err *err)
{
    const struct registry_options registry = {c->insecure, c->retries, c->cert_dir, NULL};
    size_t sources = operands->count - 1;

    if (operands->count < 3)
        return err_set(err, ERR_USAGE,
                       "--family takes two images or more, and then their destination");
    if (sources > WIRE_MOST_SOURCES)
        return err_set(err, ERR_LIMIT, "more than %d images", WIRE_MOST_SOURCES);
    for (; out->count < sources; out->count++) {
        struct reference *from = &out->sources[out->count];
        if (reference_parse(operands->list[out->count], from, err) < 0)
            return -1;
        reference_choose_engine(from, c->quiet);
        from->registry = registry;
        from->max_ratio = c->max_ratio;
    }
    if (reference_parse_destination(operands->list[sources], &out->to, err) < 0)
        return -1;
    out->to.registry = registry;
    return check_family_destination(&out->to, err);
}

int new_family(const struct squash_command *c, const struct operands *operands, struct err *err)
{
    _cleanup_(family_references_clear) struct family_references all = {0};
    struct squash_run run = {.command = c, .to = &all.to};

    if (check_family_options(c, err) < 0 || platform_check(c->platform, err) < 0 ||
        parse_family(c, operands, &all, err) < 0 || prepare_run(c, &run, err) < 0)
        return -1;
    const struct keeper_task task = {.sources = all.sources,
                                     .source_count = all.count,
                                     .platform = c->platform,
                                     .destination = c->dry_run ? NULL : &all.to,
                                     .all_images = true,
                                     .walk = needs_no_layers(c) ? WALK_TREE : WALK_NONE,
                                     .walked = all.count};
    run.from = all.sources;
    run.family =
        (struct squash_family){.sources = all.sources, .names = operands->list, .size = all.count};
    return keeper_run(&task, squash_in_sandbox, &run, err);
}
