#include "shim/host/mount_namespace.h"

#include "base/cleanup.h"
#include "shim/host/process/channel.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>

bool mount_namespace_is_ours(int ns)
{
    _cleanup_fd_ int owner = ioctl(ns, NS_GET_USERNS);
    struct stat its, ours;

    return owner >= 0 && fstat(owner, &its) == 0 && stat("/proc/self/ns/user", &ours) == 0 &&
           its.st_dev == ours.st_dev && its.st_ino == ours.st_ino;
}

/* Enters it in a child, which nothing in there can reach into. */
static int enter(int ns)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
        setns(ns, CLONE_NEWNS) < 0)
        return -1;
    return open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int mount_namespace_root(int ns)
{
    struct channel channel;
    pid_t pid = channel_fork(&channel);

    if (pid == 0)
        channel_send(enter(ns), &channel);
    return pid < 0 ? -1 : channel_receive(&channel);
}
