#include "shim/warm/warm_start.h"

#include "base/clock.h"
#include "shim/audit/audit.h"
#include "shim/host/process/interrupt.h"
#include "shim/warm/read/warm_memory.h"
#include "shim/warm/warm_root.h"
#include "shim/warm/warm_session.h"

#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum {
    ROOTS = 65,           /* the image, and volumes */
    LONGEST_LAUNCH = 600, /* seconds */
    STEP = 100,           /* milliseconds */
};

/* A start on its way. */
struct run {
    struct warm_start *start;
    struct warm_store store;
    struct warm_root roots[ROOTS];
    struct warm_part parts[ROOTS]; /* the first is the image's */
    size_t root_count, part_count;
    struct warm_session session;
};

/* ---- the places ---- */

/* Returns true if there is something to do for the root. */
static bool is_wanted(struct warm_root *root, const struct warm_start *s)
{
    enum policy_record when = s->rules->record;

    if (s->container) { /* by hand: gains that were measured before are forgotten */
        root->record.judged = root->record.low = root->record.gain = 0;
        root->record.off = "";
    }
    bool off = root->known && *root->record.off;
    root->records = !off && (when == RECORD_ALWAYS ||
                             (when == RECORD_FIRST && (!root->known || !root->record.whole)));
    return root->locked >= 0 && !off && (root->known || root->records);
}

static int add_root(struct run *r, const struct warm_place *place, uint32_t part, struct err *err)
{
    struct warm_root *root = &r->roots[r->root_count];
    struct err unreadable = ERR_INIT;

    if (warm_root_open(&r->store, place, r->start->arena, root, &unreadable, err) < 0)
        return -1;
    if (unreadable.kind != ERR_NONE && err_wrap(&unreadable, "warm: recorded anew") < 0)
        audit_syslog_warning(unreadable.msg);
    root->part = part;
    if (!is_wanted(root, r->start)) {
        warm_root_close(root, &r->store);
        return 0;
    }
    futimens(root->locked, NULL); /* the time of its last use */
    r->root_count++;
    return r->start->container ? 0 : warm_root_plan(root, r->start->arena, err);
}

static int add_image(struct run *r, struct err *err)
{
    struct chain *chain = arena_alloc(r->start->arena, sizeof(*chain));
    struct warm_place place;
    struct err why = ERR_INIT;

    r->parts[r->part_count++] = (struct warm_part){.target = "/"};
    if (!chain)
        return err_nomem(err);
    if (chain_find(r->start->layers, r->start->point, r->start->arena, chain, &why) < 0)
        return why.kind == ERR_UNSUPPORTED ? 0 : err_wrap(&why, "layers");
    warm_place_of_chain(chain, &place);
    return add_root(r, &place, 0, err);
}

