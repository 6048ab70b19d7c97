#include "tests/unit/lib/stream_unit.h"

#include "flatten/keeper/files/temporary_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

static const struct compress_options gzip = {.kind = COMPRESSION_GZIP, .level = 1};
static const struct compress_options zstd = {.kind = COMPRESSION_ZSTD, .level = 3, .threads = 1};
static const struct compress_options *const both[] = {&gzip, &zstd};

static const char text[] = "Streams are pulled; nothing is copied in between. "
                           "Streams are pulled; nothing is copied in between. 0123456789";

typedef int stream_reader(struct stream *s, size_t step, struct buf *out, struct err *err);

static int inflate_by(stream_reader *read, const struct buf *in, size_t in_step, size_t out_step,
                      struct buf *out, struct err *err)
{
    enum compression kind;
    /* The first peek shows four bytes, the length of the longest magic number. */
    struct stream *raw = memory_stream(in->data, in->len, in_step < 4 ? 4 : in_step);
    struct stream *s = stream_decompress(raw, &kind, err);

    if (!s)
        return -1;
    ((struct memory_stream *)raw)->step = in_step;
    return read(s, out_step, out, err);
}

static int inflate(const struct buf *in, size_t in_step, size_t out_step, struct buf *out,
                   struct err *err)
{
    return inflate_by(read_stream, in, in_step, out_step, out, err);
}

static void check_inflates(const struct buf *in, const void *data, size_t len)
{
    static const size_t steps[][2] = {
        {1, 1}, {1, 1 << 20}, {7, 3}, {1 << 20, 1}, {1 << 20, 1 << 20}};

    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        static stream_reader *const readers[] = {read_stream, read_stream_into};
        for (size_t j = 0; j < 2; j++) {
            _cleanup_buf_ struct buf out = BUF_INIT;
            struct err err = ERR_INIT;
            assert_works(inflate_by(readers[j], in, steps[i][0], steps[i][1], &out, &err), err);
            assert_int_equal(out.len, len);
            assert_true(len == 0 || memcmp(out.data, data, len) == 0);
        }
    }
}

static void test_one_byte_at_a_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        _cleanup_buf_ struct buf in = BUF_INIT;
        compress_to(&in, both[i], text, sizeof(text), sizeof(text));
        check_inflates(&in, text, sizeof(text));
    }
}

static void test_more_than_the_buffers(void **state)
{
    enum { SIZE = 1300 * 1000 };
    _cleanup_buf_ struct buf data = BUF_INIT;

    (void)state;
    fill_mixed(&data, SIZE);
    for (size_t i = 0; i < 2; i++) {
        _cleanup_buf_ struct buf in = BUF_INIT, out = BUF_INIT;
        struct err err = ERR_INIT;
        compress_to(&in, both[i], data.data, data.len, 100 * 1000);
        assert_works(inflate(&in, 1, SIZE, &out, &err), err);
        assert_int_equal(out.len, SIZE);
        assert_memory_equal(out.data, data.data, SIZE);
        buf_truncate(&out, 0);
        assert_works(inflate_by(read_stream_into, &in, 1 << 20, 300 * 1000, &out, &err), err);
        assert_int_equal(out.len, SIZE);
        assert_memory_equal(out.data, data.data, SIZE);
    }
}

static void test_no_content(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        _cleanup_buf_ struct buf in = BUF_INIT;
        compress_to(&in, both[i], "", 0, 1);
        check_inflates(&in, "", 0);
    }
}

/* RFC 1952 and RFC 8878: members and frames follow one another; empty ones count as nothing. */
static void test_many_members(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        _cleanup_buf_ struct buf in = BUF_INIT, all = BUF_INIT;
        for (size_t n = 0; n < 5; n++) {
            size_t len = n == 2 ? 0 : sizeof(text) - n;
            compress_to(&in, both[i], text, len, 1000);
            buf_append(&all, text, len);
        }
        check_inflates(&in, all.data, all.len);
    }
}

static void test_zstd_skippable_frame(void **state)
{
    _cleanup_buf_ struct buf in = BUF_INIT;

    (void)state;
    compress_to(&in, &zstd, text, sizeof(text), 1000);
    buf_append(&in, "\x50\x2a\x4d\x18\x03\0\0\0abc", 11);
    compress_to(&in, &zstd, text, sizeof(text), 1000);
    _cleanup_buf_ struct buf all = BUF_INIT;
    buf_append(&all, text, sizeof(text));
    buf_append(&all, text, sizeof(text));
    check_inflates(&in, all.data, all.len);
}

