#include "flatten/layer/unpacker.h"

#include "flatten/layer/layer_blob.h"
#include "flatten/stream/compress.h"
#include "tests/unit/lib/tar_image.h"
#include "tests/unit/lib/unit.h"

#include <fcntl.h>

enum { LAYERS = 5, FILES = 3, SIZE = 3 * 1000 * 1000, PIECE = 256 * 1024 };

/* Layers of gzip, and the files that they are unpacked into. */
struct fixture {
    struct image *image;
    struct unpacker *unpacker;
    int fds[FILES];
};

static char *content; /* each layer is a part of it, from another offset on */

static size_t size_of(unsigned number)
{
    return SIZE / number + number;
}

static int append(void *ctx, const void *data, size_t len, struct err *err)
{
    (void)err;
    buf_append(ctx, data, len);
    return 0;
}

static void pack(unsigned number, struct buf *out, struct digest *diff_id)
{
    const struct compress_options options = {.kind = COMPRESSION_GZIP, .level = 1};
    struct err err = ERR_INIT;
    _cleanup_compressor_ struct compressor *c = compressor_new(&options, append, out, &err);

    assert_non_null(c);
    assert_works(compressor_write(c, content + number, size_of(number), &err), err);
    assert_works(compressor_finish(c, &err), err);
    assert_works(sha256_digest(content + number, size_of(number), diff_id, &err), err);
}

static void make(struct fixture *f)
{
    struct buf blobs[LAYERS] = {BUF_INIT};
    struct digest diff_ids[LAYERS];

    for (unsigned i = 0; i < LAYERS; i++)
        pack(i + 1, &blobs[i], &diff_ids[i]);
    f->image = image_of(blobs, LAYERS, diff_ids);
    for (unsigned i = 0; i < LAYERS; i++)
        buf_free(&blobs[i]);
    for (unsigned i = 0; i < FILES; i++)
        assert_true((f->fds[i] = memfd_create("unpacked", MFD_CLOEXEC | MFD_ALLOW_SEALING)) >= 0);
}

static void begin(struct fixture *f, unsigned threads)
{
    struct err err = ERR_INIT;
    const struct unpacker_files files = {f->fds, FILES};

    f->unpacker = unpacker_new(f->image, 0, &files, threads, &err);
    assert_non_null(f->unpacker);
}

static void end(struct fixture *f)
{
    cleanup_unpacker(&f->unpacker);
    for (unsigned i = 0; i < FILES; i++)
        close(f->fds[i]);
    for (unsigned i = 0; i < LAYERS; i++)
        assert_null(f->image->layers[i].unpacker);
    cleanup_image(&f->image);
}

static struct layer *layer_of(struct fixture *f, unsigned number)
{
    return &f->image->layers[number - 1];
}

static struct stream *open_tar(struct fixture *f, unsigned number)
{
    struct err err = ERR_INIT;
    struct stream *s = layer_tar(layer_of(f, number), &err);

    assert_non_null(s);
    return s;
}

/* Opens a layer that a thread has begun to unpack. */
static struct stream *open_unpacked(struct fixture *f, unsigned number)
{
    struct stream *s;
    struct err err = ERR_INIT;
    char byte = 0;

    stream_free(open_tar(f, number + 1)); /* the threads unpack the layers below it */
    for (unsigned i = 0; byte == 0; i++) {
        usleep(1000);
        (void)!pread(f->fds[i % FILES], &byte, 1, 1000);
    }
    assert_works(unpacker_open(f->unpacker, layer_of(f, number), &s, &err), err);
    assert_non_null(s);
    return s;
}

/* Reads to the end, and compares. Returns 0, or -1 with the error; *offset: the bytes before it. */
static int read_rest(struct stream *s, unsigned number, size_t *offset, struct err *err)
{
    const void *data;
    size_t len;

    for (;; *offset += len) {
        if (stream_peek(s, &data, &len, err) < 0)
            return -1;
        if (len == 0)
            return 0;
        len = len > 1000 ? len - len / 3 : len;
        assert_true(*offset + len <= size_of(number));
        assert_memory_equal(data, content + number + *offset, len);
        stream_advance(s, len);
    }
}

static void check_layer(struct fixture *f, unsigned number)
{
    _cleanup_stream_ struct stream *s = open_tar(f, number);
    struct err err = ERR_INIT;
    size_t offset = 0;

    assert_works(read_rest(s, number, &offset, &err), err);
    assert_int_equal(offset, size_of(number));
}

static void test_layers_are_the_same(void **state)
{
    (void)state;
    for (unsigned threads = 0; threads <= 3; threads++) {
        struct fixture f;
        make(&f);
        begin(&f, threads);
        for (unsigned turn = 0; turn < 2; turn++) /* the second time, no file has them */
            for (unsigned number = LAYERS; number > 0; number--)
                check_layer(&f, number);
        end(&f);
    }
}

