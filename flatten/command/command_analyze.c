#include "flatten/command/commands.h"

#include "base/cli/log.h"
#include "base/files/atomic_file.h"
#include "base/files/unfinished.h"
#include "base/human.h"
#include "flatten/analyze/analyses.h"
#include "flatten/analyze/zfs/zfs.h"
#include "flatten/command/analyze_files.h"
#include "flatten/command/keeper_run.h"
#include "flatten/command/reference_parse.h"
#include "flatten/image/image_source.h"
#include "flatten/squash/platforms.h"
#include "flatten/wire/wire.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

enum { DEFAULT_RECORD = 128 * 1024 }; /* ZFS's own */

struct analyze_command {
    const char *platform, *config, *cert_dir, *costs, *html, *zfs;
    const char *max_wasted, *min_efficiency, *max_depth, *max_probes;
    uint64_t retries, max_ratio;
    bool contents, dedup, exact, insecure, json, quiet, verbose;
};

#define FIELD(name) offsetof(struct analyze_command, name)
static const struct option_spec analyze_options[] = {
    {"platform", 0, OPTION_TEXT, FIELD(platform), "OS/ARCH", NULL,
     "the image to take from an index; by default this machine's"},
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "print the result as JSON"},
    {"contents", 0, OPTION_FLAG, FIELD(contents), NULL, NULL,
     "read files that have a size in common, to find duplicates in each image and across all, and "
     "stale .pyc files"},
    {"zfs", 0, OPTION_TEXT, FIELD(zfs), "RECORD", NULL,
     "predict compression by lz4 and zstd from a sample, in records of that size, as in 128K"},
    {"dedup", 0, OPTION_FLAG, FIELD(dedup), NULL, NULL,
     "also predict what block deduplication saves in each image and across all, and its memory; "
     "reads all files"},
    {"exact", 0, OPTION_FLAG, FIELD(exact), NULL, NULL,
     "use all records instead of a sample, for --zfs and --dedup"},
    {"costs", 0, OPTION_FILE, FIELD(costs), "FILE", NULL,
     "costs of lookups, as flatbed bench --json prints them; by default those that --save kept"},
    {"html", 0, OPTION_FILE, FIELD(html), "FILE", NULL,
     "write an HTML page that shows all; it needs no other file and no network"},
    {"max-wasted", 0, OPTION_TEXT, FIELD(max_wasted), "BYTES|PERCENT%", NULL,
     "a rule: at most so many dead bytes, as in 200MB or 10%"},
    {"min-efficiency", 0, OPTION_TEXT, FIELD(min_efficiency), "PERCENT%", NULL,
     "a rule: at least that efficiency, computed as dive does, as in 95% or 0.95"},
    {"max-depth", 0, OPTION_TEXT, FIELD(max_depth), "N", NULL, "a rule: at most so many layers"},
    {"max-probes", 0, OPTION_TEXT, FIELD(max_probes), "N", NULL,
     "a rule: the kernel looks for an existing path in at most so many layers, on average"},
    {"config", 0, OPTION_FILE, FIELD(config), "FILE", NULL,
     "rules from a JSON file; those of the command line take precedence"},
    RATIO_OPTION(FIELD),
    REGISTRY_OPTIONS(FIELD),
    {"quiet", 'q', OPTION_FLAG, FIELD(quiet), NULL, NULL, "print only errors and the result"},
    {"verbose", 'v', OPTION_FLAG, FIELD(verbose), NULL, NULL,
     "say why an image of an engine is not read in its store"},
    {0},
};

const struct command_spec command_analyze_spec = {
    .program = "flatten",
    .name = "analyze",
    .operands = "SOURCE...",
    .summary = "Show where an image's bytes and lookups go.",
    .details = "Shows which bytes no container sees, why, and which layer hid them; what each\n"
               "package weighs; in how many layers lookups look; and what to do about it.\n"
               "Digests are not checked.\n"
               "Exit status 4: a rule is broken.\n",
    .options = analyze_options,
    .min_operands = 1,
    .max_operands = -1,
    .completes = OPERANDS_FILES,
};

