/* Plans in documents: the written entries, their places, and no other change. */
#include "tests/unit/lib/shim_unit.h"

#include "shim/apply/apply.h"

static const struct policy_volume plain = {.name = "data"};

static struct plan_op mount_op(const char *target, enum policy_access access)
{
    return (struct plan_op){
        .kind = PLAN_MOUNT,
        .verdict = PLAN_ADDED,
        .reason = "",
        .mount = {
            .volume = &plain, .name = "", .source = "/srv", .target = target, .access = access}};
}

/* The mounts became what was foreseen of them. */
static void assert_foreseen(const struct spec *foreseen, struct json_doc *doc, struct arena *arena)
{
    struct err err = ERR_INIT;
    struct spec after;

    assert_works(spec_read(doc, arena, &after, &err), err);
    assert_int_equal(foreseen->mount_count, after.mount_count);
    for (size_t i = 0; i < after.mount_count; i++) {
        const struct spec_mount *a = &foreseen->list[i], *b = &after.list[i];
        assert_string_equal(a->destination, b->destination);
        assert_string_equal(a->source ? a->source : "", b->source ? b->source : "");
        assert_string_equal(a->type ? a->type : "", b->type ? b->type : "");
        assert_int_equal(a->bind, b->bind);
        assert_int_equal(a->read_only, b->read_only);
    }
}

/* Returns the document after a decision with these operations. The caller frees it. */
static char *applied_with(const char *config, struct plan_op *ops, size_t count, bool rro)
{
    _cleanup_arena_ struct arena arena = {0};
    _cleanup_json_ struct json_doc *doc = shim_document(config);
    struct plan plan = {.ops = ops, .count = count};
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;
    struct decision decision;
    struct spec spec, foreseen;

    assert_works(spec_read(doc, &arena, &spec, &err), err);
    assert_works(decision_begin(&plan, &arena, &decision, &err), err);
    for (size_t i = 0; rro && i < count; i++)
        decision.list[i].mount.rro = true;
    assert_works(apply_foresee(&decision, doc, &spec, &arena, &foreseen, &err), err);
    assert_false(json_modified(doc));
    assert_works(apply_decision(&decision, doc, &spec, &err), err);
    assert_foreseen(&foreseen, doc, &arena);
    assert_works(json_write(doc, &out, &err), err);
    return buf_take(&out, &err);
}

static char *applied(const char *config, struct plan_op *ops, size_t count)
{
    return applied_with(config, ops, count, false);
}

static void assert_applied(const char *config, struct plan_op *ops, size_t count,
                           const char *expected)
{
    _cleanup_free_ char *text = applied(config, ops, count);

    assert_string_equal(text, expected);
}

static void test_a_mount(void **state)
{
    struct plan_op op = mount_op("/work", ACCESS_RO);

    (void)state;
    assert_applied("{\"mounts\":[]}", &op, 1,
                   "{\"mounts\":[{\"destination\":\"/work\",\"type\":\"bind\",\"source\":\"/srv\","
                   "\"options\":[\"rbind\",\"ro\",\"rprivate\",\"nosuid\",\"nodev\"]}]}");
    op.mount.access = ACCESS_RW;
    assert_applied("{}", &op, 1,
                   "{\"mounts\":[{\"destination\":\"/work\",\"type\":\"bind\",\"source\":\"/srv\","
                   "\"options\":[\"rbind\",\"rw\",\"rprivate\",\"nosuid\",\"nodev\"]}]}");
}

static void test_options(void **state)
{
    static const char *items[] = {"suid", "noexec", "noexec", "nodev"};
    struct policy_volume volume = {.name = "x",
                                   .options = {.items = items, .count = 4, .given = true}};
    struct plan_op op = mount_op("/w", ACCESS_RW);

    (void)state;
    op.mount.volume = &volume;
    _cleanup_free_ char *text = applied("{}", &op, 1);
    assert_contains(text, "[\"rbind\",\"rw\",\"rprivate\",\"nodev\",\"suid\",\"noexec\"]");
}

