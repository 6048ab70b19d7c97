/* Annotations: what is asked for, and what cannot be understood. */
#include "shim_unit.h"

#include "shim/request.h"

struct fixture {
    struct policy *policy;
    struct arena arena;
    struct json_doc *doc;
    struct requests requests;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    if (!f)
        return -1;
    f->policy = shim_policy("\"identity\":[\"annotation:flatbed.user\"],\"volumes\":{"
                            "\"data\":{\"source\":\"/d/{name}\",\"target\":\"/t/{name}\"},"
                            "\"logs\":{\"source\":\"/l\",\"target\":\"/l\"}}");
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
    assert_works(requests_read(f->policy, json_root(f->doc), &f->arena, &f->requests, &err), err);
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
    ask(f, "flatbed.user", "alice"); /* the identity rule's */
    assert_int_equal(f->requests.count, 0);
    ask(f, "flatbedded.data", "x");
    assert_int_equal(f->requests.count, 0);
    ask(f, "org.example", "x");
    assert_int_equal(f->requests.count, 0);
    assert_works(requests_read(f->policy, NULL, &f->arena, &f->requests, &err), err);
    assert_int_equal(f->requests.count, 0);
    f->policy->listens_to_annotations = false;
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

static void test_problems(void **state)
{
    static const struct {
        const char *key, *value, *says;
    } rows[] = {
        {"flatbed.dat", "x", "no volumes called 'dat' here; there are: data, logs"},
        {"flatbed.", "x", "no volumes called ''"},
        {"flatbed.shm", "8g", "not implemented in this version"},
        {"flatbed.profile", "x", "not implemented in this version"},
        {"flatbed.off", "mounts", "not implemented in this version"},
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
    assert_works(requests_read(f->policy, json_root(f->doc), &f->arena, &f->requests, &err), err);
    assert_int_equal(f->requests.count, 2);
    assert_contains(f->requests.list[0].problem, "not a plain string");
    assert_contains(f->requests.list[1].problem, "not a plain string");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_forms, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_is_asked_for, setup, teardown),
        cmocka_unit_test_setup_teardown(test_project, setup, teardown),
        cmocka_unit_test_setup_teardown(test_problems, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bounds, setup, teardown),
        cmocka_unit_test_setup_teardown(test_not_a_string, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
