#include "flatten/stream/hasher.h"
#include "flatten/stream/stream_internal.h"
#include "tests/unit/lib/stream_unit.h"

#include <string.h>

enum { TOTAL = 5 * 1000 * 1000 }; /* more than the queue holds */

static char *text;

static int make_text(void **state)
{
    (void)state;
    text = malloc(TOTAL);
    for (size_t i = 0; text && i < TOTAL; i++)
        text[i] = (char)(i * 2654435761u >> 24);
    return text ? 0 : -1;
}

static int drop_text(void **state)
{
    (void)state;
    free(text);
    return 0;
}

static struct stream *ahead(size_t step, size_t expected_len, uint64_t max_size, struct hasher *h)
{
    struct err err = ERR_INIT;
    struct ahead_options options = {.what = "the layer", .max_size = max_size, .hasher = h};

    assert_works(sha256_digest(text, expected_len, &options.expected, &err), err);
    struct stream *s = stream_verify_ahead(memory_stream(text, TOTAL, step), &options, &err);
    assert_non_null(s);
    return s;
}

/* Every size of reads and uses. */
static void test_passes_on(void **state)
{
    static const size_t steps[] = {1000, 262144, TOTAL};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) {
            _cleanup_buf_ struct buf out = BUF_INIT;
            struct err err = ERR_INIT;
            assert_works(read_stream(ahead(steps[i], TOTAL, 0, NULL), steps[j], &out, &err), err);
            assert_int_equal(out.len, TOTAL);
            assert_memory_equal(out.data, text, TOTAL);
        }
    }
}

static void test_wrong_digest(void **state)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err err = ERR_INIT;

    (void)state;
    assert_fails(read_stream(ahead(4096, TOTAL - 1, 0, NULL), 4096, &out, &err), err, ERR_DIGEST);
    assert_contains(err.msg, "the layer: content is sha256:");
    assert_int_equal(out.len, TOTAL); /* known at the end */
}

static void test_the_end_stays_the_end(void **state)
{
    struct err err = ERR_INIT;
    struct stream *s = ahead(TOTAL, TOTAL, TOTAL, NULL);

    (void)state;
    assert_works(stream_drain(s, &err), err);
    assert_works(stream_drain(s, &err), err);
    stream_free(s);
}

static void test_more_than_allowed(void **state)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err err = ERR_INIT;

    (void)state;
    assert_fails(read_stream(ahead(1000, TOTAL, TOTAL - 1, NULL), 1000, &out, &err), err,
                 ERR_LIMIT);
    assert_contains(err.msg, "more than 4999999 bytes");
}

/* Bytes before the damage are delivered first. */
static void test_inner_failure(void **state)
{
    static const unsigned char bomb[] = "\x28\xb5\x2f\xfd\x04\x00\x19\x00\x00"
                                        "abc";
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    struct ahead_options options = {.what = "the layer"};
    struct stream *inner = stream_unzstd(memory_stream(bomb, sizeof(bomb) - 1, 4096), &err);

    (void)state;
    assert_non_null(inner);
    struct stream *s = stream_verify_ahead(inner, &options, &err);
    assert_non_null(s);
    assert_fails(read_stream(s, 4096, &out, &err), err, ERR_FORMAT);
}

/* Freeing at any point ends the threads; a shared hasher continues with other streams. */
static void test_freed_early(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_hasher_ struct hasher *h = hasher_new(&err);
    const void *data;
    size_t len;

    (void)state;
    assert_non_null(h);
    stream_free(ahead(1000, TOTAL, 0, h));
    struct stream *s = ahead(1000, TOTAL, 0, h);
    assert_works(stream_peek(s, &data, &len, &err), err);
    struct stream *other = ahead(1000, TOTAL, 0, h); /* two streams are hashed as a pair */
    stream_advance(s, len / 2);
    assert_works(stream_drain(other, &err), err);
    assert_works(stream_drain(s, &err), err);
    stream_free(s);
    stream_free(other);
}

UNIT_SUITE(test_stream_ahead)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes_on),
        cmocka_unit_test(test_wrong_digest),
        cmocka_unit_test(test_the_end_stays_the_end),
        cmocka_unit_test(test_more_than_allowed),
        cmocka_unit_test(test_inner_failure),
        cmocka_unit_test(test_freed_early),
    };

    return cmocka_run_group_tests(tests, make_text, drop_text);
}
