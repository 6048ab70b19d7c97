/* Tests reads and writes of whole files and pipes, in a real directory. */
#include "base/fdio.h"

#include "tests/unit/lib/tempdir_files.h"
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <linux/openat2.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ---- reading ---- */

static void the_limit_is_exact(void **state)
{
    static const size_t sizes[] = {0, 1, 4096, 65535, 65536, 65537, 200000};
    const struct tempdir *dir = *state;
    static char data[200000];

    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (char)('a' + i % 23);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        _cleanup_buf_ struct buf whole = BUF_INIT, cut = BUF_INIT;
        struct err err = ERR_INIT;
        put(dir, "f", data, sizes[i]);
        assert_works(file_read(dir->fd, "f", sizes[i], &whole, &err), err);
        assert_int_equal(whole.len, sizes[i]);
        assert_memory_equal(whole.data, data, sizes[i]);
        assert_int_equal(whole.data[whole.len], '\0');
        if (sizes[i] == 0)
            continue;
        assert_fails(file_read(dir->fd, "f", sizes[i] - 1, &cut, &err), err, ERR_LIMIT);
        assert_int_equal(cut.len, sizes[i] - 1);
        assert_memory_equal(cut.data, data, cut.len);
        assert_int_equal(cut.data[cut.len], '\0');
    }
}

static void reading_appends_from_the_position_on(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_buf_ struct buf b = BUF_INIT;
    struct err err = ERR_INIT;

    put(dir, "f", "0123456789", 10);
    _cleanup_fd_ int fd = openat(dir->fd, "f", O_RDONLY | O_CLOEXEC);
    assert_int_equal(lseek(fd, 6, SEEK_SET), 6);
    buf_puts(&b, "head:");
    assert_works(fd_read_all(fd, 4, &b, &err), err);
    assert_string_equal(b.data, "head:6789");
}

/* The size of fstat(2) may be out of date: the whole content is read. */
static void a_file_is_read_whole_whatever_its_size_was(void **state)
{
    const struct tempdir *dir = *state;

    for (off_t size = 0; size <= 12; size += 4) {
        _cleanup_buf_ struct buf b = BUF_INIT;
        struct err err = ERR_INIT;
        struct stat st;
        put(dir, "f", "01234567", 8);
        _cleanup_fd_ int fd = openat(dir->fd, "f", O_RDONLY | O_CLOEXEC);
        assert_int_equal(fstat(fd, &st), 0);
        st.st_size = size;
        assert_works(fd_read_file(fd, &st, 100, &b, &err), err);
        assert_string_equal(b.data, "01234567");
    }
}

static void no_limit_is_size_max(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_buf_ struct buf b = BUF_INIT;
    struct err err = ERR_INIT;

    put(dir, "f", "abc", 3);
    assert_works(file_read(dir->fd, "f", SIZE_MAX, &b, &err), err);
    assert_string_equal(b.data, "abc");
}

/* A child writes in small pieces, so that the reader sees short reads. */
static void feed_pipe(int fd, size_t total, size_t piece)
{
    char data[512];

    memset(data, 'p', sizeof(data));
    while (total > 0) {
        size_t n = total < piece ? total : piece;
        if (write(fd, data, n) != (ssize_t)n)
            _exit(1);
        total -= n;
    }
    _exit(0);
}

