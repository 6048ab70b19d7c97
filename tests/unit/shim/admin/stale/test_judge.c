#include "tests/unit/lib/unit.h"

#include "shim/admin/stale/judge.h"

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_names(void **state)
{
    (void)state;
    assert_true(stale_is_layer(STALE_DOCKER, HEX64));
    assert_true(stale_is_layer(STALE_PODMAN, HEX64));
    assert_true(stale_is_layer(STALE_DOCKER, HEX64 "-init"));
    assert_false(stale_is_layer(STALE_PODMAN, HEX64 "-init"));
    assert_false(stale_is_layer(STALE_DOCKER, HEX64 "-init2"));
    assert_false(stale_is_layer(STALE_DOCKER, HEX64 "0"));
    assert_true(stale_is_layer(STALE_DOCKER, "abcdefghijklmnopqrstuvwxy"));
    assert_false(stale_is_layer(STALE_PODMAN, "abcdefghijklmnopqrstuvwxy"));
    assert_false(stale_is_layer(STALE_DOCKER, "l"));
    assert_false(stale_is_layer(STALE_DOCKER, ""));
    assert_false(stale_is_layer(STALE_DOCKER, "backingFsBlockDev"));
    assert_true(stale_is_remains(STALE_PODMAN, STALE_PREFIX HEX64));
    assert_false(stale_is_remains(STALE_PODMAN, STALE_PREFIX "x"));
    assert_false(stale_is_remains(STALE_PODMAN, HEX64));
}

static void test_known(void **state)
{
    _cleanup_known_ struct known known = {0};

    (void)state;
    assert_false(known_has(&known, "a"));
    known_add(&known, "bxx", 1);
    known_add(&known, "a", 1);
    assert_true(known_has(&known, "a"));
    assert_true(known_has(&known, "b"));
    assert_false(known_has(&known, "bx"));
    known_add(&known, "0", 1);
    assert_true(known_has(&known, "0"));
    assert_false(known.failed);
}

static void test_links(void **state)
{
    const char *name;
    size_t len;

    (void)state;
    assert_true(stale_link_target("../abc/diff", &name, &len));
    assert_int_equal(len, 3);
    assert_memory_equal(name, "abc", 3);
    assert_false(stale_link_target("../abc/diff/", &name, &len));
    assert_false(stale_link_target("../../abc/diff", &name, &len));
    assert_false(stale_link_target("..//diff", &name, &len));
    assert_false(stale_link_target("/abc/diff", &name, &len));
}

static void test_verdicts(void **state)
{
    (void)state;
    assert_non_null(stale_judge(STALE_DOCKER, &(struct stale_facts){0}));
    assert_non_null(stale_judge(STALE_PODMAN, &(struct stale_facts){0}));
    assert_null(stale_judge(STALE_DOCKER, &(struct stale_facts){.known = true}));
    assert_null(stale_judge(STALE_DOCKER, &(struct stale_facts){.cached = true}));
    assert_null(stale_judge(STALE_PODMAN, &(struct stale_facts){.mounted = true}));
}

static void test_refuse(void **state)
{
    const struct stale_limits none = {.now = 1000000}, month = {.now = 10000000, .older = 2592000};

    (void)state;
    assert_null(stale_refuse(&none, 1000000, true));
    assert_non_null(stale_refuse(&none, 1000001, true)); /* of the future */
    assert_non_null(stale_refuse(&none, INT64_MAX, true));
    assert_non_null(stale_refuse(&none, 1000000 - 86399, false));
    assert_null(stale_refuse(&none, 1000000 - 86400, false));
    assert_non_null(stale_refuse(&month, 10000000 - 2591999, true));
    assert_null(stale_refuse(&month, 10000000 - 2592000, false));
}

static void test_duration(void **state)
{
    static const char *const wrong[] = {"", "d", "3w", "-1", "3dd", "3 d", "9999999", "36501"};
    int64_t seconds;

    (void)state;
    assert_true(stale_duration("30", &seconds) && seconds == 30 * 86400);
    assert_true(stale_duration("30d", &seconds) && seconds == 30 * 86400);
    assert_true(stale_duration("12h", &seconds) && seconds == 12 * 3600);
    assert_true(stale_duration("0", &seconds) && seconds == 0);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_false(stale_duration(wrong[i], &seconds));
}

UNIT_SUITE(test_judge)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),  cmocka_unit_test(test_known),
        cmocka_unit_test(test_links),  cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_refuse), cmocka_unit_test(test_duration),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
