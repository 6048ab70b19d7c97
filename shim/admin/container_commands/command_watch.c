#include "shim/admin/container_commands/container_commands.h"

#include "base/cli/columns.h"
#include "base/cli/log.h"
#include "base/clock.h"
#include "shim/admin/copyups/walk.h"
#include "shim/admin/watch/costs.h"
#include "shim/admin/watch/depth.h"
#include "shim/admin/watch/report.h"
#include "shim/admin/watch/seen.h"
#include "shim/admin/watch/target.h"
#include "shim/admin/watch/watch.h"
#include "shim/host/process/interrupt.h"

#include <string.h>

enum { TOP = 20, SECONDS_MOST = 86400 };

struct watch_command {
    struct option_list stores;
    const char *costs;
    uint64_t seconds, top;
    bool misses, opens, json;
};

#define FIELD(name) offsetof(struct watch_command, name)
static const struct option_spec watch_options[] = {
    {"for", 0, OPTION_SECONDS, FIELD(seconds), "SECONDS", NULL,
     "end after so many seconds; by default at Ctrl-C, or when the container ends"},
    {"misses", 0, OPTION_FLAG, FIELD(misses), NULL, NULL,
     "list directories and programs by names that were missing"},
    {"opens", 0, OPTION_FLAG, FIELD(opens), NULL, NULL,
     "only files that were opened, by fanotify(7): without programs in the kernel"},
    {"top", 0, OPTION_NUMBER, FIELD(top), "N", NULL,
     "how many directories and programs are listed; by default 20, at most 1000"},
    {"store", 0, OPTION_LIST, FIELD(stores), "DIR", NULL,
     "also a data-root of Docker, or a storage of podman, such as a user's; may be repeated"},
    {"costs", 0, OPTION_FILE, FIELD(costs), "FILE", NULL,
     "the times of lookups; by default where flatbed bench --save writes them"},
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "print one JSON document at the end"},
    {0},
};

const struct command_spec command_watch_spec = {
    .program = "flatbed",
    .name = "watch",
    .operands = "CONTAINER | MOUNTPOINT",
    .summary = "Show which directories a container searches for files, and what depth makes of it.",
    .details =
        "Counts the calls of a running container that name a file, such as open(2), stat(2) and\n"
        "access(2), by directory and by program, and those that found no such name: an import\n"
        "of Python looks for each module in many directories. A missing name is looked for in\n"
        "each layer that holds the directory. The kernel counts by tracepoints; where it refuses\n"
        "that, only opens are seen. On a terminal the table is drawn anew each second.\n"
        "CONTAINER is a name or the start of an ID, MOUNTPOINT an absolute path at which an\n"
        "overlay is mounted that is the root of a process.\n",
    .options = watch_options,
    .min_operands = 1,
    .max_operands = 1,
    .completes = OPERANDS_FILES,
};

/* A container that is being watched. */
struct session {
    const struct watch_command *command;
    const struct container_found *container;
    struct target target;
    struct container_root root;
    struct watch watch;
    struct watch_costs costs;
    double begin; /* clock_seconds */
};

static int put_report(struct session *s, size_t top, struct buf *out, struct err *err)
{
    const struct watch_command *c = s->command;
    _cleanup_free_ struct watch_report *r = calloc(1, sizeof(*r));

    if (!r)
        return err_nomem(err);
    *r = (struct watch_report){.container = s->container, .watch = &s->watch, .costs = &s->costs};
    r->seconds = clock_seconds() - s->begin;
    r->layers = s->root.upper >= 0 ? s->root.count + 1 : 0;
    r->directory_count = seen_top(&s->watch.seen.directories, c->misses, r->directories, top);
    r->program_count = seen_top(&s->watch.seen.programs, c->misses, r->programs, top);
    if (depth_find(&s->root, s->root.users, &s->target, r->directories, r->directory_count, err) <
        0)
        return -1;
    if (c->json)
        return watch_json(r, out, err);
    watch_print(r, columns_of_terminal(STDOUT_FILENO), out);
    return buf_check(out, err);
}

