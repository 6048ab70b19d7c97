/* Views on config.json, and refusals. */
#include "tests/unit/lib/shim_unit.h"

#include "shim/oci/spec.h"

static int read_text(const char *text, struct spec *spec, struct arena *arena,
                     struct json_doc **doc, struct err *err)
{
    *doc = shim_document(text);
    return spec_read(*doc, arena, spec, err);
}

static void test_reads(void **state)
{
    _cleanup_arena_ struct arena arena = {0};
    struct err err = ERR_INIT;
    struct json_doc *doc;
    struct spec s;

    (void)state;
    assert_works(
        read_text(
            "{\"hostname\":\"h\",\"annotations\":{\"a.b\":\"c\"},"
            "\"process\":{\"user\":{\"uid\":5,\"gid\":6},\"env\":[\"A=1\",\"AB=2\",\"A=3\"]},"
            "\"mounts\":[{\"destination\":\"/a//b/./c/\",\"source\":\"/s\",\"type\":\"bind\"},"
            "{\"destination\":\"x/../y\"}],"
            "\"linux\":{\"uidMappings\":[{\"containerID\":0,\"hostID\":100,\"size\":10}],"
            "\"gidMappings\":[{\"containerID\":0,\"hostID\":100,\"size\":10}],"
            "\"namespaces\":[{\"type\":\"user\"}]}}",
            &s, &arena, &doc, &err),
        err);
    assert_string_equal(s.hostname, "h");
    assert_string_equal(spec_annotation(&s, "a.b"), "c");
    assert_int_equal(s.uid, 5);
    assert_int_equal(s.gid, 6);
    assert_string_equal(spec_env(&s, "A"), "3");
    assert_null(spec_env(&s, "B"));
    assert_int_equal(s.mount_count, 2);
    assert_string_equal(s.list[0].destination, "/a/b/c");
    assert_string_equal(s.list[1].destination, "/y");
    assert_int_equal(s.uid_map.count, 1);
    assert_false(s.joins_user_namespace);
    json_free(doc);
}

static void test_nothing_is_needed(void **state)
{
    _cleanup_arena_ struct arena arena = {0};
    struct err err = ERR_INIT;
    struct json_doc *doc;
    struct spec s;

    (void)state;
    assert_works(read_text("{\"mounts\":null,\"process\":null}", &s, &arena, &doc, &err), err);
    assert_null(s.process);
    assert_null(s.mounts);
    assert_null(spec_annotation(&s, "x"));
    assert_null(spec_env(&s, "x"));
    json_free(doc);
}