/* A header with every optional field (RFC 1952, 2.3): FEXTRA, FNAME, FCOMMENT. */
static void test_gzip_header_fields(void **state)
{
    _cleanup_buf_ struct buf plain = BUF_INIT, in = BUF_INIT;

    (void)state;
    compress_to(&plain, &gzip, text, sizeof(text), 1000);
    buf_append(&in, "\x1f\x8b\x08\x1c\0\0\0\0\0\xff\x03\0abcname\0comment\0", 28);
    buf_append(&in, plain.data + 10, plain.len - 10);
    check_inflates(&in, text, sizeof(text));
}

static void test_zeros_behind_gzip(void **state)
{
    static const char zeros[1024];
    _cleanup_buf_ struct buf in = BUF_INIT;

    (void)state;
    compress_to(&in, &gzip, text, sizeof(text), 1000);
    buf_append(&in, zeros, sizeof(zeros));
    check_inflates(&in, text, sizeof(text));
}

static void check_refused(const struct buf *in, const char *what)
{
    static const size_t steps[] = {1, 1 << 20};

    for (size_t i = 0; i < 2; i++) {
        _cleanup_buf_ struct buf out = BUF_INIT;
        struct err err = ERR_INIT;
        if (inflate(in, steps[i], 1000, &out, &err) != -1)
            fail_msg("%s: %zu bytes are taken for the whole", what, in->len);
        assert_int_equal(err.kind, ERR_FORMAT);
        assert_contains(err.msg, what);
    }
}

static void test_garbage_behind(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        _cleanup_buf_ struct buf in = BUF_INIT;
        compress_to(&in, both[i], text, sizeof(text), 1000);
        buf_puts(&in, "garbage");
        check_refused(&in, i ? "zstd: " : "gzip: garbage after the data");
    }
}

static void test_cut_at_every_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        _cleanup_buf_ struct buf in = BUF_INIT;
        compress_to(&in, both[i], text, sizeof(text), 1000);
        for (size_t len = in.len; len-- > 4;) {
            in.len = len;
            check_refused(&in, i ? "zstd: " : "gzip: ");
        }
    }
}

static void test_every_byte_of_the_checksum_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        _cleanup_buf_ struct buf in = BUF_INIT;
        compress_to(&in, both[i], text, sizeof(text), 1000);
        for (size_t back = 1; back <= (i ? 4 : 8); back++) {
            in.data[in.len - back] ^= 0x10;
            check_refused(&in, i ? "zstd: " : "gzip: ");
            in.data[in.len - back] ^= 0x10;
        }
    }
}

static void test_unknown_gzip_method(void **state)
{
    _cleanup_buf_ struct buf in = BUF_INIT;

    (void)state;
    compress_to(&in, &gzip, text, sizeof(text), 1000);
    in.data[2] = 7;
    check_refused(&in, "gzip: unknown compression method");
}

/* A frame may ask for 128 MiB of window and no more (RFC 8878, 3.1.1.1.2). */
static void test_zstd_window_limit(void **state)
{
    _cleanup_buf_ struct buf in = BUF_INIT;

    (void)state;
    buf_append(&in, "\x28\xb5\x2f\xfd\x00\x90\x01\x00\x00", 9); /* windowLog 28, empty block */
    check_refused(&in, "zstd: ");
    in.data[5] = (char)0x88; /* 27 */
    check_inflates(&in, "", 0);
}

static void test_what_is_not_compressed(void **state)
{
    static const char *const plain[] = {"", "x", "\x1f", "\x28\xb5\x2f", "no magic"};
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
        _cleanup_buf_ struct buf out = BUF_INIT;
        enum compression kind = COMPRESSION_GZIP;
        struct stream *s =
            stream_decompress(memory_stream(plain[i], strlen(plain[i]), 100), &kind, &err);
        assert_non_null(s);
        assert_int_equal(kind, COMPRESSION_NONE);
        assert_works(read_stream(s, 100, &out, &err), err);
        assert_int_equal(out.len, strlen(plain[i]));
    }
}

/* A pipe may give one byte a read: the detected format must not depend on that. */
static void test_magic_in_pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        _cleanup_buf_ struct buf in = BUF_INIT, out = BUF_INIT;
        struct err err = ERR_INIT;
        enum compression kind;
        int ends[2];
        compress_to(&in, both[i], text, sizeof(text), 1000);
        assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
        for (size_t at = 0; at < in.len; at++)
            assert_int_equal(send(ends[1], in.data + at, 1, 0), 1);
        close(ends[1]);
        struct stream *raw = stream_fd(ends[0], &err);
        assert_non_null(raw);
        struct stream *s = stream_decompress(raw, &kind, &err);
        assert_non_null(s);
        assert_works(read_stream(s, 100, &out, &err), err);
        assert_int_equal(kind, both[i]->kind);
        assert_int_equal(out.len, sizeof(text));
        close(ends[0]);
    }
}

