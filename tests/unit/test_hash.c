/* The keyed hash. */
#include "base/hash.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

static void equal_input_gives_equal_hashes(void **state)
{
    (void)state;
    assert_true(hash_bytes("weights.bin", 11, 7) == hash_bytes("weights.bin", 11, 7));
    assert_true(hash_bytes("", 0, 7) == hash_bytes(NULL, 0, 7));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_input_gives_equal_hashes),
        cmocka_unit_test(every_part_of_the_input_counts),
        cmocka_unit_test(low_bits_are_spread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
