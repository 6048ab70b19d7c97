/* flatbed-runtime: an OCI runtime that edits config.json by a policy and becomes runc or crun. */
#include "shim/launch.h"
#include "shim/report.h"

#include <stdio.h>

int main(int argc, char *argv[])
{
    struct err err = ERR_INIT;
    struct launch launch;

    if (launch_prepare(&launch, argc > 0 ? argc - 1 : 0, argv + 1, &err) == 0) {
        if (launch.own.version)
            return puts("flatbed-runtime " FLATBED_VERSION) < 0 || fflush(stdout) != 0;
        if (lowlevel_exec(&launch.lowlevel, launch.argc, launch.argv, &err) == 0)
            return 0;
    }
    report_failure(err.msg, launch.call.log, launch.call.log_format);
    return 1;
}
