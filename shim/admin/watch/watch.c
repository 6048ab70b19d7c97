#include "shim/admin/watch/watch.h"

#include "shim/admin/watch/marks.h"
#include "shim/admin/watch/place.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READ_EVERY = 5 }; /* milliseconds */

int watch_begin(struct watch *out, const struct target *target, bool opens, struct err *err)
{
    struct err why = ERR_INIT;

    *out = (struct watch)WATCH_INIT;
    out->target = target;
    out->known[(uint32_t)target->pid % WATCH_KNOWN] = (uint32_t)target->pid;
    out->places = calloc(1, sizeof(*out->places));
    if (!out->places)
        return err_nomem(err);
    out->places->prefix = target->prefix;
    if (seen_begin(&out->seen, err) < 0)
        return -1;
    if (!opens && tracer_open(&out->tracer, &target->filter, &why) == 0)
        return 0;
    tracer_close(&out->tracer);
    snprintf(out->why, sizeof(out->why), "%.*s", WATCH_WHY - 1,
             opens ? "--opens asks for it" : why.msg);
    out->marks = marks_open(target, err);
    if (out->marks < 0)
        return opens ? -1 : err_wrap(err, "%s, and fanotify is the other way", out->why);
    return 0;
}

/* Returns true for a task of the container. A process that was one stays one, after its end too. */
static bool is_inside(struct watch *w, const struct watch_record *r)
{
    uint32_t pid = (uint32_t)(r->task >> 32), *known = &w->known[pid % WATCH_KNOWN];

    if (w->target->filter.by_namespace || *known == pid)
        return true;
    if (!target_has(w->target, (pid_t)(uint32_t)r->task))
        return false;
    *known = pid;
    return true;
}

/* Counts a call by the directory of its path. */
static void count(struct watch *w, const struct watch_record *r, struct buf *path)
{
    char comm[WATCH_COMM + 1];

    snprintf(comm, sizeof(comm), "%.*s", WATCH_COMM, r->comm);
    w->cut += r->len >= WATCH_NAME;
    place_up(path);
    seen_add(&w->seen, path->failed || !path->data ? PLACE_UNKNOWN : path->data, comm,
             (enum watch_call)r->call, r->result);
}

static void take(const struct watch_record *r, void *ctx)
{
    struct watch *w = ctx;
    _cleanup_buf_ struct buf path = BUF_INIT;
    bool traced = w->marks < 0;

    if (traced && !is_inside(w, r))
        return;
    if (r->len > 1) /* else a descriptor alone, as of fstat(2) */
        place_of(w->places, r, &path);
    if (traced)
        place_follow(w->places, r, path.failed ? NULL : path.data);
    if (r->len > 1 && r->call < WATCH_CALLS)
        count(w, r, &path);
}

bool watch_wait(struct watch *w)
{
    struct pollfd end = {.fd = w->target->pidfd, .events = POLLIN};
    int rc = poll(&end, 1, READ_EVERY);

    if (w->marks < 0) {
        tracer_read(&w->tracer, take, w);
        w->lost = tracer_lost(&w->tracer);
    } else {
        marks_read(w->marks, w->target, take, w, &w->lost);
    }
    return rc <= 0;
}

void watch_end(struct watch *w)
{
    tracer_close(&w->tracer);
    cleanup_fd(&w->marks);
    if (w->places)
        places_free(w->places);
    free(w->places);
    seen_free(&w->seen);
    *w = (struct watch)WATCH_INIT;
}
