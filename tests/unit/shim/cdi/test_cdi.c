/* CDI specifications, in YAML and JSON. */
#include "tests/unit/lib/unit.h"

#include "shim/cdi/cdi.h"
#include "shim/cdi/cdi_yaml.h"

static const char specification[] = "---\n"
                                    "cdiVersion: 0.5.0\n"
                                    "kind: nvidia.com/gpu\n"
                                    "devices:\n"
                                    "    - name: \"0\"\n"
                                    "      containerEdits:\n"
                                    "        mounts:\n"
                                    "            - hostPath: /a\n"
                                    "              containerPath: /b\n"
                                    "              options: [nosuid, rw, ro]\n"
                                    "containerEdits:\n"
                                    "    hooks:\n"
                                    "        - hookName: createContainer\n"
                                    "          path: /usr/bin/nvidia-cdi-hook\n"
                                    "          args:\n"
                                    "            - nvidia-cdi-hook\n"
                                    "            - chmod\n"
                                    "    mounts:\n"
                                    "        - hostPath: /run/s\n"
                                    "          containerPath: /run/s\n"
                                    "          options:\n"
                                    "            - nosuid\n"
                                    "        - hostPath: 1\n"
                                    "          containerPath: /x\n";

static void test_mounts_and_hooks(void **state)
{
    _cleanup_arena_ struct arena arena = {0};
    struct err err = ERR_INIT;
    struct cdi cdi = {0};
    _cleanup_json_ struct json_doc *doc =
        cdi_yaml_parse(specification, strlen(specification), &err);
    const char args[] = "[\"nvidia-cdi-hook\",\"chmod\"]", more[] = "[\"nvidia-cdi-hook\"]";
    _cleanup_json_ struct json_doc *same = json_parse(args, strlen(args), NULL, &err);
    _cleanup_json_ struct json_doc *other = json_parse(more, strlen(more), NULL, &err);

    (void)state;
    assert_non_null(doc);
    assert_works(cdi_add(&cdi, json_get(json_root(doc), "spec"), &arena, &err), err);
    assert_int_equal(cdi.mount_count, 2);
    assert_false(cdi_find_mount(&cdi, "/a", "/b")->writable);
    assert_true(cdi_find_mount(&cdi, "/run/s", "/run/s")->writable);
    assert_null(cdi_find_mount(&cdi, "/b", "/a"));
    assert_true(cdi_has_hook(&cdi, "createContainer", "/usr/bin/nvidia-cdi-hook", json_root(same)));
    assert_false(
        cdi_has_hook(&cdi, "createContainer", "/usr/bin/nvidia-cdi-hook", json_root(other)));
    assert_false(cdi_has_hook(&cdi, "createContainer", "/usr/bin/nvidia-cdi-hook", NULL));
    assert_false(cdi_has_hook(&cdi, "poststart", "/usr/bin/nvidia-cdi-hook", json_root(same)));
    assert_false(cdi_has_hook(&cdi, "createContainer", "/bin/sh", json_root(same)));
}

/* Returns the YAML as compact JSON; the caller frees it. */
static char *as_json(const char *yaml)
{
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;
    _cleanup_json_ struct json_doc *doc = cdi_yaml_parse(yaml, strlen(yaml), &err);

    if (!doc)
        fail_msg("%s: %s", yaml, err.msg);
    assert_works(json_write(doc, &out, &err), err);
    return buf_take(&out, &err);
}

static void test_scalars(void **state)
{
    _cleanup_free_ char *text =
        as_json("{a: 12, b: -1, c: '12', d: 012, e: true, f: ~, g: null, h: 0x1, i: 1.5, j: [], "
                "k: 99999999999999999999, l: \"x\\ny\"}");

    (void)state;
    assert_string_equal(
        text,
        "{\"spec\":{\"a\":12,\"b\":-1,\"c\":\"12\",\"d\":\"012\",\"e\":true,"
        "\"f\":null,\"g\":null,\"h\":\"0x1\",\"i\":\"1.5\",\"j\":[],\"k\":\"99999999999999999999\","
        "\"l\":\"x\\ny\"}}");
}

static void test_refusals(void **state)
{
    static const char *const texts[] = {
        "",
        "- a\n",
        "a: &x 1\nb: *x\n",
        "a: &x [1]\n",
        "<<: {a: 1}\na: *b\n",
        "a: 1\na: 2\n",
        "a: null\na: 2\n",
        "[a]: 1\n",
        "a: 1\n---\nb: 2\n",
        "a: [\n",
        "a: {{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{",
        "a: \"\xff\"\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct err err = ERR_INIT;
        struct json_doc *doc = cdi_yaml_parse(texts[i], strlen(texts[i]), &err);
        if (doc)
            fail_msg("%s", texts[i]);
        assert_int_equal(err.kind, ERR_FORMAT);
    }
    char deep[200];
    struct err err = ERR_INIT;
    memset(deep, '[', sizeof(deep));
    assert_null(cdi_yaml_parse(deep, sizeof(deep), &err));
}

UNIT_SUITE(test_cdi)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mounts_and_hooks),
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
