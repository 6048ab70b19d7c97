#include "shim/runtime/exec/handed_file.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <sys/mman.h>

enum { LOWEST_NUMBER = 100 };

int handed_file_read(const char *path, struct buf *out, struct err *err)
{
    _cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return err_sys(err, "%s", path);
    return fd_read_all(fd, HANDED_FILE_BYTES, out, err) < 0 ? err_wrap(err, "%s", path) : 0;
}

/* Makes a file in memory that nobody can execute, where the kernel (6.3) can say so. */
static int make_memory(void)
{
    static const char name[] = "flatbed-handed";
#ifdef MFD_NOEXEC_SEAL
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    if (fd >= 0 || errno != EINVAL)
        return fd;
#endif
    return memfd_create(name, MFD_CLOEXEC);
}

int handed_file_copy(const struct buf *text, int *fd, struct err *err)
{
    _cleanup_fd_ int memory = make_memory();

    if (memory < 0)
        return err_sys(err, "a copy in memory");
    if (fd_write_all(memory, text->data, text->len, err) < 0)
        return -1;
    *fd = fcntl(memory, F_DUPFD, LOWEST_NUMBER);
    if (*fd < 0) /* RLIMIT_NOFILE is lower */
        *fd = fcntl(memory, F_DUPFD, 0);
    return *fd < 0 ? err_sys(err, "a copy in memory") : 0;
}
