#include "flatten/squash/squash_verify.h"
#include "tests/unit/lib/tar_image.h"
#include "tests/unit/lib/unit.h"

/* A sink that keeps every layer in a file of its own. */
enum { MOST = 8 };

struct memory_sink {
    struct sink base;
    int fds[MOST];
    struct written_layer layers[MOST];
    size_t count;
    const struct digest *has; /* a blob that already exists; or NULL */
};

static int begin_layer(struct sink *base, bool once, int *fd, off_t *offset, struct err *err)
{
    struct memory_sink *s = (struct memory_sink *)base;

    (void)once, (void)err;
    assert_true(s->count < MOST);
    if (s->fds[s->count] > 0)
        close(s->fds[s->count]);
    *fd = s->fds[s->count] = memfd_create("layer", MFD_CLOEXEC);
    *offset = 7; /* as in an archive, not at the beginning */
    return *fd < 0 ? -1 : 0;
}

static int end_layer(struct sink *base, const struct written_layer *layer, struct err *err)
{
    struct memory_sink *s = (struct memory_sink *)base;

    (void)err;
    s->layers[s->count++] = *layer;
    return 0;
}

static int has_layer(struct sink *base, size_t position, const struct written_layer *layer,
                     struct err *err)
{
    (void)position;
    const struct memory_sink *s = (const struct memory_sink *)base;

    (void)err;
    return s->has && digest_equal(s->has, &layer->digest);
}

static const struct sink_ops ops = {
    .begin_layer = begin_layer, .end_layer = end_layer, .has_layer = has_layer};

static void sink_clear(struct memory_sink *s)
{
    for (size_t i = 0; i < MOST; i++)
        if (s->fds[i] > 0)
            close(s->fds[i]);
}

#define _cleanup_memory_sink_ _cleanup_(sink_clear)

static struct image *image_of_text(const char *text)
{
    static struct stack stack;

    stack_parse(&stack, text);
    return image_of_stack(&stack);
}

static void squash(struct image *image, size_t kept, size_t into, struct memory_sink *sink,
                   struct squashed *out)
{
    const struct squash_options options = {
        .merged = {.kept = kept, .max_size = LAYER_MAX_SIZE}, .into = into, .readable = true};
    struct err err = ERR_INIT;

    assert_works(squash_layers(image, &options, &sink->base, out, &err), err);
    assert_int_equal(out->kept, kept);
    assert_int_equal(out->result->layer_count, out->count);
}

static size_t differing(const struct image *image, const struct squashed *s)
{
    const struct merged_options options = {.semantics = SEMANTICS_OVERLAY};
    struct err err = ERR_INIT;
    size_t count = 0;

    assert_works(squash_verify(image, s, &options, 0, NULL, NULL, &count, &err), err);
    return count;
}

/* Asserts that the sink has the blob of the kept layer as it is in the source. */
static void assert_same_blob(const struct layer *a, int fd)
{
    _cleanup_free_ char *x = malloc(a->size), *y = malloc(a->size);
    struct err err = ERR_INIT;

    assert_non_null(x);
    assert_non_null(y);
    assert_works(fd_pread_exact(a->fd, x, a->size, a->offset, &err), err);
    assert_works(fd_pread_exact(fd, y, a->size, 7, &err), err);
    assert_memory_equal(x, y, a->size);
}

static void test_kept_blobs(void **state)
{
    _cleanup_memory_sink_ struct memory_sink sink = {.base = {.ops = &ops}};
    _cleanup_squashed_ struct squashed s = {0};
    _cleanup_image_ struct image *image = image_of_text("a b | d/ d/x | -a e | -d f");

    (void)state;
    squash(image, 2, 1, &sink, &s);
    assert_int_equal(s.count, 3);
    assert_int_equal(sink.count, 3);
    for (size_t i = 0; i < 2; i++) {
        assert_same_blob(&image->layers[i], sink.fds[i]);
        assert_true(digest_equal(&sink.layers[i].digest, &image->layers[i].digest));
        assert_true(digest_equal(&sink.layers[i].diff_id, &image->layers[i].diff_id));
    }
    assert_int_equal(s.merged[2], 2);
    assert_int_equal(differing(image, &s), 0);
}

static void test_blob_that_is_there(void **state)
{
    _cleanup_memory_sink_ struct memory_sink sink = {.base = {.ops = &ops}};
    _cleanup_squashed_ struct squashed s = {0};
    _cleanup_image_ struct image *image = image_of_text("a b | d/ d/x | -a e");

    (void)state;
    sink.has = &image->layers[0].digest;
    squash(image, 2, 1, &sink, &s);
    assert_int_equal(s.count, 3);
    assert_int_equal(sink.count, 2);
    assert_int_equal(differing(image, &s), 0);
}