/* ---- verification ---- */

static int verify(const char *expected_of, size_t in_step, size_t out_step, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct digest digest;

    assert_works(sha256_digest(expected_of, strlen(expected_of), &digest, err), *err);
    struct stream *s =
        stream_verify(memory_stream(text, strlen(text), in_step), &digest, "the thing", NULL, err);
    assert_non_null(s);
    return read_stream(s, out_step, &out, err);
}

static void test_digest_matches(void **state)
{
    struct err err = ERR_INIT;

    (void)state;
    assert_works(verify(text, 1, 1, &err), err);
    assert_works(verify(text, 1000, 1, &err), err);
    assert_works(verify(text, 1000, 1000, &err), err);
}

static void test_digest_differs(void **state)
{
    struct err err = ERR_INIT;

    (void)state;
    assert_fails(verify("something else", 10, 3, &err), err, ERR_DIGEST);
    assert_contains(err.msg, "the thing: content is sha256:");
}

static void test_verified_nothing(void **state)
{
    struct err err = ERR_INIT;
    struct digest empty;

    (void)state;
    assert_works(sha256_digest("", 0, &empty, &err), err);
    struct stream *s = stream_verify(memory_stream("", 0, 1), &empty, "nothing", NULL, &err);
    assert_non_null(s);
    stream_advance(s, 0);
    assert_works(stream_drain(s, &err), err);
    assert_works(stream_drain(s, &err), err); /* still at the end */
    stream_free(s);
}

/* Bytes that the reader did not use are checked by stream_drain. */
static void test_drain_reaches_the_check(void **state)
{
    struct err err = ERR_INIT;
    struct digest digest;
    const void *data;
    size_t len;

    (void)state;
    assert_works(sha256_digest("other", 5, &digest, &err), err);
    struct stream *s =
        stream_verify(memory_stream(text, sizeof(text), 9), &digest, "it", NULL, &err);
    assert_non_null(s);
    assert_works(stream_peek(s, &data, &len, &err), err);
    stream_advance(s, 4);
    assert_fails(stream_drain(s, &err), err, ERR_DIGEST);
    stream_free(s);
}

/* ---- files ---- */

static void test_pipe(void **state)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "abc", 3), 3);
    close(ends[1]);
    struct stream *s = stream_fd(ends[0], &err);
    assert_non_null(s);
    assert_works(read_stream(s, 1, &out, &err), err);
    assert_string_equal(out.data, "abc");
    close(ends[0]);
}

static void test_unreadable(void **state)
{
    _cleanup_fd_ int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct err err = ERR_INIT;

    (void)state;
    struct stream *s = stream_fd(fd, &err);
    assert_non_null(s);
    assert_fails(stream_drain(s, &err), err, ERR_SYSTEM);
    assert_int_equal(err.sys, EISDIR);
    stream_free(s);
}

/* A temporary file has a limit, however well its content is compressed. */
static void test_temporary_file_is_bounded(void **state)
{
    _cleanup_fd_ int fd = memfd_create("file", MFD_CLOEXEC);
    struct err err = ERR_INIT;

    (void)state;
    for (size_t most = sizeof(text) - 1; most <= sizeof(text); most++) {
        _cleanup_stream_ struct stream *s = memory_stream(text, sizeof(text), 7);
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
        if (most < sizeof(text))
            assert_fails(stream_copy(s, fd, most, &err), err, ERR_LIMIT);
        else
            assert_works(stream_copy(s, fd, most, &err), err);
    }
    assert_int_equal(lseek(fd, 0, SEEK_END), sizeof(text));
}

UNIT_SUITE(test_stream)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_byte_at_a_time),
        cmocka_unit_test(test_more_than_the_buffers),
        cmocka_unit_test(test_no_content),
        cmocka_unit_test(test_many_members),
        cmocka_unit_test(test_zstd_skippable_frame),
        cmocka_unit_test(test_gzip_header_fields),
        cmocka_unit_test(test_zeros_behind_gzip),
        cmocka_unit_test(test_garbage_behind),
        cmocka_unit_test(test_cut_at_every_byte),
        cmocka_unit_test(test_every_byte_of_the_checksum_counts),
        cmocka_unit_test(test_unknown_gzip_method),
        cmocka_unit_test(test_zstd_window_limit),
        cmocka_unit_test(test_what_is_not_compressed),
        cmocka_unit_test(test_magic_in_pieces),
        cmocka_unit_test(test_digest_matches),
        cmocka_unit_test(test_digest_differs),
        cmocka_unit_test(test_verified_nothing),
        cmocka_unit_test(test_drain_reaches_the_check),
        cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_temporary_file_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
