#include "shim/admin/commands.h"

#include "base/cli/columns.h"
#include "base/cli/log.h"
#include "base/fdio.h"
#include "base/human.h"
#include "base/path.h"
#include "base/ranking.h"
#include "shim/admin/containers/containers.h"
#include "shim/admin/copyups/growth.h"
#include "shim/admin/copyups/report.h"
#include "shim/admin/copyups/tally.h"
#include "shim/admin/copyups/walk.h"
#include "shim/policy/read/policy_read.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>

enum { TOP = 10, TOTALS_MOST = 50, NAME_SHOWN = 100, PATH_SHOWN = 200, WATCH_MOST = 86400 };

struct copyups_command {
    struct option_list engines, stores;
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
    {"policy", 0, OPTION_FILE, FIELD(policy), "FILE", NULL,
     "the policy; by default /etc/flatbed/policy.json"},
    {"top", 0, OPTION_NUMBER, FIELD(top), "N", NULL,
     "how many files and directories are named; by default 10, at most 1000"},
    {"watch", 0, OPTION_NUMBER, FIELD(watch), "SECONDS", NULL,
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

/* A container as it was when --watch read it last. */
struct past {
    char *id;
    struct tally tally;
    bool here; /* in this round, too */
};

struct output {
    struct past *past; /* owned */
    size_t past_count;
    bool again; /* not the first round of --watch */
    const struct copyups_command *command;
    const struct policy *policy;
    struct atomic_file page; /* of --html */
    int page_dir;
    struct json_doc *skipped; /* {"skipped": […]}, printed at the end */
    struct json *skips;
    struct total totals[TOTALS_MOST];
    size_t total_count, printed;
    uint64_t bytes;
};

/* Writes to the page of --html. */
static int write_page(struct output *o, const struct buf *text, struct err *err)
{
    if (buf_check(text, err) < 0 || fd_write_all(o->page.fd, text->data, text->len, err) < 0)
        return err_wrap(err, "%s", o->command->html);
    return 0;
}

static int begin_page(struct output *o, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    const char *name;
    _cleanup_free_ char *parent = path_parent(o->command->html, &name);

    if (!parent)
        return err_nomem(err);
    o->page_dir = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (o->page_dir < 0)
        return err_sys(err, "%s", parent);
    if (atomic_file_begin(&o->page, o->page_dir, name, 0644, err) < 0)
        return err_wrap(err, "%s", o->command->html);
    copyups_html_begin(&out);
    return write_page(o, &out, err);
}

static int add_to_page(struct output *o, const struct copyups_report *report, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    return copyups_html(report, &out, err) < 0 ? -1 : write_page(o, &out, err);
}

static int end_page(struct output *o, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    copyups_html_end(&out);
    return write_page(o, &out, err) < 0 ? -1 : atomic_file_commit(&o->page, err);
}

/* Prints what comes before the containers. */
static int print_begin(struct output *o, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    if (o->command->html && begin_page(o, err) < 0)
        return -1;
    if (o->command->json) {
        o->skipped = json_new_object(err);
        if (!o->skipped)
            return -1;
        o->skips = json_set(o->skipped, json_root(o->skipped), "skipped", json_array(o->skipped));
        buf_puts(&out, "{\"containers\":[");
    }
    return program_print(&out, err);
}

static void skip(struct output *o, const char *engine, const char *name, const char *why)
{
    if (o->again)
        return;
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

/* ---- what changed ---- */

static struct past *find_past(struct output *o, const char *id)
{
    for (size_t i = 0; i < o->past_count; i++)
        if (strcmp(o->past[i].id, id) == 0)
            return &o->past[i];
    return NULL;
}

/* Prints a line for a container that changed: what it has, what is new, and where. */
static int print_change(const struct past *past, const struct copyups_report *report,
                        struct err *err)
{
    static const struct tally nothing;
    _cleanup_buf_ struct buf out = BUF_INIT;
    const struct tally *now = report->tally, *before = past ? &past->tally : &nothing;
    char size[HUMAN_SIZE], change[HUMAN_SIZE], clock[16] = "";
    bool more = now->disk >= before->disk;
    time_t seconds = time(NULL);
    struct tm local;
    uint64_t by;

    if (past && now->disk == before->disk)
        return 0;
    if (localtime_r(&seconds, &local))
        strftime(clock, sizeof(clock), "%H:%M:%S", &local);
    const struct tally_directory *grown = growth_find(before, now, &by);
    buf_printf(&out, "%s  %10s  %c%-10s  ", clock, human_size(now->disk, size), more ? '+' : '-',
               human_size(more ? now->disk - before->disk : before->disk - now->disk, change));
    human_put_short(&out, report->container->name, NAME_SHOWN);
    if (past && grown) {
        buf_printf(&out, "  +%s in ", human_size(by, change));
        human_put_short(&out, grown->path, PATH_SHOWN);
    }
    buf_putc(&out, '\n');
    return program_print(&out, err);
}

/* Prints what changed of a container, and keeps its tally, which the caller no longer has. */
static int watch_one(struct output *o, const struct copyups_report *report, struct tally *tally,
                     struct err *err)
{
    struct past *past = find_past(o, report->container->id);

    if (print_change(past, report, err) < 0)
        return -1;
    if (!past) {
        struct past *grown = reallocarray(o->past, o->past_count + 1, sizeof(*grown));
        char *id = strdup(report->container->id);
        if (grown)
            o->past = grown;
        if (!grown || !id) {
            free(id);
            return err_nomem(err);
        }
        past = &grown[o->past_count++];
        *past = (struct past){.id = id};
    }
    tally_free(&past->tally);
    past->tally = *tally;
    *tally = (struct tally){0};
    past->here = true;
    return 0;
}

/* Forgets the containers that are gone. */
static void forget_past(struct output *o, bool all)
{
    size_t kept = 0;

    for (size_t i = 0; i < o->past_count; i++) {
        struct past *past = &o->past[i];
        if (past->here && !all) {
            past->here = false;
            o->past[kept++] = *past;
            continue;
        }
        free(past->id);
        tally_free(&past->tally);
    }
    o->past_count = kept;
}

/* ---- all of it ---- */

static int print_one(struct output *o, const struct copyups_report *report, struct err *err)
{
    const struct total total = {report->container->name, report->tally->disk};
    _cleanup_buf_ struct buf out = BUF_INIT;

    o->bytes += total.bytes;
    ranking_offer(o->totals, &o->total_count, TOTALS_MOST, sizeof(total), &total, weight_of_total);
    if (o->printed++)
        buf_puts(&out, o->command->json ? ",\n" : "\n");
    if (o->command->html && add_to_page(o, report, err) < 0)
        return -1;
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
    const struct copyups_report report = {c, &root, &tally, o->policy};
    return o->command->watch ? watch_one(o, &report, &tally, err) : print_one(o, &report, err);
}

/* Appends the containers that have most, after all of them. */
static int print_end(struct output *o, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    char size[HUMAN_SIZE];

    if (o->command->html && end_page(o, err) < 0)
        return -1;
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

/* Reads the containers once. */
static int read_all(struct output *o, const struct operands *words, struct err *err)
{
    _cleanup_containers_ struct container_list list = {0};

    if (list_all(o->command, words, &list, err) < 0)
        return -1;
    _cleanup_free_ bool *chosen = calloc(list.count + 1, sizeof(*chosen));
    if (!chosen)
        return err_nomem(err);
    if (choose(words, &list, chosen, err) < 0 || (!o->command->watch && print_begin(o, err) < 0))
        return -1;
    for (size_t i = 0; i < list.silent_count; i++)
        skip(o, "store", list.silent[i], "it does not answer, or may not be read");
    for (size_t i = 0; i < list.count; i++)
        if (chosen[i] && examine(o, &list.list[i], err) < 0)
            return -1;
    return o->command->watch ? 0 : print_end(o, err);
}

static int copyups(const struct copyups_command *c, const struct operands *words, struct err *err)
{
    _cleanup_policy_ struct policy *policy = policy_new(err);
    struct output o = {.command = c, .page = ATOMIC_FILE_INIT, .page_dir = -1};
    int rc;

    if (!policy)
        return -1;
    load_policy(c->policy, policy, &o.policy);
    walk_raise_limit();
    while ((rc = read_all(&o, words, err)) == 0 && c->watch) {
        forget_past(&o, false);
        o.again = true;
        sleep((unsigned)c->watch);
    }
    forget_past(&o, true);
    free(o.past);
    cleanup_json_doc(&o.skipped);
    atomic_file_abort(&o.page);
    cleanup_fd(&o.page_dir);
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
