#include "flatten/keeper/source/source_backends.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Returns a descriptor, or -1. */
static int open_archive(const char *path, bool *regular, struct err *err)
{
    bool input = strcmp(path, "-") == 0;
    _cleanup_fd_ int fd = input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(err, "open");
    if (input && isatty(fd))
        return err_set(err, ERR_USAGE,
                       "standard input is a terminal: pipe an archive into it, as in docker save "
                       "NAME | flatten -");
    if (S_ISDIR(st.st_mode))
        return err_set(err, ERR_USAGE, "is a directory; an OCI layout is oci:%s", path);
    *regular = S_ISREG(st.st_mode);
    return steal_fd(&fd);
}

int source_find_archive(struct source *s, struct err *err)
{
    s->archive.fd = open_archive(s->ref->path, &s->archive.regular, err);
    return s->archive.fd < 0 ? err_wrap(err, "%s", s->ref->path) : 0;
}
