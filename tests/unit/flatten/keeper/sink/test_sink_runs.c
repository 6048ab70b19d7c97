/* Several runs into one layout: at the same time, and after one that was killed. */
#include "tests/unit/flatten/keeper/sink/sinks.h"

/* Runs that make the same new layout all add their images to the one that is there first. */
static void test_oci_made_by_another_run(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_buf_ struct buf names = BUF_INIT, files = BUF_INIT;
    struct written_layer layers[3];
    struct sink *sinks[3];
    struct err err;

    for (size_t i = 0; i < 3; i++) {
        static const char *const contents[] = {"one", "two", "one"};
        sinks[i] = open_sink(dir, TRANSPORT_OCI, "l", &err);
        assert_non_null(sinks[i]);
        layers[i] = put_layer(sinks[i], contents[i]);
    }
    for (size_t i = 0; i < 3; i++) {
        static const char *const tag[] = {"a", "b", "c"};
        assert_works(publish(sinks[i], &layers[i], tag[i], &err), err);
        sink_free(sinks[i]);
    }
    tags(dir, "l", &names);
    assert_string_equal(names.data, "a b c ");
    assert_true(has_blob(dir, "l", "one"));
    assert_true(has_blob(dir, "l", "two"));
    list_dir(dir->fd, "", &files);
    assert_null(strstr(files.data, ".flatbed-"));
}

/* A run that cannot add its image to the other's layout leaves that as it was. */
static void test_oci_made_by_another_run_and_damaged(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_buf_ struct buf before = BUF_INIT, after = BUF_INIT;
    struct err err;
    struct sink *sink = open_sink(dir, TRANSPORT_OCI, "l", &err);

    assert_non_null(sink);
    struct written_layer layer = put_layer(sink, "two");
    make_image(dir, TRANSPORT_OCI, "l", "one", "a");
    _cleanup_fd_ int fd = openat(dir->fd, "l/index.json", O_WRONLY | O_TRUNC | O_CLOEXEC);
    assert_int_equal(write(fd, "{", 1), 1);
    list_dir(dir->fd, "l", &before);
    assert_fails(publish(sink, &layer, "b", &err), err, ERR_FORMAT);
    sink_free(sink);
    list_dir(dir->fd, "l", &after);
    assert_string_equal(after.data, before.data);
    buf_truncate(&after, 0);
    list_dir(dir->fd, "", &after);
    assert_null(strstr(after.data, ".flatbed-"));
}

/* A run that was killed leaves files behind, which the next run into the layout removes. */
static void test_oci_left_overs_are_removed(void **state)
{
    const struct tempdir *dir = *state;
    static const char *const names[] = {"l/blobs/sha256/.flatbed-0123456789abcdef",
                                        "l/.flatbed-fedcba9876543210",
                                        ".flatbed-run-0123456789abcdef"};

    make_image(dir, TRANSPORT_OCI, "l", "one", "a");
    for (size_t i = 0; i < 3; i++)
        close(openat(dir->fd, names[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    make_image(dir, TRANSPORT_OCI, "l", "two", "b");
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(faccessat(dir->fd, names[i], F_OK, 0), -1);
    assert_true(has_blob(dir, "l", "one"));
}

UNIT_SUITE(test_sink_runs)
{
    static const struct CMUnitTest tests[] = {
        UNIT(test_oci_made_by_another_run),
        UNIT(test_oci_made_by_another_run_and_damaged),
        UNIT(test_oci_left_overs_are_removed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
