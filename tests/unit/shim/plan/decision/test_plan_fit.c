/* Plans that depend on features of the low-level runtime or the container's user namespace. */
#include "tests/unit/lib/plan_unit.h"

static void test_read_only_in_depth(void **state)
{
    struct fixture *f = *state;
    struct err err = ERR_INIT;

    plan_for(f, plan_volumes, "{\"annotations\":{\"flatbed.data\":\"coco-1\"}}");
    assert_int_equal(plan_need(&f->decision), PLAN_WANTS_FEATURES);
    assert_works(plan_fit(&(struct features){0}, "runc", true, &f->decision, &err), err);
    assert_false(outcome_on(f, "/work/data/coco-1")->mount.rro);
    assert_works(plan_fit(&(struct features){.rro = true}, "runc", true, &f->decision, &err), err);
    assert_true(outcome_on(f, "/work/data/coco-1")->mount.rro);
    assert_false(outcome_on(f, "/work")->mount.rro); /* it is read-write */
}

static void test_nothing_read_only_needs_no_features(void **state)
{
    struct fixture *f = *state;

    plan_for(f, plan_volumes, "{}");
    assert_int_equal(plan_need(&f->decision), PLAN_NEEDS_NOTHING);
}

static void test_rro_that_is_not_to_be_had(void **state)
{
    struct fixture *f = *state;
    struct err err = ERR_INIT;

    plan_for(f,
             "\"volumes\":{\"d\":{\"source\":\"/s\",\"target\":\"/t\",\"access\":\"rw\","
             "\"always\":true,\"options\":[\"rro\"]}}",
             "{\"annotations\":{\"flatbed.d\":\"x:ro\"}}");
    assert_int_equal(plan_need(&f->decision), PLAN_NEEDS_FEATURES);
    assert_fails(plan_fit(&(struct features){0}, "/usr/bin/crun", true, &f->decision, &err), err,
                 ERR_UNSUPPORTED);
    assert_contains(err.msg, "volumes.d: the option 'rro'");
    assert_contains(err.msg, "/usr/bin/crun");
    assert_works(plan_fit(&(struct features){0}, "/usr/bin/crun", false, &f->decision, &err), err);
    assert_false(outcome_on(f, "/t")->mount.rro);
}

#define USERNS                                                                                     \
    "\"linux\":{\"namespaces\":[{\"type\":\"user\"}],\"uidMappings\":[{\"containerID\":0,"         \
    "\"hostID\":100000,\"size\":65536}],"                                                          \
    "\"gidMappings\":[{\"containerID\":0,\"hostID\":200000,\"size\":65536}]}"
#define IDMAPPED(how)                                                                              \
    "\"volumes\":{\"d\":{\"source\":\"/s\",\"target\":\"/t\",\"access\":\"rw\",\"always\":true,"   \
    "\"idmap\":" how "}}"