static void test_refuses(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"[]", "not an object"},
        {"{\"Mounts\":[],\"mounts\":[]}", "\"Mounts\" would be read as \"mounts\""},
        {"{\"MOUNTS\":[]}", "top level: the member \"MOUNTS\" would be read as"},
        {"{\"mounts\\u0000\":[]}", "top level: a member's name with a NUL byte (\"mounts\")"},
        {"{\"x\\u0000\":[]}", "NUL byte"},
        {"{\"process\":{\"user\":{\"uid\\u0000x\":0}}}", "process.user: a member's name"},
        {"{\"mounts\":[{\"destination\":\"/a\",\"source\\u0000\":\"/x\"}]}",
         "mounts[0]: a member's name with a NUL byte"},
        /* At every depth, also in what is not read here. */
        {"{\"linux\":{\"resources\":{\"Devices\":[]}}}",
         "linux.resources: the member \"Devices\" would be read as \"devices\""},
        {"{\"linux\":{\"Resources\":{\"devices\":[]}}}", "linux: the member \"Resources\""},
        {"{\"linux\":{\"resources\":{\"devices\":[{},{\"Allow\":true}]}}}",
         "linux.resources.devices[1]: the member \"Allow\""},
        {"{\"linux\":{\"devices\":[{\"path\":\"/dev/null\",\"Major\":8}]}}",
         "linux.devices[0]: the member \"Major\""},
        {"{\"linux\":{\"seccomp\":{\"DefaultAction\":\"SCMP_ACT_ALLOW\"}}}",
         "linux.seccomp: the member \"DefaultAction\" would be read as \"defaultAction\""},
        {"{\"linux\":{\"seccomp\":{\"syscalls\":[{\"name\xc5\xbf\":[\"mount\"]}]}}}",
         "would be read as \"names\""},
        {"{\"linux\":{\"seccomp\":{\"syscalls\":[{\"args\":[{\"valuetwo\":1}]}]}}}",
         "linux.seccomp.syscalls[0].args[0]: the member \"valuetwo\""},
        {"{\"linux\":{\"mas\xe2\x84\xaa"
         "edPaths\":[]}}",
         "would be read as \"maskedPaths\""},
        {"{\"hooks\":{\"createruntime\":[]}}", "hooks: the member \"createruntime\""},
        {"{\"hooks\":{\"prestart\":[{\"Path\":\"/x\"}]}}",
         "hooks.prestart[0]: the member \"Path\""},
        {"{\"linux\":{\"sysctl\":{\"net.x\\u0000\":\"1\"}}}",
         "linux.sysctl: a member's name with a"},
        {"{\"linux\":{\"rdma\":{\"mlx5_0\":{\"HCAHandles\":1}}}}",
         "would be read as \"hcaHandles\""},
        /* Texts end at a NUL byte for a runtime in C, and for the calls of one in Go. */
        {"{\"linux\":{\"seccomp\":{\"syscalls\":[{\"names\":[\"read\",\"mount\\u0000\"]}]}}}",
         "linux.seccomp.syscalls[0].names[1]: a NUL byte"},
        {"{\"process\":{\"capabilities\":{\"ambient\":[\"CAP_SETUID\\u0000x\"]}}}",
         "process.capabilities.ambient[0]: a NUL byte"},
        {"{\"annotations\":{\"run.oci.handler\":\"krun\\u0000\"}}",
         "annotations.run.oci.handler: a NUL byte"},
        {"{\"annotations\":{\"a\\u0000\":\"b\"}}", "annotations: a member's name"},
        {"{\"linux\":{\"namespaces\":[[1]]}}", "linux.namespaces: an entry"},
        {"{\"mount\xc5\xbf\":[]}", "would be read as \"mounts\""},
        {"{\"process\":{\"User\":{}}}", "process: the member \"User\""},
        {"{\"process\":{\"user\":{\"UID\":0}}}", "\"UID\" would be read as \"uid\""},
        {"{\"mounts\":[{\"destination\":\"/a\",\"Source\":\"/x\"}]}", "\"Source\""},
        {"{\"linux\":{\"UIDMappings\":[]}}", "would be read as \"uidMappings\""},
        {"{\"mounts\":{}}", "mounts: expected an array, not an object"},
        {"{\"mounts\":[1]}", "an entry that is not an object"},
        {"{\"mounts\":[{}]}", "without a destination"},
        {"{\"mounts\":[{\"destination\":\"/../x\"}]}", "the mount destination '/../x'"},
        {"{\"mounts\":[{\"destination\":1}]}", "expected a string"},
        {"{\"annotations\":[]}", "annotations: expected an object"},
        {"{\"process\":{\"user\":{\"uid\":-1}}}", "-1 is not an id"},
        {"{\"process\":{\"user\":{\"uid\":4294967296}}}", "is not an id"},
        {"{\"process\":{\"user\":{\"uid\":1.5}}}", "is not an id"},
        {"{\"process\":{\"env\":[1]}}", "process.env"},
        {"{\"process\":{\"env\":\"A=1\"}}", "expected an array"},
        {"{\"hostname\":5}", "hostname: expected a string"},
        {"{\"linux\":{\"uidMappings\":[{\"containerID\":1,\"hostID\":0,\"size\":4294967295},"
         "{\"containerID\":4294967295,\"hostID\":0,\"size\":2}]}}",
         "leaves 32 bits"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_arena_ struct arena arena = {0};
        struct err err = ERR_INIT;
        struct json_doc *doc;
        struct spec s;
        if (read_text(rows[i].text, &s, &arena, &doc, &err) == 0)
            fail_msg("%s: accepted", rows[i].text);
        assert_contains(err.msg, rows[i].says);
        json_free(doc);
    }
}

/* (uid_t)-1: crun stays root. */
static void test_no_id(void **state)
{
    static const char *const texts[] = {
        "{\"process\":{\"user\":{\"uid\":4294967295}}}",
        "{\"process\":{\"user\":{\"gid\":4294967295}}}",
        "{\"process\":{\"user\":{\"additionalGids\":[4294967295]}}}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        _cleanup_arena_ struct arena arena = {0};
        struct err err = ERR_INIT;
        struct json_doc *doc;
        struct spec s;
        assert_int_equal(read_text(texts[i], &s, &arena, &doc, &err), -1);
        assert_contains(err.msg, "id");
        json_free(doc);
    }
}

#define MAPS                                                                                       \
    "\"uidMappings\":[{\"containerID\":0,\"hostID\":9,\"size\":1}],"                               \
    "\"gidMappings\":[{\"containerID\":0,\"hostID\":9,\"size\":1}]"

