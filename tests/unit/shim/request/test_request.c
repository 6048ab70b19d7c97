/* Requests by annotations, mounts and variables, and invalid ones. */
#include "tests/unit/lib/shim_unit.h"

#include "shim/request/request.h"

struct fixture {
    struct policy *policy;
    struct arena arena;
    struct json_doc *doc;
    struct spec spec;
    struct requests requests;
};

static const char volumes[] = "\"identity\":[\"annotation:flatbed.user\"],\"volumes\":{"
                              "\"data\":{\"source\":\"/d/{name}\",\"target\":\"/t/{name}\"},"
                              "\"logs\":{\"source\":\"/l\",\"target\":\"/l\"},"
                              "\"my-data.v2\":{\"source\":\"/m\",\"target\":\"/m\"}}";

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    if (!f)
        return -1;
    f->policy = shim_policy(volumes);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    if (f->doc)
        json_free(f->doc);
    policy_free(f->policy);
    arena_free(&f->arena);
    free(f);
    return 0;
}

/* One annotation. */
static void ask(struct fixture *f, const char *key, const char *value)
{
    struct err err = ERR_INIT;

    if (f->doc)
        json_free(f->doc);
    f->doc = json_new_object(&err);
    assert_non_null(f->doc);
    json_set(f->doc, json_root(f->doc), key, json_string(f->doc, value));
    f->spec = (struct spec){.annotations = json_root(f->doc)};
    assert_works(requests_read(f->policy, &f->spec, &f->arena, &f->requests, &err), err);
}

/* Policy and config.json as texts: the former without "version", the latter whole. */
static void ask_all(struct fixture *f, const char *requests, const char *config)
{
    struct err err = ERR_INIT;
    _cleanup_free_ char *sections = strf("\"requests\":[%s],%s", requests, volumes);

    assert_non_null(sections);
    if (f->doc)
        json_free(f->doc);
    policy_free(f->policy);
    f->policy = shim_policy(sections);
    f->doc = shim_document(config);
    assert_works(spec_read(f->doc, &f->arena, &f->spec, &err), err);
    assert_works(requests_read(f->policy, &f->spec, &f->arena, &f->requests, &err), err);
}

/* Returns the requests as "CLASS/NAME …", and "!" for one that cannot be granted. */
static void assert_asked(const struct fixture *f, const char *expected)
{
    struct buf text = BUF_INIT;

    buf_puts(&text, "");
    for (size_t i = 0; i < f->requests.count; i++) {
        const struct request *r = &f->requests.list[i];
        buf_printf(&text, "%s%s%s%s", i ? " " : "", r->problem ? "!" : r->volume->name,
                   r->problem ? "" : "/", r->problem ? "" : r->name);
    }
    assert_string_equal(text.data, expected);
    buf_free(&text);
}

static void test_forms(void **state)
{
    struct fixture *f = *state;
    const struct request *r;

    ask(f, "flatbed.data", "imagenet,coco:ro,a:rw:/x/y, b:/z ,ro:ro");
    assert_int_equal(f->requests.count, 5);
    r = f->requests.list;
    for (size_t i = 0; i < 5; i++) {
        assert_null(r[i].problem);
        assert_string_equal(r[i].volume->name, "data");
    }
    assert_string_equal(r[0].name, "imagenet");
    assert_false(r[0].says_access);
    assert_null(r[0].target);
    assert_string_equal(r[1].name, "coco");
    assert_true(r[1].says_access);
    assert_int_equal(r[1].access, ACCESS_RO);
    assert_int_equal(r[2].access, ACCESS_RW);
    assert_string_equal(r[2].target, "/x/y");
    assert_false(r[3].says_access);
    assert_string_equal(r[3].name, "b");
    assert_string_equal(r[3].target, "/z");
    assert_string_equal(r[4].name, "ro");
    assert_true(r[4].says_access);
}

static void test_nothing_is_asked_for(void **state)
{
    struct fixture *f = *state;
    struct err err = ERR_INIT;

    ask(f, "flatbed.data", "");
    assert_int_equal(f->requests.count, 0);
    ask(f, "flatbed.data", "  ");
    assert_int_equal(f->requests.count, 0);
    ask(f, "flatbed.user", "alice"); /* belongs to the identity rule */
    assert_int_equal(f->requests.count, 0);
    ask(f, "flatbedded.data", "x");
    assert_int_equal(f->requests.count, 0);
    ask(f, "org.example", "x");
    assert_int_equal(f->requests.count, 0);
    f->spec = (struct spec){0};
    assert_works(requests_read(f->policy, &f->spec, &f->arena, &f->requests, &err), err);
    assert_int_equal(f->requests.count, 0);
    f->policy->carrier_count = 0;
    ask(f, "flatbed.data", "x");
    assert_int_equal(f->requests.count, 0);
}

