#include "flatten/commands.h"

#include "base/log.h"
#include "flatten/report.h"

#include <inttypes.h>
#include <string.h>

struct analyze_command {
    const char *platform, *config, *html, *zfs;
    const char *max_wasted, *min_efficiency, *max_depth, *max_probes;
    uint64_t retries;
    bool contents, exact, insecure, json, quiet;
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
    {"exact", 0, OPTION_FLAG, FIELD(exact), NULL, NULL, "compress all, not a sample"},
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
    {"retries", 0, OPTION_NUMBER, FIELD(retries), "N", NULL,
     "how often a request to a registry that may work later is repeated; by default 5"},
    {"insecure", 0, OPTION_FLAG, FIELD(insecure), NULL, NULL,
     "speak with registries whose certificate cannot be verified, or that have no HTTPS"},
    {"quiet", 'q', OPTION_FLAG, FIELD(quiet), NULL, NULL, "say nothing but errors and the result"},
    {0},
};

const struct command_spec command_analyze_spec = {
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

enum { MOST_SOURCES = 64 };

static int analyze_one(const struct analyze_command *c, const char *source, struct analysis *out,
                       struct err *err)
{
    _cleanup_reference_ struct reference ref = {0};
    struct merged_options options = {0};

    if (reference_parse(source, &ref, err) < 0)
        return -1;
    ref.registry = (struct registry_options){c->insecure, c->retries, NULL};
    struct image *image = image_open(&ref, c->platform, err);
    return image ? analysis_make(image, source, &options, out, err) : -1;
}

static int print(struct buf *text, struct err *err)
{
    if (buf_check(text, err) < 0)
        return -1;
    if (fwrite(text->data, 1, text->len, stdout) != text->len || fflush(stdout) != 0)
        return err_sys(err, "standard output");
    return 0;
}

static int compress(const struct analyze_command *c, struct analysis *list, int count,
                    size_t record, struct err *err)
{
    for (int i = 0; record && i < count; i++)
        if (zfs_read(list[i].image, &list[i].strata, record, c->exact ? 0 : ZFS_SAMPLE,
                     &list[i].zfs, err) < 0)
            return err_wrap(err, "%s", list[i].source);
    return 0;
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
        buf_puts(&out, c->contents ? "]," : "]");
    if (c->contents && c->json)
        analysis_put_shared_json(shared, &out);
    if (c->contents && !c->json && count > 1)
        analysis_put_shared_text(shared, &out);
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

static int analyze(const struct analyze_command *c, const struct operands *operands,
                   struct err *err)
{
    struct duplicate_shared shared = {0};
    struct gate rules = {0};
    struct analysis *list = NULL;
    int rc = 0, made = 0, status;
    size_t record = 0;

    if (set_rules(c, &rules, err) < 0 || (c->zfs && zfs_parse_record(c->zfs, &record, err) < 0))
        return -1;
    if (operands->count > MOST_SOURCES)
        return err_set(err, ERR_LIMIT, "more than %d images", MOST_SOURCES);
    list = calloc((size_t)operands->count, sizeof(*list));
    if (!list)
        return err_nomem(err);
    while (rc == 0 && made < operands->count) {
        rc = analyze_one(c, operands->list[made], &list[made], err);
        made++;
    }
    if (rc == 0 && c->contents)
        rc = analysis_compare(list, (size_t)made, &shared, err);
    if (rc == 0)
        rc = compress(c, list, made, record, err);
    status = rc == 0 ? judge(list, made, &rules) : 0;
    if (rc == 0)
        rc = c->html ? report_write(list, (size_t)made, c->html, err) : 0;
    if (rc == 0)
        rc = report(c, list, made, &shared, err);
    for (int i = 0; i < made; i++) {
        if (rc == 0)
            tell_broken(&list[i]);
        analysis_clear(&list[i]);
    }
    free(list);
    return rc < 0 ? rc : status;
}

int command_analyze(int argc, char *const argv[], bool *help, struct err *err)
{
    struct analyze_command c = {.retries = REGISTRY_RETRIES};
    struct operands operands = {0};
    int rc = options_parse(&command_analyze_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help)
        rc = analyze(&c, &operands, err);
    free(operands.list);
    return rc;
}
