/* Globs: glob(7), on bytes. */
#include "base/glob.h"

#include "tests/unit/lib/unit.h"

struct example {
    const char *glob, *text;
    bool matches;
};

static void check(const struct example *list, size_t count,
                  bool (*matcher)(const char *, const char *))
{
    for (size_t i = 0; i < count; i++)
        if (matcher(list[i].glob, list[i].text) != list[i].matches)
            fail_msg("'%s' and '%s'", list[i].glob, list[i].text);
}

#define CHECK(list, matcher) check(list, sizeof(list) / sizeof(*(list)), matcher)

static void elements_match_what_they_stand_for(void **state)
{
    static const struct example list[] = {
        {"", "", true},
        {"", "a", false},
        {"a", "", false},
        {"coco-*", "coco-2017", true},
        {"coco-*", "coco-", true},
        {"coco-*", "xcoco-1", false},
        {"*", "", true},
        {"*", "a/b.c", true},
        {"run.oci.*", "run.oci.handler", true},
        {"run.oci.*", "run-oci-handler", false},
        {"?", "a", true},
        {"?", "", false},
        {"a?c", "abc", true},
        {"*a*b*c", "xxaxxbxxbc", true},
        {"*a*b*c", "xxaxxbxxcx", false},
        {"**", "ab", true},
        {"*ab", "aab", true},
        {"\\*", "*", true},
        {"\\*", "a", false},
        {"\\a", "a", true},
        {"a\\", "a\\", false},
        {"a\\", "a", false},
        {"A", "a", false},
        {"\xc3\xa9", "\xc3\xa9", true},
        {"?", "\xc3\xa9", false}, /* two bytes in every locale */
        {"??", "\xc3\xa9", true},
    };

    (void)state;
    CHECK(list, glob_matches);
}

static void brackets_match_one_of_theirs(void **state)
{
    static const struct example list[] = {
        {"[ab]", "b", true},
        {"[ab]", "c", false},
        {"[ab]", "", false},
        {"[a-c]x", "bx", true},
        {"[a-c]", "d", false},
        {"[c-a]", "b", false},
        {"[!a-c]", "d", true},
        {"[!a-c]", "b", false},
        {"[^a]", "b", true},
        {"[]a]", "]", true},
        {"[!]a]", "]", false},
        {"[a-]", "-", true},
        {"[--0]", ".", true},
        {"[[?*\\]", "\\", true}, /* as in glob(7) */
        {"[[?*\\]", "*", true},
        {"[[?*\\]", "a", false},
        {"[[:digit:]_]", "7", true},
        {"[[:digit:]_]", "_", true},
        {"[[:digit:]_]", "a", false},
        {"[![:alpha:]]", "\xc3", true},
        {"[[:alpha:]]", "\xe9", false},
        {"[\x80-\xff]", "\xe9", true},
        {"[ab", "[ab", true}, /* an unclosed bracket is literal */
        {"[ab", "a", false},
        {"[", "[", true},
        {"x[!", "x[!", true},
        {"*[0-9]", "nvidia10", true},
        {"*[0-9]", "nvidiactl", false},
    };

    (void)state;
    CHECK(list, glob_matches);
}

static void a_leading_dot_has_to_be_in_the_glob(void **state)
{
    static const struct example list[] = {
        {"*", ".hidden", false}, {"?hidden", ".hidden", false},  {"[.]hidden", ".hidden", false},
        {".*", ".hidden", true}, {"\\.*", ".hidden", true},      {"*", "a.b", true},
        {"*.b", "a.b", true},    {"*.hidden", ".hidden", false}, {"", ".", false},
    };

    (void)state;
    CHECK(list, glob_matches_file);
    assert_true(glob_matches("*", ".hidden"));
}

/* Backtracking over every placement of the stars would take exponential time. */
static void many_stars_take_no_longer(void **state)
{
    char text[5001];

    (void)state;
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_false(glob_matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
    assert_true(glob_matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*", text));
}

UNIT_SUITE(test_glob)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_match_what_they_stand_for),
        cmocka_unit_test(brackets_match_one_of_theirs),
        cmocka_unit_test(a_leading_dot_has_to_be_in_the_glob),
        cmocka_unit_test(many_stars_take_no_longer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
