/* Whole files, pipes and atomic replacement, in a real directory. */
#include "base/fdio.h"

#include "tests/unit/lib/tempdir.h"
#include "tests/unit/lib/unit.h"

#include <dirent.h>
#include <errno.h>
#include <linux/openat2.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void put(const struct tempdir *dir, const char *name, const char *data, size_t len)
{
    struct err err = ERR_INIT;
    _cleanup_fd_ int fd = openat(dir->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_works(fd_write_all(fd, data, len, &err), err);
}

static void assert_content(const struct tempdir *dir, const char *name, const char *expected)
{
    _cleanup_buf_ struct buf b = BUF_INIT;
    struct err err = ERR_INIT;

    assert_works(file_read(dir->fd, name, 1 << 20, &b, &err), err);
    assert_string_equal(b.data, expected);
}

static int count_entries(const struct tempdir *dir)
{
    int count = 0;
    DIR *d = opendir(dir->path);

    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d));)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return count;
}

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

/* ---- atomic files ---- */

static void commit_replaces_the_file(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_atomic_file_ struct atomic_file f = ATOMIC_FILE_INIT;
    struct err err = ERR_INIT;
    struct stat st;

    put(dir, "f", "old", 3);
    mode_t mask = umask(022);
    assert_works(atomic_file_begin(&f, dir->fd, "f", 0660, &err), err);
    umask(mask);
    assert_int_equal(fcntl(f.fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(f.tmp[0], '.');
    assert_works(fd_write_all(f.fd, "new", 3, &err), err);
    assert_content(dir, "f", "old"); /* until the commit */
    assert_works(atomic_file_commit(&f, &err), err);
    assert_content(dir, "f", "new");
    assert_int_equal(f.fd, -1);
    atomic_file_abort(&f); /* nothing happens */
    assert_content(dir, "f", "new");
    assert_int_equal(count_entries(dir), 1);
    assert_int_equal(fstatat(dir->fd, "f", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
}

static void abort_keeps_the_old_file(void **state)
{
    const struct tempdir *dir = *state;
    struct err err = ERR_INIT;

    put(dir, "f", "old", 3);
    {
        _cleanup_atomic_file_ struct atomic_file f = ATOMIC_FILE_INIT;
        assert_works(atomic_file_begin(&f, dir->fd, "f", 0600, &err), err);
        assert_works(fd_write_all(f.fd, "half", 4, &err), err);
        assert_int_equal(count_entries(dir), 2);
        errno = EDOM;
    }
    assert_int_equal(errno, EDOM);
    assert_content(dir, "f", "old");
    assert_int_equal(count_entries(dir), 1);
    struct atomic_file never = ATOMIC_FILE_INIT;
    atomic_file_abort(&never);
}

static void abort_keeps_errno_even_when_it_fails(void **state)
{
    const struct tempdir *dir = *state;
    struct atomic_file f = ATOMIC_FILE_INIT;
    struct err err = ERR_INIT;

    assert_works(atomic_file_begin(&f, dir->fd, "f", 0600, &err), err);
    assert_int_equal(unlinkat(dir->fd, f.tmp, 0), 0);
    errno = EDOM;
    atomic_file_abort(&f);
    assert_int_equal(errno, EDOM);
}

static void a_failed_rename_leaves_no_temporary_file(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_atomic_file_ struct atomic_file f = ATOMIC_FILE_INIT;
    struct err err = ERR_INIT;

    assert_int_equal(mkdirat(dir->fd, "d", 0755), 0);
    assert_works(atomic_file_begin(&f, dir->fd, "d", 0600, &err), err);
    assert_fails(atomic_file_commit(&f, &err), err, ERR_SYSTEM);
    assert_int_equal(err.sys, EISDIR);
    assert_contains(err.msg, "d");
    assert_int_equal(count_entries(dir), 1);
    assert_int_equal(f.fd, -1);
}

static void a_failed_sync_leaves_no_temporary_file(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_atomic_file_ struct atomic_file f = ATOMIC_FILE_INIT;
    struct err err = ERR_INIT;
    int fds[2];

    put(dir, "f", "old", 3);
    assert_works(atomic_file_begin(&f, dir->fd, "f", 0600, &err), err);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(dup3(fds[1], f.fd, O_CLOEXEC), f.fd); /* fsync of a pipe: EINVAL */
    assert_fails(atomic_file_commit(&f, &err), err, ERR_SYSTEM);
    assert_int_equal(err.sys, EINVAL);
    assert_int_equal(count_entries(dir), 1);
    assert_content(dir, "f", "old");
    close(fds[0]);
    close(fds[1]);
}

/* Leaves a temporary file behind as a killed process does: closed, and under its name. */
static void leave_temporary(const struct tempdir *dir, char name[NAME_MAX + 1])
{
    struct atomic_file f = ATOMIC_FILE_INIT;
    struct err err = ERR_INIT;

    assert_works(atomic_file_begin(&f, dir->fd, "f", 0600, &err), err);
    memcpy(name, f.tmp, sizeof(f.tmp));
    close(f.fd);
}

static void a_sweep_removes_what_nobody_writes(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_atomic_file_ struct atomic_file used = ATOMIC_FILE_INIT;
    struct err err = ERR_INIT;
    char left[NAME_MAX + 1];

    put(dir, "f", "old", 3);
    put(dir, ".flatbed-0123", "x", 1);
    put(dir, ".flatbed-0123456789abcdef0", "x", 1);
    put(dir, "flatbed-0123456789abcdef", "x", 1);
    assert_int_equal(mkdirat(dir->fd, ".flatbed-0123456789abcdef", 0700), 0);
    assert_int_equal(symlinkat("f", dir->fd, ".flatbed-0123456789abcde0"), 0);
    assert_works(atomic_file_begin(&used, dir->fd, "f", 0600, &err), err);
    assert_int_equal(atomic_file_sweep(dir->fd, false), 0);
    leave_temporary(dir, left);
    assert_int_equal(atomic_file_sweep(dir->fd, true), 1);
    assert_int_equal(faccessat(dir->fd, left, F_OK, 0), 0);
    assert_int_equal(atomic_file_sweep(dir->fd, false), 1);
    assert_int_equal(faccessat(dir->fd, left, F_OK, 0), -1);
    assert_int_equal(count_entries(dir), 7);
    assert_works(fd_write_all(used.fd, "new", 3, &err), err);
    assert_works(atomic_file_commit(&used, &err), err);
    assert_content(dir, "f", "new");
}

static void names_are_single_components(void **state)
{
    const struct tempdir *dir = *state;
    static const char *const bad[] = {"", ".", "..", "a/b", "/a", "a/"};
    char longest[NAME_MAX + 2];
    struct err err = ERR_INIT;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct atomic_file f = ATOMIC_FILE_INIT;
        assert_fails(atomic_file_begin(&f, dir->fd, bad[i], 0600, &err), err, ERR_USAGE);
        assert_int_equal(f.fd, -1);
    }
    memset(longest, 'n', NAME_MAX + 1);
    longest[NAME_MAX + 1] = '\0';
    struct atomic_file f = ATOMIC_FILE_INIT;
    assert_fails(atomic_file_begin(&f, dir->fd, longest, 0600, &err), err, ERR_USAGE);
    assert_int_equal(count_entries(dir), 0);
    longest[NAME_MAX] = '\0';
    assert_works(atomic_file_begin(&f, dir->fd, longest, 0600, &err), err);
    assert_works(atomic_file_commit(&f, &err), err);
    assert_content(dir, longest, "");
}

static void a_link_in_the_way_is_replaced_not_followed(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_atomic_file_ struct atomic_file f = ATOMIC_FILE_INIT;
    struct err err = ERR_INIT;
    struct stat st;

    put(dir, "target", "precious", 8);
    assert_int_equal(symlinkat("target", dir->fd, "f"), 0);
    assert_works(atomic_file_begin(&f, dir->fd, "f", 0600, &err), err);
    assert_works(fd_write_all(f.fd, "new", 3, &err), err);
    assert_works(atomic_file_commit(&f, &err), err);
    assert_content(dir, "target", "precious");
    assert_int_equal(fstatat(dir->fd, "f", &st, AT_SYMLINK_NOFOLLOW), 0);
    assert_true(S_ISREG(st.st_mode));
}

static void committing_what_was_not_begun_fails(void **state)
{
    struct atomic_file f = ATOMIC_FILE_INIT;
    struct err err = ERR_INIT;

    (void)state;
    assert_fails(atomic_file_commit(&f, &err), err, ERR_SYSTEM);
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
        in_directory(offsets_leave_the_position_alone),
        in_directory(writing_to_what_cannot_be_written_fails),
        in_directory(commit_replaces_the_file),
        in_directory(abort_keeps_the_old_file),
        in_directory(abort_keeps_errno_even_when_it_fails),
        in_directory(a_failed_rename_leaves_no_temporary_file),
        in_directory(a_failed_sync_leaves_no_temporary_file),
        in_directory(a_sweep_removes_what_nobody_writes),
        in_directory(names_are_single_components),
        in_directory(a_link_in_the_way_is_replaced_not_followed),
        in_directory(renames_elsewhere_do_not_matter),
        cmocka_unit_test(committing_what_was_not_begun_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
