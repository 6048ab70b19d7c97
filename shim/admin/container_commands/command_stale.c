#include "shim/admin/container_commands/container_commands.h"

#include "base/cli/columns.h"
#include "base/cli/log.h"
#include "base/human.h"
#include "base/json/json.h"
#include "shim/admin/leftovers/stale_folders.h"
#include "shim/admin/leftovers/stale_staged.h"
#include "shim/admin/leftovers/stale_trees.h"
#include "shim/admin/leftovers/stale_unfinished.h"
#include "shim/admin/stale/stale.h"
#include "shim/host/trust.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DAY = 24 * 3600, HOUR = 3600, DAYS = 30, STATUS_LEFT_OUT = 1 };
enum { COLUMN = 25 }; /* of the text behind size and age */

struct stale_command {
    struct option_list stores, beside;
    const char *older, *cache, *policy;
    bool json, remove;
};

#define FIELD(name) offsetof(struct stale_command, name)
static const struct option_spec stale_options[] = {
    {"store", 0, OPTION_LIST, FIELD(stores), "DIR", NULL,
     "only this data-root of Docker, or storage of podman; may be repeated"},
    {"cache", 0, OPTION_FILE, FIELD(cache), "DIR", NULL, "only this cache of restack"},
    {"policy", 0, OPTION_FILE, FIELD(policy), "FILE", NULL,
     "only the folders and staged copies of this policy's volumes"},
    {"beside", 0, OPTION_LIST, FIELD(beside), "DIR", NULL,
     "only what killed runs of flatten and flatbed left in this directory; may be repeated"},
    {"older", 0, OPTION_TEXT, FIELD(older), "AGE", NULL,
     "only what did not change for so long, as 30d or 12h; by default 30d with --remove, else all"},
    {"remove", 0, OPTION_FLAG, FIELD(remove), NULL, NULL,
     "remove what is listed, once it is found again under the engine's locks"},
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "print it as JSON"},
    {0},
};

const struct command_spec command_stale_spec = {
    .program = "flatbed",
    .name = "stale",
    .operands = "",
    .summary = "List directories in the stores of engines that no engine knows any more.",
    .details =
        "Compares the directories in Docker's overlay2 and in the storage of podman, buildah and\n"
        "CRI-O with what the engines' own files name: killed daemons and full disks leave layers\n"
        "and roots of containers there that no prune removes. Nothing is removed without "
        "--remove.\n"
        "A store whose files cannot all be read and understood is left out, with exit status 1.\n"
        "Also lists trees of restack whose layers are gone, and folders that volumes made for\n"
        "containers that are gone. Such folders are never removed: users' data may be in them.\n"
        "Also lists copies of stage whose source is gone, and what killed runs of flatten and\n"
        "flatbed left beside their results. containerd is not looked at: it removes such\n"
        "directories itself.\n",
    .options = stale_options,
    .completes = OPERANDS_NONE,
};

/* ---- for programs ---- */

static const char *state_of(const struct stale_item *item)
{
    if (item->removed)
        return "removed";
    return item->kept ? "kept" : "stale";
}

static void add_item(const struct stale_item *item, int64_t now, struct json_doc *doc,
                     struct json *items)
{
    struct json *one = json_append(doc, items, json_object(doc));
    _cleanup_free_ char *path = strf("%s/%s", item->parent, item->name);

    json_set(doc, one, "path", path ? json_string(doc, path) : NULL);
    json_set(doc, one, "engine", json_string(doc, stale_engine_names[item->engine]));
    json_set(doc, one, "kind", json_string(doc, stale_kind_names[item->kind]));
    json_set(doc, one, "state", json_string(doc, state_of(item)));
    json_set(doc, one, "bytes", json_number(doc, item->bytes));
    json_set(doc, one, "partial", json_bool(doc, item->partial));
    json_set(doc, one, "changed", json_number_signed(doc, item->changed));
    json_set(doc, one, "age", json_number_signed(doc, now - item->changed));
    json_set(doc, one, "why", json_string(doc, item->why));
    if (item->kept)
        json_set(doc, one, "kept", json_string(doc, item->kept));
}

static int put_json(const struct stale_list *list, int64_t now, struct buf *out, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);

    if (!doc)
        return -1;
    struct json *items = json_set(doc, json_root(doc), "stale", json_array(doc));
    for (size_t i = 0; i < list->count; i++)
        add_item(&list->list[i], now, doc, items);
    struct json *left = json_set(doc, json_root(doc), "left_out", json_array(doc));
    for (size_t i = 0; i < list->problem_count; i++) {
        struct json *one = json_append(doc, left, json_object(doc));
        json_set(doc, one, "path", json_string(doc, list->problems[i].path));
        json_set(doc, one, "why", json_string(doc, list->problems[i].why));
    }
    if (json_write(doc, out, err) < 0)
        return -1;
    buf_putc(out, '\n');
    return 0;
}

/* ---- for people ---- */

