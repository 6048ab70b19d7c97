/* Names of hexadecimal digits. */
#include "base/hex.h"

#include "tests/unit/lib/unit.h"

static void all_and_only_digits(void **state)
{
    (void)state;
    assert_true(hex_is("", 0));
    assert_true(hex_is("09af", 4));
    assert_false(hex_is("09af", 3));
    assert_false(hex_is("09af", 5));
    assert_false(hex_is("09aF", 4));
    assert_false(hex_is("09ag", 4));
    assert_false(hex_is("09a/", 3));
}

UNIT_SUITE(test_hex)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_and_only_digits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
