/* A result is still there after a failure of power: its names are on the disk. */
#include "tests/unit/flatten/keeper/sink/sinks.h"
#include "tests/unit/lib/fsyncs.h"

static void test_layout(void **state)
{
    const struct tempdir *dir = *state;

    for (int i = 0; i < 2; i++) { /* a new layout, and one that exists */
        fsyncs_forget(0);
        make_image(dir, TRANSPORT_OCI, "l", i ? "two" : "one", i ? "b" : "a");
        assert_true(fsyncs_reached(dir->fd, "."));
        assert_true(fsyncs_reached(dir->fd, "l"));
        assert_true(fsyncs_reached(dir->fd, "l/blobs"));
        assert_true(fsyncs_reached(dir->fd, "l/blobs/sha256"));
    }
}

static void test_archive(void **state)
{
    const struct tempdir *dir = *state;

    fsyncs_forget(0);
    make_image(dir, TRANSPORT_DOCKER_ARCHIVE, "a.tar", "one", "a:1");
    assert_true(fsyncs_reached(dir->fd, "."));
}

UNIT_SUITE(test_sink_sync)
{
    const struct CMUnitTest tests[] = {UNIT(test_layout), UNIT(test_archive)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