static void test_read_only_in_depth(void **state)
{
    static const char *items[] = {"rro"};
    struct policy_volume volume = {.name = "x",
                                   .options = {.items = items, .count = 1, .given = true}};
    struct plan_op op = mount_op("/w", ACCESS_RO);

    (void)state;
    op.mount.volume = &volume;
    _cleanup_free_ char *plainly = applied("{}", &op, 1);
    assert_contains(plainly, "[\"rbind\",\"ro\",\"rprivate\",\"nosuid\",\"nodev\"]");
    _cleanup_free_ char *text = applied_with("{}", &op, 1, true);
    assert_contains(text, "[\"rbind\",\"ro\",\"rro\",\"rprivate\",\"nosuid\",\"nodev\"]");
}

static void test_idmapped(void **state)
{
    struct plan_op op = mount_op("/w", ACCESS_RW);

    (void)state;
    op.mount.idmap = true;
    _cleanup_free_ char *text =
        applied("{\"linux\":{\"namespaces\":[{\"type\":\"user\"}],\"uidMappings\":[{"
                "\"containerID\":0,\"hostID\":5,\"size\":9}],"
                "\"gidMappings\":[{\"containerID\":0,\"hostID\":6,\"size\":9}]}}",
                &op, 1);
    assert_contains(text,
                    "\"options\":[\"rbind\",\"rw\",\"idmap\",\"rprivate\",\"nosuid\",\"nodev\"],"
                    "\"uidMappings\":[{\"containerID\":0,\"hostID\":5,\"size\":9}],"
                    "\"gidMappings\":[{\"containerID\":0,\"hostID\":6,\"size\":9}]}");
}

static void test_a_pool(void **state)
{
    struct plan_op op = mount_op("/w", ACCESS_RW);

    (void)state;
    op.mount.pool = "/po:o,l\\";
    op.mount.source = "/s,r";
    assert_applied(
        "{}", &op, 1,
        "{\"mounts\":[{\"destination\":\"/w\",\"type\":\"overlay\",\"source\":\"overlay\","
        "\"options\":[\"rw\",\"nosuid\",\"nodev\",\"lowerdir=/po\\\\:o\\\\,l\\\\\\\\\","
        "\"upperdir=/s\\\\,r/upper\",\"workdir=/s\\\\,r/work\",\"index=on\"]}]}");
}

static void test_only_what_is_to_be_added(void **state)
{
    struct plan_op ops[] = {mount_op("/a", ACCESS_RO), mount_op("/b", ACCESS_RO),
                            mount_op("/c", ACCESS_RO)};

    (void)state;
    ops[0].verdict = PLAN_KEPT;
    ops[1].verdict = PLAN_DENIED;
    ops[2].verdict = PLAN_SKIPPED;
    assert_applied(" { \"mounts\" : [ ] }\n", ops, 3, " { \"mounts\" : [ ] }\n");
}

static void test_request_mounts_go_and_are_remembered(void **state)
{
    static const char config[] = "{\"mounts\":[{\"destination\":\"/r1\"},{\"destination\":\"/p\"},"
                                 "{\"destination\":\"/r2\"}]%s}";
    static const size_t indexes[] = {0, 2};
    struct requests requests = {.mounts = indexes, .mount_count = 2, .remembered = "data/x"};
    struct plan_op op = mount_op("/p/q", ACCESS_RO);

    (void)state;
    for (int annotated = 0; annotated < 2; annotated++) {
        _cleanup_free_ char *before =
            strf(config, annotated ? ",\"annotations\":{\"a\":\"b\"}" : "");
        _cleanup_arena_ struct arena arena = {0};
        _cleanup_json_ struct json_doc *doc = shim_document(before);
        struct plan plan = {.ops = &op, .count = 1, .requests = &requests};
        struct decision decision;
        struct err err = ERR_INIT;
        struct spec spec, foreseen;
        struct buf out = BUF_INIT;

        assert_works(spec_read(doc, &arena, &spec, &err), err);
        assert_works(decision_begin(&plan, &arena, &decision, &err), err);
        assert_works(apply_foresee(&decision, doc, &spec, &arena, &foreseen, &err), err);
        assert_works(apply_decision(&decision, doc, &spec, &err), err);
        assert_foreseen(&foreseen, doc, &arena);
        assert_works(json_write(doc, &out, &err), err);
        struct json *mounts = json_get(json_root(doc), "mounts");
        assert_int_equal(json_count(mounts), 2);
        assert_string_equal(json_text(json_get(json_at(mounts, 0), "destination")), "/p");
        assert_string_equal(json_text(json_get(json_at(mounts, 1), "destination")), "/p/q");
        assert_contains(out.data, annotated ? "{\"a\":\"b\",\"flatbed.requested\":\"data/x\"}"
                                            : "{\"flatbed.requested\":\"data/x\"}");
        buf_free(&out);
    }
}

