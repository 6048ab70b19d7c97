/* Files in a directory that somebody else made. */
#include "flatten/keeper/files/file_beneath.h"
#include "tests/unit/lib/tempdir.h"
#include "tests/unit/lib/unit.h"

#include <sys/sysmacros.h>

static void put(const struct tempdir *dir, const char *name)
{
    int fd = openat(dir->fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, "text", 4), 4);
    close(fd);
}

static void check_refused(const struct tempdir *dir, const char *path, enum err_kind kind,
                          const char *text)
{
    struct err err = ERR_INIT;
    _cleanup_buf_ struct buf out = BUF_INIT;

    assert_fails(file_beneath_read(dir->fd, path, 100, &out, &err), err, kind);
    assert_contains(err.msg, text);
    assert_int_equal(out.len, 0);
}

static void test_regular_files(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err err = ERR_INIT;

    assert_int_equal(mkdirat(dir->fd, "in", 0700), 0);
    put(dir, "in/file");
    assert_works(file_beneath_read(dir->fd, "in/file", 4, &out, &err), err);
    assert_string_equal(out.data, "text");
    assert_fails(file_beneath_read(dir->fd, "in/file", 3, &out, &err), err, ERR_LIMIT);
    check_refused(dir, "in/none", ERR_SYSTEM, "in/none: No such file");
    check_refused(dir, "in", ERR_FORMAT, "not a regular file");
}

static void test_symlinks(void **state)
{
    const struct tempdir *dir = *state;

    assert_int_equal(mkdirat(dir->fd, "in", 0700), 0);
    put(dir, "in/file");
    assert_int_equal(symlinkat("in/file", dir->fd, "near"), 0);
    assert_int_equal(symlinkat("/etc/passwd", dir->fd, "far"), 0);
    assert_int_equal(symlinkat("../../etc/passwd", dir->fd, "in/up"), 0);
    assert_int_equal(symlinkat("/proc/self/cwd", dir->fd, "magic"), 0);
    assert_int_equal(symlinkat("in", dir->fd, "dir"), 0);
    check_refused(dir, "near", ERR_FORMAT, "near is a symlink");
    check_refused(dir, "far", ERR_FORMAT, "far is a symlink");
    check_refused(dir, "in/up", ERR_FORMAT, "in/up is a symlink");
    check_refused(dir, "magic/etc/passwd", ERR_FORMAT, "symlink");
    check_refused(dir, "dir/file", ERR_FORMAT, "symlink");
    check_refused(dir, "/etc/passwd", ERR_FORMAT, "symlink");
    check_refused(dir, "../x", ERR_FORMAT, "symlink");
}

/* A FIFO without a writer would block, and opening a device may have effects. */
static void test_special_files(void **state)
{
    const struct tempdir *dir = *state;

    assert_int_equal(mkfifoat(dir->fd, "fifo", 0600), 0);
    check_refused(dir, "fifo", ERR_FORMAT, "not a regular file");
    if (geteuid() == 0 && mknodat(dir->fd, "null", S_IFCHR | 0600, makedev(1, 3)) == 0)
        check_refused(dir, "null", ERR_FORMAT, "not a regular file");
}

UNIT_SUITE(test_file_beneath)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_regular_files, tempdir_make, tempdir_remove),
        cmocka_unit_test_setup_teardown(test_symlinks, tempdir_make, tempdir_remove),
        cmocka_unit_test_setup_teardown(test_special_files, tempdir_make, tempdir_remove),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
