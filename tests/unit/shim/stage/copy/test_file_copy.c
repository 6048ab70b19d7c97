/* Owner, mode and time of a copied file. */
#include "tests/unit/lib/tempdir.h"
#include "tests/unit/lib/unit.h"

#include "base/cleanup.h"
#include "shim/stage/copy/file_copy.h"

#include <fcntl.h>
#include <sys/stat.h>

/* The directory gives its group to what is made in it. */
static void test_the_group_is_the_sources(void **state)
{
    const struct tempdir *dir = *state;
    const struct statx source = {.stx_mode = S_IFREG | 0640};
    struct err err = ERR_INIT;
    struct stat st;

    assert_int_equal(fchown(dir->fd, 0, 1234), 0);
    assert_int_equal(fchmod(dir->fd, 02750), 0);
    _cleanup_fd_ int fd = openat(dir->fd, "copy", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_return_code(fd, errno);
    assert_works(attributes_set(fd, &source, &err), err);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_gid, 0);
    assert_int_equal(st.st_mode & 07777, 0640);
}

UNIT_SUITE(test_file_copy)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_group_is_the_sources, tempdir_make,
                                        tempdir_remove),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
