#include "flatten/spool.h"

#include "base/fdio.h"

#include <fcntl.h>

int spool_stream(struct stream *s, struct err *err)
{
    const char *dir = getenv("TMPDIR");
    const void *data;
    size_t len;

    if (!dir || dir[0] != '/')
        dir = "/var/tmp";
    _cleanup_fd_ int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) {
        err_sys(err, "no temporary file in %s (set TMPDIR)", dir);
        return -1;
    }
    for (;;) {
        if (stream_peek(s, &data, &len, err) < 0)
            return -1;
        if (len == 0)
            return steal_fd(&fd);
        if (fd_write_all(fd, data, len, err) < 0)
            return err_wrap(err, "temporary file in %s (set TMPDIR)", dir);
        stream_advance(s, len);
    }
}
