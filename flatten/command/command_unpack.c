#include "flatten/command/commands.h"

#include "base/cli/log.h"
#include "base/human.h"
#include "flatten/command/keeper_run.h"
#include "flatten/command/reference_parse.h"
#include "flatten/command/squash/image_reading.h"
#include "flatten/image/image_source.h"
#include "flatten/squash/platforms.h"
#include "flatten/stream/cpus.h"
#include "flatten/unpack/unpack.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_GIB = 1 << 20, MOST_NOTICES = 20 };

struct unpack_command {
    const char *semantics, *platform, *cert_dir;
    uint64_t retries, max_size, max_ratio;
    bool no_owner, dry_run, resolve, verify, insecure, json, quiet;
};

#define FIELD(name) offsetof(struct unpack_command, name)
static const struct option_spec unpack_options[] = {
    {"platform", 0, OPTION_TEXT, FIELD(platform), "OS/ARCH", NULL,
     "the image to take from an index; by default this machine's"},
    {"no-owner", 0, OPTION_FLAG, FIELD(no_owner), NULL, NULL,
     "all files belong to this user; devices and attributes that only root can make are left out"},
    {"verify", 0, OPTION_FLAG, FIELD(verify), NULL, NULL,
     "before the directory gets its name, read it again and compare it with the layers"},
    {"dry-run", 'n', OPTION_FLAG, FIELD(dry_run), NULL, NULL,
     "read the image and print its size; write nothing"},
    {"resolve", 0, OPTION_FLAG, FIELD(resolve), NULL, NULL,
     "print the digest that SOURCE has now and the size of its layers; read none of them"},
    {"semantics", 0, OPTION_CHOICE, FIELD(semantics), "RULES", semantics_names,
     "the rules to apply where engines and the image-spec read layers differently"},
    {"max-size", 0, OPTION_NUMBER, FIELD(max_size), "GIB", NULL,
     "the largest size of an unpacked layer; by default 256"},
    RATIO_OPTION(FIELD),
    REGISTRY_OPTIONS(FIELD),
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "print the result as JSON"},
    {"quiet", 'q', OPTION_FLAG, FIELD(quiet), NULL, NULL, "print only errors"},
    {0},
};

const struct command_spec command_unpack_spec = {
    .program = "flatten",
    .name = "unpack",
    .operands = "SOURCE DIR",
    .summary = "Unpack the tree of an image into a new directory.",
    .details =
        "DIR has the files that a container of the image sees: owners, modes, times, hard\n"
        "links, holes, extended attributes and devices. DIR must not exist, or be empty; it\n"
        "appears when it is complete. Instead of an image SOURCE may be an artefact whose\n"
        "layers are tar archives, such as a model.\n",
    .options = unpack_options,
    .min_operands = 2,
    .max_operands = 2,
    .completes = OPERANDS_FILES,
};

struct unpack_run {
    const struct unpack_command *command;
    const char *directory;
    struct progress *progress; /* borrowed */
    uint64_t notices;
    struct merged_report report;
    uint64_t left_out;
};

static void on_notice(void *ctx, unsigned layer, const char *path, const char *text)
{
    struct unpack_run *run = ctx;

    if (!run->command->quiet && run->notices < MOST_NOTICES) {
        progress_hide(run->progress);
        log_warning("layer %u: %s: %s", layer, path, text);
    }
    run->notices++;
}

static void on_difference(void *ctx, const char *path, const char *directory, const char *image)
{
    size_t *shown = ctx;

    if ((*shown)++ < MOST_NOTICES)
        log_error("/%s: image: %s; directory: %s", path, image ? image : "(nothing)",
                  directory ? directory : "(nothing)");
}

/* Returns 0, or 1 if the directory is not what the layers say. Takes `walk`. */
static int verify_directory(const struct image *image, const struct merged_options *options,
                            int walk, struct err *err)
{
    size_t differing, shown = 0;

    if (unpack_verify(image, options, walk, on_difference, &shown, &differing, err) < 0)
        return -1;
    if (differing)
        log_error("%zu path%s: nothing was published", differing,
                  differing == 1 ? " differs" : "s differ");
    return differing ? 1 : 0;
}

