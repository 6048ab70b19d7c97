#include "shim/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>

enum { PATIENCE_MS = 2000 };

static int start(char *const argv[], int out, pid_t *pid, struct err *err)
{
    posix_spawn_file_actions_t actions;

    if (posix_spawn_file_actions_init(&actions) != 0)
        return err_nomem(err);
    int rc = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (rc == 0)
        rc = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (rc == 0) /* the caller's own are for the runtime itself */
        rc = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    if (rc == 0)
        rc = posix_spawn(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    errno = rc;
    return rc == 0 ? 0 : err_sys(err, "cannot start %s", argv[0]);
}

static int milliseconds_left(const struct timespec *start)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    long passed = (now.tv_sec - start->tv_sec) * 1000 + (now.tv_nsec - start->tv_nsec) / 1000000;
    return passed < PATIENCE_MS ? (int)(PATIENCE_MS - passed) : 0;
}

/* Reads until the end, the size of the buffer, or until patience is gone. */
static void read_some(int fd, char *text, size_t size)
{
    struct timespec start;
    size_t len = 0;

    clock_gettime(CLOCK_MONOTONIC, &start);
    while (len < size - 1) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = poll(&p, 1, milliseconds_left(&start));
        if (ready < 0 && errno == EINTR)
            continue;
        ssize_t n = ready > 0 ? read(fd, text + len, size - 1 - len) : 0;
        if (n <= 0)
            break;
        len += (size_t)n;
    }
    text[len] = '\0';
}

int child_output(char *const argv[], char *text, size_t size, struct err *err)
{
    int ends[2];
    pid_t pid = 0;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(err, "pipe");
    int rc = start(argv, ends[1], &pid, err);
    close(ends[1]);
    if (rc == 0) {
        read_some(ends[0], text, size);
        kill(pid, SIGKILL); /* it has said all that matters, or hangs */
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    close(ends[0]);
    return rc;
}
