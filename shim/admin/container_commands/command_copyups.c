#include "shim/admin/container_commands/container_commands.h"

#include "base/cli/log.h"
#include "shim/admin/containers/containers.h"
#include "shim/admin/copyups/copyups_output.h"
#include "shim/admin/copyups/report.h"
#include "shim/admin/copyups/tally.h"
#include "shim/admin/copyups/walk.h"
#include "shim/policy/read/policy_read.h"

#include <string.h>

enum { TOP = 10, WATCH_MOST = 86400 };

struct copyups_command {
    struct option_list engines, stores, containerds;
    const char *policy;
    uint64_t top, watch;
    bool json;
    const char *html;
};

#define FIELD(name) offsetof(struct copyups_command, name)
static const struct option_spec copyups_options[] = {
    {"engine", 0, OPTION_LIST, FIELD(engines), "NAME", NULL,
     "only docker, podman or containerd; may be repeated"},
    {"store", 0, OPTION_LIST, FIELD(stores), "DIR", NULL,
     "also a data-root of Docker, or a storage of podman, such as a user's; may be repeated"},
    {"containerd", 0, OPTION_LIST, FIELD(containerds), "SOCKET", NULL,
     "also ask the containerd at this socket; may be repeated"},
    {"policy", 0, OPTION_FILE, FIELD(policy), "FILE", NULL,
     "the policy; by default /etc/flatbed/policy.json"},
    {"top", 0, OPTION_NUMBER, FIELD(top), "N", NULL,
     "how many files and directories are named; by default 10, at most 1000"},
    {"watch", 0, OPTION_SECONDS, FIELD(watch), "SECONDS", NULL,
     "read again and again, so many seconds apart, and print a line for each that changed"},
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "print it as JSON"},
    {"html", 0, OPTION_FILE, FIELD(html), "FILE", NULL,
     "also write a page of HTML; it needs no other file and no network"},
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
    struct containers_where where = {.stores = c->stores.items,
                                     .store_count = c->stores.count,
                                     .containerds = c->containerds.items,
                                     .containerd_count = c->containerds.count};

    if (choose_engines(&c->engines, &where, err) < 0)
        return -1;
    if (!only_paths(words) && containers_list(&where, list, err) < 0)
        return -1;
    for (int i = 0; i < words->count; i++)
        if (words->list[i][0] == '/' && containers_add_mount(list, words->list[i], err) < 0)
            return -1;
    return 0;
}

/* ---- reading ---- */

static int examine(struct copyups_output *o, const struct container_found *c, size_t top,
                   struct err *err)
{
    _cleanup_container_root_ struct container_root root = CONTAINER_ROOT_INIT;
    _cleanup_tally_ struct tally tally = {0};
    struct err why = ERR_INIT;

    if (c->problem) {
        copyups_output_skip(o, container_engine_names[c->engine], c->name, c->problem);
        return 0;
    }
    if (container_root_open(c, &root, &why) < 0) {
        bool gone = err_missing(&why);
        copyups_output_skip(o, container_engine_names[c->engine], c->name,
                            gone ? "it is gone" : why.msg);
        return 0;
    }
    const struct walk_input input = {root.upper, root.layers, root.count, c->name, root.users};
    if (tally_begin(&tally, root.count, top, err) < 0)
        return -1;
    if (walk_upper(&input, &tally, &why) < 0) {
        copyups_output_skip(o, container_engine_names[c->engine], c->name, why.msg);
        return 0;
    }
    if (tally.file_count)
        container_root_history(c, &root);
    const struct copyups_report report = {c, &root, &tally, o->policy};
    return copyups_output_add(o, &report, &tally, err);
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

/* Reads the containers once. */
static int read_all(const struct copyups_command *c, struct copyups_output *o,
                    const struct operands *words, struct err *err)
{
    _cleanup_containers_ struct container_list list = {0};

    if (list_all(c, words, &list, err) < 0)
        return -1;
    _cleanup_free_ bool *chosen = calloc(list.count + 1, sizeof(*chosen));
    if (!chosen)
        return err_nomem(err);
    if (choose(words, &list, chosen, err) < 0 || copyups_output_begin(o, err) < 0)
        return -1;
    for (size_t i = 0; i < list.silent_count; i++)
        copyups_output_skip(o, "store", list.silent[i],
                            "it does not answer, is missing, or may not be read");
    for (size_t i = 0; i < list.count; i++)
        if (chosen[i] && examine(o, &list.list[i], (size_t)c->top, err) < 0)
            return -1;
    return copyups_output_end(o, err);
}

static int copyups(const struct copyups_command *c, const struct operands *words, struct err *err)
{
    _cleanup_policy_ struct policy *policy = policy_new(err);
    _cleanup_(copyups_output_free) struct copyups_output o = COPYUPS_OUTPUT_INIT;
    int rc;

    if (!policy)
        return -1;
    o.json = c->json;
    o.watch = c->watch != 0;
    o.html = c->html;
    load_policy(c->policy, policy, &o.policy);
    walk_raise_limit();
    while ((rc = read_all(c, &o, words, err)) == 0 && c->watch)
        sleep((unsigned)c->watch);
    return rc;
}

int command_copyups(int argc, char *const argv[], bool *help, struct err *err)
{
    struct copyups_command c = {.top = TOP};
    struct operands operands = {0};
    int rc = options_parse(&command_copyups_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help) {
        if (c.top > TALLY_TOP_MOST)
            rc = err_set(err, ERR_USAGE, "--top is at most %d", TALLY_TOP_MOST);
        else if (c.watch > WATCH_MOST)
            rc = err_set(err, ERR_USAGE, "--watch is at most %d seconds", WATCH_MOST);
        else if (c.watch && (c.json || c.html))
            rc = err_set(err, ERR_USAGE, "--watch goes with neither --json nor --html");
        else
            rc = copyups(&c, &operands, err);
    }
    free(operands.list);
    return rc;
}
