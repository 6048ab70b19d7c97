/* flatbed-runtime: an OCI runtime that edits config.json by a policy and becomes runc or crun. */
#include "shim/audit/audit.h"
#include "shim/host/process/channel.h"
#include "shim/runtime/console_deny.h"
#include "shim/runtime/delete.h"
#include "shim/runtime/launch.h"
#include "shim/runtime/nested_check.h"
#include "shim/runtime/report.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/*
 * Opens /dev/null for each standard stream that the engine closed, so that no file opened here gets
 * its number. These are CLOEXEC: the low-level runtime finds the streams closed again.
 */
static bool occupy_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) != fd)
            return false;
    return true;
}

static int fail(const struct err *err, const struct call *call)
{
    report_failure(err->msg, call->log, call->log_format);
    return 1;
}

/* Becomes the low-level runtime, or runs it. Returns an exit status, or -1 after a failure. */
static int execute(struct launch *launch, struct err *err)
{
    if (delete_concerns(launch))
        return delete_run(launch, err);
    return lowlevel_exec(&launch->lowlevel, launch->words.argc, launch->words.argv, err);
}

/* runc shows what a hook writes to stderr, crun does not. */
static int run_hook(int argc, char *argv[])
{
    struct err err = ERR_INIT;

    int rc = console_is_hook(argc, argv) ? console_deny(&err) : nested_check(argc, argv, &err);
    if (rc == 0)
        return 0;
    fprintf(stderr, "flatbed-runtime: %s\n", err.msg);
    audit_syslog_warning(err.msg);
    return 1;
}

int main(int argc, char *argv[])
{
    /*
     * SIGXFSZ is ignored: a file that may not grow (RLIMIT_FSIZE) is an error like others. The
     * low-level runtime gets the signal's old action.
     */
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    enum { ANSWERS_MS = 30000 };
    struct sigaction before;
    struct err err = ERR_INIT;
    _cleanup_launch_ struct launch launch = {0};

    if (!occupy_standard_streams() || sigaction(SIGXFSZ, &ignore, &before) < 0)
        return 1;
    channel_set_budget(ANSWERS_MS);
    if (nested_is_hook(argc, argv) || console_is_hook(argc, argv))
        return run_hook(argc, argv);
    if (launch_prepare(&launch, argc > 0 ? argc - 1 : 0, argv + 1, &err) == 0) {
        if (launch.own.version)
            return puts("flatbed-runtime " FLATBED_VERSION) < 0 || fflush(stdout) != 0;
        sigaction(SIGXFSZ, &before, NULL);
        int status = execute(&launch, &err);
        if (status >= 0)
            return status;
        sigaction(SIGXFSZ, &ignore, NULL);
    }
    return fail(&err, &launch.call);
}
