#include "shim/gather/bind_name.h"

#include "shim/host/fd_path.h"
#include "shim/host/kernel.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int bind_open(int bundle, const char *path)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS};

    return (int)syscall(SYS_openat2, bundle, path, &how, sizeof(how));
}

int bind_name_find(int fd, const char *path, const struct mount_table *table, struct arena *arena,
                   struct bind_name *out, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    char real[PATH_MAX];
    int id;

    if (!path && fd_path(fd, real) == 0)
        path = arena_strndup(arena, real, strlen(real));
    out->found = path;
    if (!out->found || kernel_mount_id(fd, &id) < 0 ||
        !mount_table_name(table, id, out->found, &text))
        return err_set(err, ERR_POLICY, "its place in the mount table is unknown");
    out->name = arena_strndup(arena, text.data, text.len);
    out->mount = mount_table_find(table, id);
    return out->name ? 0 : err_nomem(err);
}
