#include "flatten/commands.h"

#include "base/log.h"
#include "flatten/config.h"
#include "flatten/image_name.h"
#include "flatten/progress.h"
#include "flatten/squash.h"
#include "flatten/timestamp.h"

#include <inttypes.h>
#include <string.h>

struct squash_command {
    const char *compression, *semantics, *platform, *created;
    uint64_t into, threads, max_size;
    bool json, quiet;
};

#define FIELD(name) offsetof(struct squash_command, name)
static const struct option_spec squash_options[] = {
    {"into", 0, OPTION_NUMBER, FIELD(into), "N", NULL, "how many layers to make; 1 so far"},
    {"compression", 'c', OPTION_TEXT, FIELD(compression), "KIND[:LEVEL]", NULL,
     "zstd (1 to 19), gzip (0 to 3) or none; by default zstd:3 for OCI layouts and none for "
     "archives "
     "and the daemon"},
    {"threads", 't', OPTION_NUMBER, FIELD(threads), "N", NULL,
     "threads for zstd; by default all processors; the result is the same"},
    {"max-size", 0, OPTION_NUMBER, FIELD(max_size), "GIB", NULL,
     "the most that a layer may unpack to, and that the new one may have; by default 256"},
    {"semantics", 0, OPTION_CHOICE, FIELD(semantics), "RULES", semantics_names,
     "whose reading of layers counts where engines and the image-spec differ"},
    {"platform", 0, OPTION_TEXT, FIELD(platform), "OS/ARCH", NULL,
     "which image of an index; by default this machine's"},
    {"created", 0, OPTION_TEXT, FIELD(created), "TIME", NULL,
     "the new image's creation time, RFC 3339 or seconds since 1970; by default SOURCE_DATE_EPOCH, "
     "else the source's"},
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "print the result as JSON"},
    {"quiet", 'q', OPTION_FLAG, FIELD(quiet), NULL, NULL, "say nothing but errors"},
    {0},
};

const struct command_spec command_squash_spec = {
    .name = "squash",
    .operands = "SOURCE [DESTINATION]",
    .summary = "Merge an image's layers into one, keeping what a container sees.",
    .details = "An image of the daemon becomes NAME:TAG-flat there when no destination is given.\n"
               "The new image's ID and manifest digest go to standard output.\n",
    .options = squash_options,
    .min_operands = 1,
    .max_operands = 2,
    .completes = OPERANDS_FILES,
};

struct result {
    struct merged_report report;
    struct written_layer layer;
    struct digest config, manifest;
};

enum { MOST_NOTICES = 20, MOST_GIB = 1 << 20 };

struct notices {
    struct progress *progress; /* borrowed */
    bool quiet;
    uint64_t count;
};

static void on_notice(void *ctx, unsigned layer, const char *path, const char *text)
{
    struct notices *n = ctx;

    if (!n->quiet && n->count < MOST_NOTICES) {
        progress_hide(n->progress);
        log_warning("layer %u: %s: %s", layer, path, text);
    }
    n->count++;
}

/* The spec's semantics reads all layers twice. */
static struct progress *start_progress(const struct squash_command *c, struct image *image,
                                       enum semantics semantics, struct err *err)
{
    uint64_t total = 0;

    for (size_t i = 0; i < image->layer_count; i++)
        total += image->layers[i].size;
    if (semantics != SEMANTICS_OVERLAY)
        total *= 2;
    struct progress *p = progress_new(!c->quiet && !c->json, total, err);
    for (size_t i = 0; p && i < image->layer_count; i++)
        image->layers[i].progress = progress_counter(p);
    return p;
}

static int squash_config(const struct squash_command *c, const struct reference *to,
                         struct merged_options *out, struct compress_options *compress,
                         struct err *err)
{
    const char *kind = to->transport == TRANSPORT_OCI ? "zstd" : "none";

    if (c->into != 1)
        return err_set(err, ERR_UNSUPPORTED, "--into=%" PRIu64 ": only 1 so far", c->into);
    if (compress_parse(c->compression ? c->compression : kind, compress, err) < 0)
        return -1;
    compress->threads = c->threads > UINT16_MAX ? UINT16_MAX : (unsigned)c->threads;
    if (c->max_size == 0 || c->max_size > MOST_GIB)
        return err_set(err, ERR_USAGE, "--max-size=%" PRIu64 ": expected 1 to %d", c->max_size,
                       MOST_GIB);
    out->max_size = c->max_size << 30;
    out->semantics = semantics_named(c->semantics);
    return 0;
}

static int publish(struct image *image, const char *name, const char *created, struct sink *sink,
                   struct result *result, struct err *err)
{
    _cleanup_buf_ struct buf config = BUF_INIT, manifest = BUF_INIT;

    if (config_squash(image, &result->layer, 1, created, &config, err) < 0 ||
        sha256_digest(config.data, config.len, &result->config, err) < 0 ||
        manifest_make(image, &result->config, config.len, &result->layer, 1, &manifest, err) < 0 ||
        sha256_digest(manifest.data, manifest.len, &result->manifest, err) < 0)
        return -1;
    struct sink_image out = {
        .config = {result->config, config.data, config.len},
        .manifest = {result->manifest, manifest.data, manifest.len},
        .layers = &result->layer,
        .layer_count = 1,
        .name = name,
    };
    return sink_publish(sink, &out, err);
}

