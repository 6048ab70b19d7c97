#include "shim/admin/container_commands/container_commands.h"

#include "base/cli/log.h"
#include "base/human.h"
#include "base/size.h"
#include "shim/admin/leftovers/gc_sources.h"
#include "shim/admin/leftovers/named_cache.h"
#include "shim/admin/leftovers/restack_list.h"
#include "shim/admin/stage/stage_change.h"
#include "shim/admin/warm/warm_report.h"
#include "shim/host/trust.h"
#include "shim/oci/state_sweep.h"
#include "shim/policy/read/policy_read.h"

#include <string.h>
#include <time.h>

enum { MEMORY_LIMIT = 1024 * 1024 * 1024, DAY = 24 * 3600, MOST_DAYS = 36500 };

struct gc_command {
    const char *cache, *size, *policy;
    uint64_t days;
    bool dry, json;
};

#define FIELD(name) offsetof(struct gc_command, name)
static const struct option_spec gc_options[] = {
    {"unused", 0, OPTION_NUMBER, FIELD(days), "DAYS", NULL,
     "remove trees that were not used for so many days; by default 30"},
    {"max-size", 0, OPTION_TEXT, FIELD(size), "SIZE", NULL,
     "then remove the least recently used, until the rest takes at most this (10g)"},
    {"cache", 0, OPTION_FILE, FIELD(cache), "DIR", NULL,
     "the cache; by default the policy's rootfs.cache, or " RESTACK_CACHE},
    {"policy", 0, OPTION_FILE, FIELD(policy), "FILE", NULL,
     "the policy whose volumes are looked at; by default /etc/flatbed/policy.json"},
    {"dry-run", 'n', OPTION_FLAG, FIELD(dry), NULL, NULL,
     "print what would be removed, and remove nothing"},
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "print it as JSON"},
    {0},
};

const struct command_spec command_gc_spec = {
    .program = "flatbed",
    .name = "gc",
    .operands = "",
    .summary = "Trim the cache of trees of merged layers, and what launches left.",
    .details =
        "Removes trees whose layers are gone, then trees that were not used for long. A tree that\n"
        "a container is running on stays. Files that an engine has removed take room until the\n"
        "last tree that links them is gone. Also removes empty directories that volumes made for\n"
        "containers that have ended, named by the container's ID; what was kept in /run/flatbed\n"
        "for containers that are gone; temporary files of calls that were killed; staged copies\n"
        "beyond the limits of the policy; and records of warm that were not used for long, or "
        "whose\n"
        "layers are gone.\n",
    .options = gc_options,
    .completes = OPERANDS_NONE,
};

/* The numbers of things that are removed beside trees. */
struct gc_rest {
    struct gc_sources sources;
    size_t copies;  /* staged */
    size_t left;    /* files of launches */
    size_t records; /* of warm */
};

/* Keeps the first failure: what hinders one part must not keep the others from their work. */
static void keep_first(int rc, const struct err *why, struct err *first)
{
    if (rc < 0 && first->kind == ERR_NONE)
        *first = *why;
}

/* Returns 0, or -1 with the failure that was kept. */
static int tell_first(const struct err *first, struct err *err)
{
    if (first->kind == ERR_NONE)
        return 0;
    *err = *first;
    return -1;
}

static int trim_records(const struct gc_command *c, const struct policy *policy,
                        struct arena *arena, size_t *count, struct err *err)
{
    const struct policy_text *cache = &policy->warm.cache;
    struct warm_report report;

    if (warm_report_trim(cache->text ? cache->text : WARM_CACHE, (int64_t)c->days * DAY, c->dry,
                         arena, &report, err) < 0)
        return -1;
    for (size_t i = 0; i < report.count; i++)
        *count += report.list[i].leaves != NULL;
    return 0;
}

/* Removes empty sources, staged copies and records. With --cache alone no policy is read. */
static int trim_volumes(const struct gc_command *c, struct arena *arena, struct gc_rest *out,
                        struct err *err)
{
    _cleanup_policy_ struct policy *policy = policy_new(err);
    struct err why = ERR_INIT, first = ERR_INIT;

    if (!policy)
        return -1;
    if (c->cache && !c->policy)
        return 0;
    if (policy_open(policy, c->policy, err) < 0 || policy_decode(policy, err) < 0)
        return -1;
    keep_first(stage_change_trim(policy, c->dry, &out->copies, &why), &why, &first);
    keep_first(trim_records(c, policy, arena, &out->records, &why), &why, &first);
    keep_first(gc_sources(policy, c->dry, time(NULL), arena, &out->sources, &why), &why, &first);
    return tell_first(&first, err);
}

