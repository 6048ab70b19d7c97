#include "shim/admin/commands.h"

#include "base/cli/columns.h"
#include "base/cli/log.h"
#include "base/clock.h"
#include "base/human.h"
#include "shim/admin/warm/warm_report.h"
#include "shim/admin/warm/warm_target.h"
#include "shim/host/process/interrupt.h"
#include "shim/host/trust.h"
#include "shim/policy/read/policy_read.h"
#include "shim/warm/read/warm_memory.h"
#include "shim/warm/warm_root.h"

#include <string.h>

enum { MEMORY_LIMIT = 1024 * 1024 * 1024, SECONDS = 30, SECONDS_MOST = 600, POLL_MS = 20000 };
enum { DEFAULT_MAX = 25 }; /* per cent, without a policy that has "warm" */

struct warm_command {
    const char *policy;
    uint64_t seconds;
    struct option_list stores;
    bool record, show, drop, json;
};

#define FIELD(name) offsetof(struct warm_command, name)
static const struct option_spec warm_options[] = {
    {"record", 0, OPTION_FLAG, FIELD(record), NULL, NULL,
     "record what the container reads from now on, in place of its records"},
    {"for", 0, OPTION_SECONDS, FIELD(seconds), "SECONDS", NULL,
     "with --record: how long; by default 30s, at most 600s; Ctrl-C ends it before"},
    {"show", 0, OPTION_FLAG, FIELD(show), NULL, NULL,
     "list all records, or the files of one; the default without an operand"},
    {"drop", 0, OPTION_FLAG, FIELD(drop), NULL, NULL,
     "remove the records: the next start makes new ones"},
    {"store", 0, OPTION_LIST, FIELD(stores), "DIR", NULL,
     "also a data-root of Docker, or a storage of podman, such as a user's; may be repeated"},
    {"policy", 0, OPTION_FILE, FIELD(policy), "FILE", NULL,
     "the policy, instead of /etc/flatbed/policy.json"},
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "print it as JSON"},
    {0},
};

const struct command_spec command_warm_spec = {
    .program = "flatbed",
    .name = "warm",
    .operands = "[CONTAINER | IMAGE | DIRECTORY]",
    .summary = "Read ahead what containers read first, or show what was recorded of that.",
    .details =
        "If a policy says \"warm\", what a container reads in its first seconds is recorded for\n"
        "its image and its volumes, and read ahead when the next one starts with a cold cache.\n"
        "With an operand alone this is done now: before a job starts, or after the host did.\n"
        "CONTAINER is one that runs, by its name or the start of its ID; IMAGE is one that docker\n"
        "or podman has; DIRECTORY is a volume's, an absolute path.\n",
    .options = warm_options,
    .max_operands = 1,
    .completes = OPERANDS_FILES,
};

/* The command at work. */
struct work {
    const struct warm_command *command;
    struct policy_warm rules;
    const char *cache;
    struct warm_target target;
    struct arena arena;
};

static int print_document(struct json_doc *doc, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    if (json_write(doc, &out, err) < 0)
        return -1;
    buf_putc(&out, '\n');
    return program_print(&out, err);
}

/* ---- the records ---- */

static int show_all(struct work *w, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct warm_report report;

    if (!doc || warm_report_read(w->cache, &w->arena, &report, err) < 0)
        return -1;
    if (w->command->json) {
        struct json *items = json_set(doc, json_root(doc), "records", json_array(doc));
        for (size_t i = 0; i < report.count; i++)
            json_append(doc, items, warm_report_json(&report.list[i], false, doc));
        return print_document(doc, err);
    }
    if (warm_report_print(&report, columns_of_terminal(STDOUT_FILENO), &w->arena, &out, err) < 0)
        return -1;
    return program_print(&out, err);
}

