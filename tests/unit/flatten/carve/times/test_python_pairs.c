/* The times that headers of .pyc files name. */
#include "flatten/carve/times/python_pairs.h"

#include "tests/unit/lib/unit.h"

static void test_times_in_headers(void **state)
{
    uint32_t time = 0;

    (void)state;
    /* Python 3.11 (3495): flags, time, size. */
    assert_true(pyc_time((const unsigned char *)"\xa7\r\r\n\0\0\0\0\x2a\0\0\0\6\0\0\0", &time));
    assert_int_equal(time, 42);
    /* The same, with a hash of the source. */
    assert_false(pyc_time((const unsigned char *)"\xa7\r\r\n\1\0\0\0hashhash", &time));
    assert_false(pyc_time((const unsigned char *)"\xa7\r\r\n\3\0\0\0hashhash", &time));
    /* Python 3.6 (3379) and 2.7 (62211) have no flags. */
    assert_true(pyc_time((const unsigned char *)"\x33\r\r\n\x2b\0\0\0\6\0\0\0code", &time));
    assert_int_equal(time, 43);
    assert_true(pyc_time((const unsigned char *)"\x03\xf3\r\n\x2d\0\0\x80"
                                                "codecode",
                         &time));
    assert_int_equal(time, 0x8000002d);
}

UNIT_SUITE(test_python_pairs)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times_in_headers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
