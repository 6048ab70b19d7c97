/* Unfinished destinations: those of runs that are gone are removed, and no others. */
#include "base/buf.h"
#include "base/files/unfinished.h"
#include "tests/unit/lib/tempdir.h"
#include "tests/unit/lib/unit.h"

#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>

#define LEFT_OVER ".flatbed-run-0123456789abcdef"
#define TEMPORARY ".flatbed-0123456789abcdef"

static bool exists(const struct tempdir *dir, const char *path)
{
    return faccessat(dir->fd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void make_file(const struct tempdir *dir, const char *path)
{
    int fd = openat(dir->fd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    close(fd);
}

static void make_layout(const struct tempdir *dir, const char *path)
{
    static const char *const dirs[] = {"", "/blobs", "/blobs/sha256"};
    static const char *const files[] = {
        "/oci-layout", "/blobs/sha256/" TEMPORARY, "/" TEMPORARY,
        "/blobs/sha256/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"};

    for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
        _cleanup_free_ char *name = strf("%s%s", path, dirs[i]);
        assert_int_equal(mkdirat(dir->fd, name, 0700), 0);
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        _cleanup_free_ char *name = strf("%s%s", path, files[i]);
        make_file(dir, name);
    }
}

static void test_left_overs_are_removed(void **state)
{
    const struct tempdir *dir = *state;

    make_file(dir, LEFT_OVER);
    make_layout(dir, ".flatbed-run-0000000000000000");
    unfinished_remove_beside(dir->fd);
    assert_false(exists(dir, LEFT_OVER));
    assert_false(exists(dir, ".flatbed-run-0000000000000000"));
}

/* Files of other programs, and names that no run chooses. */
static void test_others_stay(void **state)
{
    const struct tempdir *dir = *state;
    static const char *const names[] = {TEMPORARY, LEFT_OVER "0", ".flatbed-run-0123456789abcdeg",
                                        ".flatbed-run-", "flatbed-run-0123456789abcdef"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        make_file(dir, names[i]);
    assert_int_equal(symlinkat(TEMPORARY, dir->fd, ".flatbed-run-1111111111111111"), 0);
    assert_int_equal(mkfifoat(dir->fd, ".flatbed-run-2222222222222222", 0600), 0);
    make_layout(dir, ".flatbed-run-3333333333333333");
    make_file(dir, ".flatbed-run-3333333333333333/theirs");
    unfinished_remove_beside(dir->fd);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        assert_true(exists(dir, names[i]));
    assert_true(exists(dir, ".flatbed-run-1111111111111111"));
    assert_true(exists(dir, ".flatbed-run-2222222222222222"));
    assert_true(exists(dir, ".flatbed-run-3333333333333333/theirs"));
}

/* A run holds its lock with any descriptor of the file, also with one of the reader. */
static void test_runs_keep_theirs(void **state)
{
    const struct tempdir *dir = *state;
    char layout[UNFINISHED_NAME], archive[UNFINISHED_NAME];
    struct err err = ERR_INIT;
    int made = unfinished_dir_make(dir->fd, layout, &err);

    assert_true(made >= 0);
    make_file(dir, "archive");
    int fd = openat(dir->fd, "archive", O_RDWR | O_CLOEXEC);
    int lock = unfinished_file_rename(dir->fd, "archive", fd, archive, &err);
    assert_true(lock >= 0);
    assert_false(exists(dir, "archive"));
    close(fd);
    unfinished_remove_beside(dir->fd);
    assert_true(exists(dir, layout));
    assert_true(exists(dir, archive));
    close(made);
    unfinished_remove_beside(dir->fd);
    assert_false(exists(dir, layout));
    assert_true(exists(dir, archive));
    close(lock);
    unfinished_remove_beside(dir->fd);
    assert_false(exists(dir, archive));
}

static void test_another_user_keeps_theirs(void **state)
{
    const struct tempdir *dir = *state;

    if (geteuid() != 0)
        skip();
    make_file(dir, LEFT_OVER);
    assert_int_equal(fchownat(dir->fd, LEFT_OVER, 1, 1, AT_SYMLINK_NOFOLLOW), 0);
    unfinished_remove_beside(dir->fd);
    assert_true(exists(dir, LEFT_OVER));
}

static void test_temporary_files_inside(void **state)
{
    const struct tempdir *dir = *state;

    make_file(dir, TEMPORARY);
    make_file(dir, "blob");
    make_file(dir, ".flatbed-short");
    unfinished_remove_inside(dir->fd);
    assert_false(exists(dir, TEMPORARY));
    assert_true(exists(dir, "blob"));
    assert_true(exists(dir, ".flatbed-short"));
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, tempdir_make, tempdir_remove)

UNIT_SUITE(test_unfinished)
{
    static const struct CMUnitTest tests[] = {
        UNIT(test_left_overs_are_removed), UNIT(test_others_stay),
        UNIT(test_runs_keep_theirs),       UNIT(test_another_user_keeps_theirs),
        UNIT(test_temporary_files_inside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
