#include "shim/admin/start/start.h"

#include "base/fdio.h"
#include "base/files/unfinished.h"
#include "shim/admin/start/rounds.h"
#include "shim/host/process/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

struct message {
    bool failed;
    struct err err;
    struct start_result result;
};

/* ---- the child ---- */

static void run_child(const struct start_options *o, const char *dir, struct message *m, int alive,
                      int answer)
{
    struct err ignored = ERR_INIT;

    setsid(); /* a terminal's signals are for the parent */
    umask(022);
    m->failed = rounds_measure(o, dir, alive, &m->result, &m->err) < 0;
    _exit(fd_write_all(answer, m, sizeof(*m), &ignored) < 0);
}

/* ---- the parent ---- */

struct child {
    pid_t pid;
    int alive, answer; /* owned: the child ends when `alive` is closed */
};

static void child_close(struct child *c)
{
    cleanup_fd(&c->alive);
    cleanup_fd(&c->answer);
    c->alive = c->answer = -1;
}

/* Starts the child in mount and PID namespaces of its own: all that it starts ends with it. */
static int child_fork(const struct start_options *o, const char *dir, struct message *m,
                      struct child *c, struct err *err)
{
    int alive[2], answer[2];

    if (pipe2(alive, O_CLOEXEC) < 0)
        return err_sys(err, "pipe");
    c->alive = alive[1];
    if (pipe2(answer, O_CLOEXEC) < 0) {
        close(alive[0]);
        return err_sys(err, "pipe");
    }
    c->answer = answer[0];
    c->pid = (pid_t)syscall(SYS_clone, CLONE_NEWNS | CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, 0);
    if (c->pid == 0) {
        child_close(c);
        run_child(o, dir, m, alive[0], answer[1]);
    }
    close(alive[0]);
    close(answer[1]);
    return c->pid < 0 ? err_sys(err, "a process in namespaces of its own") : 0;
}

/* Gives the child ten seconds to end its container, and then kills both. */
static void child_stop(struct child *c)
{
    enum { STEPS = 1000 };
    const struct timespec step = {.tv_nsec = 10000000};

    child_close(c);
    for (int i = 0; i < STEPS; i++) {
        if (waitpid(c->pid, NULL, WNOHANG) != 0)
            return;
        nanosleep(&step, NULL);
    }
    kill(c->pid, SIGKILL);
    while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* Waits for the answer of the child, or for a signal. */
static int await_answer(const struct child *c, struct message *m, struct err *err)
{
    enum { STEP_MS = 100 };
    _cleanup_buf_ struct buf said = BUF_INIT;
    struct pollfd wait = {.fd = c->answer, .events = POLLIN};

    while (poll(&wait, 1, STEP_MS) == 0)
        if (interrupts_pending())
            return err_set(err, ERR_SYSTEM, "interrupted");
    if (fd_read_all(c->answer, sizeof(*m), &said, err) < 0)
        return -1;
    if (said.len != sizeof(*m))
        return err_set(err, ERR_SYSTEM, "the process that measures died");
    memcpy(m, said.data, sizeof(*m));
    if (!m->failed)
        return 0;
    *err = m->err;
    return -1;
}

static int measure_in(const struct start_options *o, const char *dir, struct message *m,
                      struct err *err)
{
    _cleanup_(child_close) struct child c = {-1, -1, -1};
    int rc = child_fork(o, dir, m, &c, err);

    if (rc < 0)
        return -1;
    rc = await_answer(&c, m, err);
    child_stop(&c);
    return rc;
}

/* A directory for temporary files, which the next measurement removes if this one is killed. */
struct workplace {
    int parent, dir; /* owned */
    char name[UNFINISHED_NAME];
};

static int make_workplace(const char *parent, struct workplace *w, struct err *err)
{
    w->parent = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (w->parent < 0)
        return err_sys(err, "%s: no directory for temporary files", parent);
    unfinished_remove_beside(w->parent);
    w->dir = unfinished_tree_make(w->parent, w->name, err);
    return w->dir < 0 ? err_wrap(err, "%s", parent) : 0;
}

static void remove_workplace(struct workplace *w)
{
    if (w->dir >= 0)
        unfinished_tree_remove(w->parent, w->name, w->dir);
    cleanup_fd(&w->dir);
    cleanup_fd(&w->parent);
}

static int measure_somewhere(const struct start_options *o, struct message *m, struct err *err)
{
    _cleanup_(remove_workplace) struct workplace w = {-1, -1, ""};

    if (make_workplace(o->dir, &w, err) < 0)
        return -1;
    _cleanup_free_ char *dir = strf("%s/%s", o->dir, w.name);
    return dir ? measure_in(o, dir, m, err) : err_nomem(err);
}

int start_measure(const struct start_options *options, struct start_result *out, struct err *err)
{
    _cleanup_free_ struct message *m = calloc(1, sizeof(*m));
    sigset_t before;

    if (!m)
        return err_nomem(err);
    interrupts_hold(&before);
    int rc = measure_somewhere(options, m, err);
    sigprocmask(SIG_SETMASK, &before, NULL); /* a pending signal ends us now */
    *out = m->result;
    return rc;
}
