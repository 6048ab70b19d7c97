#include "flatten/command/commands.h"

#include "base/cli/log.h"
#include "base/fdio.h"
#include "flatten/analyze/report.h"
#include "flatten/command/keeper_run.h"
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
    uint64_t retries;
    bool contents, dedup, exact, insecure, json, quiet;
};

#define FIELD(name) offsetof(struct analyze_command, name)
static const struct option_spec analyze_options[] = {
    {"platform", 0, OPTION_TEXT, FIELD(platform), "OS/ARCH", NULL,
     "which image of an index; by default this machine's"},
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "print the result as JSON"},
    {"contents", 0, OPTION_FLAG, FIELD(contents), NULL, NULL,
     "read files that have a size in common: duplicates, in each image and across all, and stale "
     ".pyc"},
    {"zfs", 0, OPTION_TEXT, FIELD(zfs), "RECORD", NULL,
     "predict compression by lz4 and zstd in records of that size, as in 128K, from a sample"},
    {"dedup", 0, OPTION_FLAG, FIELD(dedup), NULL, NULL,
     "also predict what block deduplication would save, in each image and across all, and its "
     "memory; "
     "reads all files"},
    {"exact", 0, OPTION_FLAG, FIELD(exact), NULL, NULL,
     "compress all, and keep all that deduplication compares, not a sample"},
    {"costs", 0, OPTION_FILE, FIELD(costs), "FILE", NULL,
     "what lookups cost, as flatbed bench --json prints it; by default what its --save kept"},
    {"html", 0, OPTION_FILE, FIELD(html), "FILE", NULL,
     "write a page that shows it all; it needs no other file and no network"},
    {"max-wasted", 0, OPTION_TEXT, FIELD(max_wasted), "BYTES|PERCENT%", NULL,
     "a rule: at most so many dead bytes, as in 200MB or 10%"},
    {"min-efficiency", 0, OPTION_TEXT, FIELD(min_efficiency), "PERCENT%", NULL,
     "a rule: dive's efficiency is at least that, as in 95% or 0.95"},
    {"max-depth", 0, OPTION_TEXT, FIELD(max_depth), "N", NULL, "a rule: at most so many layers"},
    {"max-probes", 0, OPTION_TEXT, FIELD(max_probes), "N", NULL,
     "a rule: a path that exists is looked for in at most so many layers, on average"},
    {"config", 0, OPTION_FILE, FIELD(config), "FILE", NULL,
     "rules from a JSON file; those of the command line win"},
    REGISTRY_OPTIONS(FIELD),
    {"quiet", 'q', OPTION_FLAG, FIELD(quiet), NULL, NULL, "say nothing but errors and the result"},
    {0},
};

const struct command_spec command_analyze_spec = {
    .program = "flatten",
    .name = "analyze",
    .operands = "SOURCE...",
    .summary = "Show where an image's bytes and lookups go.",
    .details = "Which bytes no container sees, why, and which layer hid them; in how many layers\n"
               "lookups look; what to do about it. Digests are not checked. Exit status 4: a rule "
               "is broken.\n",
    .options = analyze_options,
    .min_operands = 1,
    .max_operands = -1,
    .completes = OPERANDS_FILES,
};

/* What is asked for, ready for the sandbox. */
struct analyzing {
    const struct analyze_command *command;
    const char *const *names; /* of the sources, as they were given */
    size_t count;
    struct gate rules;
    struct lookup_costs costs;
    struct analysis_zfs zfs;
    int page; /* where --html goes; 0: nowhere */
};

static int analyze_one(struct reader *r, const struct analyzing *a, size_t which,
                       struct analysis *out, struct err *err)
{
    struct merged_options options = {0};
    _cleanup_source_ struct source *source = reader_source(r, which, err);
    struct image *image =
        source ? source_image(source, &(struct image_choice){.platform = a->command->platform}, err)
               : NULL;

    return image ? analysis_make(image, a->names[which], &options, &a->costs, out, err) : -1;
}

static int print(struct buf *text, struct err *err)
{
    if (buf_check(text, err) < 0)
        return -1;
    if (fwrite(text->data, 1, text->len, stdout) != text->len || fflush(stdout) != 0)
        return err_sys(err, "standard output");
    return 0;
}

/* What all images together are: the members beside "images", and what people see of them. */
static void put_together(const struct analyze_command *c, const struct analysis *list, int count,
                         const struct duplicate_shared *shared, struct buf *out)
{
    bool dedup = count > 0 && list[0].zfs.deduped;

    if (c->json) {
        if (c->contents) {
            buf_putc(out, ',');
            analysis_put_shared_json(shared, out);
        }
        if (dedup) {
            buf_puts(out, ",\"dedup\":");
            analysis_put_dedup_json(&list[0].together, out);
        }
        return;
    }
    if (c->contents && count > 1)
        analysis_put_shared_text(shared, out);
    if (dedup && count > 1) {
        buf_puts(out, "\nDeduplicated across all images\n");
        analysis_put_dedup_text(&list[0].together, out);
    }
}

static int report(const struct analyze_command *c, const struct analysis *list, int count,
                  const struct duplicate_shared *shared, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    if (c->json)
        buf_puts(&out, "{\"version\":1,\"images\":[");
    for (int i = 0; i < count; i++) {
        if (i)
            buf_putc(&out, c->json ? ',' : '\n');
        if (c->json)
            analysis_put_json(&list[i], &out);
        else
            analysis_put_text(&list[i], &out);
    }
    if (c->json)
        buf_putc(&out, ']');
    put_together(c, list, count, shared, &out);
    if (c->json)
        buf_puts(&out, "}\n");
    return print(&out, err);
}