/* Engines take only NAME:TAG from an archive; the bare tag of a layout is no name for one. */
static int choose_name(const struct image *image, const struct reference *to, char **out,
                       struct err *err)
{
    const char *name = to->name ? to->name : image->name;

    if (!name)
        return 0;
    if (to->transport == TRANSPORT_OCI)
        *out = strdup(name);
    else if (to->name || image_name_tag(name))
        return (*out = image_name_tagged(name, err)) ? 0 : -1;
    else
        return 0;
    return *out ? 0 : err_nomem(err);
}

static int squash(const struct squash_command *c, const struct reference *from,
                  const struct reference *to, struct result *result, struct err *err)
{
    struct notices notices = {.quiet = c->quiet};
    struct merged_options options = {.notice = on_notice, .notice_ctx = &notices};
    struct compress_options compress;
    char created[TIMESTAMP_SIZE];
    int has_time = timestamp_choose(c->created, created, err);

    if (has_time < 0 || squash_config(c, to, &options, &compress, err) < 0)
        return -1;
    _cleanup_image_ struct image *image = image_open(from, c->platform, err);
    _cleanup_sink_ struct sink *sink = image ? sink_open(to, err) : NULL;
    if (!sink)
        return -1;
    _cleanup_progress_ struct progress *progress = start_progress(c, image, options.semantics, err);
    notices.progress = progress;
    if (!progress ||
        squash_layers(image, &options, &compress, sink, &result->layer, &result->report, err) < 0)
        return -1;
    progress_hide(progress);
    if (notices.count > MOST_NOTICES && !c->quiet)
        log_warning("%" PRIu64 " more of the kind", notices.count - MOST_NOTICES);
    _cleanup_free_ char *name = NULL;
    if (choose_name(image, to, &name, err) < 0)
        return -1;
    return publish(image, name, has_time ? created : NULL, sink, result, err);
}

static int print_json(const struct result *r, struct err *err)
{
    printf("{\"id\":\"%s\",\"digest\":\"%s\",\"layers\":{\"in\":%u,\"out\":1},"
           "\"entries\":{\"in\":%" PRIu64 ",\"out\":%" PRIu64 "},"
           "\"payload\":{\"in\":%" PRIu64 ",\"out\":%" PRIu64 "},"
           "\"layer\":{\"digest\":\"%s\",\"diff_id\":\"%s\",\"size\":%" PRIu64 "},"
           "\"divergences\":%" PRIu64 "}\n",
           r->config.text, r->manifest.text, r->report.layers, r->report.entries_in,
           r->report.entries_out, r->report.payload_in, r->report.payload_out, r->layer.digest.text,
           r->layer.diff_id.text, r->layer.size, r->report.divergences);
    return fflush(stdout) == 0 ? 0 : err_sys(err, "standard output");
}

static int print_text(const struct squash_command *c, const struct result *r, struct err *err)
{
    uint64_t dead = r->report.payload_in > r->report.payload_out
                        ? r->report.payload_in - r->report.payload_out
                        : 0;

    if (!c->quiet)
        log_info("%u layers became 1; %.1f of %.1f MB were dead", r->report.layers,
                 (double)dead / 1e6, (double)r->report.payload_in / 1e6);
    printf("%s\n%s\n", r->config.text, r->manifest.text);
    return fflush(stdout) == 0 ? 0 : err_sys(err, "standard output");
}

static int default_destination(const struct reference *from, struct reference *to, struct err *err)
{
    if (from->transport != TRANSPORT_DOCKER_DAEMON)
        return err_set(err, ERR_USAGE,
                       "where to? give a destination, as in oci:DIR:TAG or "
                       "docker-archive:FILE");
    if (image_name_is_fixed(from->name))
        return err_set(err, ERR_USAGE,
                       "%s is an ID or a digest: name a destination, as in "
                       "docker-daemon:NAME:TAG",
                       from->name);
    _cleanup_free_ char *tagged = image_name_tagged(from->name, err);
    if (!tagged)
        return -1;
    to->transport = TRANSPORT_DOCKER_DAEMON;
    to->name = strf("%s-flat", tagged);
    return to->name ? 0 : err_nomem(err);
}

int command_squash(int argc, char *const argv[], bool *help, struct err *err)
{
    struct squash_command c = {.into = 1, .max_size = LAYER_MAX_SIZE >> 30};
    struct operands operands = {0};
    _cleanup_reference_ struct reference from = {0}, to = {0};
    struct result result;
    int rc = options_parse(&command_squash_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help) {
        rc = reference_parse(operands.list[0], &from, err);
        if (rc == 0 && operands.count == 2)
            rc = reference_parse_destination(operands.list[1], &to, err);
        else if (rc == 0)
            rc = default_destination(&from, &to, err);
        if (rc == 0)
            rc = squash(&c, &from, &to, &result, err);
        if (rc == 0)
            rc = c.json ? print_json(&result, err) : print_text(&c, &result, err);
    }
    free(operands.list);
    return rc;
}
