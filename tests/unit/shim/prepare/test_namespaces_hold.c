/* A namespace that is no longer the one that was judged is not held. */
#include "shim/gather/security/namespaces.h"
#include "shim/prepare/namespaces_hold.h"

#include "tests/unit/lib/unit.h"

static int hold(const char *path, const struct stat *judged, struct err *err)
{
    const struct joined_namespace joined = {
        .path = path, .hold = "/nonexistent/hold", .dev = judged->st_dev, .ino = judged->st_ino};
    const struct plan plan = {.joined = &joined, .joined_count = 1};
    struct decision decision = {.plan = &plan};

    int rc = namespaces_hold(&decision, err);
    assert_int_equal(decision.holds_namespaces, rc == 0);
    return rc;
}

static void test_another_namespace(void **state)
{
    struct err err = ERR_INIT;
    struct stat judged;

    (void)state;
    assert_int_equal(stat("/proc/self/ns/uts", &judged), 0);
    assert_fails(hold("/proc/self/ns/ipc", &judged, &err), err, ERR_POLICY);
    assert_string_equal(err.msg, "security.namespaces: /proc/self/ns/ipc: the process entered "
                                 "another namespace while it was looked at");
}

static void test_a_process_that_ended(void **state)
{
    struct err err = ERR_INIT;

    (void)state;
    assert_fails(hold("/proc/0/ns/ipc", &(struct stat){0}, &err), err, ERR_SYSTEM);
}

static void test_a_place_that_cannot_be_made(void **state)
{
    struct err err = ERR_INIT;
    struct stat judged;

    (void)state;
    assert_int_equal(stat("/proc/self/ns/ipc", &judged), 0);
    assert_fails(hold("/proc/self/ns/ipc", &judged, &err), err, ERR_SYSTEM);
}

static void test_none(void **state)
{
    const struct plan plan = {0};
    struct decision decision = {.plan = &plan};
    struct err err = ERR_INIT;

    (void)state;
    assert_int_equal(namespaces_hold(&decision, &err), 0);
    assert_false(decision.holds_namespaces);
}

UNIT_SUITE(test_namespaces_hold)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_another_namespace),
        cmocka_unit_test(test_a_process_that_ended),
        cmocka_unit_test(test_a_place_that_cannot_be_made),
        cmocka_unit_test(test_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
