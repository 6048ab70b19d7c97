/* "Did you mean …?" */
#include "base/cli/suggest.h"

#include "tests/unit/lib/unit.h"

static const char *const names[] = {"compression", "threads", NULL,
                                    "platform",    "dry-run", "verify"};

static const char *near(const char *word)
{
    return suggest_nearest(word, names, sizeof(names) / sizeof(names[0]));
}

static void slips_of_the_finger_are_found(void **state)
{
    (void)state;
    assert_string_equal(near("threads"), "threads");
    assert_string_equal(near("thread"), "threads");
    assert_string_equal(near("threadss"), "threads");
    assert_string_equal(near("thraeds"), "threads"); /* a swap */
    assert_string_equal(near("compresion"), "compression");
    assert_string_equal(near("dryrun"), "dry-run");
    assert_string_equal(near("vrify"), "verify");
}

static void other_words_are_not(void **state)
{
    (void)state;
    assert_null(near("bananas"));
    assert_null(near("x"));
    assert_null(near(""));
    assert_null(suggest_nearest("x", NULL, 0));
}

static void a_swap_of_neighbours_is_one_edit(void **state)
{
    static const char *const two[] = {"ba", "abcd"};

    (void)state;
    /* "ab" may be one edit away at most; "abcd" is two. */
    assert_string_equal(suggest_nearest("ab", two, 2), "ba");
}

static void the_nearest_wins_then_the_first(void **state)
{
    static const char *const same[] = {"mounts", "mount", "count"};
    static const char *const tie[] = {"cat", "car"};

    (void)state;
    assert_string_equal(suggest_nearest("mount", same, 3), "mount");
    assert_string_equal(suggest_nearest("cap", tie, 2), "cat");
}

static void long_words_are_far_from_everything(void **state)
{
    char word[400];

    (void)state;
    memset(word, 'x', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    assert_null(near(word));
    word[49] = '\0';
    assert_null(near(word));
    const char *const own[] = {word};
    assert_null(suggest_nearest("xxx", own, 1));
}

UNIT_SUITE(test_suggest)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slips_of_the_finger_are_found),
        cmocka_unit_test(other_words_are_not),
        cmocka_unit_test(a_swap_of_neighbours_is_one_edit),
        cmocka_unit_test(the_nearest_wins_then_the_first),
        cmocka_unit_test(long_words_are_far_from_everything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
