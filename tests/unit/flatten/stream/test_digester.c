/* Digests do not depend on the hasher, nor on the pieces of the input. */
#include "tests/unit/lib/unit.h"

#include "base/digest/sha256.h"
#include "flatten/stream/digester.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 5 * 1024 * 1024 };

static unsigned char *noise(void)
{
    unsigned char *bytes = malloc(MOST);
    uint32_t x = 1;

    assert_non_null(bytes);
    for (size_t i = 0; i < MOST; i++)
        bytes[i] = (unsigned char)((x = x * 1664525 + 1013904223) >> 24);
    return bytes;
}

static void check(struct hasher *hasher, const unsigned char *bytes, size_t len, size_t piece)
{
    struct digest expected, actual;
    struct err err = ERR_INIT;
    _cleanup_digester_ struct digester *d = digester_new(hasher, &err);

    assert_non_null(d);
    assert_works(sha256_digest(bytes, len, &expected, &err), err);
    for (size_t at = 0; at < len; at += piece)
        assert_works(digester_update(d, bytes + at, len - at < piece ? len - at : piece, &err),
                     err);
    assert_works(digester_finish(d, &actual, &err), err);
    assert_string_equal(actual.text, expected.text);
}

static void test_values(void **state)
{
    static const size_t lengths[] = {0, 1, 64, 256 * 1024, 256 * 1024 + 1, MOST};
    struct err err = ERR_INIT;
    _cleanup_hasher_ struct hasher *hasher = hasher_new(&err);
    unsigned char *bytes = noise();

    (void)state;
    assert_non_null(hasher);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        check(hasher, bytes, lengths[i], 100 * 1000);
        check(NULL, bytes, lengths[i], 100 * 1000);
    }
    check(hasher, bytes, 3000, 1);
    free(bytes);
}

static void test_side_by_side(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_hasher_ struct hasher *hasher = hasher_new(&err);
    unsigned char *bytes = noise();
    struct digester *list[3];
    struct digest expected, actual;

    (void)state;
    assert_non_null(hasher);
    for (size_t i = 0; i < 3; i++)
        assert_non_null(list[i] = digester_new(hasher, &err));
    for (size_t at = 0; at < MOST; at += MOST / 8)
        for (size_t i = 0; i < 3; i++)
            assert_works(digester_update(list[i], bytes + at, MOST / 8 - i, &err), err);
    for (size_t i = 0; i < 3; i++) {
        struct sha256 *one = sha256_new(&err);
        assert_non_null(one);
        for (size_t at = 0; at < MOST; at += MOST / 8)
            assert_works(sha256_update(one, bytes + at, MOST / 8 - i, &err), err);
        assert_works(sha256_finish(one, &expected, &err), err);
        sha256_free(one);
        assert_works(digester_finish(list[i], &actual, &err), err);
        assert_string_equal(actual.text, expected.text);
        digester_free(list[i]);
    }
    free(bytes);
}

/* A digester that is freed before its end does not wait. */
static void test_given_up(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_hasher_ struct hasher *hasher = hasher_new(&err);
    unsigned char *bytes = noise();

    (void)state;
    assert_non_null(hasher);
    for (int i = 0; i < 20; i++) {
        _cleanup_digester_ struct digester *d = digester_new(hasher, &err);
        assert_non_null(d);
        assert_works(digester_update(d, bytes, MOST, &err), err);
    }
    free(bytes);
}

/* A stream is hashed in whole blocks until its end, also beside a shorter or longer one. */
static void test_in_step(void **state)
{
    static const size_t lens[][2] = {{100, 300}, {300, 100}, {64, 64}, {63, 640}, {640, 1}};
    struct err err = ERR_INIT;
    unsigned char *bytes = noise();

    (void)state;
    for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
        struct sha256_lane lanes[2];
        size_t at[2] = {0};
        for (int k = 0; k < 2; k++)
            assert_works(sha256_lane_init(&lanes[k], &err), err);
        while (at[0] < lens[i][0] && at[1] < lens[i][1]) {
            struct hash_piece pieces[2];
            for (int k = 0; k < 2; k++)
                pieces[k] = (struct hash_piece){&lanes[k], bytes + at[k], lens[i][k] - at[k], NULL};
            assert_works(hash_pieces(pieces, 2, &err), err);
            assert_true(pieces[0].len + pieces[1].len > 0);
            for (int k = 0; k < 2; k++) {
                at[k] += pieces[k].len;
                assert_true(at[k] % SHA256_BLOCK == 0 || at[k] == lens[i][k]);
            }
        }
        for (int k = 0; k < 2; k++) {
            struct digest expected, actual;
            assert_works(sha256_digest(bytes, at[k], &expected, &err), err);
            assert_works(sha256_lane_finish(&lanes[k], &actual, &err), err);
            assert_string_equal(actual.text, expected.text);
            sha256_lane_clear(&lanes[k]);
        }
    }
    free(bytes);
}

UNIT_SUITE(test_digester)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_given_up),
        cmocka_unit_test(test_in_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
