#include "flatten/keeper/files/temporary_file.h"

#include "base/human.h"
#include "base/path.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

int temporary_file_open(struct err *err)
{
    int fd = open(temporary_dir(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd < 0)
        err_sys(err, "no temporary file in %s (set TMPDIR)", temporary_dir());
    return fd;
}

/* Returns the bytes that can still be written there, or UINT64_MAX if that is not known. */
static uint64_t free_room(void)
{
    struct statvfs fs;
    uint64_t bytes;

    /* A file system that does not count its blocks says that it has none. */
    if (statvfs(temporary_dir(), &fs) < 0 || fs.f_blocks == 0 ||
        __builtin_mul_overflow((uint64_t)fs.f_bavail, (uint64_t)fs.f_frsize, &bytes))
        return UINT64_MAX;
    return bytes;
}

/* An estimate that is less than the room was too low: the message leaves it out. */
static int no_room(uint64_t room, uint64_t estimate, struct err *err)
{
    char has[HUMAN_SIZE], needs[HUMAN_SIZE];
    bool low = estimate <= room;

    err_set(err, ERR_SYSTEM,
            "%s has %s free, the image needs %s%s: set TMPDIR to a directory with room",
            temporary_dir(), human_size(room, has), low ? "more" : "about ",
            low ? "" : human_size(estimate, needs));
    err->sys = ENOSPC;
    return -1;
}

int temporary_file_check_room(uint64_t bytes, struct err *err)
{
    uint64_t room = free_room();

    return room < bytes ? no_room(room, bytes, err) : 0;
}

int temporary_file_explain_room(int fd, uint64_t bytes, struct err *err)
{
    off_t written = lseek(fd, 0, SEEK_END);

    if (err->kind != ERR_SYSTEM || (err->sys != ENOSPC && err->sys != EDQUOT) || written < 0)
        return -1;
    return no_room((uint64_t)written, bytes, err);
}
