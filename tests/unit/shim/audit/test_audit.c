/* A decision as a record: its members, one line, its length. */
#include "tests/unit/lib/plan_unit.h"

#include "shim/audit/audit.h"

static const struct audit_record plain = {
    .time = {.tv_sec = 1700000000, .tv_nsec = 7 * 1000 * 1000},
    .verdict = AUDIT_CHANGED,
    .command = "create",
    .container = "c1",
    .engine = "docker",
};

/* Returns the record as text. The caller frees it. */
static char *line_of(const struct audit_record *record, size_t limit)
{
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;

    assert_works(audit_line(record, limit, &out, &err), err);
    assert_true(out.len <= limit);
    return out.data;
}

static void test_smallest(void **state)
{
    _cleanup_free_ char *line = line_of(&plain, AUDIT_LINE);

    (void)state;
    assert_string_equal(line, "{\"time\":\"2023-11-14T22:13:20.007Z\",\"verdict\":\"changed\","
                              "\"command\":\"create\",\"container\":\"c1\",\"engine\":\"docker\","
                              "\"mode\":\"enforce\"}\n");
}

static void test_everything(void **state)
{
    struct fixture *f = *state;
    struct audit_record r = plain;

    plan_for(f, plan_volumes, "{\"annotations\":{\"flatbed.data\":\"coco-1,mnist\"}}");
    r.verdict = AUDIT_DENIED;
    r.image = "a/b:1";
    r.namespace_name = "team";
    r.profile = "p";
    r.mode = POLICY_PERMISSIVE;
    r.uid_known = true;
    r.uid = 1000;
    r.user = "alice";
    r.process = (struct id_pair){.known = true, .uid = 7};
    r.bundle = "/b";
    r.off = 1u << OPT_OUT_TUNING;
    r.error = "no";
    r.warning = "but";
    r.decision = &f->decision;
    _cleanup_free_ char *line = line_of(&r, AUDIT_LINE);
    _cleanup_json_ struct json_doc *doc = shim_document(line);
    const struct json *root = json_root(doc), *list = json_get(root, "operations");
    uint64_t uid;

    assert_contains(line,
                    "\"image\":\"a/b:1\",\"namespace\":\"team\",\"user\":\"alice\",\"uid\":1000,"
                    "\"process_uid\":7,\"bundle\":\"/b\",\"mode\":\"permissive\","
                    "\"profile\":\"p\",\"off\":[\"tuning\"],\"error\":\"no\","
                    "\"warning\":\"but\",\"operations\":[");
    assert_true(json_u64(json_get(root, "uid"), &uid));
    assert_int_equal(json_count(list), f->plan.count);
    assert_string_equal(json_text(json_path(json_at(list, 0), "verdict", NULL)), "denied");
    assert_string_equal(json_text(json_path(json_at(list, 0), "subject", NULL)), "data:mnist");
    assert_null(json_get(root, "operations_omitted"));
}

/* No text of a container can end the line, or begin another record. */
static void test_hostile_texts(void **state)
{
    static const char hostile[] = "x\"}\n{\"verdict\":\"allowed\"}\r\x01\x7f\\\xff\xe2\x80";
    struct audit_record r = plain;

    (void)state;
    r.container = r.image = r.bundle = r.error = r.user = r.profile = r.command = hostile;
    _cleanup_free_ char *line = line_of(&r, AUDIT_LINE);
    _cleanup_json_ struct json_doc *doc = shim_document(line);

    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
    assert_string_equal(json_text(json_get(json_root(doc), "verdict")), "changed");
    assert_memory_equal(json_text(json_get(json_root(doc), "error")), hostile, 29);
}

/* A cut shows, and is between two characters. */
static void test_long_texts_are_cut(void **state)
{
    struct audit_record r = plain;
    char text[9 * 1000], expected[1024 + 4];

    (void)state;
    for (size_t i = 0; i + 3 < sizeof(text); i += 3)
        memcpy(text + i, "数", 4);
    r.container = r.error = text;
    _cleanup_free_ char *line = line_of(&r, AUDIT_LINE);
    _cleanup_json_ struct json_doc *doc = shim_document(line);

    memcpy(expected, text, 1023);
    memcpy(expected + 1023, "…", 4);
    assert_string_equal(json_text(json_get(json_root(doc), "error")), expected);
    memcpy(expected + 255, "…", 4);
    assert_string_equal(json_text(json_get(json_root(doc), "container")), expected);
}

