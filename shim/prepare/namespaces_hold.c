#include "shim/prepare/namespaces_hold.h"

#include "base/cleanup.h"
#include "shim/gather/security/namespaces.h"
#include "shim/mount/pin.h"

#include <fcntl.h>
#include <sys/stat.h>

static int hold(const struct joined_namespace *joined, struct err *err)
{
    struct source source = {.fd = open(joined->path, O_RDONLY | O_CLOEXEC)};
    _cleanup_fd_ int fd = source.fd;
    const struct pin_options options = {.alone = true};
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(err, "%s", joined->path);
    if (st.st_dev != joined->dev || st.st_ino != joined->ino)
        return err_set(err, ERR_POLICY,
                       "%s: the process entered another namespace while it was looked at",
                       joined->path);
    return pin_add(&source, joined->hold, &options, err);
}

int namespaces_hold(struct decision *decision, struct err *err)
{
    const struct plan *plan = decision->plan;

    for (size_t i = 0; i < plan->joined_count; i++)
        if (hold(&plan->joined[i], err) < 0)
            return err_wrap(err, "security.namespaces");
    decision->holds_namespaces = plan->joined_count > 0;
    return 0;
}