/* One run of the command: what it was asked for, prepared outside the sandbox. */
struct analyze_run {
    const struct analyze_command *command;
    const char *const *names; /* of the sources, as they were given */
    size_t count;
    struct ci_rules rules;
    struct lookup_costs costs;
    struct zfs_options zfs;
    int page; /* a descriptor for --html; 0: no page */
};

/* ---- inside the sandbox ---- */

/* Says why an engine's image takes a temporary file. */
static void say_why(const struct source *source)
{
    _cleanup_buf_ struct buf why = BUF_INIT;

    source_put_why(source, &why);
    if (why.len)
        log_info("%s", why.data);
}

static int add_image(struct reader *r, const struct analyze_run *run, size_t which,
                     struct analyses *all, struct err *err)
{
    _cleanup_source_ struct source *source = reader_source(r, which, err);
    if (!source)
        return -1;
    if (run->command->verbose)
        say_why(source);
    struct image *image = source_image(
        source, &(struct image_choice){.platform = run->command->platform, .oldest_first = true},
        err);
    if (!image)
        return -1;
    return analyses_add(all, image, run->names[which], err) < 0
               ? err_wrap(err, "%s", run->names[which])
               : 0;
}

static int print_report(const struct analyses *all, bool json, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (json)
        analyses_put_json(all, &text);
    else
        analyses_put_text(all, &text);
    return program_print(&text, err);
}

static void log_broken(void *ctx, const char *source, const char *text)
{
    (void)ctx;
    log_error("%s: %s", source, text);
}

static int read_images(struct reader *r, const struct analyze_run *run, struct analyses *all,
                       struct err *err)
{
    for (size_t i = 0; i < run->count; i++)
        if (add_image(r, run, i, all, err) < 0)
            return -1;
    return (run->command->contents && analyses_compare(all, err) < 0) ||
                   analyses_compress(all, &run->zfs, err) < 0
               ? -1
               : 0;
}

/* Returns the exit status: 0, or CI_RULES_BROKEN. */
static int analyze_images(struct reader *r, void *ctx, struct err *err)
{
    const struct analyze_run *run = ctx;
    const struct analyze_command *c = run->command;
    _cleanup_analyses_ struct analyses *all = analyses_new(run->count, &run->costs, err);

    if (!all)
        return -1;
    int rc = read_images(r, run, all, err);
    if (analyses_check_still(all, err) < 0 || rc < 0)
        return -1;
    bool kept = analyses_judge(all, &run->rules);
    if (r->output && analyses_write_page(all, r->output, err) < 0)
        return err_wrap(err, "%s", c->html);
    if (print_report(all, c->json, err) < 0)
        return -1;
    analyses_list_broken(all, log_broken, NULL);
    return kept ? 0 : CI_RULES_BROKEN;
}

/* ---- outside the sandbox ---- */

static int set_rules(const struct analyze_command *c, struct ci_rules *rules, struct err *err)
{
    const struct {
        const char *name, *text;
    } options[] = {{"max-wasted", c->max_wasted},
                   {"min-efficiency", c->min_efficiency},
                   {"max-depth", c->max_depth},
                   {"max-probes", c->max_probes}};

    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
        if (options[i].text && ci_rules_set(rules, options[i].name, options[i].text, err) < 0)
            return -1;
    return c->config ? analyze_load_rules(c->config, rules, err) : 0;
}

static int run_keeper(struct analyze_run *run, struct reference *references, struct err *err)
{
    const struct analyze_command *c = run->command;

    if (platform_check(c->platform, err) < 0)
        return -1;
    for (size_t i = 0; i < run->count; i++) {
        if (reference_parse(run->names[i], &references[i], err) < 0)
            return -1;
        reference_choose_engine(&references[i], c->quiet);
        references[i].registry =
            (struct registry_options){c->insecure, c->retries, c->cert_dir, NULL};
        references[i].max_ratio = c->max_ratio;
    }
    const struct keeper_task task = {.sources = references,
                                     .source_count = run->count,
                                     .platform = c->platform,
                                     .walk = WALK_LAYERS,
                                     .walked = WIRE_MOST_SOURCES,
                                     .output = run->page};
    return keeper_run(&task, analyze_images, run, err);
}

