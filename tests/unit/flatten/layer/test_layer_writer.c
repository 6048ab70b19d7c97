#include "flatten/layer/layer_writer.h"
#include "tests/unit/lib/stream_unit.h"

#include <archive.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <zstd.h>

static const struct compress_options plain = {.kind = COMPRESSION_NONE};

/* A file that a layer was written to, and the result. */
struct output {
    int fd;
    struct written_layer layer;
    struct buf data;
};

static void output_clear(struct output *o)
{
    cleanup_fd(&o->fd);
    buf_free(&o->data);
}

static struct archive_entry *header(const char *path, mode_t type, la_int64_t size)
{
    struct archive_entry *e = archive_entry_new();

    archive_entry_set_pathname(e, path);
    archive_entry_set_filetype(e, type);
    archive_entry_set_perm(e, 0640);
    archive_entry_set_mtime(e, 1234567890, 123456789);
    archive_entry_set_atime(e, 5, 0);
    archive_entry_set_ctime(e, 6, 0);
    archive_entry_set_size(e, size);
    return e;
}

typedef void fill(struct entry_sink *sink, struct err *err);

static void write_layer(const struct compress_options *options, off_t offset, fill *fn,
                        struct output *o)
{
    struct err err = ERR_INIT;

    *o = (struct output){.fd = memfd_create("layer", MFD_CLOEXEC)};
    _cleanup_layer_writer_ struct layer_writer *w =
        layer_writer_new(o->fd, offset, options, NULL, &err);
    assert_non_null(w);
    fn(layer_writer_sink(w), &err);
    assert_works(layer_writer_finish(w, &o->layer, &err), err);
    assert_int_equal(lseek(o->fd, 0, SEEK_END), offset + (off_t)o->layer.size);
    char *end = buf_reserve(&o->data, o->layer.size);
    assert_non_null(end);
    assert_int_equal(pread(o->fd, end, o->layer.size, offset), o->layer.size);
    o->data.len = o->layer.size;
}

static void put(struct entry_sink *sink, struct archive_entry *e, const char *data, struct err *err)
{
    assert_works(entry_sink_entry(sink, e, err), *err);
    if (data)
        assert_works(entry_sink_data(sink, data, strlen(data), err), *err);
    archive_entry_free(e);
}

static char long_name[400];

static void fill_all(struct entry_sink *sink, struct err *err)
{
    struct archive_entry *e = header("d/", AE_IFDIR, 0);

    archive_entry_xattr_add_entry(e, "user.a", "\0\xff=\n", 4);
    put(sink, e, NULL, err);
    e = header("d/f", AE_IFREG, 5);
    archive_entry_set_uid(e, 3000000);
    archive_entry_set_gid(e, 4000000000);
    archive_entry_xattr_add_entry(e, "security.capability", "\1\0\0\2", 4);
    put(sink, e, "hello", err);
    e = header("d/h", AE_IFREG, 0);
    archive_entry_set_hardlink(e, "d/f");
    put(sink, e, NULL, err);
    e = header("l", AE_IFLNK, 0);
    archive_entry_set_symlink(e, "/nowhere/\xff");
    put(sink, e, NULL, err);
    put(sink, header("not-\xff\xfe-utf8", AE_IFREG, 1), "x", err);
    memset(long_name, 'n', sizeof(long_name) - 1);
    put(sink, header(long_name, AE_IFREG, 0), NULL, err);
}

/* Go's archive/tar, and so the engines, reads only SCHILY.xattr records. */
static const char *pax_of(const struct buf *tar, const char *record)
{
    return memmem(tar->data, tar->len, record, strlen(record));
}

static void check_header(struct archive *a, const char *path, struct archive_entry **e)
{
    int rc = archive_read_next_header(a, e);

    assert_true(rc == ARCHIVE_OK || rc == ARCHIVE_WARN);
    assert_string_equal(archive_entry_pathname(*e), path);
    assert_int_equal(archive_entry_mtime(*e), 1234567890);
    assert_int_equal(archive_entry_mtime_nsec(*e), 123456789);
    assert_false(archive_entry_atime_is_set(*e));
    assert_false(archive_entry_ctime_is_set(*e));
}

