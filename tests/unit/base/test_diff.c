/* Unified diffs: what patch(1) would make of them is tested in tests/cli/flatbed.bats. */
#include "tests/unit/lib/unit.h"

#include "base/cleanup.h"
#include "base/diff.h"

static char *diff(const char *before, const char *after)
{
    struct buf a = {.data = (char *)(uintptr_t)before, .len = before ? strlen(before) : 0};
    struct buf b = {.data = (char *)(uintptr_t)after, .len = after ? strlen(after) : 0};
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;

    buf_puts(&out, "");
    diff_unified("f", before ? &a : NULL, after ? &b : NULL, &out);
    char *text = buf_take(&out, &err);
    assert_non_null(text);
    return text;
}

static void assert_diff(const char *before, const char *after, const char *expected)
{
    _cleanup_free_ char *text = diff(before, after);

    assert_string_equal(text, expected);
}

static void what_is_the_same_has_none(void **state)
{
    (void)state;
    assert_diff("a\nb\n", "a\nb\n", "");
    assert_diff("", "", "");
}

static void a_line_is_replaced_with_three_around(void **state)
{
    (void)state;
    assert_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nX\n6\n7\n8\n9\n",
                "--- f\n+++ f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+X\n 6\n 7\n 8\n");
}

static void lines_are_added_at_the_end_and_at_the_beginning(void **state)
{
    (void)state;
    assert_diff("1\n2\n", "1\n2\n3\n", "--- f\n+++ f\n@@ -1,2 +1,3 @@\n 1\n 2\n+3\n");
    assert_diff("1\n2\n", "0\n1\n2\n", "--- f\n+++ f\n@@ -1,2 +1,3 @@\n+0\n 1\n 2\n");
}

static void what_is_far_apart_is_in_two_hunks(void **state)
{
    (void)state;
    assert_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\nX\n",
                "--- f\n+++ f\n@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -7,3 +8,4 @@\n 7\n 8\n 9\n+X\n");
    assert_diff("1\n2\n3\n4\n5\n6\n", "0\n1\n2\n3\n4\n5\n6\nX\n",
                "--- f\n+++ f\n@@ -1,6 +1,8 @@\n+0\n 1\n 2\n 3\n 4\n 5\n 6\n+X\n");
}

static void a_last_line_without_newline_is_said(void **state)
{
    (void)state;
    assert_diff("a", "a\n",
                "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n");
}

static void a_file_that_is_not_there_is_dev_null(void **state)
{
    (void)state;
    assert_diff(NULL, "a\n", "--- /dev/null\n+++ f\n@@ -0,0 +1,1 @@\n+a\n");
    assert_diff("a\n", NULL, "--- f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n");
}

UNIT_SUITE(test_diff)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_the_same_has_none),
        cmocka_unit_test(a_line_is_replaced_with_three_around),
        cmocka_unit_test(lines_are_added_at_the_end_and_at_the_beginning),
        cmocka_unit_test(what_is_far_apart_is_in_two_hunks),
        cmocka_unit_test(a_last_line_without_newline_is_said),
        cmocka_unit_test(a_file_that_is_not_there_is_dev_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