static int analyze_sources(struct analyze_run *run, struct err *err)
{
    struct reference references[WIRE_MOST_SOURCES] = {0};
    int rc = run_keeper(run, references, err);

    for (size_t i = 0; i < run->count; i++)
        reference_clear(&references[i]);
    return rc;
}

static void say_page(const char *path, off_t size)
{
    _cleanup_buf_ struct buf word = BUF_INIT;
    char text[HUMAN_SIZE];

    human_put_word(&word, path);
    log_info("wrote the page %s (%s): open it in a browser, as with xdg-open %s; it needs no "
             "network",
             path, human_size(size > 0 ? (uint64_t)size : 0, text), word.data ? word.data : path);
}

/* Starts the file. Returns a descriptor that holds its lock, or -1. */
static int begin_page(struct atomic_file *file, int dir, const char *name, struct err *err)
{
    char tmp[UNFINISHED_NAME];

    unfinished_remove_beside(dir);
    if (atomic_file_begin(file, dir, name, 0666, err) < 0)
        return -1;
    int lock = unfinished_file_rename(dir, file->tmp, file->fd, tmp, err);
    if (lock >= 0)
        memcpy(file->tmp, tmp, sizeof(tmp));
    return lock;
}

/* The page appears whole or not at all. */
static int analyze_with_page(struct analyze_run *run, struct err *err)
{
    const char *path = run->command->html, *slash = strrchr(path, '/');
    _cleanup_free_ char *parent =
        slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");

    if (!parent)
        return err_nomem(err);
    _cleanup_fd_ int dir = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return err_sys(err, "%s", parent);
    _cleanup_atomic_file_ struct atomic_file file = ATOMIC_FILE_INIT; /* gone before `dir` */
    _cleanup_fd_ int lock = begin_page(&file, dir, slash ? slash + 1 : path, err);
    if (lock < 0)
        return err_wrap(err, "%s", path);
    run->page = file.fd;
    int rc = analyze_sources(run, err);
    off_t size = lseek(file.fd, 0, SEEK_END);
    if (rc < 0)
        return -1;
    if (atomic_file_commit(&file, err) < 0)
        return err_wrap(err, "%s", path);
    if (!run->command->quiet && !run->command->json)
        say_page(path, size);
    return rc;
}

/* Falls back on the defaults, unless --costs names a file. */
static int load_costs(const struct analyze_command *c, struct lookup_costs *out, struct err *err)
{
    struct err reason = ERR_INIT;

    if (analyze_load_costs(c->costs, out, &reason) == 0)
        return 0;
    if (c->costs) {
        *err = reason;
        return -1;
    }
    log_warning("%s; defaults are used", reason.msg);
    return 0;
}

static int prepare_run(const struct analyze_command *c, const struct operands *operands,
                       struct analyze_run *out, struct err *err)
{
    *out = (struct analyze_run){
        .command = c, .names = operands->list, .count = (size_t)operands->count};
    if (out->count > WIRE_MOST_SOURCES)
        return err_set(err, ERR_LIMIT, "more than %d images", WIRE_MOST_SOURCES);
    if (set_rules(c, &out->rules, err) < 0 || load_costs(c, &out->costs, err) < 0)
        return -1;
    out->zfs = (struct zfs_options){c->dedup ? DEFAULT_RECORD : 0, c->exact, c->dedup};
    return c->zfs ? zfs_parse_record(c->zfs, &out->zfs.record, err) : 0;
}

int command_analyze(int argc, char *const argv[], bool *help, struct err *err)
{
    struct analyze_command c = {.retries = REGISTRY_RETRIES};
    struct operands operands = {0};
    int rc = options_parse(&command_analyze_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help) {
        struct analyze_run run;
        rc = prepare_run(&c, &operands, &run, err);
        if (rc == 0)
            rc = c.html ? analyze_with_page(&run, err) : analyze_sources(&run, err);
    }
    free(operands.list);
    return rc;
}
