/* Space for temporary files: refusals before writing, and a full disk. */
#include "flatten/keeper/files/temporary_file.h"
#include "tests/unit/lib/unit.h"

#include <sys/mman.h>
#include <unistd.h>

/* A file larger than the free space of the directory is refused; the message has both sizes. */
static void test_room(void **state)
{
    struct err err = ERR_INIT;

    (void)state;
    assert_int_equal(setenv("TMPDIR", "/tmp", 1), 0);
    assert_works(temporary_file_check_room(0, &err), err);
    assert_works(temporary_file_check_room(1, &err), err);
    assert_fails(temporary_file_check_room(UINT64_MAX / 2, &err), err, ERR_SYSTEM);
    assert_int_equal(err.sys, ENOSPC);
    assert_contains(err.msg, "/tmp has ");
    assert_contains(err.msg, " free, the image needs about 9.2 EB: set TMPDIR to a directory");
}

/* A full disk is explained with the size of the file and the size needed; other errors stay. */
static void test_ran_out(void **state)
{
    _cleanup_fd_ int fd = memfd_create("file", MFD_CLOEXEC);
    struct err err = ERR_INIT;

    (void)state;
    assert_int_equal(setenv("TMPDIR", "/tmp", 1), 0);
    assert_int_equal(ftruncate(fd, 6000000), 0);
    errno = ENOSPC;
    (void)err_sys(&err, "write");
    assert_fails(temporary_file_explain_room(fd, 7600000000, &err), err, ERR_SYSTEM);
    assert_string_equal(err.msg, "/tmp has 6.0 MB free, the image needs about 7.6 GB: set TMPDIR "
                                 "to a directory with room");
    errno = EDQUOT;
    (void)err_sys(&err, "write");
    assert_fails(temporary_file_explain_room(fd, 1, &err), err, ERR_SYSTEM);
    assert_int_equal(err.sys, ENOSPC);
    assert_string_equal(err.msg, "/tmp has 6.0 MB free, the image needs more: set TMPDIR to a "
                                 "directory with room");
    errno = EIO;
    (void)err_sys(&err, "write");
    assert_fails(temporary_file_explain_room(fd, 7600000000, &err), err, ERR_SYSTEM);
    assert_contains(err.msg, "write: ");
}

UNIT_SUITE(test_temporary_file)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_ran_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
