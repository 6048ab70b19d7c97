/* Errors as values: content and truncation. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

static void sets_kind_and_message(void **state)
{
    struct err err = {.kind = ERR_SYSTEM, .sys = ENOENT};

    (void)state;
    assert_int_equal(err_set(&err, ERR_FORMAT, "%d apples", 3), -1);
    assert_int_equal(err.kind, ERR_FORMAT);
    assert_int_equal(err.sys, 0);
    assert_string_equal(err.msg, "3 apples");
}

static void system_error_holds_errno_and_its_text(void **state)
{
    struct err err = ERR_INIT;

    (void)state;
    errno = ENOENT;
    assert_int_equal(err_sys(&err, "open %s", "x"), -1);
    assert_int_equal(err.kind, ERR_SYSTEM);
    assert_int_equal(err.sys, ENOENT);
    assert_string_equal(err.msg, "open x: No such file or directory");
    assert_true(err_missing(&err));
    errno = EACCES;
    assert_int_equal(err_sys(&err, "open x"), -1);
    assert_false(err_missing(&err));
}

static void out_of_memory_is_a_system_error(void **state)
{
    struct err err = ERR_INIT;

    (void)state;
    errno = 0;
    assert_fails(err_nomem(&err), err, ERR_SYSTEM);
    assert_int_equal(err.sys, ENOMEM);
}

static void wrapping_keeps_kind_and_errno(void **state)
{
    struct err err = ERR_INIT;

    (void)state;
    errno = EACCES;
    err_sys(&err, "read");
    assert_int_equal(err_wrap(&err, "layer %d", 2), -1);
    assert_int_equal(err_wrap(&err, "image"), -1);
    assert_int_equal(err.kind, ERR_SYSTEM);
    assert_int_equal(err.sys, EACCES);
    assert_string_equal(err.msg, "image: layer 2: read: Permission denied");
}

static void long_messages_are_cut(void **state)
{
    struct err err = ERR_INIT;
    char text[3000];

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    err_set(&err, ERR_LIMIT, "%s", text);
    assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
    err_wrap(&err, "short");
    assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
    assert_memory_equal(err.msg, "short: xxx", 10);
    err_wrap(&err, "%s", text);
    assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
    errno = ENOENT;
    err_sys(&err, "%s", text);
    assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
    assert_int_equal(err.sys, ENOENT);
}

static void exit_statuses_are_the_documented_ones(void **state)
{
    (void)state;
    assert_int_equal(err_exit_status(ERR_NONE), 0);
    assert_int_equal(err_exit_status(ERR_USAGE), 2);
    assert_int_equal(err_exit_status(ERR_SYSTEM), 3);
    assert_int_equal(err_exit_status(ERR_FORMAT), 5);
    assert_int_equal(err_exit_status(ERR_DIGEST), 6);
    assert_int_equal(err_exit_status(ERR_LIMIT), 7);
    assert_int_equal(err_exit_status(ERR_UNSUPPORTED), 8);
    assert_int_equal(err_exit_status(ERR_POLICY), 9);
}

UNIT_SUITE(test_err)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_kind_and_message),
        cmocka_unit_test(system_error_holds_errno_and_its_text),
        cmocka_unit_test(out_of_memory_is_a_system_error),
        cmocka_unit_test(wrapping_keeps_kind_and_errno),
        cmocka_unit_test(long_messages_are_cut),
        cmocka_unit_test(exit_statuses_are_the_documented_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