static void test_what_is_read_back(void **state)
{
    _cleanup_(output_clear) struct output o;
    struct archive *a = archive_read_new();
    struct archive_entry *e;
    const char *name;
    const void *value;
    char content[8];
    size_t size;

    (void)state;
    write_layer(&plain, 0, fill_all, &o);
    archive_read_support_format_tar(a);
    assert_int_equal(archive_read_open_memory(a, o.data.data, o.data.len), ARCHIVE_OK);
    check_header(a, "d/", &e);
    assert_int_equal(archive_entry_xattr_reset(e), 1);
    archive_entry_xattr_next(e, &name, &value, &size);
    assert_string_equal(name, "user.a");
    assert_bytes(value, size, "\0\xff=\n");
    check_header(a, "d/f", &e);
    assert_int_equal(archive_entry_uid(e), 3000000);
    assert_int_equal(archive_entry_gid(e), 4000000000);
    assert_int_equal(archive_entry_perm(e), 0640);
    assert_int_equal(archive_read_data(a, content, 8), 5);
    assert_memory_equal(content, "hello", 5);
    check_header(a, "d/h", &e);
    assert_string_equal(archive_entry_hardlink(e), "d/f");
    check_header(a, "l", &e);
    assert_string_equal(archive_entry_symlink(e), "/nowhere/\xff");
    check_header(a, "not-\xff\xfe-utf8", &e);
    check_header(a, long_name, &e);
    assert_int_equal(archive_read_next_header(a, &e), ARCHIVE_EOF);
    archive_read_free(a);
    assert_non_null(pax_of(&o.data, "SCHILY.xattr.security.capability=\1"));
    assert_null(pax_of(&o.data, "LIBARCHIVE.xattr"));
    assert_null(pax_of(&o.data, " atime="));
    assert_null(pax_of(&o.data, " ctime="));
}

static void test_digests_and_sizes(void **state)
{
    static const struct compress_options kinds[] = {
        {.kind = COMPRESSION_NONE},
        {.kind = COMPRESSION_GZIP, .level = 1},
        {.kind = COMPRESSION_ZSTD, .level = 3, .threads = 2},
    };
    struct digest diff_id = {""};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        _cleanup_(output_clear) struct output o;
        _cleanup_buf_ struct buf tar = BUF_INIT;
        struct err err = ERR_INIT;
        struct digest digest;
        write_layer(&kinds[i], 0, fill_all, &o);
        assert_int_equal(o.layer.kind, kinds[i].kind);
        assert_works(sha256_digest(o.data.data, o.data.len, &digest, &err), err);
        assert_string_equal(digest.text, o.layer.digest.text);
        struct stream *s =
            stream_decompress(memory_stream(o.data.data, o.data.len, 4096), NULL, &err);
        assert_non_null(s);
        assert_works(read_stream(s, 4096, &tar, &err), err);
        assert_int_equal(tar.len, o.layer.tar_size);
        assert_works(sha256_digest(tar.data, tar.len, &digest, &err), err);
        assert_string_equal(digest.text, o.layer.diff_id.text);
        if (i > 0)
            assert_string_equal(digest.text, diff_id.text); /* the compression does not matter */
        diff_id = digest;
    }
}

static void test_same_entries_same_bytes(void **state)
{
    _cleanup_(output_clear) struct output a, b;

    (void)state;
    write_layer(&plain, 0, fill_all, &a);
    write_layer(&plain, 512, fill_all, &b); /* the offset in its file does not matter */
    assert_int_equal(a.data.len, b.data.len);
    assert_memory_equal(a.data.data, b.data.data, a.data.len);
}

static void fill_holes(struct entry_sink *sink, struct err *err)
{
    struct archive_entry *e = header("sparse", AE_IFREG, 200002);

    archive_entry_sparse_add_entry(e, 100000, 2);
    assert_works(entry_sink_entry(sink, e, err), *err);
    assert_works(entry_sink_data(sink, NULL, 100000, err), *err);
    assert_works(entry_sink_data(sink, "ab", 2, err), *err);
    assert_works(entry_sink_data(sink, NULL, 100000, err), *err);
    archive_entry_free(e);
}

static void test_holes_are_zeros(void **state)
{
    _cleanup_(output_clear) struct output o;

    (void)state;
    write_layer(&plain, 0, fill_holes, &o);
    assert_null(pax_of(&o.data, "GNU.sparse"));
    const char *ab = pax_of(&o.data, "ab");
    while (ab && ab[-1] != '\0') /* not in a header */
        ab = memmem(ab + 1, (size_t)(o.data.data + o.data.len - ab - 1), "ab", 2);
    assert_non_null(ab);
    assert_int_equal(o.data.len % 512, 0);
    assert_true(o.data.len >= 200002 + 512 + 1024);
}

/* ---- content that is compressed already ---- */

enum { PART = 700 * 1000 };

static int frames = -1; /* a file of zstd frames */
static size_t sizes[2]; /* of them */
static unsigned char *parts[2];
static struct sha256_lane hashed; /* the content of all of them */

