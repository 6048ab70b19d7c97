/* Entries of passwd(5) and group(5) beside those of an image. */
#include "tests/unit/lib/unit.h"

#include "shim/account/passwd.h"

static const struct passwd_entry alice = {
    .name = "alice", .uid = 1001, .gid = 1002, .home = "/home/alice"};

static void check(const char *text, const struct passwd_entry *entry, const char *users,
                  const char *groups)
{
    _cleanup_buf_ struct buf user = BUF_INIT;
    _cleanup_buf_ struct buf group = BUF_INIT;

    passwd_put_user(text, entry, &user);
    passwd_put_group(text, entry, &group);
    assert_string_equal(user.data, users);
    assert_string_equal(group.data, groups);
}

static void test_entries(void **state)
{
    static const char line[] = "alice:x:1001:1002:alice:/home/alice:/bin/sh\n";

    (void)state;
    check(NULL, &alice, line, "alice:x:1002:\n");
    check("", &alice, line, "alice:x:1002:\n");
    check("a:x:1:", &alice, "a:x:1:\nalice:x:1001:1002:alice:/home/alice:/bin/sh\n",
          "a:x:1:\nalice:x:1002:\n");
    check("u:x:1001:\ng:x:1002:\n", &alice, "u:x:1001:\ng:x:1002:\n", "u:x:1001:\ng:x:1002:\n");
    check("alice:x:7:\n", &alice, "alice:x:7:\n1001:x:1001:1002:alice:/home/alice:/bin/sh\n",
          "alice:x:7:\n1002:x:1002:\n");
}

/* No name can add a field or a line. */
static void test_names_that_a_line_cannot_hold(void **state)
{
    static const char *const names[] = {"", "a:b", "a\nb", "a b", "..", "é", "a,b", "\x01"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct passwd_entry entry = alice;
        entry.name = names[i];
        check("", &entry, "1001:x:1001:1002:1001:/home/alice:/bin/sh\n", "1002:x:1002:\n");
    }
}

static void test_ids(void **state)
{
    static const char text[] =
        "a:x:12:1\nb:x:1x:1\nc:12\n:x:13\n\nd:x:-14:\ne:x:99999999999999:\nf:x:15";

    (void)state;
    assert_true(passwd_has_id(text, 12));
    assert_false(passwd_has_id(text, 1));
    assert_true(passwd_has_id(text, 13));
    assert_false(passwd_has_id(text, 14));
    assert_true(passwd_has_id(text, 15));
    assert_false(passwd_has_id(NULL, 0));
    assert_false(passwd_has_id("", 0));
    assert_true(passwd_has_name(text, "f"));
    assert_false(passwd_has_name(text, "x"));
    assert_false(passwd_has_name(NULL, "a"));
}

UNIT_SUITE(test_passwd)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_names_that_a_line_cannot_hold),
        cmocka_unit_test(test_ids),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
