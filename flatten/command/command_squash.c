#include "flatten/command/commands.h"

#include "flatten/command/keeper_run.h"
#include "flatten/command/reference_parse.h"
#include "flatten/command/squash/squash_command.h"
#include "flatten/merge/merge.h"
#include "flatten/merge/tree/semantics.h"
#include "flatten/name/image_name.h"
#include "flatten/stream/cpus.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_GIB = 1 << 20 };

#define FIELD(name) offsetof(struct squash_command, name)
static const struct option_spec squash_options[] = {
    {"into", 0, OPTION_NUMBER, FIELD(into), "N", NULL, "how many new layers to make; by default 1"},
    {"keep-base", 'k', OPTION_TEXT, FIELD(keep_base), "N|IMAGE", NULL,
     "keep the N oldest layers as they are, or those shared with another image"},
    {"last", 'l', OPTION_TEXT, FIELD(last), "N", NULL, "merge only the N newest layers"},
    {"compression", 'c', OPTION_TEXT, FIELD(compression), "KIND[:LEVEL]", NULL,
     "zstd (1 to 19), gzip (0 to 3) or none; by default zstd:3 for OCI layouts, gzip:1 for "
     "registries and none for docker-archive and engines"},
    {"threads", 't', OPTION_NUMBER, FIELD(threads), "N", NULL,
     "how many processors to use, for zstd and to unpack layers; by default all; the result is the "
     "same"},
    {"max-size", 0, OPTION_NUMBER, FIELD(max_size), "GIB", NULL,
     "the largest size of an unpacked layer, and of a new one; by default 256"},
    RATIO_OPTION(FIELD),
    {"semantics", 0, OPTION_CHOICE, FIELD(semantics), "RULES", semantics_names,
     "the rules to apply where engines and the image-spec read layers differently"},
    {"platform", 0, OPTION_TEXT, FIELD(platform), "OS/ARCH", NULL,
     "the image to take from an index; by default all, or this machine's if the destination holds "
     "one"},
    {"created", 0, OPTION_TEXT, FIELD(created), "TIME", NULL,
     "the new image's creation time, RFC 3339 or seconds since 1970; by default SOURCE_DATE_EPOCH, "
     "else the source's"},
    {"all-images", 'a', OPTION_FLAG, FIELD(all_images), NULL, NULL,
     "squash every image of an archive or a layout into one destination, under its own name"},
    {"dry-run", 'n', OPTION_FLAG, FIELD(dry_run), NULL, NULL,
     "print which layers would be kept and merged; write nothing"},
    {"verify", 0, OPTION_FLAG, FIELD(verify), NULL, NULL,
     "before publishing, prove that the result unpacks to the source's tree"},
    REGISTRY_OPTIONS(FIELD),
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "print the result as JSON"},
    {"verbose", 'v', OPTION_FLAG, FIELD(verbose), NULL, NULL,
     "say why an image of an engine is not read in its store"},
    {"quiet", 'q', OPTION_FLAG, FIELD(quiet), NULL, NULL, "print only errors"},
    {0},
};

const struct command_spec command_squash_spec = {
    .program = "flatten",
    .name = "squash",
    .operands = "SOURCE [DESTINATION]",
    .summary = "Merge an image's layers into one, keeping what a container sees.",
    .details = "An image of an engine becomes NAME:TAG-flat there when no destination is given.\n"
               "The new image's ID and manifest digest go to standard output; for several\n"
               "platforms, the digest of their index. With --all-images there is a line for each\n"
               "image, with its name first; in an engine (docker-daemon: or\n"
               "containers-storage: alone) it is NAME:TAG-flat.\n",
    .options = squash_options,
    .min_operands = 1,
    .max_operands = 2,
    .completes = OPERANDS_FILES,
};

/* Old engines, which read archives and registries, cannot load zstd. */
static const char *default_compression(enum transport to)
{
    if (to == TRANSPORT_OCI || to == TRANSPORT_OCI_ARCHIVE)
        return "zstd";
    return to == TRANSPORT_REGISTRY ? "gzip" : "none";
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
    return layer_selection_parse(c->keep_base, c->last, &run->selection, err);
}

static int default_destination(const struct reference *from, struct reference *to, struct err *err)
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
    to->name = strf("%s-flat", tagged);
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
    return default_destination(from, to, err);
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

static int parse_base(const struct layer_selection *s, struct reference *out, struct err *err)
{
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

/* True if the tree that a container sees is enough: no layer is kept, split off or shown. */
static bool needs_no_layers(const struct squash_command *c)
{
    return !c->keep_base && !c->last && c->into == 1 && !c->dry_run &&
           semantics_named(c->semantics) == SEMANTICS_OVERLAY;
}

static int squash_image(const struct squash_command *c, const struct operands *operands,
                        struct err *err)
{
    _cleanup_reference_ struct reference from = {0}, base = {0}, to = {0};
    struct squash_run run = {.command = c, .to = &to};

    if (platform_check(c->platform, err) < 0 || reference_parse(operands->list[0], &from, err) < 0)
        return -1;
    reference_choose_engine(&from, c->quiet);
    if (choose_destination(c, operands, &from, &to, err) < 0 ||
        check_names(c, &from, &to, err) < 0 || prepare_run(c, &run, err) < 0 ||
        parse_base(&run.selection, &base, err) < 0)
        return -1;
    reference_choose_engine(&base, c->quiet);
    reference_choose_engine(&to, c->quiet);
    from.registry = base.registry = to.registry =
        (struct registry_options){c->insecure, c->retries, c->cert_dir, NULL};
    from.max_ratio = base.max_ratio = c->max_ratio;
    const struct reference sources[] = {[SQUASH_FROM] = from, [SQUASH_BASE] = base};
    const struct keeper_task task = {.sources = sources,
                                     .source_count = run.selection.base ? 2 : 1,
                                     .platform = c->platform,
                                     .destination = c->dry_run ? NULL : &to,
                                     .all_images = c->all_images,
                                     .walk = needs_no_layers(c) ? WALK_TREE : WALK_NONE};
    run.from = sources;
    return keeper_run(&task, squash_in_sandbox, &run, err);
}

int command_squash(int argc, char *const argv[], bool *help, struct err *err)
{
    struct squash_command c = {
        .into = 1, .retries = REGISTRY_RETRIES, .max_size = LAYER_MAX_SIZE >> 30};
    struct operands operands = {0};
    int rc = options_parse(&command_squash_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help)
        rc = squash_image(&c, &operands, err);
    free(operands.list);
    return rc;
}