/* Text of a part, and a frame of it in `frames`, which starts at the offset. */
static size_t put_part(int number, off_t at)
{
    _cleanup_free_ char *frame = malloc(ZSTD_COMPRESSBOUND(PART));

    assert_non_null(frame);
    assert_non_null(parts[number] = malloc(PART));
    for (int i = 0; i < PART; i++)
        parts[number][i] = (unsigned char)(i / (number + 3));
    size_t size = ZSTD_compress(frame, ZSTD_COMPRESSBOUND(PART), parts[number], PART, 1);
    assert_false(ZSTD_isError(size));
    assert_int_equal(pwrite(frames, frame, size, at), size);
    return size;
}

static void put_piece(struct entry_sink *sink, int number, bool framed, struct err *err)
{
    const struct content_piece piece = {.data = parts[number],
                                        .len = PART,
                                        .fd = frames,
                                        .at = number ? sizes[0] : 0,
                                        .size = sizes[number],
                                        .hashed = &hashed};

    if (framed)
        assert_works(entry_sink_piece(sink, &piece, err), *err);
    else
        assert_works(entry_sink_data(sink, parts[number], PART, err), *err);
}

static void fill_pieces(struct entry_sink *sink, bool framed, struct err *err)
{
    put(sink, header("before", AE_IFREG, 5), "hello", err);
    put(sink, header("framed", AE_IFREG, 2 * PART + 3), NULL, err);
    put_piece(sink, 0, framed, err);
    put_piece(sink, 1, framed, err);
    assert_works(entry_sink_data(sink, "end", 3, err), *err);
    put(sink, header("twice", AE_IFREG, PART), NULL, err);
    put_piece(sink, 0, framed, err);
}

static void fill_framed(struct entry_sink *sink, struct err *err)
{
    fill_pieces(sink, true, err);
}

static void fill_unframed(struct entry_sink *sink, struct err *err)
{
    fill_pieces(sink, false, err);
}

static int set_up_frames(void **state)
{
    (void)state;
    frames = memfd_create("frames", MFD_CLOEXEC);
    sizes[0] = put_part(0, 0);
    sizes[1] = put_part(1, (off_t)sizes[0]);
    struct err err;
    assert_works(sha256_lane_init(&hashed, &err), err);
    return frames < 0;
}

static int tear_down_frames(void **state)
{
    (void)state;
    close(frames);
    sha256_lane_clear(&hashed);
    free(parts[0]);
    free(parts[1]);
    return 0;
}

/* Returns how often the frame is in the blob. */
static int count_frames(const struct buf *blob, off_t at, size_t size)
{
    _cleanup_free_ char *frame = malloc(size);
    const char *from = blob->data, *found;
    int count = 0;

    assert_non_null(frame);
    assert_int_equal(pread(frames, frame, size, at), size);
    for (; (found = memmem(from, blob->len - (size_t)(from - blob->data), frame, size));
         from = found + size)
        count++;
    return count;
}

/* Returns that of the content that fill_framed gives with frames. */
static struct digest digest_of_pieces(void)
{
    static const int order[] = {0, 1, 0};
    struct err err;
    struct digest out;
    _cleanup_sha256_ struct sha256 *sha256 = sha256_new(&err);

    assert_non_null(sha256);
    for (int i = 0; i < 3; i++)
        assert_works(sha256_update(sha256, parts[order[i]], PART, &err), err);
    assert_works(sha256_finish(sha256, &out, &err), err);
    return out;
}

/* The archive is the same; zstd takes the frames as they are. Their content is hashed as well. */
static void test_frames_that_are_at_hand(void **state)
{
    static const struct {
        struct compress_options options;
        int first, second;
    } rows[] = {
        {{.kind = COMPRESSION_NONE}, 0, 0},
        {{.kind = COMPRESSION_GZIP, .level = 1}, 0, 0},
        {{.kind = COMPRESSION_ZSTD, .level = 3, .threads = 1}, 2, 1},
        {{.kind = COMPRESSION_ZSTD, .level = 3, .threads = 3}, 2, 1},
    };
    _cleanup_(output_clear) struct output expected;
    struct digest content = digest_of_pieces();

    (void)state;
    write_layer(&plain, 0, fill_unframed, &expected);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_(output_clear) struct output o;
        _cleanup_buf_ struct buf tar = BUF_INIT;
        struct err err = ERR_INIT;
        struct digest got;
        write_layer(&rows[i].options, 0, fill_framed, &o);
        assert_string_equal(o.layer.diff_id.text, expected.layer.diff_id.text);
        assert_works(sha256_lane_finish(&hashed, &got, &err), err);
        assert_string_equal(got.text, content.text);
        struct stream *s =
            stream_decompress(memory_stream(o.data.data, o.data.len, 4096), NULL, &err);
        assert_non_null(s);
        assert_works(read_stream(s, 4096, &tar, &err), err);
        assert_int_equal(tar.len, expected.data.len);
        assert_memory_equal(tar.data, expected.data.data, tar.len);
        assert_int_equal(count_frames(&o.data, 0, sizes[0]), rows[i].first);
        assert_int_equal(count_frames(&o.data, (off_t)sizes[0], sizes[1]), rows[i].second);
    }
}

