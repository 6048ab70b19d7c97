#include "shim/runtime/delete.h"

#include "shim/runtime/exec/state.h"
#include "shim/runtime/report.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

bool delete_concerns(const struct launch *l)
{
    return call_deletes(&l->call) && state_is_kept(l->call.root, l->call.id);
}

/* Becomes the runtime, which ends with this program: the engine may kill what it started. */
static void become_runtime(struct launch *l, pid_t parent, const struct sigaction *chld)
{
    struct err err = ERR_INIT;

    if (sigaction(SIGCHLD, chld, NULL) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        err_sys(&err, "cannot start %s", l->lowlevel.path);
    else if (getppid() == parent &&
             lowlevel_exec(&l->lowlevel, l->words.argc, l->words.argv, &err) == 0)
        _exit(0);
    report_failure(err.msg, l->call.log, l->call.log_format);
    _exit(1);
}

/* Returns the exit status; dies of the signal of which the runtime died. */
static int pass_on(int status)
{
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

int delete_run(struct launch *l, struct err *err)
{
    /* If SIGCHLD is ignored, the status is lost; the runtime gets the signal's old action. */
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    struct sigaction before;
    pid_t self = getpid();

    if (sigaction(SIGCHLD, &usual, &before) < 0)
        return err_sys(err, "sigaction");
    pid_t pid = fork();
    if (pid < 0 && sigaction(SIGCHLD, &before, NULL) == 0)
        return lowlevel_exec(&l->lowlevel, l->words.argc, l->words.argv, err);
    if (pid == 0)
        become_runtime(l, self, &before);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_sys(err, "the low-level runtime");
    state_forget_gone(l->call.root, l->call.id);
    return pass_on(status);
}
