/* The audit file: whole lines, rotation by size, and paths that must be owned by root. */
#include "tests/unit/lib/unit.h"

#include "base/fdio.h"
#include "shim/audit/audit.h"
#include "shim/host/lock.h"

#include "tests/unit/lib/tempdir.h"

#include <sys/file.h>
#include <sys/stat.h>

/* An audit in the test's directory. */
static struct policy_audit audit_in(const struct tempdir *dir, const char *name, char *path,
                                    size_t size)
{
    snprintf(path, size, "%s/%s", dir->path, name);
    return (struct policy_audit){.file.text = path, .max_size = 100, .keep = 3};
}

#define AUDIT_IN(dir, name)                                                                        \
    char path[128];                                                                                \
    struct policy_audit audit = audit_in(dir, name, path, sizeof(path));                           \
    struct err err = ERR_INIT

static int append(const struct policy_audit *audit, const char *text, struct err *err)
{
    _cleanup_buf_ struct buf line = BUF_INIT;

    buf_puts(&line, text);
    return audit_file_append(audit, &line, err);
}

static void assert_file(const struct tempdir *dir, const char *name, const char *expected)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err err = ERR_INIT;

    assert_works(file_read(dir->fd, name, 1000, &text, &err), err);
    assert_string_equal(text.data ? text.data : "", expected);
}