static void test_a_frame_that_cannot_be_read(void **state)
{
    static const struct compress_options zstd = {.kind = COMPRESSION_ZSTD, .level = 1};
    const struct content_piece lost = {
        .data = "abc", .len = 3, .fd = frames, .at = sizes[0] + sizes[1], .size = 10};
    struct err err = ERR_INIT;
    struct written_layer layer;
    _cleanup_fd_ int fd = memfd_create("layer", MFD_CLOEXEC);
    _cleanup_layer_writer_ struct layer_writer *w = layer_writer_new(fd, 0, &zstd, NULL, &err);
    struct archive_entry *e = header("f", AE_IFREG, 3);

    (void)state;
    assert_non_null(w);
    assert_works(entry_sink_entry(layer_writer_sink(w), e, &err), err);
    assert_works(entry_sink_piece(layer_writer_sink(w), &lost, &err), err);
    assert_fails(layer_writer_finish(w, &layer, &err), err, ERR_FORMAT);
    archive_entry_free(e);
}

static void test_more_than_the_header_says(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_fd_ int fd = memfd_create("layer", MFD_CLOEXEC);
    _cleanup_layer_writer_ struct layer_writer *w = layer_writer_new(fd, 0, &plain, NULL, &err);
    struct archive_entry *e = header("f", AE_IFREG, 3);

    (void)state;
    assert_non_null(w);
    assert_works(entry_sink_entry(layer_writer_sink(w), e, &err), err);
    assert_fails(entry_sink_data(layer_writer_sink(w), "four", 4, &err), err, ERR_FORMAT);
    archive_entry_free(e);
}

static void test_less_than_the_header_says(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_fd_ int fd = memfd_create("layer", MFD_CLOEXEC);
    _cleanup_layer_writer_ struct layer_writer *w = layer_writer_new(fd, 0, &plain, NULL, &err);
    struct archive_entry *e = header("f", AE_IFREG, 3);
    struct written_layer layer;

    (void)state;
    assert_non_null(w);
    assert_works(entry_sink_entry(layer_writer_sink(w), e, &err), err);
    assert_works(entry_sink_data(layer_writer_sink(w), "ab", 2, &err), err);
    assert_fails(layer_writer_finish(w, &layer, &err), err, ERR_FORMAT);
    assert_fails(entry_sink_entry(layer_writer_sink(w), e, &err), err, ERR_FORMAT);
    archive_entry_free(e);
}

/* A failure of the threads reaches the caller, although it writes far more than the queue holds. */
static void test_a_disk_that_fills_up_on_the_way(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_fd_ int fd = open("/dev/full", O_RDWR | O_CLOEXEC);
    _cleanup_layer_writer_ struct layer_writer *w = layer_writer_new(fd, 0, &plain, NULL, &err);
    struct archive_entry *e = header("f", AE_IFREG, (la_int64_t)1 << 30);

    (void)state;
    assert_non_null(w);
    assert_works(entry_sink_entry(layer_writer_sink(w), e, &err), err);
    assert_fails(entry_sink_data(layer_writer_sink(w), NULL, 1 << 30, &err), err, ERR_SYSTEM);
    assert_int_equal(err.sys, ENOSPC);
    archive_entry_free(e);
}

static void test_a_file_that_cannot_be_written(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_fd_ int fd = open("/dev/full", O_RDWR | O_CLOEXEC);
    _cleanup_layer_writer_ struct layer_writer *w = layer_writer_new(fd, 0, &plain, NULL, &err);
    struct written_layer layer;

    (void)state;
    assert_non_null(w);
    assert_fails(layer_writer_finish(w, &layer, &err), err, ERR_SYSTEM);
    assert_int_equal(err.sys, ENOSPC);
}

UNIT_SUITE(test_layer_writer)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_read_back),
        cmocka_unit_test(test_digests_and_sizes),
        cmocka_unit_test(test_same_entries_same_bytes),
        cmocka_unit_test(test_holes_are_zeros),
        cmocka_unit_test_setup_teardown(test_frames_that_are_at_hand, set_up_frames,
                                        tear_down_frames),
        cmocka_unit_test_setup_teardown(test_a_frame_that_cannot_be_read, set_up_frames,
                                        tear_down_frames),
        cmocka_unit_test(test_more_than_the_header_says),
        cmocka_unit_test(test_less_than_the_header_says),
        cmocka_unit_test(test_a_disk_that_fills_up_on_the_way),
        cmocka_unit_test(test_a_file_that_cannot_be_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
