#include "shim/host/process/child_ask.h"

#include "base/clock.h"
#include "shim/host/process/child_kill.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * Runs in the child, and never returns. Closes everything but its pipe, which becomes descriptor 0:
 * a child that even SIGKILL does not reach must not keep the engine's pipes open.
 */
static void answer_in_child(child_question *ask, const void *asked, void *answer, size_t size,
                            int out)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(out, 0) < 0)
        _exit(1);
    closefrom(1);
    ask(asked, answer);
    _exit(write(0, answer, size) == (ssize_t)size ? 0 : 1);
}

/* Returns true if a byte came, or the other end is gone, in time. */
static bool wait_for_answer(int in, unsigned milliseconds)
{
    int64_t end = clock_ms() + milliseconds;

    for (;;) {
        int64_t left = end - clock_ms();
        struct pollfd p = {.fd = in, .events = POLLIN};
        int ready = poll(&p, 1, left > 0 ? (int)left : 0);
        if (ready >= 0 || errno != EINTR)
            return ready > 0;
    }
}

int child_ask(child_question *ask, const void *asked, void *answer, size_t size,
              unsigned milliseconds, struct err *err)
{
    int ends[2];

    memset(answer, 0, size);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(err, "pipe");
    pid_t pid = fork();
    if (pid == 0)
        answer_in_child(ask, asked, answer, size, ends[1]);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return err_sys(err, "fork");
    }
    bool came = wait_for_answer(ends[0], milliseconds);
    if (came && read(ends[0], answer, size) != (ssize_t)size)
        memset(answer, 0, size);
    close(ends[0]);
    child_kill(pid);
    return came ? 0 : 1;
}
