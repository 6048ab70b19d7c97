#include "base/digest/sha256_pair.h"

#include "tests/unit/lib/unit.h"

#include <string.h>

enum { MOST = 700 };

static unsigned char text_a[MOST], text_b[MOST];

static int fill(void **state)
{
    (void)state;
    for (size_t i = 0; i < MOST; i++) {
        text_a[i] = (unsigned char)(i * 167 + 13);
        text_b[i] = (unsigned char)(i * i * 31 + 7);
    }
    return 0;
}

/* libcrypto, an independent implementation, gives the expected digests. */
static void check(struct sha256_lane *lane, const void *data, size_t len)
{
    struct err err = ERR_INIT;
    struct digest expected, got;

    assert_works(sha256_digest(data, len, &expected, &err), err);
    assert_works(sha256_lane_finish(lane, &got, &err), err);
    assert_string_equal(got.text, expected.text);
    sha256_lane_clear(lane);
}

static void test_every_length(void **state)
{
    (void)state;
    for (size_t len = 0; len < MOST; len++) {
        struct sha256_lane lane;
        struct err err = ERR_INIT;
        assert_works(sha256_lane_init(&lane, &err), err);
        assert_works(sha256_lane_update(&lane, text_a, len, &err), err);
        check(&lane, text_a, len);
    }
}

/* Some bytes alone, some in pairs, in pieces of every size. */
static void test_pieces_and_pairs(void **state)
{
    (void)state;
    for (size_t first = 0; first < 130; first += 13) {
        for (size_t piece = 1; piece < 300; piece += 7) {
            struct sha256_lane a, b;
            struct err err = ERR_INIT;
            size_t at = 0;
            assert_works(sha256_lane_init(&a, &err), err);
            assert_works(sha256_lane_init(&b, &err), err);
            assert_works(sha256_lane_update(&a, text_a, first, &err), err);
            for (; first + at + piece <= MOST; at += piece)
                assert_works(
                    sha256_pair_update(&a, text_a + first + at, &b, text_b + at, piece, &err), err);
            check(&a, text_a, first + at);
            check(&b, text_b, at);
        }
    }
}

/* The same bytes in both, each behind others of every length. */
static void test_twins(void **state)
{
    (void)state;
    for (size_t first = 0; first < 130; first += 9) {
        for (size_t len = 0; first + len <= MOST; len += 11) {
            struct sha256_lane a, b;
            struct err err = ERR_INIT;
            assert_works(sha256_lane_init(&a, &err), err);
            assert_works(sha256_lane_init(&b, &err), err);
            assert_works(sha256_lane_update(&a, text_a, first, &err), err);
            assert_works(sha256_lane_update(&b, text_a + first / 2, first - first / 2, &err), err);
            assert_works(sha256_twin_update(&a, &b, text_a + first, len, &err), err);
            check(&a, text_a, first + len);
            check(&b, text_a + first / 2, first - first / 2 + len);
        }
    }
}

/* A lane serves for the next stream; a part of the digest is its beginning. */
static void test_lanes_start_again(void **state)
{
    struct sha256_lane lane;
    struct err err = ERR_INIT;
    struct digest expected;
    unsigned char wanted[SHA256_SIZE], got[SHA256_SIZE];

    (void)state;
    assert_works(sha256_lane_init(&lane, &err), err);
    assert_works(sha256_digest(text_b, 100, &expected, &err), err);
    digest_bytes(&expected, wanted, sizeof(wanted));
    for (size_t len = SHA256_SIZE; len > 0; len /= 2) {
        assert_works(sha256_lane_update(&lane, text_b, 100, &err), err);
        assert_works(sha256_lane_finish_bytes(&lane, got, len, &err), err);
        assert_memory_equal(got, wanted, len);
    }
    sha256_lane_clear(&lane);
}

/* More than 2^32 bits: the digest covers the whole length. */
static void test_long_streams(void **state)
{
    enum { STEP = 1 << 20, STEPS = 513 };
    _cleanup_free_ unsigned char *zeros = calloc(1, STEP);
    struct sha256 *expected;
    struct sha256_lane a, b;
    struct digest wanted, got_a, got_b;
    struct err err = ERR_INIT;

    (void)state;
    assert_non_null(zeros);
    expected = sha256_new(&err);
    assert_non_null(expected);
    assert_works(sha256_lane_init(&a, &err), err);
    assert_works(sha256_lane_init(&b, &err), err);
    for (int i = 0; i < STEPS; i++) {
        assert_works(sha256_update(expected, zeros, STEP, &err), err);
        assert_works(sha256_pair_update(&a, zeros, &b, zeros, STEP, &err), err);
    }
    assert_works(sha256_finish(expected, &wanted, &err), err);
    assert_works(sha256_lane_finish(&a, &got_a, &err), err);
    assert_works(sha256_lane_finish(&b, &got_b, &err), err);
    assert_string_equal(got_a.text, wanted.text);
    assert_string_equal(got_b.text, wanted.text);
    sha256_free(expected);
    sha256_lane_clear(&a);
    sha256_lane_clear(&b);
}

UNIT_SUITE(test_sha256_pair)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_length), cmocka_unit_test(test_pieces_and_pairs),
        cmocka_unit_test(test_twins),        cmocka_unit_test(test_lanes_start_again),
        cmocka_unit_test(test_long_streams),
    };

    return cmocka_run_group_tests(tests, fill, NULL);
}