static void test_nothing_left(void **state)
{
    _cleanup_memory_sink_ struct memory_sink sink = {.base = {.ops = &ops}},
                                             empty = {.base = {.ops = &ops}};
    _cleanup_squashed_ struct squashed s = {0}, whole = {0};
    _cleanup_image_ struct image *image = image_of_text("a | b | -b");

    (void)state;
    squash(image, 1, 2, &sink, &s);
    assert_int_equal(s.count, 3); /* b, and its whiteout: neither group is empty */
    assert_int_equal(differing(image, &s), 0);
    squashed_clear(&s);
    squash(image, 1, 1, &empty, &s);
    assert_int_equal(s.count, 1);
    assert_int_equal(empty.count, 1);
    assert_int_equal(differing(image, &s), 0);
    /* An image has at least one layer, which may be empty. */
    _cleanup_image_ struct image *gone = image_of_text("a | -a");
    _cleanup_memory_sink_ struct memory_sink other = {.base = {.ops = &ops}};
    squash(gone, 0, 1, &other, &whole);
    assert_int_equal(whole.count, 1);
}

static void test_rehearsal(void **state)
{
    const struct squash_options options = {.merged = {.kept = 1}, .into = 1};
    _cleanup_squashed_ struct squashed s = {0};
    _cleanup_image_ struct image *image = image_of_text("a b | -a c | d");
    struct err err = ERR_INIT;

    (void)state;
    assert_works(squash_layers(image, &options, NULL, &s, &err), err);
    assert_int_equal(s.count, 2);
    assert_int_equal(s.report.layers, 3);
    assert_int_equal(s.report.whiteouts, 1);
    assert_int_equal(s.report.entries_out, 3);
    assert_int_equal(s.result->layer_count, 0);
}

static void count_difference(void *ctx, const char *path, const char *a, const char *b)
{
    (void)path, (void)a, (void)b;
    ++*(size_t *)ctx;
}

/* Verifying can fail: the result is compared with another image. */
static void test_proof_fails(void **state)
{
    const struct merged_options options = {.semantics = SEMANTICS_OVERLAY};
    _cleanup_memory_sink_ struct memory_sink sink = {.base = {.ops = &ops}};
    _cleanup_squashed_ struct squashed s = {0};
    _cleanup_image_ struct image *image = image_of_text("a b | -a c");
    _cleanup_image_ struct image *other = image_of_text("a b | c");
    struct err err = ERR_INIT;
    size_t count, told = 0;

    (void)state;
    squash(image, 1, 1, &sink, &s);
    assert_works(squash_verify(other, &s, &options, 0, count_difference, &told, &count, &err), err);
    assert_int_equal(count, 1);
    assert_int_equal(told, 1);
    /* A blob that does not match its digest is an error. */
    assert_int_equal(pwrite(sink.fds[1], "x", 1, 7 + 1024), 1); /* c's content */
    assert_int_equal(squash_verify(image, &s, &options, 0, count_difference, &told, &count, &err),
                     -1);
    assert_int_equal(err.kind, ERR_DIGEST);
}

static void put_file(struct archive *a, const char *name, const char *xattr)
{
    struct archive_entry *e = archive_entry_new();

    archive_entry_set_pathname(e, name);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0644);
    archive_entry_set_size(e, 0);
    archive_entry_xattr_add_entry(e, xattr, "y", 1);
    assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
    archive_entry_free(e);
}

static void count_notice(void *ctx, unsigned layer, const char *path, const char *text)
{
    size_t *told = ctx;

    (void)text;
    assert_in_range(layer, 1, 2);
    told[layer == 2 ? path[0] - 'a' : 2]++;
}

/* An image that cannot be merged in one pass is read anew: each loss is told once all the same. */
static void test_told_once(void **state)
{
    static const char own[] = "trusted.overlay.opaque";
    size_t told[3] = {0};
    const struct squash_options options = {
        .merged = {.max_size = LAYER_MAX_SIZE, .notice = count_notice, .notice_ctx = told},
        .into = 1};
    _cleanup_memory_sink_ struct memory_sink sink = {.base = {.ops = &ops}};
    _cleanup_squashed_ struct squashed s = {0};
    _cleanup_buf_ struct buf old = BUF_INIT, new = BUF_INIT;
    struct err err = ERR_INIT;
    struct archive *a = tar_begin(&old);

    (void)state;
    put_file(a, "c", own);
    archive_write_free(a);
    a = tar_begin(&new);
    put_file(a, "a", own);
    put_file(a, "twice", "user.x");
    put_file(a, "twice", "user.x");
    put_file(a, "b", own);
    archive_write_free(a);
    _cleanup_image_ struct image *image = image_of((struct buf[]){old, new}, 2, NULL);
    assert_works(squash_layers(image, &options, &sink.base, &s, &err), err);
    assert_int_equal(s.report.dropped, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(told[i], 1);
}

UNIT_SUITE(test_squash)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept_blobs),   cmocka_unit_test(test_blob_that_is_there),
        cmocka_unit_test(test_nothing_left), cmocka_unit_test(test_rehearsal),
        cmocka_unit_test(test_proof_fails),  cmocka_unit_test(test_told_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
