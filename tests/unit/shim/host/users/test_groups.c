/* Groups of a user, from texts in the form of /etc/group and of nsswitch.conf. */
#include "tests/unit/lib/unit.h"

#include "base/buf.h"
#include "shim/host/users/groups.h"

static void test_members(void **state)
{
    static const char text[] =
        "root:x:0:alice\nlab:x:5000:bob,alice\nlow:x:999:alice\n"
        "other:x:5001:alicex,xalice,ali\nlab2:x:5000:alice\nbad:x:50a:alice\n"
        "short:5\n:x:5002:alice,\nhuge:x:4294967295:alice\nlast:x:1000:alice";
    struct groups groups = {0};

    (void)state;
    groups_parse(text, "alice", &groups);
    assert_int_equal(groups.count, 3);
    assert_int_equal(groups.list[0], 5000);
    assert_int_equal(groups.list[1], 5002);
    assert_int_equal(groups.list[2], 1000);
    groups = (struct groups){0};
    groups_parse("", "alice", &groups);
    groups_parse("lab:x:5000:", "", &groups);
    assert_int_equal(groups.count, 0);
}

static void test_a_bound(void **state)
{
    struct groups groups = {0};
    struct buf text = BUF_INIT;

    (void)state;
    for (unsigned i = 0; i < 2 * GROUPS_MOST; i++)
        buf_printf(&text, "g%u:x:%u:alice\n", i, 2000 + i);
    groups_parse(text.data, "alice", &groups);
    assert_int_equal(groups.count, GROUPS_MOST);
    buf_free(&text);
}

static void test_privileged_names(void **state)
{
    (void)state;
    assert_true(groups_privileged("docker", 6));
    assert_true(groups_privileged("disk", 4));
    assert_true(groups_privileged("root", 4));
    assert_false(groups_privileged("dockers", 7));
    assert_false(groups_privileged("dock", 4));
    assert_false(groups_privileged("", 0));
}

static void test_databases(void **state)
{
    static const struct {
        const char *text;
        bool elsewhere;
    } rows[] = {
        {NULL, false},
        {"", false},
        {"group: files\n", false},
        {"group:files systemd", false},
        {" group :\tfiles [SUCCESS=merge] systemd\n", false},
        {"passwd: sss\ngroup: files # sss\n", false},
        {"groups: sss\n#group: sss\n", false},
        {"passwd: files\ngroup: files sss\n", true},
        {"group: files [NOTFOUND=return] ldap", true},
        {"group: compat", true},
        {"group: sss\ninitgroups: files\n", false},
        {"group: files\ninitgroups: files sss\n", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (groups_elsewhere(rows[i].text) != rows[i].elsewhere)
            fail_msg("%s", rows[i].text);
}

/* The user is 1001, whose primary group is 100, unless the row has no user. */
static void test_own_groups(void **state)
{
    static const struct {
        struct group_claim claim;
        const char *problem;
    } rows[] = {
        {{.gid = 100, .user = USER_FOUND, .group = USER_FOUND}, NULL},
        {{.gid = 5000, .user = USER_FOUND, .group = USER_FOUND, .member = true}, NULL},
        {{.gid = 5000, .user = USER_FOUND, .group = USER_NONE}, NULL},
        {{.gid = 5000, .user = USER_NONE, .group = USER_NONE}, NULL},
        {{.gid = 5000, .user = USER_UNKNOWN, .group = USER_NONE}, NULL},
        {{.gid = 1000, .user = USER_NONE, .group = USER_NONE}, NULL},
        {{.uid = 999, .gid = 999, .user = USER_NONE, .group = USER_NONE}, NULL},
        {{.uid = 999, .gid = 999, .user = USER_NONE, .group = USER_FOUND}, "not one of its"},
        {{.uid = 999, .gid = 999, .user = USER_FOUND, .group = USER_NONE}, "reserved"},
        {{.gid = 999, .user = USER_NONE, .group = USER_NONE}, "reserved"},
        {{.gid = 101, .user = USER_FOUND, .group = USER_FOUND}, "not one of its user's"},
        {{.gid = 5000, .user = USER_FOUND, .group = USER_FOUND}, "not one of its user's"},
        {{.gid = 5000, .user = USER_NONE, .group = USER_FOUND}, "not one of its user's"},
        {{.gid = 5000, .user = USER_UNKNOWN, .group = USER_FOUND}, "getent"},
        {{.gid = 100, .user = USER_FOUND, .group = USER_UNKNOWN}, "getent"},
        {{.gid = 100, .user = USER_FOUND, .group = USER_FOUND, .privileged = true}, "powerful"},
        {{.gid = 7000, .user = USER_FOUND, .group = USER_FOUND, .member = true, .privileged = true},
         "powerful"},
        {{.gid = 0, .user = USER_FOUND, .group = USER_FOUND, .member = true}, "root's"},
        {{.gid = 0, .user = USER_NONE, .group = USER_NONE}, "root's"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct group_claim claim = rows[i].claim;
        claim.uid = claim.uid ? claim.uid : 1001;
        claim.primary = 100;
        const char *problem = group_claim_problem(&claim);
        if (rows[i].problem ? !problem || !strstr(problem, rows[i].problem) : problem != NULL)
            fail_msg("row %zu: %s", i, problem ? problem : "own");
    }
}

UNIT_SUITE(test_groups)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_groups), cmocka_unit_test(test_members),
        cmocka_unit_test(test_a_bound),    cmocka_unit_test(test_privileged_names),
        cmocka_unit_test(test_databases),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