static int set_rules(const struct analyze_command *c, struct gate *rules, struct err *err)
{
    const struct {
        const char *name, *text;
    } options[] = {{"max-wasted", c->max_wasted},
                   {"min-efficiency", c->min_efficiency},
                   {"max-depth", c->max_depth},
                   {"max-probes", c->max_probes}};

    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
        if (options[i].text && gate_set(rules, options[i].name, options[i].text, err) < 0)
            return -1;
    return c->config ? gate_load(rules, c->config, err) : 0;
}

/* The exit status: 0, or that of a broken rule. */
static int judge(struct analysis *list, int count, const struct gate *rules)
{
    int status = 0;

    for (int i = 0; i < count; i++)
        if (!analysis_judge(&list[i], rules))
            status = GATE_BROKEN;
    return status;
}

static void tell_broken(const struct analysis *a)
{
    for (size_t i = 0; i < a->gate_count; i++) {
        _cleanup_buf_ struct buf text = BUF_INIT;
        if (a->gate[i].kept)
            continue;
        gate_put_text(&a->gate[i], &text);
        log_error("%s: %s", a->source, text.data ? text.data : "a rule is broken");
    }
}

static int analyze_all(struct reader *r, const struct analyzing *a, struct analysis *list,
                       struct err *err)
{
    const struct analyze_command *c = a->command;
    struct duplicate_shared shared = {0};
    int count = (int)a->count;

    for (size_t i = 0; i < a->count; i++)
        if (analyze_one(r, a, i, &list[i], err) < 0)
            return -1;
    if ((c->contents && analysis_compare(list, a->count, &shared, err) < 0) ||
        analysis_compress(list, a->count, &a->zfs, err) < 0)
        return -1;
    int status = judge(list, count, &a->rules);
    if (r->output && report_write(list, a->count, r->output, err) < 0)
        return err_wrap(err, "%s", c->html);
    if (report(c, list, count, &shared, err) < 0)
        return -1;
    for (int i = 0; i < count; i++)
        tell_broken(&list[i]);
    return status;
}

/* In the sandbox. */
static int analyze(struct reader *r, void *ctx, struct err *err)
{
    const struct analyzing *a = ctx;
    struct analysis *list = calloc(a->count, sizeof(*list));

    if (!list)
        return err_nomem(err);
    int rc = analyze_all(r, a, list, err);
    for (size_t i = 0; i < a->count; i++)
        analysis_clear(&list[i]);
    free(list);
    return rc;
}

/* ---- outside of it ---- */

static int run_keeper(struct analyzing *a, struct reference *references, struct err *err)
{
    const struct analyze_command *c = a->command;

    if (platform_check(c->platform, err) < 0)
        return -1;
    for (size_t i = 0; i < a->count; i++) {
        if (reference_parse(a->names[i], &references[i], err) < 0)
            return -1;
        references[i].registry =
            (struct registry_options){c->insecure, c->retries, c->cert_dir, NULL};
    }
    const struct keeper_task task = {.sources = references,
                                     .source_count = a->count,
                                     .platform = c->platform,
                                     .output = a->page};
    return keeper_run(&task, analyze, a, err);
}

static int run_all(struct analyzing *a, struct err *err)
{
    struct reference references[WIRE_MOST_SOURCES] = {0};
    int rc = run_keeper(a, references, err);

    for (size_t i = 0; i < a->count; i++)
        reference_clear(&references[i]);
    return rc;
}

/* The page appears whole or not at all. */
static int run_with_page(struct analyzing *a, struct err *err)
{
    const char *path = a->command->html, *slash = strrchr(path, '/');
    _cleanup_free_ char *folder =
        slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");

    if (!folder)
        return err_nomem(err);
    _cleanup_fd_ int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return err_sys(err, "%s", folder);
    _cleanup_atomic_file_ struct atomic_file file = ATOMIC_FILE_INIT; /* gone before `dir` */
    if (atomic_file_begin(&file, dir, slash ? slash + 1 : path, 0666, err) < 0)
        return err_wrap(err, "%s", path);
    a->page = file.fd;
    int rc = run_all(a, err);
    return rc >= 0 && atomic_file_commit(&file, err) < 0 ? err_wrap(err, "%s", path) : rc;
}

/* Without the file that nobody named, there are the defaults. */
static int load_costs(const struct analyze_command *c, struct lookup_costs *out, struct err *err)
{
    struct err reason = ERR_INIT;

    if (lookup_costs_load(c->costs, out, &reason) == 0)
        return 0;
    if (c->costs) {
        *err = reason;
        return -1;
    }
    log_warning("%s; defaults are used", reason.msg);
    return 0;
}

static int prepare(const struct analyze_command *c, const struct operands *operands,
                   struct analyzing *out, struct err *err)
{
    *out =
        (struct analyzing){.command = c, .names = operands->list, .count = (size_t)operands->count};
    if (out->count > WIRE_MOST_SOURCES)
        return err_set(err, ERR_LIMIT, "more than %d images", WIRE_MOST_SOURCES);
    if (set_rules(c, &out->rules, err) < 0 || load_costs(c, &out->costs, err) < 0)
        return -1;
    out->zfs = (struct analysis_zfs){c->dedup ? DEFAULT_RECORD : 0, c->exact, c->dedup};
    return c->zfs ? zfs_parse_record(c->zfs, &out->zfs.record, err) : 0;
}

int command_analyze(int argc, char *const argv[], bool *help, struct err *err)
{
    struct analyze_command c = {.retries = REGISTRY_RETRIES};
    struct operands operands = {0};
    int rc = options_parse(&command_analyze_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help) {
        struct analyzing a;
        rc = prepare(&c, &operands, &a, err);
        if (rc == 0)
            rc = c.html ? run_with_page(&a, err) : run_all(&a, err);
    }
    free(operands.list);
    return rc;
}
