/* Files in a temporary directory. */
#ifndef TESTS_TEMPDIR_FILES_H
#define TESTS_TEMPDIR_FILES_H

#include "base/fdio.h"
#include "tests/unit/lib/tempdir.h"
#include "tests/unit/lib/unit.h"

static inline void put(const struct tempdir *dir, const char *name, const char *data, size_t len)
{
    struct err err = ERR_INIT;
    _cleanup_fd_ int fd = openat(dir->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_works(fd_write_all(fd, data, len, &err), err);
}

static inline void assert_content(const struct tempdir *dir, const char *name, const char *expected)
{
    _cleanup_buf_ struct buf b = BUF_INIT;
    struct err err = ERR_INIT;

    assert_works(file_read(dir->fd, name, 1 << 20, &b, &err), err);
    assert_string_equal(b.data, expected);
}

#endif
