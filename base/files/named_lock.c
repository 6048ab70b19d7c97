#include "base/files/named_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

bool named_lock(int dirfd, const char *name, int fd, int how)
{
    struct stat ours, named;

    return flock(fd, how | LOCK_NB) == 0 && fstat(fd, &ours) == 0 &&
           fstatat(dirfd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && ours.st_dev == named.st_dev &&
           ours.st_ino == named.st_ino;
}