static void put_age(struct buf *out, int64_t seconds)
{
    if (seconds < 0)
        seconds = 0;
    if (seconds >= 2 * DAY)
        buf_printf(out, "%5lld days   ", (long long)seconds / DAY);
    else
        buf_printf(out, "%5lld hours  ", (long long)seconds / HOUR);
}

static void put_item(const struct stale_item *item, int64_t now, size_t terminal, struct buf *out)
{
    char size[HUMAN_SIZE];
    _cleanup_free_ char *text = strf(
        "%s %s  %s/%s: %s%s%s%s", stale_engine_names[item->engine], stale_kind_names[item->kind],
        item->parent, item->name, item->removed ? "removed: " : "", item->why,
        item->kept ? "; it stays: " : "", item->kept ? item->kept : "");

    buf_printf(out, "%c%9s  ", item->partial ? '>' : ' ', human_size(item->bytes, size));
    put_age(out, now - item->changed);
    if (text)
        columns_fold(text, COLUMN, terminal, out);
    else
        out->failed = true;
    buf_putc(out, '\n');
}

static void put_text(const struct stale_list *list, int64_t now, size_t terminal, struct buf *out)
{
    uint64_t bytes = 0, gone = 0;
    size_t removed = 0;
    char size[HUMAN_SIZE];

    for (size_t i = 0; i < list->count; i++) {
        put_item(&list->list[i], now, terminal, out);
        removed += list->list[i].removed;
        *(list->list[i].removed ? &gone : &bytes) += list->list[i].bytes;
    }
    if (removed)
        buf_printf(out, "%zu director%s removed: %s\n", removed, human_y(removed),
                   human_size(gone, size));
    if (list->count > removed || list->count == 0)
        buf_printf(out, "%zu stale director%s: %s\n", list->count - removed,
                   human_y(list->count - removed), human_size(bytes, size));
}

/* ---- the command ---- */

static void log_removal(const struct stale_item *item)
{
    log_info("removing %s/%s: %s", item->parent, item->name, item->why);
}

static void tell_progress(const char *path, size_t done, size_t count)
{
    log_info("%s: measured %zu of %zu directories", path, done, count);
}

static int find_all(const struct stale_command *c, const struct stale_limits *limits,
                    struct stale_list *list, struct err *err)
{
    bool all = c->stores.count == 0 && c->beside.count == 0 && !c->cache && !c->policy;

    if ((all || c->cache) && stale_trees(c->cache, limits, list, err) < 0)
        return -1;
    if ((all || c->policy) && (stale_folders(c->policy, limits, list, err) < 0 ||
                               stale_staged(c->policy, limits, list, err) < 0))
        return -1;
    if (all && (stale_usual_unfinished(limits, list, err) < 0 ||
                stale_usual_stores(limits, list, err) < 0))
        return -1;
    for (size_t i = 0; i < c->beside.count; i++)
        if (stale_unfinished(c->beside.items[i], true, limits, list, err) < 0)
            return -1;
    for (size_t i = 0; i < c->stores.count; i++)
        if (stale_store(c->stores.items[i], true, limits, list, err) < 0)
            return -1;
    return 0;
}

/* Prints the list. Returns the exit status: 1 if something was left out or stays. */
static int report(const struct stale_command *c, const struct stale_list *list, int64_t now,
                  struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    int status = list->problem_count ? STATUS_LEFT_OUT : 0;

    for (size_t i = 0; i < list->problem_count && !c->json; i++)
        log_warning("%s: left out, nothing there is held to be stale: %s", list->problems[i].path,
                    list->problems[i].why);
    for (size_t i = 0; i < list->count; i++)
        if (list->list[i].kept && list->list[i].kind != STALE_FOLDER)
            status = STATUS_LEFT_OUT;
    if (!c->json)
        put_text(list, now, columns_of_terminal(STDOUT_FILENO), &out);
    else if (put_json(list, now, &out, err) < 0)
        return -1;
    return program_print(&out, err) < 0 ? -1 : status;
}

static int stale(const struct stale_command *c, struct err *err)
{
    _cleanup_stale_ struct stale_list list = {0};
    struct stale_limits limits = {
        .now = time(NULL), .remove = c->remove, .log = log_removal, .tell = tell_progress};

    limits.older = c->remove ? (int64_t)DAYS * DAY : INT64_MIN;
    if (c->older && !stale_duration(c->older, &limits.older))
        return err_set(err, ERR_USAGE, "--older=%s: expected days or hours, such as 30d or 12h",
                       c->older);
    if (c->remove && trust_rootless())
        return err_set(err, ERR_UNSUPPORTED,
                       "only root sees the mounts of all processes, and can remove what is stale");
    if (find_all(c, &limits, &list, err) < 0)
        return -1;
    return report(c, &list, limits.now, err);
}

int command_stale(int argc, char *const argv[], bool *help, struct err *err)
{
    struct stale_command c = {0};
    struct operands operands = {0};
    int rc = options_parse(&command_stale_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help)
        rc = stale(&c, err);
    free(operands.list);
    return rc;
}
