/* Files that appear whole or not at all, in a real directory. */
#include "base/files/atomic_file.h"

#include "base/fdio.h"
#include "tests/unit/lib/fsyncs.h"
#include "tests/unit/lib/tempdir_files.h"
#include "tests/unit/lib/unit.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

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

/* Commits a file. Returns true if its name is on the disk. */
static bool name_is_synced(const struct tempdir *dir, bool fleeting, bool later)
{
    _cleanup_atomic_file_ struct atomic_file f = ATOMIC_FILE_INIT;
    struct err err = ERR_INIT;

    fsyncs_forget(0);
    assert_works(atomic_file_begin(&f, dir->fd, "f", 0600, &err), err);
    f.fleeting = fleeting;
    f.name_later = later;
    assert_works(atomic_file_commit(&f, &err), err);
    return fsyncs_reached(dir->fd, ".");
}

static void a_commit_syncs_the_name(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_atomic_file_ struct atomic_file f = ATOMIC_FILE_INIT;
    struct err err = ERR_INIT;

    assert_true(name_is_synced(dir, false, false));
    assert_false(name_is_synced(dir, true, false));
    assert_false(name_is_synced(dir, false, true));
    fsyncs_forget(EIO);
    assert_works(atomic_file_begin(&f, dir->fd, "g", 0600, &err), err);
    assert_fails(atomic_file_commit(&f, &err), err, ERR_SYSTEM);
    assert_int_equal(err.sys, EIO);
    assert_content(dir, "g", "");
    assert_int_equal(count_entries(dir), 2);
    fsyncs_forget(0);
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

UNIT_SUITE(test_atomic_file)
{
    const struct CMUnitTest tests[] = {
        in_directory(commit_replaces_the_file),
        in_directory(abort_keeps_the_old_file),
        in_directory(abort_keeps_errno_even_when_it_fails),
        in_directory(a_failed_rename_leaves_no_temporary_file),
        in_directory(a_failed_sync_leaves_no_temporary_file),
        in_directory(a_commit_syncs_the_name),
        in_directory(a_sweep_removes_what_nobody_writes),
        in_directory(names_are_single_components),
        in_directory(a_link_in_the_way_is_replaced_not_followed),
        cmocka_unit_test(committing_what_was_not_begun_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
