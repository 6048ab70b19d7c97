/* Names are written to the disk, where the file system can do that. */
#include "base/files/dir_sync.h"

#include "tests/unit/lib/fsyncs.h"
#include "tests/unit/lib/tempdir.h"
#include "tests/unit/lib/unit.h"

#include <sys/stat.h>

static void test_a_place_without_data(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_fd_ int place = open(dir->path, O_PATH | O_CLOEXEC);
    struct err err = ERR_INIT;

    assert_int_equal(mkdirat(place, "d", 0700), 0);
    fsyncs_forget(0);
    assert_works(dir_sync(place, "d", &err), err);
    assert_true(fsyncs_reached(place, "d"));
    assert_false(fsyncs_reached(place, "."));
    assert_works(dir_sync(place, ".", &err), err);
    assert_true(fsyncs_reached(place, "."));
    assert_fails(dir_sync(place, "missing", &err), err, ERR_SYSTEM);
}

static void test_errors(void **state)
{
    static const int ignored[] = {EINVAL, ENOTSUP};
    const struct tempdir *dir = *state;
    struct err err = ERR_INIT;

    for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++) {
        fsyncs_forget(ignored[i]);
        assert_works(dir_sync(dir->fd, ".", &err), err);
    }
    fsyncs_forget(EIO);
    assert_fails(dir_sync(dir->fd, ".", &err), err, ERR_SYSTEM);
    assert_int_equal(err.sys, EIO);
    fsyncs_forget(0);
}

/* A file system of the kernel that knows no fsync. */
static void test_proc(void **state)
{
    _cleanup_fd_ int proc = open("/proc", O_PATH | O_CLOEXEC);
    struct err err = ERR_INIT;

    (void)state;
    assert_works(dir_sync(proc, ".", &err), err);
}

#define in_directory(test) cmocka_unit_test_setup_teardown(test, tempdir_make, tempdir_remove)

UNIT_SUITE(test_dir_sync)
{
    const struct CMUnitTest tests[] = {
        in_directory(test_a_place_without_data),
        in_directory(test_errors),
        cmocka_unit_test(test_proc),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