static void test_two_readers(void **state)
{
    struct fixture f;
    struct err err = ERR_INIT;
    size_t offset = 0;

    (void)state;
    make(&f);
    begin(&f, 2);
    struct stream *s = open_unpacked(&f, 1);
    check_layer(&f, 1);
    assert_works(read_rest(s, 1, &offset, &err), err);
    assert_int_equal(offset, size_of(1));
    stream_free(s);
    end(&f);
}

static void test_skips(void **state)
{
    struct fixture f;
    struct err err = ERR_INIT;
    size_t offset = 0;

    (void)state;
    make(&f);
    begin(&f, 1);
    struct stream *s = open_unpacked(&f, 1);
    for (; offset < SIZE / 2; offset += 100 * 1000)
        assert_int_equal(stream_skip(s, 100 * 1000), 100 * 1000);
    assert_works(read_rest(s, 1, &offset, &err), err);
    assert_int_equal(offset, size_of(1));
    assert_int_equal(stream_skip(s, 10), 0);
    stream_free(s);
    end(&f);
}

/* Reads layer 1, which is wrong. */
static void refuse(struct fixture *f, enum err_kind kind, const char *text)
{
    struct err err = ERR_INIT;
    size_t offset = 0;

    begin(f, 1);
    struct stream *s = open_unpacked(f, 1);
    assert_fails(read_rest(s, 1, &offset, &err), err, kind);
    assert_contains(err.msg, text);
    stream_free(s);
    end(f);
}

static void test_wrong_layers(void **state)
{
    struct fixture f;

    (void)state;
    make(&f);
    layer_of(&f, 1)->diff_id.text[20] ^= 1;
    refuse(&f, ERR_DIGEST, "layer 1, uncompressed: content is sha256:");
    make(&f);
    layer_of(&f, 1)->max_size = SIZE;
    refuse(&f, ERR_LIMIT, "layer 1, uncompressed: more than 3000000 bytes");
    make(&f);
    layer_of(&f, 1)->size -= 5; /* within the trailer */
    layer_of(&f, 1)->digest.text[0] = '\0';
    refuse(&f, ERR_FORMAT, "gzip: the data ends too early");
}

/* The disk is full after the second piece: the reader unpacks the layer itself. */
static void test_a_full_disk(void **state)
{
    struct fixture f;
    struct err err = ERR_INIT;
    size_t offset = 0;

    (void)state;
    make(&f);
    for (unsigned i = 0; i < FILES; i++) {
        assert_int_equal(ftruncate(f.fds[i], 2 * PIECE + 1000), 0);
        assert_int_equal(fcntl(f.fds[i], F_ADD_SEALS, F_SEAL_GROW), 0);
    }
    begin(&f, 1);
    struct stream *s = open_unpacked(&f, 1);
    assert_int_equal(stream_skip(s, PIECE + 5), PIECE + 5);
    offset = PIECE + 5;
    assert_works(read_rest(s, 1, &offset, &err), err);
    assert_int_equal(offset, size_of(1));
    stream_free(s);
    check_layer(&f, 2);
    end(&f);
}

static void test_can_be_given_up(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 10; round++) {
        struct fixture f;
        make(&f);
        begin(&f, 3);
        stream_free(open_tar(&f, LAYERS));
        if (round % 2)
            stream_free(open_tar(&f, LAYERS - 1));
        end(&f);
    }
}

static void test_only_compressed_layers(void **state)
{
    struct fixture f;

    (void)state;
    make(&f);
    assert_int_equal(pwrite(layer_of(&f, 2)->fd, "tar", 3, 0), 3);
    begin(&f, 1);
    assert_null(layer_of(&f, 2)->unpacker);
    assert_ptr_equal(layer_of(&f, 3)->unpacker, f.unpacker);
    end(&f);
}

static void test_threads(void **state)
{
    (void)state;
    assert_int_equal(unpacker_threads(1), 0);
    assert_int_equal(unpacker_threads(2), 0);
    assert_int_equal(unpacker_threads(5), 0);
    assert_int_equal(unpacker_threads(8), 2);
    assert_int_equal(unpacker_threads(1000), UNPACKER_MOST_THREADS);
}

static int start(void **state)
{
    (void)state;
    if (!(content = malloc(SIZE + 2 * LAYERS)))
        return -1;
    for (size_t i = 0; i < SIZE + 2 * LAYERS; i++)
        content[i] = (char)(i * i / 7);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    free(content);
    return 0;
}

UNIT_SUITE(test_unpacker)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers_are_the_same),
        cmocka_unit_test(test_two_readers),
        cmocka_unit_test(test_skips),
        cmocka_unit_test(test_wrong_layers),
        cmocka_unit_test(test_a_full_disk),
        cmocka_unit_test(test_can_be_given_up),
        cmocka_unit_test(test_only_compressed_layers),
        cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