static void test_idmapped_volumes(void **state)
{
    static const struct {
        const char *policy, *config;
        bool idmap;
    } rows[] = {
        {IDMAPPED("true"), "{" USERNS "}", true},
        {IDMAPPED("true"), "{}", false},
        {IDMAPPED("false"), "{\"annotations\":{\"flatbed.idmap\":\"on\"}," USERNS "}", false},
        {IDMAPPED("\"ask\""), "{" USERNS "}", false},
        {IDMAPPED("\"ask\""), "{\"annotations\":{\"flatbed.idmap\":\"on\"}," USERNS "}", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        void *own = NULL;
        struct err err = ERR_INIT;
        assert_int_equal(setup(&own), 0);
        struct fixture *f = own;
        plan_for(f, rows[i].policy, rows[i].config);
        assert_int_equal(mount_on(f, "/t")->mount.idmap, rows[i].idmap);
        assert_int_equal(plan_need(&f->decision),
                         rows[i].idmap ? PLAN_NEEDS_FEATURES : PLAN_NEEDS_NOTHING);
        if (rows[i].idmap) {
            assert_fails(plan_fit(&(struct features){0}, "runc", true, &f->decision, &err), err,
                         ERR_UNSUPPORTED);
            assert_contains(err.msg, "volumes.d: an idmapped mount needs");
            assert_works(
                plan_fit(&(struct features){.idmap = true}, "runc", true, &f->decision, &err), err);
            assert_true(outcome_on(f, "/t")->mount.idmap);
            assert_works(plan_fit(&(struct features){0}, "runc", false, &f->decision, &err), err);
            assert_false(outcome_on(f, "/t")->mount.idmap);
        }
        teardown(&own);
    }
}

static void test_a_mapping_that_is_not_known(void **state)
{
    struct fixture *f = *state;

    plan_for(f, IDMAPPED("true"),
             "{\"linux\":{\"namespaces\":[{\"type\":\"user\",\"path\":\"/proc/1/ns/user\"}]}}");
    assert_contains(denial(f)->reason, "it cannot be idmapped");
}

#define POOLED                                                                                     \
    "\"volumes\":{\"cache\":{\"source\":\"/c/{name}\",\"target\":\"/k/{name}\",\"access\":\"rw\"," \
    "\"always\":[\"pip\"],\"presets\":[\"pip\"],\"pool\":\"/pool/{name}\"}}"

static void test_a_pool(void **state)
{
    struct fixture *f = *state;

    plan_for(f, POOLED, "{\"process\":{}}");
    assert_string_equal(mount_on(f, "/k/pip")->mount.pool, "/pool/pip");
    assert_string_equal(mount_on(f, "/k/pip")->mount.source, "/c/pip");
    assert_int_equal(mount_on(f, "/k/pip")->verdict, PLAN_ADDED);
    assert_string_equal(variable(f, "PIP_CACHE_DIR")->variable.value, "/k/pip");
    assert_int_equal(plan_need(&f->decision), PLAN_NEEDS_NOTHING);
}

static void test_a_pool_is_recognised_by_its_private_side(void **state)
{
    static const struct {
        const char *type, *side;
        bool ours, pinned;
        enum plan_verdict verdict;
    } rows[] = {
        {"overlay", "/c/pip", true, false, PLAN_KEPT},
        {"overlay", "/run/flatbed/pin/cache\\\\:pip", true, true, PLAN_KEPT},
        {"overlay", "/c/other", true, false, PLAN_ADDED}, /* of an earlier launch */
        {"tmpfs", "/c/pip", false, false, PLAN_KEPT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        void *own = NULL;
        assert_int_equal(setup(&own), 0);
        struct fixture *f = own;
        _cleanup_free_ char *config =
            strf("{\"mounts\":[{\"destination\":\"/k/pip\",\"type\":\"%s\",\"source\":\"overlay\","
                 "\"options\":[\"rw\",\"nosuid\",\"nodev\",\"lowerdir=/pool/pip\","
                 "\"upperdir=%s/upper\",\"workdir=%s/work\",\"index=on\"]}]}",
                 rows[i].type, rows[i].side, rows[i].side);
        plan_for(f, POOLED, config);
        assert_int_equal(mount_on(f, "/k/pip")->verdict, rows[i].verdict);
        assert_int_equal(mount_on(f, "/k/pip")->mount.earlier != NULL, rows[i].ours);
        assert_int_equal(mount_on(f, "/k/pip")->mount.ours, rows[i].ours);
        assert_int_equal(mount_on(f, "/k/pip")->mount.pinned, rows[i].pinned);
        teardown(&own);
    }
}

static void test_a_pool_in_a_user_namespace(void **state)
{
    struct fixture *f = *state;

    plan_for(f, POOLED, "{" USERNS "}");
    assert_contains(denial(f)->reason, "without a user namespace");
}

#define IDMAPS(enabled) "\"linux\":{\"mountExtensions\":{\"idmap\":{\"enabled\":" enabled "}}}"
#define CRUN(version)   "\"annotations\":{\"run.oci.crun.version\":\"" version "\"}"

static void test_features(void **state)
{
    static const struct {
        const char *text;
        bool rro, idmap, ridmap;
    } rows[] = {
        {"{\"mountOptions\":[\"ro\",\"rro\"]}", true, false, false},
        {"{" IDMAPS("true") "}", false, true, true},
        {"{" IDMAPS("true") "," CRUN("1.21") "}", false, true, true},
        {"{" IDMAPS("true") "," CRUN("1.9") "}", false, true, true},
        {"{" IDMAPS("true") "," CRUN("2.0-rc1") "}", false, true, true},
        {"{" IDMAPS("true") "," CRUN("1.8.7") "}", false, true, false},
        {"{" IDMAPS("true") "," CRUN("unknown") "}", false, true, false},
        {"{\"mountOptions\":[\"ro\"]," IDMAPS("false") "}", false, false, false},
        {"{\"mountOptions\":{\"rro\":1},\"linux\":[]}", false, false, false},
        {"", false, false, false},
        {"unknown command features", false, false, false},
        {"[\"rro\"]", false, false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct features features = {.rro = !rows[i].rro, .idmap = !rows[i].idmap};
        features_parse(rows[i].text, &features);
        assert_int_equal(features.rro, rows[i].rro);
        assert_int_equal(features.idmap, rows[i].idmap);
        assert_int_equal(features.ridmap, rows[i].ridmap);
    }
}

UNIT_SUITE(test_plan_fit)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_read_only_in_depth, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_read_only_needs_no_features, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rro_that_is_not_to_be_had, setup, teardown),
        cmocka_unit_test(test_idmapped_volumes),
        cmocka_unit_test_setup_teardown(test_a_mapping_that_is_not_known, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_pool, setup, teardown),
        cmocka_unit_test(test_a_pool_is_recognised_by_its_private_side),
        cmocka_unit_test_setup_teardown(test_a_pool_in_a_user_namespace, setup, teardown),
        cmocka_unit_test(test_features),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