static void read_pipe(size_t total, size_t limit, struct buf *out, int expected, struct err *err)
{
    int fds[2], status;

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(fds[0]);
        feed_pipe(fds[1], total, 111);
    }
    close(fds[1]);
    assert_int_equal(fd_read_all(fds[0], limit, out, err), expected);
    close(fds[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
}

static void pipes_are_read_to_their_end(void **state)
{
    _cleanup_buf_ struct buf all = BUF_INIT, cut = BUF_INIT, none = BUF_INIT;
    struct err err = ERR_INIT;

    (void)state;
    read_pipe(5000, 5000, &all, 0, &err);
    assert_int_equal(all.len, 5000);
    read_pipe(5000, 4999, &cut, -1, &err);
    assert_int_equal(err.kind, ERR_LIMIT);
    assert_int_equal(cut.len, 4999);
    assert_int_equal(strlen(cut.data), 4999);
    read_pipe(0, 0, &none, 0, &err);
    assert_int_equal(none.len, 0);
}

static void reading_fails_with_the_name(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_buf_ struct buf b = BUF_INIT;
    struct err err = ERR_INIT;

    assert_fails(file_read(dir->fd, "absent", 10, &b, &err), err, ERR_SYSTEM);
    assert_int_equal(err.sys, ENOENT);
    assert_string_equal(err.msg, "absent: No such file or directory");
    assert_int_equal(mkdirat(dir->fd, "d", 0755), 0);
    assert_int_equal(mkfifoat(dir->fd, "fifo", 0644), 0);
    assert_fails(file_read(dir->fd, "d", 10, &b, &err), err, ERR_FORMAT);
    assert_string_equal(err.msg, "d: not a regular file");
    assert_fails(file_read(dir->fd, "fifo", 10, &b, &err), err, ERR_FORMAT); /* and it returns */
    put(dir, "big", "12345", 5);
    assert_fails(file_read(dir->fd, "big", 4, &b, &err), err, ERR_LIMIT);
    assert_string_equal(err.msg, "big: larger than 4 bytes");
}

static void a_regular_file_is_read_through_any_descriptor(void **state)
{
    const struct tempdir *dir = *state;
    static const int flags[] = {O_RDONLY, O_PATH};
    struct err err = ERR_INIT;

    put(dir, "plain", "12345", 5);
    if (mkfifoat(dir->fd, "pipe", 0644) < 0)
        fail();
    for (size_t i = 0; i < 2; i++) {
        _cleanup_buf_ struct buf b = BUF_INIT;
        _cleanup_fd_ int plain = openat(dir->fd, "plain", flags[i] | O_CLOEXEC);
        _cleanup_fd_ int pipe = openat(dir->fd, "pipe", flags[i] | O_NONBLOCK | O_CLOEXEC);
        assert_works(fd_read_regular(plain, 5, &b, &err), err);
        assert_string_equal(b.data, "12345");
        assert_fails(fd_read_regular(pipe, 5, &b, &err), err, ERR_FORMAT);
        assert_string_equal(err.msg, "not a regular file");
    }
}

/* ---- at offsets ---- */

static void offsets_leave_the_position_alone(void **state)
{
    const struct tempdir *dir = *state;
    struct err err = ERR_INIT;
    char data[8] = "";

    put(dir, "f", "0123456789", 10);
    _cleanup_fd_ int fd = openat(dir->fd, "f", O_RDWR | O_CLOEXEC);
    assert_works(fd_pread_exact(fd, data, 4, 3, &err), err);
    assert_string_equal(data, "3456");
    assert_works(fd_pwrite_all(fd, "xy", 2, 9, &err), err);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
    assert_content(dir, "f", "012345678xy");
    assert_works(fd_pread_exact(fd, data, 2, 9, &err), err);
    assert_memory_equal(data, "xy", 2);
    assert_works(fd_pread_exact(fd, data, 0, 100, &err), err);
    assert_fails(fd_pread_exact(fd, data, 3, 9, &err), err, ERR_FORMAT);
    assert_fails(fd_pread_exact(fd, data, 1, 11, &err), err, ERR_FORMAT);
}

static void writing_to_what_cannot_be_written_fails(void **state)
{
    const struct tempdir *dir = *state;
    struct err err = ERR_INIT;

    put(dir, "f", "x", 1);
    _cleanup_fd_ int fd = openat(dir->fd, "f", O_RDONLY | O_CLOEXEC);
    assert_fails(fd_write_all(fd, "a", 1, &err), err, ERR_SYSTEM);
    assert_int_equal(err.sys, EBADF);
    assert_fails(fd_pwrite_all(fd, "a", 1, 0, &err), err, ERR_SYSTEM);
    assert_works(fd_write_all(fd, "", 0, &err), err);
    _cleanup_fd_ int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_fails(fd_write_all(full, "a", 1, &err), err, ERR_SYSTEM);
    assert_int_equal(err.sys, ENOSPC);
}

#define in_directory(test) cmocka_unit_test_setup_teardown(test, tempdir_make, tempdir_remove)

static void rename_for_ever(const struct tempdir *dir)
{
    for (unsigned i = 0;; i++)
        renameat(dir->fd, i % 2 ? "elsewhere" : "gone", dir->fd, i % 2 ? "gone" : "elsewhere");
}

/* The kernel gives up on ".." while anything is renamed: a child does nothing else. */
static void renames_elsewhere_do_not_matter(void **state)
{
    const struct tempdir *dir = *state;
    pid_t child;
    int failed = 0;

    assert_int_equal(mkdirat(dir->fd, "a", 0700), 0);
    assert_int_equal(mkdirat(dir->fd, "elsewhere", 0700), 0);
    assert_true((child = fork()) >= 0);
    if (child == 0)
        rename_for_ever(dir);
    for (int i = 0; i < 20000; i++) {
        _cleanup_fd_ int fd =
            fd_open_within(dir->fd, "a/../a/../a/../a/..", O_PATH, RESOLVE_BENEATH);
        failed += fd < 0;
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(failed, 0);
    assert_int_equal(fd_open_within(dir->fd, "a/../..", O_PATH, RESOLVE_BENEATH), -1);
    assert_int_equal(errno, EXDEV);
}

UNIT_SUITE(test_fdio)
{
    const struct CMUnitTest tests[] = {
        in_directory(the_limit_is_exact),
        in_directory(reading_appends_from_the_position_on),
        in_directory(no_limit_is_size_max),
        in_directory(a_file_is_read_whole_whatever_its_size_was),
        cmocka_unit_test(pipes_are_read_to_their_end),
        in_directory(reading_fails_with_the_name),
        in_directory(a_regular_file_is_read_through_any_descriptor),
        in_directory(offsets_leave_the_position_alone),
        in_directory(writing_to_what_cannot_be_written_fails),
        in_directory(renames_elsewhere_do_not_matter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
