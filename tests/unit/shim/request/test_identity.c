/* Ids through namespaces, lines of passwd(5), and the rules that find the owner of a container. */
#include "tests/unit/lib/shim_unit.h"
#include "tests/unit/lib/tempdir.h"

#include "shim/host/process/child.h"
#include "shim/host/users/user.h"
#include "shim/request/facts.h"

#include <signal.h>
#include <unistd.h>

static void test_maps(void **state)
{
    struct id_map map = {0};
    struct err err = ERR_INIT;
    uint32_t outside;

    (void)state;
    assert_works(
        id_map_parse("         0       1000          1\n         1     100000      65536\n", &map,
                     &err),
        err);
    assert_int_equal(map.count, 2);
    assert_true(id_map_outside(&map, 0, &outside));
    assert_int_equal(outside, 1000);
    assert_true(id_map_outside(&map, 65536, &outside));
    assert_int_equal(outside, 165535);
    assert_false(id_map_outside(&map, 65537, &outside));
    assert_works(id_map_parse("0 0 4294967295\n", &map, &err), err);
    assert_int_equal(map.count, 1);
    assert_fails(id_map_parse("nonsense\n", &map, &err), err, ERR_FORMAT);
    assert_fails(id_map_parse("4294967295 0 2\n", &map, &err), err, ERR_FORMAT);
    assert_works(id_map_parse("", &map, &err), err);
    assert_int_equal(map.count, 0);
}

static void test_the_initial_map(void **state)
{
    (void)state;
    assert_true(id_map_is_identity("         0          0 4294967295\n"));
    assert_false(id_map_is_identity(""));
    assert_false(id_map_is_identity("         0       1000 4294967295\n"));
    assert_false(id_map_is_identity("         0          0      65536\n"));
    assert_false(id_map_is_identity("         0          0 4294967295\n         1"));
    assert_false(id_map_is_identity("0 0 4294967294\n4294967294 4294967294 1\n"));
}

static void test_passwd_lines(void **state)
{
    struct user u;

    (void)state;
    assert_true(user_parse("alice:x:1000:100:Alice:/home/alice:/bin/sh\nbob:", &u));
    assert_string_equal(u.name, "alice");
    assert_int_equal(u.uid, 1000);
    assert_int_equal(u.gid, 100);
    assert_false(user_parse("", &u));
    assert_false(user_parse("alice", &u));
    assert_false(user_parse("alice:x:1000", &u));
    assert_false(user_parse("alice:x:1000:", &u));
    assert_false(user_parse("alice:x\n:1000:100:", &u));
    assert_false(user_parse(":x:1:1:::", &u));
    assert_false(user_parse("a:x:-1:1:::", &u));
    assert_false(user_parse("a:x:4294967295:1:::", &u));
    assert_false(user_parse("+:x:1x:1:::", &u));
}

static void test_users(void **state)
{
    struct user u;

    (void)state;
    assert_int_equal(user_by_uid(0, &u), USER_FOUND);
    assert_string_equal(u.name, "root");
    assert_int_equal(user_by_name("root", &u), USER_FOUND);
    assert_int_equal(u.uid, 0);
    assert_int_equal(user_by_name("no-such-user", &u), USER_NONE);
    assert_int_equal(user_by_name("", &u), USER_NONE);
    assert_int_equal(user_by_name("--help", &u), USER_NONE);
    assert_int_equal(user_by_uid(3999999999, &u), USER_NONE);
}

