#include "flatten/keeper/sink/daemon_import.h"

#include "flatten/keeper/http/engine_api.h"
#include "flatten/stream/interrupt.h"
#include "flatten/stream/relay.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { PIPE_SIZE = 1024 * 1024 };

/*
 * Until the layer is ended, `out` stays open here, so the end of the pipe means a whole layer: if
 * the reader dies, there is none.
 */
struct daemon_import {
    struct engine *engine; /* of the thread */
    const char *label;
    int in, out; /* of the pipe */
    atomic_bool stop;
    struct worker *worker;
    struct digest id;   /* these two: written by the thread, read after it was joined */
    struct err failure; /* ERR_NONE: the import has worked */
};

/* ---- the thread ---- */

/* A signal may come just before poll(2), and a stop at any time: no call of it blocks for long. */
static int wait_for_data(const struct daemon_import *i, struct err *err)
{
    enum { STEP_MS = 100 };
    struct pollfd p = {.fd = i->in, .events = POLLIN};

    do {
        if (interrupt_check(err) < 0)
            return -1;
        if (atomic_load(&i->stop))
            return err_set(err, ERR_SYSTEM, "stopped");
    } while (poll(&p, 1, STEP_MS) <= 0);
    return 0;
}

/* Fills all the room: libcurl does much work for each piece. */
static ssize_t read_pipe(void *ctx, char *data, size_t room, struct err *err)
{
    const struct daemon_import *i = ctx;
    size_t have = 0;

    while (have < room) {
        if (wait_for_data(i, err) < 0)
            return -1;
        ssize_t n = read(i->in, data + have, room - have);
        if (n < 0 && errno != EINTR)
            return err_sys(err, "read");
        if (n == 0)
            break;
        have += n < 0 ? 0 : (size_t)n;
    }
    return (ssize_t)have;
}

/* The pipe is closed last, so that the failure is known when a write to it fails. */
static void send_layer(void *ctx)
{
    struct daemon_import *i = ctx;
    const struct engine_import import = {
        .message = DAEMON_IMPORT_MESSAGE, .label = i->label, .read = read_pipe, .ctx = i};

    if (engine_import(i->engine, &import, &i->id, &i->failure) < 0)
        err_wrap(&i->failure, "importing the new layer into the daemon");
    cleanup_fd(&i->in);
    i->in = -1;
}

/* ---- the main thread ---- */

static int open_pipe(struct daemon_import *i, struct err *err)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(err, "pipe");
    i->in = ends[0];
    i->out = ends[1];
    (void)!fcntl(i->out, F_SETPIPE_SZ, PIPE_SIZE); /* without it the pipe is only slower */
    return 0;
}

struct daemon_import *daemon_import_new(const char *label, struct err *err)
{
    struct daemon_import *i = calloc(1, sizeof(*i));

    if (!i) {
        err_nomem(err);
        return NULL;
    }
    i->in = i->out = -1;
    i->label = label;
    if (open_pipe(i, err) == 0 && (i->engine = engine_open_until(&i->stop, err)) &&
        (i->worker = worker_start(send_layer, i, err)))
        return i;
    daemon_import_free(i);
    return NULL;
}

static void wait_for_end(struct daemon_import *i)
{
    if (i->worker)
        worker_join(steal_ptr(&i->worker));
}

void daemon_import_free(struct daemon_import *i)
{
    atomic_store(&i->stop, true);
    wait_for_end(i);
    cleanup_fd(&i->in);
    cleanup_fd(&i->out);
    cleanup_engine(&i->engine);
    free(i);
}

int daemon_import_pipe(const struct daemon_import *i)
{
    return i->out;
}

int daemon_import_finish(struct daemon_import *i, struct digest *id, struct err *err)
{
    cleanup_fd(&i->out);
    i->out = -1;
    wait_for_end(i);
    *id = i->id;
    if (i->failure.kind == ERR_NONE)
        return 0;
    *err = i->failure;
    return -1;
}

/* While the pipe is read, the thread waits for a layer whose end never comes. */
static bool is_read(const struct daemon_import *i)
{
    struct pollfd p = {.fd = i->out, .events = POLLOUT};

    return poll(&p, 1, 0) < 0 || !(p.revents & POLLERR);
}

void daemon_import_explain(struct daemon_import *i, struct err *err)
{
    if (is_read(i))
        return; /* another pipe or socket broke */
    wait_for_end(i);
    if (i->failure.kind != ERR_NONE)
        *err = i->failure;
}
