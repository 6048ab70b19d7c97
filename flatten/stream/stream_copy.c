#include "base/fdio.h"
#include "base/path.h"
#include "flatten/stream/stream.h"

int stream_copy(struct stream *s, int fd, uint64_t most, struct err *err)
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
            return err_wrap(err, "temporary file in %s (set TMPDIR)", temporary_dir());
        stream_advance(s, len);
    }
}
