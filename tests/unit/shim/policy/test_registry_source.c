/* Sources in a registry: what is one, and no variable that leads to another registry. */
#include "tests/unit/lib/unit.h"

#include "shim/policy/registry_source.h"

#define DIGEST "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_sources(void **state)
{
    static const char *const right[] = {
        "oci://registry.lab/models/llama-7b",
        "oci://registry.lab/m",
        "oci://registry.lab:5000/a/b/c:V1.0_x-y",
        "oci://localhost/m:stable",
        "oci://r:80/a__b.c---d_e/0:_",
        ("oci://127.0.0.1:5000/m" DIGEST),
        "oci://[::1]:5000/m:x",
        "oci://[fe80::1]/m",
    };
    static const char *const wrong[] = {
        "oci://",
        "oci:///m",
        "oci://registry.lab",
        "oci://registry.lab/",
        "oci://models/llama",
        "oci://.lab/m",
        "oci://-r.lab/m",
        "oci://r.lab:/m",
        "oci://r.lab:123456/m",
        "oci://r.lab:5a/m",
        "oci://user@r.lab/m",
        "oci://r.lab\n/m",
        "oci://[::1/m",
        "oci://[]/m",
        "oci://[::1]x/m",
        "oci://r.lab/M",
        "oci://r.lab/a//b",
        "oci://r.lab/a/",
        "oci://r.lab/../m",
        "oci://r.lab/a..b",
        "oci://r.lab/a___b",
        "oci://r.lab/a-",
        "oci://r.lab/-a",
        "oci://r.lab/a b",
        "oci://r.lab/a:",
        "oci://r.lab/a:.x",
        "oci://r.lab/a:x:y",
        "oci://r.lab/a:x/y",
        "oci://r.lab/a:x" DIGEST,
        "oci://r.lab/a@sha256:abc",
        "oci://r.lab/a" DIGEST "0",
        "oci://r.lab/a@md5:0123456789abcdef0123456789abcdef",
        "oci://r.lab/a?x",
    };
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++)
        assert_works(registry_source_check(right[i], &err), err);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        if (registry_source_check(wrong[i], &err) == 0)
            print_error("%s\n", wrong[i]);
        assert_fails(registry_source_check(wrong[i], &err), err, ERR_POLICY);
    }
}

static void test_templates(void **state)
{
    static const char *const right[] = {
        "oci://r.lab/models/{name}:stable",
        "oci://r.lab/models/{user}/{name}",
        "oci://r.lab/models/all:{name}",
        "oci://r.lab/{name}",
    };
    static const char *const wrong[] = {
        "oci://{name}",        "oci://{name}/m",       "oci://r.{user}.lab/m",    "oci://r.lab",
        "oci://r.lab/M{name}", "oci://r.lab/m@{name}", "oci://r.lab/m:x{name}:y",
    };
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++)
        assert_works(registry_source_check_template(right[i], &err), err);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_fails(registry_source_check_template(wrong[i], &err), err, ERR_POLICY);
}

static void test_kinds(void **state)
{
    (void)state;
    assert_true(registry_source_is("oci://r.lab/m"));
    assert_false(registry_source_is("/oci://r.lab/m"));
    assert_false(registry_source_is("oci:/r.lab/m"));
    assert_true(registry_source_is_fixed("oci://r.lab/m" DIGEST));
    assert_false(registry_source_is_fixed("oci://r.lab/m:x"));
    assert_true(registry_source_is_local("oci://localhost:5000/m"));
    assert_true(registry_source_is_local("oci://localhost/m"));
    assert_true(registry_source_is_local("oci://127.0.0.1:5000/m"));
    assert_true(registry_source_is_local("oci://[::1]:5000/m"));
    assert_false(registry_source_is_local("oci://localhost.lab/m"));
    assert_false(registry_source_is_local("/localhost/m"));
}

UNIT_SUITE(test_registry_source)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_templates),
        cmocka_unit_test(test_kinds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
