#include "shim/admin/commands.h"

#include "base/cli/columns.h"
#include "base/cli/log.h"
#include "base/human.h"
#include "base/ranking.h"
#include "shim/admin/containers/containers.h"
#include "shim/admin/copyups/report.h"
#include "shim/admin/copyups/tally.h"
#include "shim/admin/copyups/walk.h"
#include "shim/policy/read/policy_read.h"

#include <string.h>

enum { TOP = 10, TOTALS_MOST = 50 };

struct copyups_command {
    struct option_list engines, stores;
    const char *policy;
    uint64_t top;
    bool json;
};

#define FIELD(name) offsetof(struct copyups_command, name)
static const struct option_spec copyups_options[] = {
    {"engine", 0, OPTION_LIST, FIELD(engines), "NAME", NULL,
     "only docker, podman or containerd; may be repeated"},
    {"store", 0, OPTION_LIST, FIELD(stores), "DIR", NULL,
     "also a data-root of Docker, or a storage of podman, such as a user's; may be repeated"},
    {"policy", 0, OPTION_FILE, FIELD(policy), "FILE", NULL,
     "the policy; by default /etc/flatbed/policy.json"},
    {"top", 0, OPTION_NUMBER, FIELD(top), "N", NULL,
     "how many files and directories are named; by default 10, at most 1000"},
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "print it as JSON"},
    {0},
};

const struct command_spec command_copyups_spec = {
    .program = "flatbed",
    .name = "copyups",
    .operands = "[CONTAINER | MOUNTPOINT...]",
    .summary = "Tell what containers wrote above their images, and what would have avoided it.",
    .details =
        "Compares the upper directory of each container of Docker, podman and containerd with\n"
        "the layers below it, while the container runs: files that overlayfs copied from the\n"
        "image at the first write, with the layer and the line of the Dockerfile that made it;\n"
        "new files; deleted ones; the largest directories, and the volume of the policy that\n"
        "would take them. No file is read and nothing is changed. CONTAINER is a name or the\n"
        "start of an ID, MOUNTPOINT an absolute path at which an overlay is mounted.\n",
    .options = copyups_options,
    .max_operands = -1,
    .completes = OPERANDS_FILES,
};

/* ---- which containers ---- */

static int choose_engines(const struct option_list *names, struct containers_where *where,
                          struct err *err)
{
    for (size_t e = 0; e < CONTAINER_MOUNT; e++)
        where->engines[e] = names->count == 0;
    for (size_t i = 0; i < names->count; i++) {
        size_t e = 0;
        while (e < CONTAINER_MOUNT && strcmp(container_engine_names[e], names->items[i]) != 0)
            e++;
        if (e == CONTAINER_MOUNT)
            return err_set(err, ERR_USAGE,
                           "--engine: '%.40s' is none of docker, podman and containerd",
                           names->items[i]);
        where->engines[e] = true;
    }
    return 0;
}

static bool is_meant(const struct container_found *c, const char *word)
{
    return strcmp(c->name, word) == 0 || strncmp(c->id, word, strlen(word)) == 0;
}

/* Marks what the words mean: each must mean a container. */
static int choose(const struct operands *words, struct container_list *list, bool *chosen,
                  struct err *err)
{
    for (int w = 0; w < words->count; w++) {
        bool found = false;
        for (size_t i = 0; i < list->count; i++)
            if (is_meant(&list->list[i], words->list[w]))
                found = chosen[i] = true;
        if (!found)
            return err_set(err, ERR_USAGE, "no container '%s' was found; see --store in flatbed(8)",
                           words->list[w]);
    }
    for (size_t i = 0; words->count == 0 && i < list->count; i++)
        chosen[i] = true;
    return 0;
}

static bool only_paths(const struct operands *words)
{
    for (int i = 0; i < words->count; i++)
        if (words->list[i][0] != '/')
            return false;
    return words->count > 0;
}

static int list_all(const struct copyups_command *c, const struct operands *words,
                    struct container_list *list, struct err *err)
{
    struct containers_where where = {.stores = c->stores.items, .store_count = c->stores.count};

    if (choose_engines(&c->engines, &where, err) < 0)
        return -1;
    if (!only_paths(words) && containers_list(&where, list, err) < 0)
        return -1;
    for (int i = 0; i < words->count; i++)
        if (words->list[i][0] == '/' && containers_add_mount(list, words->list[i], err) < 0)
            return -1;
    return 0;
}

/* ---- the result ---- */

struct total {
    const char *name; /* of the list */
    uint64_t bytes;
};

struct output {
    const struct copyups_command *command;
    const struct policy *policy;
    struct json_doc *skipped; /* {"skipped": […]}, printed at the end */
    struct json *skips;
    struct total totals[TOTALS_MOST];
    size_t total_count, printed;
    uint64_t bytes;
};

static int begin_json(struct output *o, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    o->skipped = json_new_object(err);
    if (!o->skipped)
        return -1;
    o->skips = json_set(o->skipped, json_root(o->skipped), "skipped", json_array(o->skipped));
    buf_puts(&out, "{\"containers\":[");
    return program_print(&out, err);
}