static void test_project(void **state)
{
    struct fixture *f = *state;

    ask(f, "flatbed.project", "apollo-11");
    assert_string_equal(f->requests.project, "apollo-11");
    ask(f, "flatbed.project", "../x");
    assert_null(f->requests.project);
    assert_int_equal(f->requests.count, 1);
    assert_non_null(f->requests.list[0].problem);
}

static void test_idmap(void **state)
{
    struct fixture *f = *state;

    ask(f, "flatbed.idmap", "on");
    assert_true(f->requests.idmap);
    assert_int_equal(f->requests.count, 0);
    ask(f, "flatbed.idmap", "off");
    assert_false(f->requests.idmap);
    assert_contains(f->requests.list[0].problem, "'off': expected on");
}

static void test_problems(void **state)
{
    static const struct {
        const char *key, *value, *says;
    } rows[] = {
        {"flatbed.dat", "x", "no volumes called 'dat' here"},
        {"flatbed.", "x", "no volumes called ''"},
        {"flatbed.shm", "8g", "the policy has no tuning.shm_size"},
        {"flatbed.memlock", "1g", "the policy has no tuning.memlock"},
        {"flatbed.workers", "1", "the policy has no tuning.workers"},
        {"flatbed.shm", "8q", "'8q': expected a size such as 8g"},
        {"flatbed.shm", "50%", "'50%': expected a size"},
        {"flatbed.shm", "0", "'0': expected a size"},
        {"flatbed.shm", "", "'': expected a size"},
        {"flatbed.shm", "unlimited", "'unlimited': expected a size"},
        {"flatbed.memlock", "-1", "'-1': expected a size such as 512m, or unlimited"},
        {"flatbed.workers", "4k", "'4k': expected a number"},
        {"flatbed.workers", "99999999999999999999", "expected a number"},
        {"flatbed.profile", "a b", "'a b' is not a name"},
        {"flatbed.off", "mounts", "'mounts' cannot be switched off here; what can be: nothing"},
        {"flatbed.data", "..", "'..' is not a name"},
        {"flatbed.data", ".", "'.' is not a name"},
        {"flatbed.data", "a/b", "is not a name"},
        {"flatbed.data", "../secret", "is not a name"},
        {"flatbed.data", "a*", "is not a name"},
        {"flatbed.data", "{user}", "is not a name"},
        {"flatbed.data", "a,,b", "'' is not a name"},
        {"flatbed.data", "a,", "'' is not a name"},
        {"flatbed.data", ":ro", "'' is not a name"},
        {"flatbed.data", "a b", "is not a name"},
        {"flatbed.data", "a:", "lacks what comes behind the colon"},
        {"flatbed.data", "a:rx", "is not a clean absolute path"},
        {"flatbed.data", "a:ro:x", "is not a clean absolute path"},
        {"flatbed.data", "a:/x:ro:/y/..", "is not a clean absolute path"},
        {"flatbed.data", "a:/x/../etc", "is not a clean absolute path"},
        {"flatbed.data", "a:/x//y", "is not a clean absolute path"},
        {"flatbed.data", "a:/", "is a place of the system"},
        {"flatbed.data", "a:/proc", "is a place of the system"},
        {"flatbed.data", "a:/proc/sys", "is a place of the system"},
        {"flatbed.data", "a:/etc/ld.so.preload", "is a place of the system"},
        {"flatbed.data", "a:/usr", "is a place of the system"},
        {"flatbed.data", "a:/var", "is a place of the system"},
        {"flatbed.data", "a:/x\ny", "has control characters"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        ask(f, rows[i].key, rows[i].value);
        const struct request *r = f->requests.list, *end = r + f->requests.count;
        while (r < end && !r->problem)
            r++;
        if (r == end || !strstr(r->problem, rows[i].says))
            fail_msg("%s=%s: %s", rows[i].key, rows[i].value, r < end ? r->problem : "granted");
        assert_string_equal(r->key, rows[i].key);
    }
    assert_null(request_target_problem("/usr/local/data"));
    assert_null(request_target_problem("/workspace"));
    assert_null(request_target_problem("/system"));
}

static void test_bounds(void **state)
{
    struct fixture *f = *state;
    struct buf text = BUF_INIT;

    for (int i = 0; i < REQUEST_NAMES + 1; i++)
        buf_printf(&text, "%sn%d", i ? "," : "", i);
    ask(f, "flatbed.data", text.data);
    assert_int_equal(f->requests.count, REQUEST_NAMES + 1);
    assert_contains(f->requests.list[REQUEST_NAMES].problem, "more than 64 names");
    buf_truncate(&text, 0);
    for (int i = 0; i < REQUEST_VALUE_BYTES + 1; i++)
        buf_putc(&text, 'a');
    ask(f, "flatbed.data", text.data);
    assert_contains(f->requests.list[0].problem, "longer than 4096 bytes");
    buf_free(&text);
}

static void test_not_a_string(void **state)
{
    struct fixture *f = *state;
    struct err err = ERR_INIT;

    f->doc = shim_document("{\"flatbed.data\":[\"x\"],\"flatbed.logs\":\"a\\u0000b\"}");
    f->spec = (struct spec){.annotations = json_root(f->doc)};
    assert_works(requests_read(f->policy, &f->spec, &f->arena, &f->requests, &err), err);
    assert_int_equal(f->requests.count, 2);
    assert_contains(f->requests.list[0].problem, "not a plain string");
    assert_contains(f->requests.list[1].problem, "not a plain string");
}

/* ---- the environment ---- */

#define ENV(list) "{\"process\":{\"env\":[" list "]}}"

static void test_environment(void **state)
{
    struct fixture *f = *state;
    const char *hears = "\"environment\"";

    ask_all(f, hears,
            ENV("\"FLATBED_DATA=a,b:ro:/x\",\"FLATBED_MY_DATA_V2=c\",\"FLATBED_PROJECT=p\""));
    assert_asked(f, "data/a data/b my-data.v2/c");
    assert_string_equal(f->requests.list[1].target, "/x");
    assert_string_equal(f->requests.list[1].key, "FLATBED_DATA");
    assert_string_equal(f->requests.project, "p");
    ask_all(f, hears, ENV("\"FLATBED_DATA=a\",\"FLATBED_DATA=b\""));
    assert_asked(f, "data/b");
    ask_all(f, hears, ENV("\"FLATBED_DATA=\",\"FLATBED_NOPE=\",\"FLATBED_NOPE\",\"FLATBED\""));
    assert_asked(f, "");
    ask_all(f, hears,
            ENV("\"FLATBED_WORKERS=8\",\"FLATBED_DEPTH=1\",\"flatbed_data=a\",\"data=a\""));
    assert_asked(f, "");
    ask_all(f, "\"annotations\",\"mounts\"", ENV("\"FLATBED_DATA=a\",\"FLATBED_NOPE=a\""));
    assert_asked(f, "");
}

static void test_problems_of_the_environment(void **state)
{
    struct fixture *f = *state;
    struct buf many = BUF_INIT;

    ask_all(f, "\"environment\"", ENV("\"FLATBED_DTAA=a\""));
    assert_asked(f, "!");
    assert_string_equal(f->requests.list[0].key, "FLATBED_DTAA");
    assert_contains(f->requests.list[0].problem, "no volumes called 'dtaa'");
    ask_all(f, "\"environment\"", ENV("\"FLATBED_data=a\",\"FLATBED_Shm=a\""));
    assert_string_equal(f->requests.list[0].key, "FLATBED_data");
    assert_contains(f->requests.list[0].problem,
                    "nothing is asked for by that name; FLATBED_DATA is");
    assert_contains(f->requests.list[1].problem, "FLATBED_SHM is");
    ask_all(f, "\"environment\"",
            ENV("\"FLATBED_SHM=8g\",\"FLATBED_PROJECT=../x\",\"FLATBED_DATA=..\""));
    assert_asked(f, "! ! !");
    assert_null(f->requests.project);
    buf_puts(&many, "{\"process\":{\"env\":[\"\"");
    for (int i = 0; i < 1000; i++)
        buf_printf(&many, ",\"FLATBED_X%d=1\"", i);
    buf_puts(&many, "]}}");
    ask_all(f, "\"environment\"", many.data);
    assert_int_equal(f->requests.count, REQUEST_NAMES);
    buf_free(&many);
}

/* ---- mounts ---- */

#define ON(path)     "{\"destination\":\"" path "\",\"source\":\"/dev/null\",\"options\":[\"rbind\"]}"
#define MOUNTS(list) "{\"mounts\":[{\"destination\":\"/proc\"}," list "]}"

static void test_mounts(void **state)
{
    struct fixture *f = *state;

    ask_all(f, "\"mounts\"",
            MOUNTS(ON("/run/flatbed/request/data/a") "," ON(
                "//run/flatbed/request/./data/b/") "," ON("/run/flatbed/request/project/p")));
    assert_asked(f, "data/a data/b");
    assert_string_equal(f->requests.list[0].key, "/run/flatbed/request/data/a");
    assert_null(f->requests.list[0].target);
    assert_string_equal(f->requests.project, "p");
    assert_int_equal(f->requests.mount_count, 3);
    assert_int_equal(f->requests.mounts[0], 1);
    assert_int_equal(f->requests.mounts[2], 3);
    assert_string_equal(f->requests.remembered, "data/a,data/b,project/p");
    ask_all(f, "\"annotations\",\"environment\"", MOUNTS(ON("/run/flatbed/request/data/a")));
    assert_asked(f, "");
    assert_int_equal(f->requests.mount_count, 0);
    ask_all(f, "\"mounts\"",
            MOUNTS(ON("/run/flatbed/requests/data/a") "," ON("/run/flatbed/request")));
    assert_asked(f, "");
    assert_int_equal(f->requests.mount_count, 0);
}

static void test_problems_of_mounts(void **state)
{
    static const struct {
        const char *mount, *says;
        size_t removed;
    } rows[] = {
        {ON("/run/flatbed/request/data"), "expected CLASS/NAME", 1},
        {ON("/run/flatbed/request/data/a/b"), "expected CLASS/NAME", 1},
        {ON("/run/flatbed/request/data/a b"), "is not a name", 1},
        {ON("/run/flatbed/request/data/a:ro"), "is not a name", 1},
        {ON("/run/flatbed/request/nope/a"), "no volumes called 'nope'", 1},
        {ON("/run/flatbed/request/project/{user}"), "is not a name", 1},
        {ON("/run/flatbed/request/shm/8g"), "the policy has no tuning.shm_size", 1},
        {ON("/run/flatbed/request/shm/8q"), "'8q': expected a size", 1},
        {"{\"destination\":\"/run/flatbed/request/data/a\",\"source\":\"/dev/"
         "zero\",\"type\":\"bind\"}",
         "only a bind mount of /dev/null", 0},
        {"{\"destination\":\"/run/flatbed/request/data/a\",\"source\":\"/dev/"
         "null\",\"type\":\"tmpfs\"}",
         "only a bind mount of /dev/null", 0},
        {"{\"destination\":\"/run/flatbed/request/data/a\"}", "only a bind mount of /dev/null", 0},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_free_ char *config = strf("{\"mounts\":[%s]}", rows[i].mount);
        ask_all(f, "\"mounts\"", config);
        assert_asked(f, "!");
        assert_contains(f->requests.list[0].problem, rows[i].says);
        assert_int_equal(f->requests.mount_count, rows[i].removed);
        assert_null(f->requests.remembered);
    }
}

/* Mounts alone can name one thing twice. */
static void test_mounts_that_contradict(void **state)
{
    struct fixture *f = *state;

    ask_all(f, "\"mounts\"",
            MOUNTS(ON("/run/flatbed/request/project/p") "," ON("/run/flatbed/request/project/q")));
    assert_asked(f, "!");
    assert_contains(f->requests.list[0].problem, "'p' was asked for before: ask for one");
    assert_string_equal(f->requests.project, "p");
    assert_string_equal(f->requests.remembered, "project/p");
    ask_all(f, "\"mounts\"",
            MOUNTS(ON("/run/flatbed/request/profile/p") "," ON("/run/flatbed/request/profile/q")));
    assert_asked(f, "!");
    ask_all(f, "\"mounts\"",
            MOUNTS(ON("/run/flatbed/request/project/p") "," ON("/run/flatbed/request/project/p")));
    assert_asked(f, "");
}

/* A second edit finds the requests in an annotation, no longer as mounts. */
static void test_mounts_are_remembered(void **state)
{
    struct fixture *f = *state;

    ask_all(f, "\"mounts\"",
            "{\"annotations\":{\"flatbed.requested\":\"data/a,project/p,logs/x\"}}");
    assert_asked(f, "data/a logs/x");
    assert_string_equal(f->requests.project, "p");
    assert_null(f->requests.remembered);
    ask_all(f, "\"mounts\"",
            "{\"annotations\":{\"flatbed.requested\":\"data/a\"},\"mounts\":[" ON(
                "/run/flatbed/request/data/b") "]}");
    assert_asked(f, "data/a data/b");
    assert_string_equal(f->requests.remembered, "data/a,data/b");
    ask_all(f, "\"annotations\"", "{\"annotations\":{\"flatbed.requested\":\"data/a\"}}");
    assert_asked(f, "");
    ask_all(f, "\"mounts\"", "{\"annotations\":{\"flatbed.requested\":\"data/a/b,x,,../y\"}}");
    assert_asked(f, "! ! !");
}

static void test_the_first_carrier_that_names_a_class_wins(void **state)
{
    static const char config[] =
        "{\"annotations\":{\"flatbed.data\":\"a\",\"flatbed.project\":\"pa\"},"
        "\"process\":{\"env\":[\"FLATBED_DATA=e\",\"FLATBED_LOGS=e\",\"FLATBED_MY_DATA_V2=e\","
        "\"FLATBED_PROJECT=pe\"]},"
        "\"mounts\":[" ON("/run/flatbed/request/data/m") "," ON(
            "/run/flatbed/request/logs/m1") "," ON("/run/flatbed/request/logs/m2") "]}";
    struct fixture *f = *state;

    ask_all(f, "\"annotations\",\"mounts\",\"environment\"", config);
    assert_asked(f, "data/a logs/m1 logs/m2 my-data.v2/e");
    assert_string_equal(f->requests.project, "pa");
    assert_int_equal(f->requests.mount_count, 3);
    assert_string_equal(f->requests.remembered, "data/m,logs/m1,logs/m2");
    ask_all(f, "\"environment\",\"mounts\",\"annotations\"", config);
    assert_asked(f, "data/e logs/e my-data.v2/e");
    assert_string_equal(f->requests.project, "pe");
    ask_all(f, "\"mounts\"", config);
    assert_asked(f, "data/m logs/m1 logs/m2");
    assert_null(f->requests.project);
    /* An empty value requests nothing, and still wins over later carriers. */
    ask_all(f, "\"annotations\",\"environment\"",
            "{\"annotations\":{\"flatbed.data\":\"\"},\"process\":{\"env\":[\"FLATBED_DATA=e\"]}}");
    assert_asked(f, "");
}

static void test_bounds_of_mounts(void **state)
{
    struct fixture *f = *state;
    struct buf text = BUF_INIT;

    buf_puts(&text, "{\"mounts\":[");
    for (int i = 0; i < REQUESTS_IN_ALL + 10; i++)
        buf_printf(&text, "%s" ON("/run/flatbed/request/data/n%d"), i ? "," : "", i);
    buf_puts(&text, "]}");
    ask_all(f, "\"mounts\"", text.data);
    assert_int_equal(f->requests.count, REQUESTS_IN_ALL + 1);
    assert_contains(f->requests.list[REQUESTS_IN_ALL].problem, "more than 256 requests");
    assert_int_equal(f->requests.mount_count, REQUESTS_IN_ALL + 10);
    buf_free(&text);
}

UNIT_SUITE(test_request)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_forms, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_is_asked_for, setup, teardown),
        cmocka_unit_test_setup_teardown(test_project, setup, teardown),
        cmocka_unit_test_setup_teardown(test_idmap, setup, teardown),
        cmocka_unit_test_setup_teardown(test_problems, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bounds, setup, teardown),
        cmocka_unit_test_setup_teardown(test_not_a_string, setup, teardown),
        cmocka_unit_test_setup_teardown(test_environment, setup, teardown),
        cmocka_unit_test_setup_teardown(test_problems_of_the_environment, setup, teardown),
        cmocka_unit_test_setup_teardown(test_mounts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_problems_of_mounts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_mounts_that_contradict, setup, teardown),
        cmocka_unit_test_setup_teardown(test_mounts_are_remembered, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_first_carrier_that_names_a_class_wins, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_bounds_of_mounts, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