#define CLEAR "\x1b[H\x1b[2J"

/* Draws the table in place of the last one. */
static int draw(struct session *s, struct err *err)
{
    enum { SHOWN = 10 };
    _cleanup_buf_ struct buf out = BUF_INIT;

    buf_puts(&out, CLEAR);
    if (put_report(s, s->command->top < SHOWN ? (size_t)s->command->top : SHOWN, &out, err) < 0)
        return -1;
    return program_print(&out, err);
}

/* Watches. *drawn becomes the seconds at which the table was drawn last, 0: never. */
static int watch_until_end(struct session *s, double *drawn, struct err *err)
{
    bool live = !s->command->json && isatty(STDOUT_FILENO);

    *drawn = 0;
    while (!interrupts_pending()) {
        bool runs = watch_wait(&s->watch);
        double now = clock_seconds() - s->begin;
        if (!runs || (s->command->seconds && now >= (double)s->command->seconds))
            break;
        if (live && now - *drawn >= 1) {
            *drawn = now;
            if (draw(s, err) < 0)
                return -1;
        }
    }
    return 0;
}

/* Opens the layers. Without them the report has no depth. */
static void open_layers(struct session *s)
{
    struct err why = ERR_INIT;

    if (s->container->problem) {
        log_warning("no depth: %s", s->container->problem);
    } else if (container_root_open(s->container, &s->root, &why) < 0) {
        log_warning("no depth: %s", why.msg);
        container_root_close(&s->root);
    }
}

static int run_session(struct session *s, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    const char *costs = s->command->costs;
    double drawn;

    if (watch_costs_read(costs ? costs : WATCH_COSTS_FILE, costs != NULL, &s->costs, err) < 0 ||
        target_open(s->container, &s->target, err) < 0)
        return -1;
    open_layers(s);
    s->begin = clock_seconds();
    if (watch_begin(&s->watch, &s->target, s->command->opens, err) < 0)
        return -1;
    log_info("watching %s", s->container->name);
    if (s->watch.why[0] && !s->command->opens)
        log_warning("only opens are seen, no misses: %s", s->watch.why);
    if (watch_until_end(s, &drawn, err) < 0)
        return -1;
    if (drawn > 0)
        buf_puts(&out, CLEAR);
    if (put_report(s, (size_t)s->command->top, &out, err) < 0)
        return -1;
    return program_print(&out, err);
}

static int watch(const struct watch_command *c, const char *word, struct err *err)
{
    _cleanup_containers_ struct container_list list = {0};
    struct containers_where where = {
        .engines = {true, true, true}, .stores = c->stores.items, .store_count = c->stores.count};
    struct session s = {
        .command = c, .target = TARGET_INIT, .root = CONTAINER_ROOT_INIT, .watch = WATCH_INIT};
    sigset_t before;

    if (word[0] == '/' ? containers_add_mount(&list, word, err) < 0
                       : containers_list(&where, &list, err) < 0)
        return -1;
    s.container = word[0] == '/' ? &list.list[0] : target_choose(&list, word, err);
    if (!s.container)
        return -1;
    walk_raise_limit();
    interrupts_hold(&before);
    int rc = run_session(&s, err);
    watch_end(&s.watch);
    container_root_close(&s.root);
    target_close(&s.target);
    return rc;
}

int command_watch(int argc, char *const argv[], bool *help, struct err *err)
{
    struct watch_command c = {.top = TOP};
    struct operands operands = {0};
    int rc = options_parse(&command_watch_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help) {
        if (c.top > WATCH_TOP_MOST || c.top == 0)
            rc = err_set(err, ERR_USAGE, "--top is from 1 to %d", WATCH_TOP_MOST);
        else if (c.seconds > SECONDS_MOST)
            rc = err_set(err, ERR_USAGE, "--for is at most %d seconds", SECONDS_MOST);
        else
            rc = watch(&c, operands.list[0], err);
    }
    free(operands.list);
    return rc;
}