static void test_variables(void **state)
{
    struct plan_op ops[] = {
        {.kind = PLAN_ENV,
         .verdict = PLAN_ADDED,
         .variable = {.name = "A", .value = "/x=y"},
         .reason = ""},
        {.kind = PLAN_ENV,
         .verdict = PLAN_KEPT,
         .variable = {.name = "B", .value = "z"},
         .reason = ""},
    };

    (void)state;
    assert_applied("{\"process\":{\"env\":[\"P=1\"]}}", ops, 2,
                   "{\"process\":{\"env\":[\"P=1\",\"A=/x=y\"]}}");
    assert_applied("{\"process\":{}}", ops, 2, "{\"process\":{\"env\":[\"A=/x=y\"]}}");
    assert_applied("{\"process\":{\"env\":null}}", ops, 2, "{\"process\":{\"env\":[\"A=/x=y\"]}}");
}

/* Returns the destinations after the plan, as "/a /b". */
static void assert_order(const char *mounts, const char *target, const char *expected)
{
    struct plan_op op = mount_op(target, ACCESS_RO);
    struct buf config = BUF_INIT, order = BUF_INIT;

    buf_puts(&config, "{\"mounts\":[");
    for (const char *p = mounts; *p;) {
        size_t len = strcspn(p, " ");
        buf_printf(&config, "%s{\"destination\":\"%.*s\"}", p == mounts ? "" : ",", (int)len, p);
        p += len + (p[len] == ' ');
    }
    buf_puts(&config, "]}");
    _cleanup_free_ char *text = applied(config.data, &op, 1);
    _cleanup_json_ struct json_doc *doc = shim_document(text);
    struct json *list = json_get(json_root(doc), "mounts");
    for (size_t i = 0; i < json_count(list); i++)
        buf_printf(&order, "%s%s", i ? " " : "",
                   json_text(json_get(json_at(list, i), "destination")));
    assert_string_equal(order.data, expected);
    buf_free(&config);
    buf_free(&order);
}

static void test_no_mount_hides_another(void **state)
{
    (void)state;
    assert_order("/proc /dev /dev/shm", "/work", "/proc /dev /dev/shm /work");
    assert_order("/proc /work/data", "/work", "/proc /work /work/data");
    assert_order("/work /x", "/work/data", "/work /x /work/data");
    assert_order("/work/data/deep /work", "/work/data", "/work/data/deep /work /work/data");
    assert_order("/ /work2 /work/a /work/b", "/work", "/ /work2 /work /work/a /work/b");
    assert_order("/work/a/b / /work/a/c", "/work/a", "/work/a/b / /work/a /work/a/c");
}

static void test_the_rest_stays_byte_for_byte(void **state)
{
    struct plan_op op = mount_op("/w", ACCESS_RO);

    (void)state;
    _cleanup_free_ char *text = applied(
        "{\"x\": {\"limit\" : 18446744073709551615, \"y\":[ 1e400 ]},\"mounts\":[]}", &op, 1);
    assert_contains(text, "{\"limit\" : 18446744073709551615, \"y\":[ 1e400 ]}");
}

UNIT_SUITE(test_apply)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_mount),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_read_only_in_depth),
        cmocka_unit_test(test_idmapped),
        cmocka_unit_test(test_a_pool),
        cmocka_unit_test(test_only_what_is_to_be_added),
        cmocka_unit_test(test_request_mounts_go_and_are_remembered),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_no_mount_hides_another),
        cmocka_unit_test(test_the_rest_stays_byte_for_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