/* Prints the records of the operand. Returns 1 if there are none. */
static int show_records(struct work *w, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct warm_report report;
    size_t found = 0;

    if (!doc || warm_report_read(w->cache, &w->arena, &report, err) < 0)
        return -1;
    struct json *items = json_set(doc, json_root(doc), "records", json_array(doc));
    for (size_t i = 0; i < report.count; i++)
        for (size_t k = 0; k < w->target.count; k++) {
            const struct warm_item *item = &report.list[i];
            if (strcmp(item->key, w->target.places[k].key) != 0)
                continue;
            found++;
            json_append(doc, items, warm_report_json(item, true, doc));
            buf_printf(&out, "%s%s: ", found > 1 ? "\n" : "", w->target.places[k].paths[0]);
            if (item->problem)
                buf_printf(&out, "%s\n", item->problem);
            else
                warm_report_print_one(&item->record, &out);
        }
    if (!found && !w->command->json)
        log_warning("there is no record of it in %s", w->cache);
    int rc = w->command->json ? print_document(doc, err) : program_print(&out, err);
    return rc < 0 ? -1 : !found;
}

static int drop_records(struct work *w, struct err *err)
{
    _cleanup_warm_store_ struct warm_store store = WARM_STORE_INIT;
    size_t dropped = 0;
    int found = warm_store_find(w->cache, &store, err);

    if (found < 0)
        return -1;
    for (size_t i = 0; found && i < w->target.count; i++) {
        if (warm_store_remove(&store, w->target.places[i].key, err) == 0)
            dropped++;
        else if (err->kind != ERR_SYSTEM || err->sys != ENOENT)
            return -1;
    }
    if (!w->command->json)
        log_info("%zu record%s dropped", dropped, human_s(dropped));
    return !dropped;
}

/* ---- recording ---- */

static int record(struct work *w, struct err *err)
{
    struct warm_target *t = &w->target;
    sigset_t before;

    if (!t->process.pid)
        return err_set(err, ERR_USAGE, "--record needs a container that runs");
    w->rules.record = RECORD_ALWAYS;
    w->rules.seconds = w->command->seconds ? (unsigned)w->command->seconds : SECONDS;
    struct warm_start start = {.rules = &w->rules,
                               .store = w->cache,
                               .point = "/",
                               .layers = &t->layers,
                               .volumes = t->volumes,
                               .volume_count = t->volume_count,
                               .container = t->process.pid,
                               .mounts = -1,
                               .arena = &w->arena};
    log_info("recording for %u second%s", w->rules.seconds, human_s(w->rules.seconds));
    interrupts_hold(&before);
    if (warm_start_run(&start, err) < 0)
        return -1;
    if (start.written)
        return show_records(w, err);
    log_warning("nothing was recorded: it read no files, or another process records it");
    return 1;
}

/* ---- reading ahead ---- */

static int print_read(const struct work *w, const struct warm_root *roots, size_t count,
                      double seconds, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);
    uint64_t read = 0, cached = 0;
    char size[HUMAN_SIZE], rest[HUMAN_SIZE];

    if (!doc)
        return -1;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < roots[i].item_count; k++) {
            read += roots[i].items[k].read;
            cached += roots[i].items[k].cached;
        }
    if (!w->command->json) {
        log_info("%s read in %.1f s, %s were cached", human_size_binary(read, size), seconds,
                 human_size_binary(cached, rest));
        return 0;
    }
    json_set(doc, json_root(doc), "read", json_number(doc, read));
    json_set(doc, json_root(doc), "cached", json_number(doc, cached));
    json_set(doc, json_root(doc), "milliseconds", json_number(doc, (uint64_t)(seconds * 1000)));
    return print_document(doc, err);
}

/* Reads the files of one record. */
static int read_root(struct work *w, struct warm_root *root, struct err *err)
{
    if (warm_root_plan(root, &w->arena, err) < 0)
        return -1;
    _cleanup_read_ahead_ struct read_ahead *reading =
        read_ahead_begin(root->items, root->item_count, warm_memory(&w->rules.max, 0), err);
    if (!reading)
        return -1;
    while (!read_ahead_done(reading) && !interrupts_pending())
        usleep(POLL_MS);
    return 0;
}