/* Sends the tree, and closes the pipe. */
static int send_tree(struct unpack_run *run, struct reader *r, struct image *image,
                     const struct merged_options *merged, int pipe, struct err *err)
{
    int files[KEEPER_UNPACK_FILES];
    unsigned threads = cpus_usable();
    _cleanup_fd_ int owned = pipe;
    size_t count = image_unpack_files(r, image, threads, files);
    const struct squash_options options = {
        .merged = *merged, .compress = {.threads = threads}, .files = {files, count}};
    bool shown = !run->command->quiet && !run->command->json;
    _cleanup_progress_ struct progress *progress = image_progress(shown, image, merged, err);

    run->progress = progress;
    int rc = progress ? unpack_image(image, &options, pipe, &run->report, err) : -1;
    image_progress_end(image);
    run->progress = NULL;
    while (count > 0)
        cleanup_fd(&files[--count]);
    return rc;
}

/* Unpacks the image; with a pipe, also verifies and publishes it. Returns the exit status. */
static int unpack_tree(struct unpack_run *run, struct reader *r, struct image *image, int pipe,
                       struct err *err)
{
    const struct unpack_command *c = run->command;
    const struct merged_options merged = {.notice = on_notice,
                                          .notice_ctx = run,
                                          .semantics = semantics_named(c->semantics),
                                          .max_size = c->max_size << 30};

    if (send_tree(run, r, image, &merged, pipe, err) < 0) {
        image_explain(image, err);
        return -1;
    }
    if (pipe < 0)
        return 0;
    _cleanup_fd_ int walk = reader_tree_end(r, &run->left_out, err);
    if (walk < 0)
        return -1;
    int rc = c->verify ? verify_directory(image, &merged, steal_fd(&walk), err) : 0;
    return rc == 0 ? reader_tree_publish(r, err) : rc;
}

/* Returns the digest that names the image: of its manifest, else of its config; "" for none. */
static const char *image_name_digest(const struct image *image)
{
    return image->digest.text[0] ? image->digest.text : image->config_digest.text;
}

/* Returns the size of the layers as the source has them, as far as it says so. */
static uint64_t image_packed_size(const struct image *image)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < image->layer_count; i++)
        if (__builtin_add_overflow(sum, image->layers[i].size, &sum))
            return UINT64_MAX;
    return sum;
}

static int print_json(const struct unpack_run *run, const struct image *image, struct err *err)
{
    const struct unpack_command *c = run->command;
    const char *digest = image_name_digest(image);
    _cleanup_buf_ struct buf out = BUF_INIT;

    buf_puts(&out, "{\"directory\":");
    json_quote(&out, run->directory, strlen(run->directory));
    buf_printf(&out, ",\"digest\":%s%s%s,\"layers\":%zu,\"entries\":%" PRIu64, *digest ? "\"" : "",
               *digest ? digest : "null", *digest ? "\"" : "", image->layer_count,
               run->report.entries_out);
    buf_printf(&out,
               ",\"packed\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"left_out\":%" PRIu64
               ",\"written\":%s",
               image_packed_size(image), run->report.payload_out, run->left_out,
               c->dry_run ? "false" : "true");
    buf_printf(&out, ",\"verified\":%s}\n", c->verify && !c->dry_run ? "true" : "false");
    if (buf_check(&out, err) < 0)
        return -1;
    fputs(out.data, stdout);
    return fflush(stdout) != 0 ? err_sys(err, "standard output") : 0;
}

