#include "shim/host/file_attributes.h"

#include "shim/host/trust.h"

#include <errno.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Copies the SELinux label, if the old file has one; engines label bundles for their domain. */
static int copy_label(int from, int to, struct err *err)
{
    static const char label[] = "security.selinux";
    char value[1024];
    ssize_t len = fgetxattr(from, label, value, sizeof(value));

    if (len < 0)
        return errno == ENODATA || errno == ENOTSUP ? 0 : err_sys(err, "its SELinux label");
    char now[sizeof(value)];
    ssize_t have = fgetxattr(to, label, now, sizeof(now));
    if (have == len && memcmp(value, now, (size_t)len) == 0)
        return 0;
    return fsetxattr(to, label, value, (size_t)len, 0) < 0 ? err_sys(err, "its SELinux label") : 0;
}

int attributes_copy(int from, const struct stat *like, int to, struct err *err)
{
    struct stat st;

    if (fstat(to, &st) < 0)
        return err_sys(err, "fstat");
    /* A user cannot give files away, and root of a user namespace not to every group. Slurm writes
     * config.json as root, into a bundle of the user. */
    bool wanted = st.st_uid != like->st_uid || st.st_gid != like->st_gid;
    if (wanted && fchown(to, like->st_uid, like->st_gid) < 0 && geteuid() == 0 &&
        (st.st_uid != like->st_uid || !trust_in_user_namespace()))
        return err_sys(err, "its owner");
    if (fchmod(to, like->st_mode & 07777) < 0)
        return err_sys(err, "its mode");
    return copy_label(from, to, err);
}
