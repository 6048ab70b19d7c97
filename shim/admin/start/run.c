#include "shim/admin/start/run.h"

#include "base/clock.h"
#include "shim/admin/bench/bench.h"
#include "shim/admin/start/place.h"
#include "shim/host/process/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct running {
    pid_t pid;
    int pidfd, said; /* owned; `said` is standard error */
    double start;
};

/* Returns the name of the containers of this process, which no other one on the host has. */
static char *container_name(void)
{
    static char name[sizeof("flatbed-start-time-0123456789abcdef")];
    uint64_t number;

    if (!*name) {
        while (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
            ;
        snprintf(name, sizeof(name), "flatbed-start-time-%016llx", (unsigned long long)number);
    }
    return name;
}

static void running_close(struct running *r)
{
    cleanup_fd(&r->pidfd);
    cleanup_fd(&r->said);
}

/* ---- starting ---- */

/* Prepares descriptors and signals of the runtime. Returns 0 or an errno. */
static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, int said)
{
    sigset_t none;

    sigemptyset(&none);
    int why = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (why == 0)
        why = posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (why == 0)
        why = posix_spawn_file_actions_adddup2(actions, said, STDERR_FILENO);
    if (why == 0)
        why = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
    if (why == 0)
        why = posix_spawnattr_setsigmask(attributes, &none);
    return why ? why : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK);
}

static int spawn(char *const argv[], int said, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int why = posix_spawn_file_actions_init(&actions);

    if (why)
        return why;
    why = posix_spawnattr_init(&attributes);
    if (why == 0) {
        why = prepare(&actions, &attributes, said);
        if (why == 0)
            why = posix_spawn(pid, argv[0], &actions, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return why;
}

static int start(const char *runtime, struct running *r, struct err *err)
{
    char *const argv[] = {(char *)(uintptr_t)runtime,
                          (char *)(uintptr_t) "--root",
                          (char *)(uintptr_t)START_STATE,
                          (char *)(uintptr_t) "run",
                          (char *)(uintptr_t) "--bundle",
                          (char *)(uintptr_t) ".",
                          container_name(),
                          NULL};
    int ends[2];

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return err_sys(err, "pipe");
    r->said = ends[0];
    fcntl(ends[1], F_SETFL, 0); /* the container's end waits, as programs expect */
    r->start = clock_seconds();
    errno = spawn(argv, ends[1], &r->pid);
    close(ends[1]);
    if (errno)
        return err_sys(err, "cannot start %s", runtime);
    r->pidfd = (int)syscall(SYS_pidfd_open, r->pid, 0);
    return r->pidfd < 0 ? err_sys(err, "pidfd_open") : 0;
}

/* ---- waiting ---- */

/* Keeps the last bytes of a stream that does not wait. Returns false at its end. */
static bool keep_tail(int fd, char tail[START_TAIL])
{
    char chunk[START_TAIL];
    ssize_t got;

    while ((got = read(fd, chunk, START_TAIL / 2)) > 0) {
        size_t have = strlen(tail), more = (size_t)got, most = START_TAIL - 1;
        size_t drop = have + more > most ? have + more - most : 0;
        for (size_t i = 0; i < more; i++)
            chunk[i] = chunk[i] ? chunk[i] : ' ';
        memmove(tail, tail + drop, have - drop);
        memcpy(tail + have - drop, chunk, more);
        tail[have - drop + more] = '\0';
    }
    return got < 0 && (errno == EAGAIN || errno == EINTR);
}

/* Waits for the end of the runtime. */
static int await(const struct start_options *o, const struct running *r, int alive, char *tail,
                 struct err *err)
{
    enum { RUNTIME, SAID, ALIVE, WAITS };
    struct pollfd wait[WAITS] = {{.fd = r->pidfd, .events = POLLIN},
                                 {.fd = r->said, .events = POLLIN},
                                 {.fd = alive, .events = POLLIN}};

    for (;;) {
        double left = r->start + o->timeout - clock_seconds();
        if (left <= 0)
            return err_set(err, ERR_LIMIT, "the command took longer than %u seconds (--timeout)",
                           o->timeout);
        if (poll(wait, WAITS, (int)(left * 1000) + 1) < 0 && errno != EINTR)
            return err_sys(err, "poll");
        if (wait[ALIVE].revents)
            return err_set(err, ERR_SYSTEM, "interrupted");
        if (wait[SAID].revents && !keep_tail(r->said, tail))
            wait[SAID].fd = -1;
        if (wait[RUNTIME].revents)
            return 0;
    }
}

/* Ends a container that is not wanted any more, and its runtime. */
static void end(const char *runtime, const struct running *r)
{
    char *const argv[] = {(char *)(uintptr_t)runtime,
                          (char *)(uintptr_t) "--root",
                          (char *)(uintptr_t)START_STATE,
                          (char *)(uintptr_t) "delete",
                          (char *)(uintptr_t) "--force",
                          container_name(),
                          NULL};
    char text[1];
    struct err ignored;
    int status;

    if (child_output(argv, text, sizeof(text), &status, &ignored) < 0)
        status = -1;
    kill(r->pid, SIGKILL);
    while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

int run_container(const struct start_options *options, int alive, struct run_outcome *out,
                  struct err *err)
{
    _cleanup_(running_close) struct running r = {.pidfd = -1, .said = -1};
    int status = 0;

    out->tail[0] = '\0';
    if (start(options->runtime, &r, err) < 0)
        return -1;
    if (await(options, &r, alive, out->tail, err) < 0) {
        end(options->runtime, &r);
        return -1;
    }
    while (waitpid(r.pid, &status, 0) < 0 && errno == EINTR)
        ;
    out->seconds = clock_seconds() - r.start;
    out->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    keep_tail(r.said, out->tail);
    return 0;
}