static void print_sources(const struct gc_command *c, const struct gc_sources *sources,
                          struct json_doc *doc, struct buf *out)
{
    struct json *items = json_set(doc, json_root(doc), "directories", json_array(doc));

    for (size_t i = 0; i < sources->count; i++) {
        json_append(doc, items, json_string(doc, sources->paths[i]));
        if (c->json)
            continue;
        buf_puts(out, c->dry ? "would remove " : "removed ");
        buf_put_printable(out, sources->paths[i], strlen(sources->paths[i]));
        buf_puts(out, ": empty\n");
    }
}

static void print_left(const struct gc_command *c, const struct gc_rest *rest, struct buf *out)
{
    const char *removes = c->dry ? "would remove" : "removed";

    if (rest->copies)
        buf_printf(out, "%s %zu staged cop%s\n", removes, rest->copies,
                   rest->copies == 1 ? "y" : "ies");
    if (rest->records)
        buf_printf(out, "%s %zu record%s of warm\n", removes, rest->records,
                   rest->records == 1 ? "" : "s");
    if (rest->left)
        buf_printf(out, "%s %zu file%s of launches that are over\n", removes, rest->left,
                   rest->left == 1 ? "" : "s");
}

static int print_removed(const struct gc_command *c, const struct restack_list *list,
                         const struct gc_rest *rest, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);
    _cleanup_buf_ struct buf out = BUF_INIT;
    char size[HUMAN_SIZE];

    if (!doc)
        return -1;
    struct json *items = json_set(doc, json_root(doc), "removed", json_array(doc));
    for (size_t i = 0; i < list->count; i++) {
        const struct restack_item *item = &list->items[i];
        if (!item->leaves)
            continue;
        json_append(doc, items, named_cache_item(item, doc));
        if (c->json)
            continue;
        buf_printf(&out, "%s %s, %s: %s\n", c->dry ? "would remove" : "removed", item->key,
                   human_size_binary(item->bytes, size), item->leaves);
    }
    print_sources(c, &rest->sources, doc, &out);
    json_set(doc, json_root(doc), "left_over", json_number(doc, rest->left));
    json_set(doc, json_root(doc), "copies", json_number(doc, rest->copies));
    json_set(doc, json_root(doc), "records", json_number(doc, rest->records));
    if (c->json && json_write(doc, &out, err) < 0)
        return -1;
    if (c->json)
        buf_putc(&out, '\n');
    else
        print_left(c, rest, &out);
    return program_print(&out, err);
}

static int trim_trees(const struct gc_command *c, const struct restack_limits *limits,
                      struct arena *arena, struct restack_list *list, struct err *err)
{
    _cleanup_restack_cache_ struct restack_cache cache = RESTACK_CACHE_INIT;

    if (named_cache_open(c->cache, false, &cache, err) < 0)
        return -1;
    if (cache.fd < 0)
        return 0;
    if (restack_list_read(&cache, arena, list, err) < 0)
        return -1;
    restack_list_judge(list, limits);
    if (c->dry || restack_list_trim(&cache, list, err) == 0)
        return 0;
    if (err->kind != ERR_LIMIT)
        return -1;
    log_warning("no tree is removed: %s", err->msg);
    return 0;
}

static int trim_all(const struct gc_command *c, struct err *err)
{
    _cleanup_arena_ struct arena arena = {.limit = MEMORY_LIMIT};
    struct restack_list list = {0};
    struct gc_rest rest = {0};
    struct err why = ERR_INIT, first = ERR_INIT;
    struct restack_limits limits = {
        .bytes = UINT64_MAX, .seconds = (int64_t)c->days * DAY, .now = time(NULL)};

    if (c->size && !size_parse(c->size, &limits.bytes))
        return err_set(err, ERR_USAGE, "--max-size=%s: expected a size such as 10g", c->size);
    if (c->days > MOST_DAYS)
        return err_set(err, ERR_USAGE, "--unused is at most %d days", MOST_DAYS);
    if (trust_rootless())
        return err_set(err, ERR_UNSUPPORTED,
                       "only root can see which processes use a tree, and what launches left");
    keep_first(trim_trees(c, &limits, &arena, &list, &why), &why, &first);
    keep_first(trim_volumes(c, &arena, &rest, &why), &why, &first);
    keep_first(state_sweep_all(c->dry, &rest.left, &why), &why, &first);
    return print_removed(c, &list, &rest, err) < 0 ? -1 : tell_first(&first, err);
}

int command_gc(int argc, char *const argv[], bool *help, struct err *err)
{
    struct gc_command c = {.days = 30};
    struct operands operands = {0};
    int rc = options_parse(&command_gc_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help)
        rc = trim_all(&c, err);
    free(operands.list);
    return rc;
}
