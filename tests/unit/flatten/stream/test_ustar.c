#include "flatten/stream/ustar.h"

#include "tests/unit/lib/unit.h"

#include <string.h>

static void test_octal(void **state)
{
    char field[8];

    (void)state;
    assert_true(ustar_put_octal(field, sizeof(field), 0644));
    assert_memory_equal(field, "0000644", 8);
    assert_true(ustar_put_octal(field, sizeof(field), 07777777));
    assert_memory_equal(field, "7777777", 8);
    assert_false(ustar_put_octal(field, sizeof(field), 010000000));
    assert_memory_equal(field, "7777777", 8);
}

/* GNU tar writes a size of 8 GiB and more in base 256, the first bit set. */
static void test_number(void **state)
{
    char field[12];

    (void)state;
    ustar_put_number(field, sizeof(field), ((uint64_t)8 << 30) - 1);
    assert_memory_equal(field, "77777777777", 12);
    ustar_put_number(field, sizeof(field), (uint64_t)8 << 30);
    assert_memory_equal(field, "\x80\0\0\0\0\0\0\x02\0\0\0\0", 12);
    ustar_put_number(field, sizeof(field), UINT64_MAX);
    assert_memory_equal(field, "\x80\0\0\0\377\377\377\377\377\377\377\377", 12);
}

static void test_checksum(void **state)
{
    struct ustar header = {.name = "a"};

    (void)state;
    ustar_put_checksum(&header);
    assert_memory_equal(header.checksum, "000541\0 ", 8); /* 'a' and eight spaces: 353 */
}

static void test_padding(void **state)
{
    (void)state;
    assert_int_equal(ustar_padding(0), 0);
    assert_int_equal(ustar_padding(1), 511);
    assert_int_equal(ustar_padding(512), 0);
    assert_int_equal(ustar_padding(1025), 511);
}

UNIT_SUITE(test_ustar)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_octal), cmocka_unit_test(test_number),
                                       cmocka_unit_test(test_checksum),
                                       cmocka_unit_test(test_padding)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
