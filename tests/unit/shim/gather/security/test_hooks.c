/* Hooks as values. */
#include "tests/unit/lib/shim_unit.h"

#include "shim/gather/security/hooks.h"

/* Returns the problem of a hook, or "known", "docker" or "unknown". */
static const char *judge(const char *text)
{
    _cleanup_json_ struct json_doc *doc = shim_document(text);
    struct hook hook;
    const char *problem = hook_read(json_root(doc), &hook);

    if (problem)
        return problem;
    if (hook_is_dockers(&hook))
        return "docker";
    return hook_is_known(&hook) ? "known" : "unknown";
}

static void test_known_hooks(void **state)
{
    static const char *const known[] = {
        "{\"path\":\"/usr/local/bin/nerdctl\",\"args\":[\"nerdctl\",\"--data-root=/x\","
        "\"internal\",\"oci-hook\",\"createRuntime\"]}",
        "{\"path\":\"/usr/bin/nvidia-container-toolkit\",\"args\":[\"x\",\"prestart\"]}",
        "{\"path\":\"/usr/local/nvidia/toolkit/nvidia-ctk\",\"args\":[\"nvidia-ctk\",\"hook\","
        "\"update-ldcache\",\"--folder\",\"/x\"],\"env\":[\"NVIDIA_CTK_DEBUG=false\"]}",
        "{\"path\":\"/usr/bin/nvidia-cdi-hook\",\"args\":[\"nvidia-cdi-hook\",\"chmod\"],"
        "\"timeout\":1,\"env\":[\"PATH=/usr/local/sbin:/usr/bin:/snap/bin\"]}",
    };
    static const char *const unknown[] = {
        "{\"path\":\"/bin/sh\",\"args\":[\"nvidia-cdi-hook\",\"chmod\"]}",
        "{\"path\":\"/usr/bin/nvidia-ctk\",\"args\":[\"nvidia-ctk\",\"cdi\",\"generate\"]}",
        "{\"path\":\"/usr/bin/nvidia-ctk\",\"args\":[\"nvidia-ctk\",\"hook\"]}",
        "{\"path\":\"/usr/bin/nvidia-cdi-hook\"}",
        "{\"path\":\"/usr/bin/nerdctl\",\"args\":[\"internal\",\"oci-hook\",\"x\"]}",
        "{\"path\":\"/usr/bin/nvidia-container-runtime-hook\",\"args\":[\"x\"]}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        assert_string_equal(judge(known[i]), "known");
    for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
        assert_string_equal(judge(unknown[i]), "unknown");
}

#define SETKEY(path, root, id)                                                                     \
    "{\"path\":\"" path "\",\"args\":[\"libnetwork-setkey\",\"" root "\",\"" id "\",\"0f\"]}"

static void test_dockers_hook(void **state)
{
    (void)state;
    assert_string_equal(judge(SETKEY("/proc/12/exe", "-exec-root=/run/docker", "0af")), "docker");
    assert_string_equal(judge(SETKEY("/proc/self/exe", "-exec-root=/run/docker", "0")), "unknown");
    assert_string_equal(judge(SETKEY("/proc/12/cwd", "-exec-root=/run/docker", "0")), "unknown");
    assert_string_equal(judge(SETKEY("/proc/12/exe", "-exec-root=x", "0")), "unknown");
    assert_string_equal(judge(SETKEY("/proc/12/exe", "-exec-root=/x", "0;x")), "unknown");
    assert_string_equal(judge("{\"path\":\"/proc/1/exe\",\"args\":[\"libnetwork-setkey\"]}"),
                        "unknown");
}

static void test_hooks_that_cannot_be_allowed(void **state)
{
    (void)state;
    assert_contains(judge("{\"path\":\"x\"}"), "not clean and absolute");
    assert_contains(judge("{\"args\":[]}"), "not clean and absolute");
    assert_contains(judge("[]"), "not clean and absolute");
    assert_contains(judge("{\"path\":\"/x\",\"Args\":[]}"), "unknown members");
    assert_contains(judge("{\"path\":\"/x\",\"args\":\"x\"}"), "not a list of texts");
    assert_contains(judge("{\"path\":\"/x\",\"env\":[1]}"), "not a list of texts");
    assert_contains(judge("{\"path\":\"/x\",\"env\":[\"LD_PRELOAD=x\"]}"), "LD_*");
    assert_contains(judge("{\"path\":\"/x\",\"env\":[\"PATH=/usr/bin:\"]}"), "PATH");
    assert_contains(judge("{\"path\":\"/x\",\"env\":[\"PATH=/usr/bin/x\"]}"), "PATH");
}

static void test_rules(void **state)
{
    static const char *globs[] = {"x", "--a=*", "..."};
    const struct policy_hook any = {.path = "/x"}, none = {.path = "/x", .args = {.given = true}};
    const struct policy_hook some = {.path = "/x", .args = {globs, 3, true, {0}}};
    _cleanup_json_ struct json_doc *doc =
        shim_document("{\"path\":\"/x\",\"args\":[\"x\",\"--a=\"]}");
    struct hook hook, other;

    (void)state;
    assert_null(hook_read(json_root(doc), &hook));
    assert_true(hook_matches(&hook, &any));
    assert_false(hook_matches(&hook, &none));
    assert_true(hook_matches(&hook, &some));
    other = hook;
    other.path = "/y";
    assert_false(hook_matches(&other, &any));
    other = hook;
    other.args = NULL;
    assert_true(hook_matches(&other, &none));
    assert_false(hook_matches(&other, &some));
}

UNIT_SUITE(test_hooks)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_hooks),
        cmocka_unit_test(test_dockers_hook),
        cmocka_unit_test(test_hooks_that_cannot_be_allowed),
        cmocka_unit_test(test_rules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