static int tell_no_record(const struct work *w)
{
    log_warning(
        "there is no record of it in %s: a policy that says \"warm\" makes one at the first "
        "start, and so does --record",
        w->cache);
    return 1;
}

static int read_records(struct work *w, struct err *err)
{
    _cleanup_warm_store_ struct warm_store store = WARM_STORE_INIT;
    struct warm_root *roots = arena_alloc(&w->arena, w->target.count * sizeof(*roots));
    double begin = clock_seconds();
    sigset_t before;
    int rc = 0;
    size_t known = 0, i;
    int found = warm_store_find(w->cache, &store, err);

    if (found <= 0)
        return found < 0 ? -1 : tell_no_record(w);
    if (!roots)
        return err_nomem(err);
    if (warm_memory_uncharge(err) < 0)
        return -1;
    interrupts_hold(&before);
    for (i = 0; i < w->target.count && rc == 0; i++) {
        struct err unreadable = ERR_INIT;
        rc = warm_root_open(&store, &w->target.places[i], &w->arena, &roots[i], &unreadable, err);
        if (unreadable.kind != ERR_NONE)
            log_warning("%s", unreadable.msg);
        if (rc == 0 && roots[i].known) {
            known++;
            rc = read_root(w, &roots[i], err);
        }
        warm_root_close(&roots[i], &store);
    }
    if (rc < 0)
        return -1;
    if (!known) {
        log_warning("there is no record of it in %s, or another process reads it ahead", w->cache);
        return 1;
    }
    return print_read(w, roots, i, clock_seconds() - begin, err);
}

/* ---- the command ---- */

static int run(struct work *w, const char *operand, struct err *err)
{
    const struct warm_command *c = w->command;
    _cleanup_policy_ struct policy *policy = policy_new(err);

    if (trust_rootless())
        return err_set(err, ERR_UNSUPPORTED, "only root can look into the records");
    if (!policy || policy_open(policy, c->policy, err) < 0 || policy_decode(policy, err) < 0)
        return -1;
    w->rules = policy->warm;
    if (!w->rules.given)
        w->rules.max.percent = DEFAULT_MAX;
    w->cache = w->rules.cache.text ? w->rules.cache.text : WARM_CACHE;
    if (!operand)
        return show_all(w, err);
    if (warm_target_find(operand, c->stores.items, c->stores.count, &w->arena, &w->target, err) < 0)
        return -1;
    if (c->show || c->drop)
        return c->show ? show_records(w, err) : drop_records(w, err);
    return c->record ? record(w, err) : read_records(w, err);
}

int command_warm(int argc, char *const argv[], bool *help, struct err *err)
{
    struct warm_command c = {0};
    struct work w = {.command = &c, .target = WARM_TARGET_INIT, .arena = {.limit = MEMORY_LIMIT}};
    struct operands operands = {0};
    int rc = options_parse(&command_warm_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help) {
        if (c.record + c.show + c.drop > 1)
            rc = err_set(err, ERR_USAGE, "give one of --record, --show, --drop");
        else if (c.seconds && !c.record)
            rc = err_set(err, ERR_USAGE, "--for goes with --record");
        else if (c.seconds > SECONDS_MOST)
            rc = err_set(err, ERR_USAGE, "--for is at most %d seconds", SECONDS_MOST);
        else if (!operands.count && (c.record || c.drop))
            rc = err_set(err, ERR_USAGE, "which one? Give a container%s",
                         c.record ? "" : ", an image or a volume's directory");
        else
            rc = run(&w, operands.count ? operands.list[0] : NULL, err);
    }
    warm_target_close(&w.target);
    arena_free(&w.arena);
    free(operands.list);
    return rc;
}
