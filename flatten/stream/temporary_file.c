#include "flatten/stream/temporary_file.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <sys/statvfs.h>

static const char *spool_dir(void)
{
    const char *dir = getenv("TMPDIR");

    return dir && dir[0] == '/' ? dir : "/var/tmp";
}

int temporary_file_open(struct err *err)
{
    int fd = open(spool_dir(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd < 0)
        err_sys(err, "no temporary file in %s (set TMPDIR)", spool_dir());
    return fd;
}

bool temporary_file_has_room(uint64_t bytes)
{
    struct statvfs fs;

    return statvfs(spool_dir(), &fs) < 0 || bytes / fs.f_frsize < fs.f_bavail;
}

int temporary_file_copy(struct stream *s, int fd, uint64_t most, struct err *err)
{
    const uint64_t limit = most;
    const void *data;
    size_t len;

    for (;;) {
        if (stream_peek(s, &data, &len, err) < 0)
            return -1;
        if (len == 0)
            return 0;
        if (len > most)
            return err_set(err, ERR_LIMIT, "unpacks to more than %llu bytes",
                           (unsigned long long)limit);
        most -= len;
        if (fd_write_all(fd, data, len, err) < 0)
            return err_wrap(err, "temporary file in %s (set TMPDIR)", spool_dir());
        stream_advance(s, len);
    }
}