/* However long the texts are, the line is one write for a pipe. */
static void test_all_texts_are_long(void **state)
{
    struct audit_record r = plain;
    char text[100 * 1000];

    (void)state;
    memset(text, 1, sizeof(text)); /* six bytes each, as JSON */
    text[sizeof(text) - 1] = '\0';
    r.container = r.image = r.bundle = r.error = r.user = r.profile = r.command = text;
    r.warning = r.namespace_name = text;
    for (size_t limit = 2048; limit <= 4096; limit *= 2) {
        _cleanup_free_ char *line = line_of(&r, limit);
        _cleanup_json_ struct json_doc *doc = shim_document(line);
        assert_string_equal(json_text(json_get(json_root(doc), "verdict")), "changed");
        assert_true(strlen(json_text(json_get(json_root(doc), "error"))) >= 16);
    }
}

/* Operations that do not fit are counted; denials are the last to go. */
static void test_many_operations(void **state)
{
    enum { COUNT = 100 * 1000, DENIED = COUNT - 1 };
    struct plan_op *ops = calloc(COUNT, sizeof(*ops));
    struct plan plan = {.ops = ops, .count = COUNT};
    _cleanup_arena_ struct arena arena = {0};
    struct decision decision;
    struct audit_record r = plain;
    struct err err = ERR_INIT;
    uint64_t omitted;
    char reason[2000];

    (void)state;
    assert_non_null(ops);
    memset(reason, 'x', sizeof(reason));
    reason[sizeof(reason) - 1] = '\0';
    for (size_t i = 0; i < COUNT; i++)
        ops[i] = (struct plan_op){.kind = PLAN_ENV, .variable.name = "V", .reason = reason};
    ops[DENIED].verdict = PLAN_DENIED;
    assert_works(decision_begin(&plan, &arena, &decision, &err), err);
    r.decision = &decision;
    _cleanup_free_ char *line = line_of(&r, AUDIT_LINE);
    _cleanup_json_ struct json_doc *doc = shim_document(line);
    const struct json *list = json_get(json_root(doc), "operations");

    assert_true(json_count(list) >= 8);
    assert_true(strlen(line) <= 4096);
    assert_true(json_u64(json_get(json_root(doc), "operations_omitted"), &omitted));
    assert_int_equal(omitted + json_count(list), COUNT);
    assert_string_equal(json_text(json_get(json_at(list, 0), "verdict")), "denied");
    assert_string_equal(json_text(json_get(json_at(list, 1), "verdict")), "added");
    free(ops);
}

static void test_a_limit_that_is_too_small(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_buf_ struct buf out = BUF_INIT;

    (void)state;
    assert_fails(audit_line(&plain, 20, &out, &err), err, ERR_LIMIT);
    assert_int_equal(out.len, 0);
}

/* ---- engines ---- */

#define TASK "/run/containerd/io.containerd.runtime.v2.task/"

static const struct {
    const char *root, *bundle, *annotations, *engine;
} engines[] = {
    {"/var/run/docker/runtime-flatbed/moby", TASK "moby/c1", "", "docker"},
    {NULL, TASK "moby/c1", "", "docker"},
    {"/run/containerd/runc/k8s.io", TASK "k8s.io/c1", "", "cri"},
    {"/run/containerd/runc/default", TASK "default/c1", "", "containerd"},
    {NULL, "/var/lib/containers/x", "\"io.container.manager\":\"libpod\"", "podman"},
    {NULL, "/run/x", "\"io.container.manager\":\"cri-o\"", "cri-o"},
    {NULL, "/run/x", "\"io.kubernetes.cri.container-type\":\"container\"", "cri"},
    {NULL, NULL, "", "unknown"},
    /* users of docker set annotations, but not the paths of the engine */
    {"/run/docker/runtime-runc/moby", "/b", "\"io.container.manager\":\"cri-o\"", "docker"},
};

static void test_engines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(engines) / sizeof(*engines); i++) {
        _cleanup_arena_ struct arena arena = {0};
        _cleanup_free_ char *config = strf("{\"annotations\":{%s}}", engines[i].annotations);
        _cleanup_json_ struct json_doc *doc = shim_document(config);
        struct call call = {.root = engines[i].root, .bundle = engines[i].bundle};
        struct err err = ERR_INIT;
        struct spec spec;
        assert_works(spec_read(doc, &arena, &spec, &err), err);
        assert_string_equal(audit_engine(&call, &spec), engines[i].engine);
    }
    assert_string_equal(audit_engine(&(struct call){.bundle = "/b"}, NULL), "unknown");
}

UNIT_SUITE(test_audit)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_smallest),
        cmocka_unit_test_setup_teardown(test_everything, setup, teardown),
        cmocka_unit_test(test_hostile_texts),
        cmocka_unit_test(test_long_texts_are_cut),
        cmocka_unit_test(test_all_texts_are_long),
        cmocka_unit_test(test_many_operations),
        cmocka_unit_test(test_a_limit_that_is_too_small),
        cmocka_unit_test(test_engines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
