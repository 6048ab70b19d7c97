/* flatbed-runtime: an OCI runtime that edits config.json by a policy and becomes runc or crun. */
#include "shim/launch.h"
#include "shim/report.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/*
 * An engine may close the standard streams. Nothing that is opened here must come to stand in their
 * place; the runtime behind us finds them closed again.
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
    signal(SIGXFSZ, SIG_IGN); /* a log that may not grow is no reason to be silent on stderr */
    report_failure(err->msg, call->log, call->log_format);
    return 1;
}

int main(int argc, char *argv[])
{
    struct err err = ERR_INIT;
    struct launch launch;

    if (!occupy_standard_streams())
        return 1;
    if (launch_prepare(&launch, argc > 0 ? argc - 1 : 0, argv + 1, &err) == 0) {
        if (launch.own.version)
            return puts("flatbed-runtime " FLATBED_VERSION) < 0 || fflush(stdout) != 0;
        if (lowlevel_exec(&launch.lowlevel, launch.argc, launch.argv, &err) == 0)
            return 0;
    }
    return fail(&err, &launch.call);
}