static int add_volumes(struct run *r, struct err *err)
{
    for (size_t i = 0; i < r->start->volume_count && r->part_count < ROOTS; i++) {
        const struct warm_volume *v = &r->start->volumes[i];
        struct err ignored = ERR_INIT;
        struct warm_place place;
        if (warm_place_of_volume(v->directory, r->start->arena, &place, &ignored) < 0)
            continue;
        uint32_t part = (uint32_t)r->part_count++;
        r->parts[part] = (struct warm_part){.target = v->target, .directory = v->directory};
        if (add_root(r, &place, part, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- reading ahead ---- */

/*
 * Waits for the end of the launch; of a launch that lasts, for the container's first open. One that
 * was over before it could be looked at (-1) is not waited for.
 */
static void wait_for_launch(struct run *r, int launcher)
{
    struct pollfd end = {.fd = launcher, .events = POLLIN};
    int64_t begin = clock_ms();

    while (launcher >= 0 && r->session.first < 0 &&
           clock_ms() - begin < (int64_t)LONGEST_LAUNCH * 1000 && poll(&end, 1, 0) == 0)
        warm_session_wait(&r->session, launcher, STEP);
}

/* Puts the items of all roots into one list, in the arena, and has the roots name those. */
static size_t gather_items(struct run *r, struct read_item **list)
{
    size_t count = 0;

    for (size_t i = 0; i < r->root_count; i++)
        count += r->roots[i].item_count;
    *list = arena_alloc(r->start->arena, (count + 1) * sizeof(**list));
    count = 0;
    for (size_t i = 0; *list && i < r->root_count; i++) {
        struct warm_root *root = &r->roots[i];
        if (root->item_count)
            memcpy(*list + count, root->items, root->item_count * sizeof(**list));
        root->items = *list + count;
        count += root->item_count;
    }
    return count;
}

static bool any_records(const struct run *r)
{
    for (size_t i = 0; i < r->root_count; i++)
        if (r->roots[i].records)
            return true;
    return false;
}

static bool any_read(const struct read_item *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (items[i].read)
            return true;
    return false;
}

/* Reads ahead while the container runs, and looks at it until the time is over. */
static int follow(struct run *r, struct err *err)
{
    struct read_item *items;
    size_t count = gather_items(r, &items);
    uint64_t budget = warm_memory(&r->start->rules->max, r->start->limit);
    int64_t end = clock_ms() + (int64_t)r->start->rules->seconds * 1000;

    if (!items)
        return err_nomem(err);
    if (count && warm_memory_uncharge(err) < 0)
        return -1;
    struct read_ahead *reading = count ? read_ahead_begin(items, count, budget, err) : NULL;
    if (count && !reading)
        return -1;
    while (clock_ms() < end && !warm_session_over(&r->session) && !interrupts_pending()) {
        if (reading && read_ahead_done(reading)) {
            read_ahead_end(reading);
            reading = NULL;
            if (!any_records(r) && !any_read(items, count))
                break; /* all of it was cached */
        }
        warm_session_wait(&r->session, -1, STEP);
    }
    read_ahead_end(reading);
    warm_session_wait(&r->session, -1, 0); /* what a container that ended opened last */
    return 0;
}

/* ---- the records ---- */

/* Takes note of the gain. A low one of a container that ended early says nothing. */
static int judge(struct run *r, struct warm_root *root, bool ended, struct err *err)
{
    int gain = root->item_count ? warm_root_gain(root, &r->session) : -1;

    if (gain < (ended ? WARM_LEAST_GAIN : 0))
        return 0;
    if (warm_record_judge(&root->record, (unsigned)gain, r->start->arena, err) < 0)
        return -1;
    _cleanup_free_ char *text =
        *root->record.off ? strf("warm: %s is not read ahead any more: %s; flatbed warm --drop "
                                 "begins anew",
                                 root->place.paths[0], root->record.off)
                          : NULL;
    if (text)
        audit_syslog_warning(text);
    return 0;
}

static int finish(struct run *r, struct warm_root *root, struct err *err)
{
    bool ended = warm_session_over(&r->session), better = false;
    uint64_t judged = root->record.judged;

    if (judge(r, root, ended, err) < 0)
        return -1;
    if (root->records &&
        warm_root_record(root, &r->session, ended, r->start->arena, &better, err) < 0)
        return -1;
    if (!better && root->record.judged == judged)
        return 0;
    if (root->part == 0 && r->start->image && !strchr(r->start->image, '\n'))
        root->record.image = r->start->image;
    root->known = true;
    r->start->written++;
    return warm_store_write(root->locked, &root->record, err);
}

static int begin_session(struct run *r, struct err *err)
{
    const struct warm_start *s = r->start;
    char within[64];

    snprintf(within, sizeof(within), "/proc/%d/root", (int)s->container);
    return warm_session_begin(&r->session, s->container ? within : s->point, s->container != 0,
                              r->parts, err);
}

static int go_through(struct run *r, struct err *err)
{
    const struct warm_start *s = r->start;
    _cleanup_fd_ int launcher = s->container ? -1 : (int)syscall(SYS_pidfd_open, s->launcher, 0);

    if (begin_session(r, err) < 0 || add_image(r, err) < 0 || add_volumes(r, err) < 0)
        return -1;
    r->session.part_count = r->part_count;
    if (!r->root_count)
        return 0;
    setpriority(PRIO_PROCESS, 0, 0); /* on a busy host it would come too late; I/O stays idle */
    if (s->container)
        warm_session_enter(&r->session, s->container);
    else
        wait_for_launch(r, launcher);
    if (follow(r, err) < 0)
        return -1;
    for (size_t i = 0; i < r->root_count; i++)
        if (finish(r, &r->roots[i], err) < 0)
            return -1;
    return 0;
}

int warm_start_run(struct warm_start *start, struct err *err)
{
    struct run *r = arena_alloc(start->arena, sizeof(*r));

    if (!r)
        return err_nomem(err);
    r->start = start;
    r->store = (struct warm_store)WARM_STORE_INIT;
    r->session = (struct warm_session){.fd = -1, .first = -1};
    if (start->mounts >= 0 && setns(start->mounts, CLONE_NEWNS) < 0)
        return err_sys(err, "the engine's mounts");
    int rc = warm_store_open(start->store, true, &r->store, err);
    if (rc == 0)
        rc = go_through(r, err);
    warm_session_end(&r->session);
    for (size_t i = 0; i < r->root_count; i++)
        warm_root_close(&r->roots[i], &r->store);
    warm_store_close(&r->store);
    return rc;
}
