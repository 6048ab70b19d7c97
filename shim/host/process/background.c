#include "shim/host/process/background.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <linux/ioprio.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { KEPT = STDERR_FILENO + 1 };

/* Keeps the one descriptor as KEPT; 0 to 2 are /dev/null. */
static bool drop_descriptors(int fd)
{
    if (fd >= 0 && fd != KEPT && dup2(fd, KEPT) < 0)
        return false;
    closefrom(fd >= 0 ? KEPT + 1 : KEPT);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        return false;
    for (int standard = 0; standard < KEPT; standard++)
        if (null != standard && dup2(null, standard) < 0)
            return false;
    if (null >= KEPT)
        close(null);
    return chdir("/") == 0;
}

static void lower_priority(const char *name)
{
    sigset_t none;

    for (int sig = 1; sig < NSIG; sig++)
        signal(sig, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpriority(PRIO_PROCESS, 0, 19);
    syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
    prctl(PR_SET_NAME, name);
}

int background_start(const char *name, int fd, background_fn *work, void *subject, struct err *err)
{
    pid_t pid = fork();

    if (pid == 0) {
        pid = fork();
        if (pid == 0) {
            setsid();
            lower_priority(name);
            if (drop_descriptors(fd))
                work(fd >= 0 ? KEPT : -1, subject);
            _exit(0);
        }
        _exit(pid < 0);
    }
    if (pid < 0)
        return err_sys(err, "cannot start a process");
    int status = 0; /* stays so where SIGCHLD is ignored */
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status ? err_set(err, ERR_SYSTEM, "cannot start a process") : 0;
}
