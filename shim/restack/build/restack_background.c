/* Builds a tree in the background, while containers start. */
#include "shim/restack/build/restack_build.h"

#include "base/buf.h"
#include "shim/audit/audit.h"

#include <fcntl.h>
#include <linux/ioprio.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { MEMORY_LIMIT = 1024 * 1024 * 1024 };

/* Engines wait until every process has closed the pipes of a runtime. */
static bool drop_descriptors(void)
{
    closefrom(0);
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (open("/dev/null", O_RDWR) != fd)
            return false;
    return chdir("/") == 0;
}

static void lower_priority(void)
{
    sigset_t none;

    for (int sig = 1; sig < NSIG; sig++)
        signal(sig, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpriority(PRIO_PROCESS, 0, 19);
    syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
    prctl(PR_SET_NAME, "flatbed-restack");
}

static int build_tree(const char *path, const struct chain *chain, struct err *err)
{
    _cleanup_restack_cache_ struct restack_cache cache = RESTACK_CACHE_INIT;
    _cleanup_arena_ struct arena arena = {.limit = MEMORY_LIMIT};
    struct restack_built built;

    if (restack_cache_open(path, true, &cache, err) < 0)
        return -1;
    return restack_build(&cache, chain, false, &arena, &built, err);
}

/* Runs in the grandchild. The cache says why there is no tree; syslog does if it cannot be written.
 */
static void run_build(const char *path, const struct chain *chain)
{
    struct err err = ERR_INIT;

    setsid();
    lower_priority();
    if (drop_descriptors() && build_tree(path, chain, &err) < 0 && err.kind != ERR_LIMIT)
        audit_syslog_warning(err.msg);
    _exit(0);
}

int restack_build_in_background(const char *cache, const struct chain *chain, struct err *err)
{
    pid_t pid = fork();

    if (pid == 0) {
        pid = fork();
        if (pid == 0)
            run_build(cache, chain);
        _exit(pid < 0);
    }
    if (pid < 0)
        return err_sys(err, "cannot start a process");
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return 0;
}
