#include "shim/mount/source_wait.h"

#include "base/buf.h"
#include "shim/mount/source.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

enum { PATIENCE_MS = 100 }; /* for a killed child to end */

/*
 * Runs in the child, and never returns. Closes everything but its pipe, which becomes descriptor 0:
 * a child that even SIGKILL does not reach must not keep the engine's pipes open.
 */
static void look_in_child(const char *path, const struct user_ids *user, int out)
{
    struct source source = SOURCE_INIT;
    struct err ignored;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(out, 0) < 0)
        _exit(1);
    closefrom(1);
    int rc = source_find_for(path, user, &source, &ignored);
    char answer = rc < 0 ? 'n' : 'y';
    _exit(write(0, &answer, 1) == 1 ? 0 : 1);
}

static unsigned milliseconds_since(const struct timespec *start)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned)((now.tv_sec - start->tv_sec) * 1000 +
                      (now.tv_nsec - start->tv_nsec) / 1000000);
}

/* Returns true if a byte came, or the other end is gone, in time. */
static bool wait_for_answer(int in, unsigned milliseconds)
{
    struct timespec start;

    clock_gettime(CLOCK_MONOTONIC, &start);
    for (;;) {
        unsigned passed = milliseconds_since(&start);
        struct pollfd p = {.fd = in, .events = POLLIN};
        int ready = poll(&p, 1, passed < milliseconds ? (int)(milliseconds - passed) : 0);
        if (ready >= 0 || errno != EINTR)
            return ready > 0;
    }
}

/* Waits for a child that has answered or is killed; the kernel may hold it back even then. */
static void reap_child(pid_t pid)
{
    static const struct timespec moment = {.tv_nsec = 1000000};

    for (int i = 0; i < PATIENCE_MS; i++) {
        pid_t rc = waitpid(pid, NULL, WNOHANG);
        if (rc > 0 || (rc < 0 && errno != EINTR))
            return;
        nanosleep(&moment, NULL);
    }
}

int source_wait(const char *path, const struct user_ids *user, unsigned milliseconds,
                struct err *err)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(err, "pipe");
    pid_t pid = fork();
    if (pid == 0)
        look_in_child(path, user, ends[1]);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return err_sys(err, "fork");
    }
    bool came = wait_for_answer(ends[0], milliseconds);
    close(ends[0]);
    kill(pid, SIGKILL);
    reap_child(pid);
    return came ? 0 : 1;
}

bool source_answers(const char *directory, unsigned milliseconds)
{
    _cleanup_free_ char *name = strf("%s/.flatbed", directory);
    struct err ignored;

    return !name || source_wait(name, NULL, milliseconds, &ignored) <= 0;
}