static void skip(struct output *o, const char *engine, const char *name, const char *why)
{
    if (!o->command->json) {
        log_warning("%s %s: left out: %s", engine, name, why);
        return;
    }
    struct json *one = json_append(o->skipped, o->skips, json_object(o->skipped));
    json_set(o->skipped, one, "engine", json_string(o->skipped, engine));
    json_set(o->skipped, one, "name", json_string(o->skipped, name));
    json_set(o->skipped, one, "why", json_string(o->skipped, why));
}

static uint64_t weight_of_total(const void *item)
{
    return ((const struct total *)item)->bytes;
}

static int print_one(struct output *o, const struct copyups_report *report, struct err *err)
{
    const struct total total = {report->container->name, report->tally->disk};
    _cleanup_buf_ struct buf out = BUF_INIT;

    o->bytes += total.bytes;
    ranking_offer(o->totals, &o->total_count, TOTALS_MOST, sizeof(total), &total, weight_of_total);
    if (o->printed++)
        buf_puts(&out, o->command->json ? ",\n" : "\n");
    if ((o->command->json ? copyups_json(report, &out, err)
                          : copyups_print(report, columns_colour(STDOUT_FILENO),
                                          columns_of_terminal(STDOUT_FILENO), &out, err)) < 0)
        return -1;
    return program_print(&out, err);
}

static int examine(struct output *o, const struct container_found *c, struct err *err)
{
    _cleanup_container_root_ struct container_root root = CONTAINER_ROOT_INIT;
    _cleanup_tally_ struct tally tally = {0};
    struct err why = ERR_INIT;

    if (c->problem) {
        skip(o, container_engine_names[c->engine], c->name, c->problem);
        return 0;
    }
    if (container_root_open(c, &root, &why) < 0) {
        bool gone = why.kind == ERR_SYSTEM && why.sys == ENOENT;
        skip(o, container_engine_names[c->engine], c->name, gone ? "it is gone" : why.msg);
        return 0;
    }
    const struct walk_input input = {root.upper, root.layers, root.count, c->users};
    if (tally_begin(&tally, root.count, o->command->top, err) < 0)
        return -1;
    if (walk_upper(&input, &tally, &why) < 0) {
        skip(o, container_engine_names[c->engine], c->name, why.msg);
        return 0;
    }
    return print_one(o, &(struct copyups_report){c, &root, &tally, o->policy}, err);
}

/* Appends the containers that have most, after all of them. */
static int print_end(struct output *o, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    char size[HUMAN_SIZE];

    if (o->command->json) {
        _cleanup_buf_ struct buf skipped = BUF_INIT;
        if (json_write(o->skipped, &skipped, err) < 0 || buf_check(&skipped, err) < 0)
            return -1;
        buf_printf(&out, "],%s\n", skipped.data + 1); /* without its brace */
        return program_print(&out, err);
    }
    if (o->printed == 0)
        buf_puts(&out, "no container was found\n");
    if (o->printed > 1) {
        buf_printf(&out, "\n%zu containers: %s in their upper directories\n", o->printed,
                   human_size(o->bytes, size));
        for (size_t i = 0; i < o->total_count; i++) {
            buf_printf(&out, "%10s  ", human_size(o->totals[i].bytes, size));
            human_put_short(&out, o->totals[i].name, 100);
            buf_putc(&out, '\n');
        }
    }
    return program_print(&out, err);
}

/* Loads the policy. *out is NULL if there is none, or if it does not load, which is a warning. */
static void load_policy(const char *path, struct policy *policy, const struct policy **out)
{
    struct err err = ERR_INIT;

    *out = NULL;
    if (policy_open(policy, path, &err) < 0 || policy_decode(policy, &err) < 0)
        log_warning("no advice by the policy: %s", err.msg);
    else if (policy->file_count)
        *out = policy;
}

static int copyups(const struct copyups_command *c, const struct operands *words, struct err *err)
{
    _cleanup_containers_ struct container_list list = {0};
    _cleanup_policy_ struct policy *policy = policy_new(err);
    struct output o = {.command = c};

    if (!policy || list_all(c, words, &list, err) < 0)
        return -1;
    _cleanup_free_ bool *chosen = calloc(list.count + 1, sizeof(*chosen));
    if (!chosen)
        return err_nomem(err);
    if (choose(words, &list, chosen, err) < 0 || (c->json && begin_json(&o, err) < 0))
        return -1;
    _cleanup_json_ struct json_doc *skipped = o.skipped;
    load_policy(c->policy, policy, &o.policy);
    walk_raise_limit();
    for (size_t i = 0; i < list.silent_count; i++)
        skip(&o, "store", list.silent[i], "it does not answer, or may not be read");
    for (size_t i = 0; i < list.count; i++)
        if (chosen[i] && examine(&o, &list.list[i], err) < 0)
            return -1;
    return print_end(&o, err);
}

int command_copyups(int argc, char *const argv[], bool *help, struct err *err)
{
    struct copyups_command c = {.top = TOP};
    struct operands operands = {0};
    int rc = options_parse(&command_copyups_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help) {
        if (c.top > TALLY_TOP_MOST)
            rc = err_set(err, ERR_USAGE, "--top is at most %d", TALLY_TOP_MOST);
        else
            rc = copyups(&c, &operands, err);
    }
    free(operands.list);
    return rc;
}