/* Mappings count for one user namespace only. */
static void test_user_namespaces(void **state)
{
    static const struct {
        const char *text;
        size_t maps;
        bool joins;
        const char *path;
    } rows[] = {
        {"{\"linux\":{" MAPS "}}", 0, false, NULL},
        {"{\"linux\":{" MAPS ",\"namespaces\":[{\"type\":\"pid\"}]}}", 0, false, NULL},
        {"{\"linux\":{" MAPS ",\"namespaces\":[{\"type\":\"user\"}]}}", 1, false, NULL},
        {"{\"linux\":{\"namespaces\":[{\"type\":\"user\"}]}}", 0, true, NULL},
        {"{\"linux\":{" MAPS ",\"namespaces\":[{\"type\":\"user\",\"path\":\"/p\"}]}}", 1, true,
         "/p"},
        {"{\"linux\":{" MAPS
         ",\"namespaces\":[{\"type\":\"user\",\"path\":\"/p\"},{\"type\":\"user\"}]}}",
         0, true, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_arena_ struct arena arena = {0};
        struct err err = ERR_INIT;
        struct json_doc *doc;
        struct spec s;
        assert_works(read_text(rows[i].text, &s, &arena, &doc, &err), err);
        assert_int_equal(s.uid_map.count, rows[i].maps);
        assert_int_equal(s.joins_user_namespace, rows[i].joins);
        if (rows[i].path)
            assert_string_equal(s.user_namespace, rows[i].path);
        else
            assert_null(s.user_namespace);
        json_free(doc);
    }
}

/* Names that mean nothing to a runtime, or are anybody's choice. */
static void test_free_names(void **state)
{
    _cleanup_arena_ struct arena arena = {0};
    struct err err = ERR_INIT;
    struct json_doc *doc;
    struct spec s;

    (void)state;
    assert_works(
        read_text("{\"Unknown\":{\"x\":1},\"annotations\":{\"Name\":\"a\",\"MOUNTS\":\"b\"},"
                  "\"linux\":{\"sysctl\":{\"Kernel\":\"1\"},\"netDevices\":{\"User\":{\"name\":"
                  "\"n\"}},\"resources\":{\"unified\":{\"Memory\":\"1\"}}}}",
                  &s, &arena, &doc, &err),
        err);
    json_free(doc);
}

/* All groups are judged, or none is given. */
static void test_groups(void **state)
{
    (void)state;
    for (size_t count = SPEC_GROUPS; count <= SPEC_GROUPS + 1; count++) {
        _cleanup_arena_ struct arena arena = {0};
        _cleanup_buf_ struct buf text = BUF_INIT;
        struct err err = ERR_INIT;
        struct json_doc *doc;
        struct spec s;
        buf_puts(&text, "{\"process\":{\"user\":{\"additionalGids\":[");
        for (size_t i = 1; i <= count; i++)
            buf_printf(&text, "%zu%s", i, i < count ? "," : "]}}}");
        int rc = read_text(text.data, &s, &arena, &doc, &err);
        assert_int_equal(rc, count > SPEC_GROUPS ? -1 : 0);
        if (rc == 0)
            assert_int_equal(s.groups[s.group_count - 1], SPEC_GROUPS);
        else
            assert_contains(err.msg, "process.user.additionalGids: more than 1024 groups");
        json_free(doc);
    }
}

static void test_names_that_go_folds(void **state)
{
    (void)state;
    assert_false(spec_name_shadows("mounts", 6, "mounts"));
    assert_true(spec_name_shadows("mountS", 6, "mounts"));
    assert_true(spec_name_shadows("linu\xc5\xbf", 6, "linus"));
    assert_true(spec_name_shadows("\xe2\x84\xaa", 3, "k"));
    assert_true(spec_name_shadows("\xe2\x84\xaa", 3, "K"));
    assert_false(spec_name_shadows("mount", 5, "mounts"));
    assert_false(spec_name_shadows("mountsx", 7, "mounts"));
    assert_false(spec_name_shadows("\xe2\x84", 2, "k"));
    assert_false(spec_name_shadows("", 0, "k"));
}

static void test_takes_groups(void **state)
{
    struct json_doc *doc = shim_document("{\"user\":{\"additionalGids\":[5,6,5,-5,\"5\"]}}");
    const struct json *list = json_path(json_root(doc), "user", "additionalGids", NULL);

    (void)state;
    assert_true(spec_take_group(json_root(doc), 5));
    assert_int_equal(json_count(list), 3);
    assert_false(spec_take_group(json_root(doc), 5));
    assert_false(spec_take_group(NULL, 5));
    json_free(doc);
}

UNIT_SUITE(test_spec)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),           cmocka_unit_test(test_nothing_is_needed),
        cmocka_unit_test(test_refuses),         cmocka_unit_test(test_no_id),
        cmocka_unit_test(test_user_namespaces), cmocka_unit_test(test_free_names),
        cmocka_unit_test(test_groups),          cmocka_unit_test(test_names_that_go_folds),
        cmocka_unit_test(test_takes_groups),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