static void put(const struct tempdir *dir, const char *name, const char *text, mode_t mode)
{
    struct err err = ERR_INIT;
    int fd = openat(dir->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_works(fd_write_all(fd, text, strlen(text), &err), err);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static bool is_there(const struct tempdir *dir, const char *name)
{
    return faccessat(dir->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void test_appends(void **state)
{
    const struct tempdir *dir = *state;
    mode_t umask_before = umask(0);
    struct stat st;
    AUDIT_IN(dir, "a");

    assert_works(append(&audit, "one\n", &err), err);
    umask(umask_before);
    assert_works(append(&audit, "two\n", &err), err);
    assert_file(dir, "a", "one\ntwo\n");
    assert_int_equal(fstatat(dir->fd, "a", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
}

static void test_mode_whatever_the_umask(void **state)
{
    const struct tempdir *dir = *state;
    mode_t umask_before = umask(0777);
    struct stat st;
    AUDIT_IN(dir, "a");

    assert_works(append(&audit, "one\n", &err), err);
    umask(umask_before);
    assert_int_equal(fstatat(dir->fd, "a", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
}

/* Two lines of 40 bytes fit. */
static const char *const lines[] = {
    "000000000000000000000000000000000000000\n", "111111111111111111111111111111111111111\n",
    "222222222222222222222222222222222222222\n", "333333333333333333333333333333333333333\n",
    "444444444444444444444444444444444444444\n", "555555555555555555555555555555555555555\n",
    "666666666666666666666666666666666666666\n", "777777777777777777777777777777777777777\n",
    "888888888888888888888888888888888888888\n",
};

static void test_rotation(void **state)
{
    const struct tempdir *dir = *state;
    AUDIT_IN(dir, "a");

    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
        assert_works(append(&audit, lines[i], &err), err);
    assert_file(dir, "a", lines[8]);
    _cleanup_free_ char *first = strf("%s%s", lines[6], lines[7]);
    _cleanup_free_ char *third = strf("%s%s", lines[2], lines[3]);
    assert_file(dir, "a.1", first);
    assert_file(dir, "a.3", third);
    assert_false(is_there(dir, "a.4"));
}

/* A line longer than the limit of a file gets a file of its own. */
static void test_a_line_beyond_the_size(void **state)
{
    const struct tempdir *dir = *state;
    AUDIT_IN(dir, "a");

    audit.max_size = 10;
    for (size_t i = 0; i < 2; i++)
        assert_works(append(&audit, lines[i], &err), err);
    assert_file(dir, "a", lines[1]);
    assert_file(dir, "a.1", lines[0]);
}

/* A rotation that was interrupted after its first renames loses no file the next time. */
static void test_interrupted_rotation(void **state)
{
    const struct tempdir *dir = *state;
    AUDIT_IN(dir, "a");

    put(dir, "a", lines[3], 0640);
    put(dir, "a.2", "was 1\n", 0640);
    put(dir, "a.3", "was 2\n", 0640);
    audit.max_size = 10;
    assert_works(append(&audit, "new\n", &err), err);
    assert_file(dir, "a", "new\n");
    assert_file(dir, "a.1", lines[3]);
    assert_file(dir, "a.2", "was 1\n");
    assert_file(dir, "a.3", "was 2\n");
}

/* Half a line, left by a writer that was killed. */
static void test_torn_line(void **state)
{
    const struct tempdir *dir = *state;
    AUDIT_IN(dir, "a");

    put(dir, "a", "one\n{\"half", 0640);
    assert_works(append(&audit, "two\n", &err), err);
    assert_file(dir, "a", "one\ntwo\n");
    put(dir, "a", "{\"half", 0640);
    assert_works(append(&audit, "two\n", &err), err);
    assert_file(dir, "a", "two\n");
}

static void test_what_is_not_ours(void **state)
{
    const struct tempdir *dir = *state;
    AUDIT_IN(dir, "a");

    put(dir, "other", "x\n", 0640);
    assert_int_equal(symlinkat("other", dir->fd, "a"), 0);
    assert_fails(append(&audit, "one\n", &err), err, ERR_SYSTEM);
    assert_file(dir, "other", "x\n");
    assert_int_equal(unlinkat(dir->fd, "a", 0), 0);
    put(dir, "a", "x\n", 0660);
    assert_fails(append(&audit, "one\n", &err), err, ERR_POLICY);
    assert_contains(err.msg, "must be a regular file, owned by root and not writable by others");
    assert_int_equal(unlinkat(dir->fd, "a", 0), 0);
    assert_int_equal(mkfifoat(dir->fd, "a", 0600), 0);
    assert_fails(append(&audit, "one\n", &err), err, ERR_POLICY);
}

static void test_directories_of_others(void **state)
{
    const struct tempdir *dir = *state;
    AUDIT_IN(dir, "open/a");

    assert_int_equal(mkdirat(dir->fd, "open", 0777), 0);
    assert_int_equal(fchmodat(dir->fd, "open", 0777, 0), 0);
    assert_fails(append(&audit, "one\n", &err), err, ERR_POLICY);
    assert_contains(err.msg,
                    "must lie in directories that are owned by root and not writable by others");
    assert_int_equal(mkdirat(dir->fd, "open/closed", 0755), 0);
    snprintf(path, sizeof(path), "%s/open/closed/a", dir->path);
    assert_fails(append(&audit, "one\n", &err), err, ERR_POLICY);
    assert_contains(err.msg,
                    "must lie in directories that are owned by root and not writable by others");
}

static void test_a_missing_directory_is_made(void **state)
{
    const struct tempdir *dir = *state;
    struct stat st;
    AUDIT_IN(dir, "log/flatbed/a");

    assert_works(append(&audit, "one\n", &err), err);
    assert_int_equal(fstatat(dir->fd, "log/flatbed", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0750);
    assert_int_equal(fstatat(dir->fd, "log/flatbed/a", &st, 0), 0);
    assert_int_equal(st.st_size, 4);
}

/* Waiting for the lock has a limit. */
static void test_lock_is_bounded(void **state)
{
    const struct tempdir *dir = *state;
    struct err err = ERR_INIT;

    put(dir, "a", "", 0640);
    _cleanup_fd_ int one = openat(dir->fd, "a", O_RDONLY | O_CLOEXEC);
    _cleanup_fd_ int two = openat(dir->fd, "a", O_RDONLY | O_CLOEXEC);
    assert_works(lock_wait(one, 0, &err), err);
    assert_fails(lock_wait(two, 20, &err), err, ERR_LIMIT);
    assert_int_equal(flock(one, LOCK_UN), 0);
    assert_works(lock_wait(two, 0, &err), err);
}

UNIT_SUITE(test_audit_file)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_appends, tempdir_make, tempdir_remove),
        cmocka_unit_test_setup_teardown(test_mode_whatever_the_umask, tempdir_make, tempdir_remove),
        cmocka_unit_test_setup_teardown(test_rotation, tempdir_make, tempdir_remove),
        cmocka_unit_test_setup_teardown(test_a_line_beyond_the_size, tempdir_make, tempdir_remove),
        cmocka_unit_test_setup_teardown(test_interrupted_rotation, tempdir_make, tempdir_remove),
        cmocka_unit_test_setup_teardown(test_torn_line, tempdir_make, tempdir_remove),
        cmocka_unit_test_setup_teardown(test_what_is_not_ours, tempdir_make, tempdir_remove),
        cmocka_unit_test_setup_teardown(test_directories_of_others, tempdir_make, tempdir_remove),
        cmocka_unit_test_setup_teardown(test_a_missing_directory_is_made, tempdir_make,
                                        tempdir_remove),
        cmocka_unit_test_setup_teardown(test_lock_is_bounded, tempdir_make, tempdir_remove),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