/* Works also if the caller ignores SIGCHLD, as some engines do. */
static void test_exit_statuses_are_told(void **state)
{
    char sh[] = "/bin/sh", c[] = "-c", two[] = "echo x; exit 2", killed[] = "kill -9 $$";
    char *const exits[] = {sh, c, two, NULL}, *const dies[] = {sh, c, killed, NULL};
    struct err err = ERR_INIT;
    char text[16];
    int status;

    (void)state;
    assert_true(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
    assert_works(child_output(exits, text, sizeof(text), &status, &err), err);
    assert_int_equal(status, 2);
    assert_string_equal(text, "x\n");
    assert_works(child_output(dies, text, sizeof(text), &status, &err), err);
    assert_int_equal(status, -1);
    assert_true(signal(SIGCHLD, SIG_DFL) == SIG_IGN);
}

static const char *gather_id = "c1";
static int gather_bundle = -1;

static struct facts gather(const char *sections, const char *config, struct arena *arena,
                           struct policy **policy, struct json_doc **doc, struct err *err)
{
    struct requests requests;
    struct facts facts = {0};
    struct spec spec;

    *policy = shim_policy(sections);
    *doc = shim_document(config);
    assert_works(spec_read(*doc, arena, &spec, err), *err);
    assert_works(requests_read(*policy, &spec, arena, &requests, err), *err);
    if (facts_gather(*policy, &spec, gather_id, gather_bundle, &requests, arena, &facts, err) == 0)
        err->kind = ERR_NONE;
    return facts;
}

struct row {
    const char *sections, *config, *user, *uid, *gid, *missing;
};

#define USES "\"volumes\":{\"v\":{\"source\":\"/{user}/{uid}/{gid}\",\"target\":\"/v\"}}"

/* As root in the initial user namespace, for which "process" applies. */
static void test_identity_rules(void **state)
{
    static const struct row rows[] = {
        {USES, "{\"process\":{\"user\":{\"uid\":0,\"gid\":7}}}", "root", "0", "7", NULL},
        {USES, "{\"process\":{\"user\":{\"uid\":3999999999,\"gid\":7}}}", "3999999999",
         "3999999999", "7", NULL},
        {USES,
         "{\"process\":{\"user\":{\"uid\":5,\"gid\":6}},\"linux\":{"
         "\"namespaces\":[{\"type\":\"user\"}],\"uidMappings\":[{\"containerID\":0,\"hostID\":"
         "3999990000,\"size\":10}],"
         "\"gidMappings\":[{\"containerID\":0,\"hostID\":200,\"size\":10}]}}",
         "3999990005", "3999990005", "206", NULL},
        {USES,
         "{\"process\":{\"user\":{\"uid\":50,\"gid\":6}},\"linux\":{"
         "\"namespaces\":[{\"type\":\"user\"}],\"uidMappings\":[{\"containerID\":0,\"hostID\":100,"
         "\"size\":10}],"
         "\"gidMappings\":[{\"containerID\":0,\"hostID\":200,\"size\":10}]}}",
         NULL, NULL, NULL, "do not map"},
        {USES,
         "{\"process\":{},\"linux\":{\"namespaces\":[{\"type\":\"user\",\"path\":\"/proc/1/ns/"
         "user\"}]}}",
         NULL, NULL, NULL, "joins a user namespace"},
        {USES, "{}", NULL, NULL, NULL, "no process"},
        {"\"identity\":[\"annotation:who\",\"process\"]," USES,
         "{\"process\":{\"user\":{\"uid\":9}},\"annotations\":{\"who\":\"root\"}}", "root", "0",
         "0", NULL},
        {"\"identity\":[\"annotation:who\",\"process\"]," USES,
         "{\"process\":{\"user\":{\"uid\":9,\"gid\":3}},\"annotations\":{\"who2\":\"root\"}}", NULL,
         "9", "3", NULL},
        {"\"identity\":[\"annotation:who\"]," USES, "{\"process\":{}}", NULL, NULL, NULL,
         "no rule of \"identity\" applies"},
        {"\"identity\":[\"rootless\"]," USES, "{\"process\":{}}", NULL, NULL, NULL,
         "no rule of \"identity\" applies"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_arena_ struct arena arena = {0};
        struct err err = ERR_INIT;
        struct policy *policy;
        struct json_doc *doc;
        struct facts f = gather(rows[i].sections, rows[i].config, &arena, &policy, &doc, &err);
        assert_int_equal(err.kind, ERR_NONE);
        if (rows[i].user)
            assert_string_equal(f.values.value[VAR_USER], rows[i].user);
        if (rows[i].uid)
            assert_string_equal(f.values.value[VAR_UID], rows[i].uid);
        if (rows[i].gid)
            assert_string_equal(f.values.value[VAR_GID], rows[i].gid);
        if (rows[i].missing) {
            assert_null(f.values.value[VAR_USER]);
            assert_contains(f.values.missing[VAR_USER], rows[i].missing);
        }
        policy_free(policy);
        json_free(doc);
    }
}

static void test_an_annotation_that_names_nobody(void **state)
{
    _cleanup_arena_ struct arena arena = {0};
    struct err err = ERR_INIT;
    struct policy *policy;
    struct json_doc *doc;

    (void)state;
    struct facts f = gather("\"identity\":[\"annotation:who\"]," USES,
                            "{\"process\":{},\"annotations\":{\"who\":\"no-such-user\"}}", &arena,
                            &policy, &doc, &err);
    assert_null(f.values.value[VAR_USER]);
    assert_contains(f.values.missing[VAR_USER], "there is no user 'no-such-user'");
    policy_free(policy);
    json_free(doc);
}

static void test_other_values(void **state)
{
    _cleanup_arena_ struct arena arena = {0};
    struct err err = ERR_INIT;
    struct policy *policy;
    struct json_doc *doc;

    (void)state;
    struct facts f = gather(USES,
                            "{\"hostname\":\"h\",\"annotations\":{\"flatbed.project\":\"p\","
                            "\"io.kubernetes.cri.image-name\":\"docker.io/a/b:1@sha256:00\","
                            "\"io.kubernetes.cri.sandbox-namespace\":\"ns\"}}",
                            &arena, &policy, &doc, &err);
    assert_string_equal(f.values.value[VAR_CONTAINER], "c1");
    assert_string_equal(f.values.value[VAR_PROJECT], "p");
    assert_string_equal(f.values.value[VAR_HOSTNAME], "h");
    assert_string_equal(f.values.value[VAR_NAMESPACE], "ns");
    assert_string_equal(f.values.value[VAR_IMAGE], "docker.io_a_b_1_sha256_00");
    policy_free(policy);
    json_free(doc);
}

/* CRI-O hands on annotations of the user with containerd's keys. */
static void test_namespace_of_crio_is_not_the_users_word(void **state)
{
    _cleanup_arena_ struct arena arena = {0};
    struct err err = ERR_INIT;
    struct policy *policy;
    struct json_doc *doc;

    (void)state;
    struct facts f = gather(USES,
                            "{\"annotations\":{\"io.container.manager\":\"cri-o\","
                            "\"io.kubernetes.cri.sandbox-namespace\":\"forged\","
                            "\"io.kubernetes.cri.image-name\":\"forged\","
                            "\"io.kubernetes.pod.namespace\":\"ns\","
                            "\"io.kubernetes.cri-o.ImageName\":\"b:1\"}}",
                            &arena, &policy, &doc, &err);
    assert_string_equal(f.values.value[VAR_NAMESPACE], "ns");
    assert_string_equal(f.values.value[VAR_IMAGE], "b_1");
    policy_free(policy);
    json_free(doc);
}

/* A name of the engine, else the day of config.json and the beginning of an ID that says nothing.
 */
static void test_names_of_containers(void **state)
{
    static const char random[] = "069f8087cff1e03257a1d8f3edcbb9412f664b3189467ef71ba1e5044283ecf3";
    static const struct {
        const char *id, *annotations, *name;
    } rows[] = {
        {random, "", "2026-11-22_069f8087cff1"},
        {"train-7", "", "train-7"},
        {random, "\"nerdctl/name\":\"train\"", "train"},
        {random, "\"nerdctl/name\":\"../train\"", "2026-11-22_069f8087cff1"},
        {random, "\"nerdctl/name\":\"..\"", "2026-11-22_069f8087cff1"},
        {random,
         "\"io.kubernetes.cri.sandbox-name\":\"pod\",\"io.kubernetes.cri.container-name\":\"main\"",
         "pod_main"},
        {random, "\"io.kubernetes.pod.name\":\"p\",\"io.kubernetes.container.name\":\"c\"", "p_c"},
        {random, "\"io.kubernetes.cri.container-name\":\"main\"", "2026-11-22_069f8087cff1"},
    };
    const struct timespec times[] = {{.tv_sec = 1795392000 - 1}, {.tv_sec = 1795392000 - 1}};
    const struct tempdir *t = *state;
    _cleanup_fd_ int fd = openat(t->fd, "config.json", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(futimens(fd, times), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_arena_ struct arena arena = {0};
        _cleanup_free_ char *config = strf("{\"annotations\":{%s}}", rows[i].annotations);
        struct err err = ERR_INIT;
        struct policy *policy;
        struct json_doc *doc;
        gather_id = rows[i].id;
        gather_bundle = t->fd;
        struct facts f =
            gather("\"volumes\":{\"v\":{\"source\":\"/{container_name}\",\"target\":\"/v\"}}",
                   config, &arena, &policy, &doc, &err);
        assert_string_equal(f.values.value[VAR_CONTAINER_NAME], rows[i].name);
        policy_free(policy);
        json_free(doc);
    }
    gather_bundle = -1;
    gather_id = "c1";
}

UNIT_SUITE(test_identity)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_the_initial_map),
        cmocka_unit_test(test_passwd_lines),
        cmocka_unit_test(test_users),
        cmocka_unit_test(test_exit_statuses_are_told),
        cmocka_unit_test(test_identity_rules),
        cmocka_unit_test(test_an_annotation_that_names_nobody),
        cmocka_unit_test(test_other_values),
        cmocka_unit_test(test_namespace_of_crio_is_not_the_users_word),
        cmocka_unit_test_setup_teardown(test_names_of_containers, tempdir_make, tempdir_remove),
    };

    if (geteuid() != 0) {
        puts("1..0 # skipped: the rules differ without root");
        return getenv("CI") ? 1 : 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
