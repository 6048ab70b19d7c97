#include "shim/account/account_files.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <string.h>

int account_file_write(const char *path, const char *text, struct err *err)
{
    _cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);

    if (fd < 0 || fchmod(fd, 0644) < 0) /* whatever the umask */
        return err_sys(err, "cannot make %s", path);
    if (fd_write_all(fd, text, strlen(text), err) < 0)
        return err_wrap(err, "%s", path);
    return 0;
}
