#include "shim/host/process/child_kill.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

void child_kill(pid_t pid)
{
    enum { PATIENCE_MS = 100 };
    static const struct timespec moment = {.tv_nsec = 1000000};

    kill(pid, SIGKILL);
    for (int i = 0; i < PATIENCE_MS; i++) {
        pid_t rc = waitpid(pid, NULL, WNOHANG);
        if (rc > 0 || (rc < 0 && errno != EINTR))
            return;
        nanosleep(&moment, NULL);
    }
}
