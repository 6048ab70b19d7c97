#include "shim/host/process/child.h"

#include "base/clock.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>

enum { PATIENCE_MS = 2000 };

/*
 * Adds the steps that give a child /dev/null, `out` and /dev/null, and no other descriptor: the
 * engine's are for the low-level runtime alone. Returns 0 or an errno.
 */
static int set_descriptors(posix_spawn_file_actions_t *actions, int out)
{
    int why = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

    if (why == 0)
        why = posix_spawn_file_actions_adddup2(actions, out, STDOUT_FILENO);
    if (why == 0)
        why = posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (why == 0)
        why = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
    return why;
}

static int child_start(char *const argv[], int out, pid_t *pid, struct err *err)
{
    posix_spawn_file_actions_t actions;
    int why = posix_spawn_file_actions_init(&actions);

    if (why == 0) {
        why = set_descriptors(&actions, out);
        if (why == 0)
            why = posix_spawn(pid, argv[0], &actions, NULL, argv, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    errno = why;
    return why == 0 ? 0 : err_sys(err, "cannot start %s", argv[0]);
}

static int milliseconds_left(int64_t start)
{
    int64_t passed = clock_ms() - start;

    return passed < PATIENCE_MS ? (int)(PATIENCE_MS - passed) : 0;
}

/* Reads until the end, the size of the buffer, or the end of the time. */
static void read_some(int fd, int64_t start, char *text, size_t size)
{
    size_t len = 0;

    while (len < size - 1) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = poll(&p, 1, milliseconds_left(start));
        if (ready < 0 && errno == EINTR)
            continue;
        ssize_t n = ready > 0 ? read(fd, text + len, size - 1 - len) : 0;
        if (n <= 0)
            break;
        len += (size_t)n;
    }
    text[len] = '\0';
}

/* Returns the exit status if it comes in time, else -1. The child is gone afterwards. */
static int child_end(pid_t pid, int64_t start)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    int status = 0;
    pid_t ended;

    while ((ended = waitpid(pid, &status, WNOHANG)) == 0 && milliseconds_left(start) > 0)
        nanosleep(&moment, NULL);
    if (ended == 0) {
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    return ended == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int child_run(char *const argv[], char *text, size_t size, int *status, struct err *err)
{
    int64_t begin = clock_ms();
    int ends[2];
    pid_t pid = 0;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(err, "pipe");
    int rc = child_start(argv, ends[1], &pid, err);
    close(ends[1]);
    if (rc == 0) {
        read_some(ends[0], begin, text, size);
        close(ends[0]); /* ends a child that writes more */
        *status = child_end(pid, begin);
        return 0;
    }
    close(ends[0]);
    return rc;
}

int child_output(char *const argv[], char *text, size_t size, int *status, struct err *err)
{
    /* If SIGCHLD is ignored, the status is lost. */
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    struct sigaction before;

    if (sigaction(SIGCHLD, &usual, &before) < 0)
        return err_sys(err, "sigaction");
    int rc = child_run(argv, text, size, status, err);
    if (sigaction(SIGCHLD, &before, NULL) < 0 && rc == 0)
        return err_sys(err, "sigaction");
    return rc;
}
