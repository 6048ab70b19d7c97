#include "tests/unit/lib/stream_unit.h"

#include <sys/mman.h>
#include <unistd.h>

static int memory_file(const char *content)
{
    int fd = memfd_create("file", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, strlen(content)), strlen(content));
    return fd;
}

static void test_a_range(void **state)
{
    _cleanup_fd_ int fd = memory_file("0123456789");
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err err = ERR_INIT;

    (void)state;
    struct stream *s = stream_range(fd, 3, 4, &err);
    assert_non_null(s);
    assert_works(read_stream(s, 2, &out, &err), err);
    assert_string_equal(out.data, "3456");
    s = stream_range(fd, 100, 0, &err);
    assert_non_null(s);
    assert_works(read_stream(s, 2, &out, &err), err);
    assert_int_equal(out.len, 4);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 10); /* the position is not touched */
}

static void test_skip(void **state)
{
    _cleanup_fd_ int fd = memory_file("0123456789");
    struct err err = ERR_INIT;
    const void *data;
    size_t len;
    struct stream *s = stream_range(fd, 2, 7, &err);

    (void)state;
    assert_non_null(s);
    assert_int_equal(stream_skip(s, 3), 3);
    assert_works(stream_peek(s, &data, &len, &err), err);
    assert_int_equal(*(const char *)data, '5');
    assert_int_equal(stream_skip(s, 1), 0); /* peeked bytes are not used yet */
    stream_advance(s, len);
    assert_int_equal(stream_skip(s, 1), 0); /* at the end */
    stream_free(s);
    s = stream_range(fd, 8, 20, &err);
    assert_non_null(s);
    assert_int_equal(stream_skip(s, 100), 19); /* the last byte is for finding out ... */
    assert_fails(stream_peek(s, &data, &len, &err), err, ERR_FORMAT); /* ... that it is missing */
    stream_free(s);
    s = memory_stream("abc", 3, 3);
    assert_int_equal(stream_skip(s, 1), 0);
    stream_free(s);
}

/* A file that grows only when its stream waits, by as many bytes as that asks for. */
struct growing {
    int fd;
    uint64_t asked, most; /* `most`: no more come */
};

static int grow(void *ctx, uint64_t bytes, struct err *err)
{
    struct growing *g = ctx;

    g->asked = bytes;
    if (bytes > g->most)
        return err_set(err, ERR_DIGEST, "no more than %d", (int)g->most);
    return ftruncate(g->fd, 3 + (off_t)bytes) < 0 ? err_sys(err, "grow") : 0;
}

static void test_a_range_that_arrives(void **state)
{
    enum { SIZE = 1000 * 1000 };
    _cleanup_fd_ int fd = memory_file("012");
    struct growing g = {.fd = fd, .most = SIZE};
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    struct stream *s = stream_range(fd, 3, SIZE, &err);

    (void)state;
    assert_non_null(s);
    stream_range_await(s, grow, &g);
    assert_int_equal(g.asked, 0);
    assert_int_equal(stream_skip(s, 10), 10); /* skipping does not wait */
    assert_int_equal(g.asked, 0);
    assert_works(read_stream(s, 1 << 20, &out, &err), err);
    assert_int_equal(out.len, SIZE - 10);
    assert_int_equal(g.asked, SIZE);
    s = stream_range(fd, 3, SIZE, &err);
    assert_non_null(s);
    g.most = 300 * 1000; /* a part of what the second read would take */
    stream_range_await(s, grow, &g);
    out.len = 0;
    assert_fails(read_stream(s, 1 << 20, &out, &err), err, ERR_DIGEST);
    assert_int_equal(out.len, 256 * 1024);
}

static void test_range_beyond_the_end(void **state)
{
    _cleanup_fd_ int fd = memory_file("0123456789");
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err err = ERR_INIT;

    (void)state;
    struct stream *s = stream_range(fd, 3, 8, &err);
    assert_non_null(s);
    assert_fails(read_stream(s, 100, &out, &err), err, ERR_FORMAT);
    assert_string_equal(out.data, "3456789");
}

UNIT_SUITE(test_range)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_range),
        cmocka_unit_test(test_skip),
        cmocka_unit_test(test_a_range_that_arrives),
        cmocka_unit_test(test_range_beyond_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
