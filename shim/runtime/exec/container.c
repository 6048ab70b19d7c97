#include "shim/runtime/exec/container.h"

#include "base/buf.h"
#include "shim/host/mount_namespace.h"
#include "shim/oci/launch_mark.h"

#include <fcntl.h>

void container_close(struct container *c)
{
    cleanup_fd(&c->proc);
    cleanup_fd(&c->mounts);
    cleanup_fd(&c->root);
}

int container_open(const struct call *call, struct container *out, struct err *err)
{
    if (container_process(call->root, call->id, &out->process, err) < 0)
        return -1;
    _cleanup_free_ char *proc = strf("/proc/%d", (int)out->process.pid);
    if (!proc)
        return err_nomem(err);
    out->proc = open(proc, O_PATH | O_DIRECTORY | O_CLOEXEC);
    out->mounts = out->proc < 0 ? -1 : openat(out->proc, "ns/mnt", O_RDONLY | O_CLOEXEC);
    out->root = out->mounts < 0 ? -1 : mount_namespace_root(out->mounts);
    if (out->root < 0)
        return err_sys(err, "the root of the container '%.100s'", call->id);
    return process_ended(&out->process)
               ? err_set(err, ERR_POLICY, "the container '%.100s' has ended", call->id)
               : 0;
}