static void print_text(const struct unpack_run *run, const struct image *image)
{
    char size[HUMAN_SIZE];
    const struct unpack_command *c = run->command;

    if (c->quiet)
        return;
    if (c->resolve) {
        log_info("%s: %zu layer%s, %s packed", image_name_digest(image), image->layer_count,
                 human_s(image->layer_count), human_size(image_packed_size(image), size));
        return;
    }
    if (run->notices > MOST_NOTICES)
        log_warning("%" PRIu64 " more such warning%s", run->notices - MOST_NOTICES,
                    human_s(run->notices - MOST_NOTICES));
    if (run->left_out)
        log_warning("%" PRIu64 " device%s or extended attribute%s left out: only root can make "
                    "them",
                    run->left_out, human_s(run->left_out), run->left_out == 1 ? " was" : "s were");
    log_info("%s%s: %" PRIu64 " entr%s, %s, of %zu layer%s%s", c->dry_run ? "not written: " : "",
             run->directory, run->report.entries_out, run->report.entries_out == 1 ? "y" : "ies",
             human_size(run->report.payload_out, size), image->layer_count,
             human_s(image->layer_count), c->verify && !c->dry_run ? "; verified" : "");
}

/* Runs in the sandbox. Returns the exit status. */
static int unpack_in_sandbox(struct reader *r, void *ctx, struct err *err)
{
    struct unpack_run *run = ctx;
    const struct unpack_command *c = run->command;
    const struct image_choice choice = {
        .platform = c->platform, .artifact = true, .outline = c->resolve};
    int pipe = c->dry_run ? -1 : reader_tree(r, err);

    if (pipe < 0 && !c->dry_run)
        return -1;
    _cleanup_fd_ int owned = pipe;
    _cleanup_source_ struct source *source = reader_source(r, 0, err);
    _cleanup_image_ struct image *image = source ? source_image(source, &choice, err) : NULL;
    if (!image)
        return -1;
    int rc = c->resolve ? 0 : unpack_tree(run, r, image, steal_fd(&owned), err);
    if (rc == 0 && c->json)
        rc = print_json(run, image, err);
    else if (rc == 0)
        print_text(run, image);
    return rc;
}

static int check_command(const struct unpack_command *c, struct err *err)
{
    if (c->max_size == 0 || c->max_size > MOST_GIB)
        return err_set(err, ERR_USAGE, "--max-size=%" PRIu64 ": expected 1 to %d", c->max_size,
                       MOST_GIB);
    if (c->verify && c->no_owner)
        return err_set(err, ERR_USAGE,
                       "--verify cannot be used together with --no-owner: the "
                       "directory has other owners than the image");
    if (!c->no_owner && !c->dry_run && geteuid() != 0)
        return err_set(err, ERR_USAGE,
                       "only root can give files the owners that they have in the image: use "
                       "--no-owner, and all files belong to you");
    return platform_check(c->platform, err);
}

static int unpack_source(struct unpack_command *c, const char *const names[2], struct err *err)
{
    _cleanup_reference_ struct reference from = {0};
    struct unpack_run run = {.command = c, .directory = names[1]};

    if (check_command(c, err) < 0 || reference_parse(names[0], &from, err) < 0)
        return -1;
    reference_choose_engine(&from, c->quiet);
    from.registry = (struct registry_options){c->insecure, c->retries, c->cert_dir, NULL};
    from.max_ratio = c->max_ratio;
    const struct keeper_task task = {
        .sources = &from,
        .source_count = 1,
        .platform = c->platform,
        .tree = c->dry_run ? NULL : names[1],
        .no_owner = c->no_owner,
        .walk = semantics_named(c->semantics) == SEMANTICS_OVERLAY ? WALK_TREE : WALK_NONE,
        .walked = 1};
    return keeper_run(&task, unpack_in_sandbox, &run, err);
}

int command_unpack(int argc, char *const argv[], bool *help, struct err *err)
{
    struct unpack_command c = {.retries = REGISTRY_RETRIES, .max_size = LAYER_MAX_SIZE >> 30};
    struct operands operands = {0};
    int rc = options_parse(&command_unpack_spec, argc, argv, &c, &operands, help, err);

    c.dry_run = c.dry_run || c.resolve;
    if (rc == 0 && !*help && (rc = unpack_source(&c, operands.list, err)) < 0)
        err_wrap(err, "unpack");
    free(operands.list);
    return rc;
}
