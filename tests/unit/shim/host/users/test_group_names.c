/* Numbers that are names of other groups, in texts in the form of /etc/group. */
#include "tests/unit/lib/unit.h"

#include "shim/host/users/group_names.h"

#include <string.h>

static bool has(const char *text, uint32_t gid)
{
    struct group_names names = {0};

    group_names_read(text, strlen(text), &names);
    return group_names_have(&names, gid);
}

static void a_number_as_a_name_is_another_group(void **state)
{
    static const char *const texts[] = {
        "1234:x:42:",
        "root:x:0:\n1234:x:42:\n",
        "1234",
        "1234:",
        "1234:x",
        "1234:x:",
        "1234:x:1234x:",
        "1234:x:12345:",
        "1234:x:01234:",
        " \t1234:x:42:",
        "\342\200\2031234:x:42:", /* a space of Unicode */
        "1234\xc2\xa0",
        "1234:x:4294968530:",
        "1234:x:1234 :",
        "1234:x:1234\001",
        "1234:x:1234\x7f\n",
        "1234:x:1234\xc3\xa9",
        "1234:x:1234 \001 ",
        "1234:1234:42:",
        "1234:x:1234:\n1234:x:42:",
        "\r1234:x:42:\r\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (!has(texts[i], 1234))
            fail_msg("%s", texts[i]);
    assert_true(has("0:x:42:", 0));
    assert_true(has("4294967295:x:42:", UINT32_MAX));
}

static void other_lines_are_none(void **state)
{
    static const char *const texts[] = {
        "",
        "\n\n",
        "1234:x:1234:",
        "1234:x:1234:a,b",
        "1234:x:1234",
        "1234::1234: \n",
        "1234:x:1234 \t\v\f\r\n",
        "lab:x:1234:",
        "#1234:x:42:",
        "12345:x:42:",
        "01234:x:42:",
        "+1234:x:42:",
        "1234 :x:42:",
        "x:1234:42:",
        "1234x:x:42:",
        "99999999999:x:42:",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (has(texts[i], 1234))
            fail_msg("%s", texts[i]);
}

static void what_is_behind_a_nul_counts(void **state)
{
    static const char text[] = "a\0b\n\0"
                               "1234:x:42:\n5:x:5\0";
    struct group_names names = {0};

    (void)state;
    group_names_read(text, sizeof(text) - 1, &names);
    assert_true(group_names_have(&names, 1234));
    assert_true(group_names_have(&names, 5));
    assert_false(group_names_have(&names, 42));
}

static void more_names_than_are_kept_are_any(void **state)
{
    struct group_names names = {0};

    (void)state;
    for (uint32_t i = 0; i < GROUP_NAMES_MOST; i++)
        group_names_add(&names, i);
    group_names_add(&names, 3);
    assert_false(group_names_have(&names, 5000));
    group_names_add(&names, GROUP_NAMES_MOST);
    assert_int_equal(names.count, GROUP_NAMES_MOST);
    assert_true(group_names_have(&names, 5000));
}

UNIT_SUITE(test_group_names)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_as_a_name_is_another_group),
        cmocka_unit_test(other_lines_are_none),
        cmocka_unit_test(what_is_behind_a_nul_counts),
        cmocka_unit_test(more_names_than_are_kept_are_any),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
