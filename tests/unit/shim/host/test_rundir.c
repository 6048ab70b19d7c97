/* Names of files that contain text from the caller. */
#include "tests/unit/lib/unit.h"

#include "shim/host/rundir.h"

static void assert_escaped(const char *text, const char *expected)
{
    struct err err = ERR_INIT;
    _cleanup_buf_ struct buf out = BUF_INIT;

    assert_works(rundir_escape(text, &out, &err), err);
    assert_string_equal(out.data, expected);
    _cleanup_buf_ struct buf back = BUF_INIT;
    assert_true(rundir_unescape(out.data, out.len, &back));
    assert_string_equal(back.data, text);
}

static void test_names_that_it_did_not_make(void **state)
{
    static const char *const names[] = {"", ".tmp", "a/b", "%61", "%2f", "a%2", "%", "%%", "%00"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        _cleanup_buf_ struct buf out = BUF_INIT;
        if (rundir_unescape(names[i], strlen(names[i]), &out))
            fail_msg("%s", names[i]);
    }
}

static void test_escapes(void **state)
{
    (void)state;
    assert_escaped("c0ffee-1_2.x", "c0ffee-1_2.x");
    assert_escaped("/run/docker/runtime-runc/moby", "%2Frun%2Fdocker%2Fruntime-runc%2Fmoby");
    assert_escaped("..", "%2E.");
    assert_escaped("../x", "%2E.%2Fx");
    assert_escaped(".tmp", "%2Etmp");
    assert_escaped("a+b%2F", "a%2Bb%252F");
    assert_escaped("a\n\xff", "a%0A%FF");
}

static void test_bounds(void **state)
{
    char text[RUNDIR_NAME + 2];
    struct err err = ERR_INIT;
    _cleanup_buf_ struct buf out = BUF_INIT, more = BUF_INIT;

    (void)state;
    memset(text, 'a', sizeof(text));
    text[RUNDIR_NAME] = '\0';
    assert_works(rundir_escape(text, &out, &err), err);
    assert_int_equal(out.len, RUNDIR_NAME);
    text[RUNDIR_NAME] = 'a';
    text[RUNDIR_NAME + 1] = '\0';
    assert_fails(rundir_escape(text, &more, &err), err, ERR_LIMIT);
}

UNIT_SUITE(test_rundir)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_names_that_it_did_not_make),
        cmocka_unit_test(test_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
