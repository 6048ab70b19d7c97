/* The keyed hash. */
#include "base/hash.h"

#include "tests/unit/lib/unit.h"

#include <stdlib.h>
#include <string.h>

static void equal_input_gives_equal_hashes(void **state)
{
    (void)state;
    assert_true(hash_bytes("weights.bin", 11, 7) == hash_bytes("weights.bin", 11, 7));
    assert_true(hash_bytes("", 0, 7) == hash_bytes(NULL, 0, 7));
    const struct hash_key key = hash_key();
    assert_true(hash_bytes("weights.bin", 11, 7) == hash_bytes_by(&key, "weights.bin", 11, 7));
}

static void every_part_of_the_input_counts(void **state)
{
    (void)state;
    assert_true(hash_bytes("abcdefghi", 9, 0) != hash_bytes("abcdefghj", 9, 0));
    assert_true(hash_bytes("abcdefghi", 9, 0) != hash_bytes("bbcdefghi", 9, 0));
    assert_true(hash_bytes("a\0", 1, 0) != hash_bytes("a\0", 2, 0));
    assert_true(hash_bytes("a", 1, 0) != hash_bytes("a", 1, 1));
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* 65,536 names in 32 bits: half a collision is expected, dozens would be a bad mixer. */
static void low_bits_are_spread(void **state)
{
    enum { COUNT = 65536 };
    static uint32_t values[COUNT];
    int same = 0;

    (void)state;
    for (int i = 0; i < COUNT; i++) {
        char name[32];
        int len = snprintf(name, sizeof(name), "file-%08d.py", i);
        values[i] = (uint32_t)hash_bytes(name, (size_t)len, 1);
    }
    qsort(values, COUNT, sizeof(*values), by_value);
    for (int i = 1; i < COUNT; i++)
        same += values[i] == values[i - 1];
    assert_in_range(same, 0, 12);
}

/* The pieces do not change the hash; every byte and the length do. */
static uint64_t streamed(const unsigned char *data, size_t len, size_t step)
{
    struct hash_stream h;

    hash_stream_begin(&h);
    for (size_t at = 0; at < len; at += step)
        hash_stream_add(&h, data + at, len - at < step ? len - at : step);
    return hash_stream_end(&h);
}

static void test_stream(void **state)
{
    unsigned char data[100];

    (void)state;
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (unsigned char)(i * 7);
    for (size_t len = 0; len < sizeof(data); len++) {
        uint64_t whole = streamed(data, len, sizeof(data));
        for (size_t step = 1; step < 40; step++)
            assert_true(streamed(data, len, step) == whole);
        assert_true(streamed(data, len + 1, 100) != whole);
        for (size_t i = 0; i < len; i++) {
            data[i] ^= 1;
            assert_true(streamed(data, len, 100) != whole);
            data[i] ^= 1;
        }
    }
    memset(data, 0, sizeof(data)); /* padding is not content */
    assert_true(streamed(data, 3, 1) != streamed(data, 4, 1));
}

UNIT_SUITE(test_hash)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_input_gives_equal_hashes),
        cmocka_unit_test(every_part_of_the_input_counts),
        cmocka_unit_test(low_bits_are_spread),
        cmocka_unit_test(test_stream),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
