/* Hooks as values. */
#include "tests/unit/lib/shim_unit.h"

#include "shim/gather/security/hooks.h"

/* Returns the problem of a hook, or "known", "docker", "own" or "unknown". */
static const char *judge_at(const char *stage, const char *text)
{
    _cleanup_json_ struct json_doc *doc = shim_document(text);
    struct hook hook;
    const char *problem = hook_read(stage, json_root(doc), &hook);

    if (problem)
        return problem;
    if (hook_is_dockers(&hook))
        return "docker";
    if (hook_is_own(&hook))
        return "own";
    return hook_is_known(&hook) ? "known" : "unknown";
}

static const char *judge(const char *text)
{
    return judge_at("prestart", text);
}

#define HOOK(path, args) "{\"path\":\"" path "\",\"args\":[" args "]}"
#define PRESTART(path)   HOOK(path, "\"x\",\"prestart\"")
#define NERDCTL(options)                                                                           \
    HOOK("/usr/local/bin/nerdctl",                                                                 \
         "\"/usr/local/bin/nerdctl\"," options "\"internal\",\"oci-hook\",\"createRuntime\"")

static void test_known_hooks(void **state)
{
    (void)state;
    assert_string_equal(judge_at("createRuntime", NERDCTL("")), "known");
    assert_string_equal(judge_at("postStop", NERDCTL("\"--namespace=k8s.io\",\"--debug=true\",")),
                        "known");
    assert_string_equal(judge(PRESTART("/usr/bin/nvidia-container-toolkit")), "known");
    assert_string_equal(judge(PRESTART("/usr/bin/nvidia-container-runtime-hook")), "known");
    assert_string_equal(judge_at("createRuntime", PRESTART("/usr/bin/nvidia-container-toolkit")),
                        "known");
}

static void test_unknown_hooks(void **state)
{
    static const char *const unknown[] = {
        HOOK("/bin/sh", "\"nvidia-cdi-hook\",\"prestart\""),
        HOOK("/usr/bin/nerdctl", "\"internal\",\"oci-hook\",\"x\""),
        HOOK("/usr/bin/nvidia-container-runtime-hook", "\"x\""),
        /* A program and a library that root would execute, and a file that it would write. */
        NERDCTL("\"--cni-path=/home/a\","),
        NERDCTL("\"--data-root=/home/a\","),
        NERDCTL("\"--hosts-dir=/home/a\","),
        NERDCTL("\"--namespace\",\"x\","),
        NERDCTL("\"--\","),
        NERDCTL("\"--debugging=true\","),
        NERDCTL("\"run\","),
        /* Files of images, which root owns. */
        PRESTART("/var/lib/docker/overlay2/0/diff/usr/bin/nvidia-container-toolkit"),
        HOOK("/var/lib/docker/nerdctl", "\"nerdctl\",\"internal\",\"oci-hook\",\"x\""),
    };

    (void)state;
    for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
        if (strcmp(judge(unknown[i]), "unknown") != 0)
            fail_msg("%s: %s", unknown[i], judge(unknown[i]));
    assert_string_equal(judge_at("poststart", PRESTART("/usr/bin/nvidia-container-toolkit")),
                        "unknown");
    assert_string_equal(
        judge_at("createContainer", HOOK("/x/flatbed-runtime", "\"x\",\"--flatbed-check-mounts\"")),
        "own");
    assert_string_equal(
        judge_at("poststart", HOOK("/x/flatbed-runtime", "\"x\",\"--flatbed-check-mounts\"")),
        "unknown");
    assert_string_equal(
        judge_at("createRuntime", HOOK("/x/flatbed-runtime", "\"x\",\"--flatbed-deny-console\"")),
        "own");
    assert_string_equal(
        judge_at("createContainer", HOOK("/x/flatbed-runtime", "\"x\",\"--flatbed-deny-console\"")),
        "unknown");
}

/* Judges arguments behind "nvidia-cdi-hook", and behind "nvidia-ctk hook": the same. */
static const char *judge_toolkit(const char *stage, const char *args)
{
    _cleanup_free_ char *new = strf("{\"path\":\"/usr/local/nvidia/toolkit/nvidia-cdi-hook\","
                                    "\"args\":[\"x\"%s]}",
                                    args);
    _cleanup_free_ char *old =
        strf("{\"path\":\"/usr/bin/nvidia-ctk\",\"args\":[\"x\",\"hook\"%s]}", args);

    assert_string_equal(judge_at(stage, new), judge_at(stage, old));
    return judge_at(stage, new);
}

#define LINK(value)   ",\"create-symlinks\",\"--link\",\"" value "\""
#define CACHE(option) ",\"update-ldcache\"," option

static void test_arguments_of_the_toolkit(void **state)
{
    static const char *const known[] = {
        LINK("../libnvidia-allocator.so.1::/usr/lib/x86_64-linux-gnu/gbm/nvidia-drm_gbm.so"),
        LINK("a::/usr/a") ",\"--link=b::/lib64/b\"",
        CACHE("\"--folder\",\"/usr/lib/x86_64-linux-gnu\",\"--folder\",\"/usr/lib64\""),
        CACHE("\"--ldconfig-path\",\"@/sbin/ldconfig.real\",\"--folder\",\"/lib\""),
        ",\"create-soname-symlinks\",\"--folder=/usr/lib\"",
        ",\"enable-cuda-compat\",\"--host-driver-version=550.54.15\"",
        ",\"disable-device-node-modification\"",
    };
    static const char *const unknown[] = {
        "",
        ",\"chmod\",\"--mode\",\"777\",\"--path\",\"/srv/private\"",
        ",\"chmod\"",
        ",\"--debug\",\"disable-device-node-modification\"",
        ",\"disable-device-node-modification\",\"--container-spec=/home/a\"",
        LINK("a::/home/a"),
        LINK("a::/usr/../home/a"),
        LINK("a::usr/a"),
        LINK("a::/usr/a::/home/a"),
        LINK("::/usr/a"),
        LINK("a"),
        LINK("a::/usr/a") ",\"--link\"",
        LINK("a::/usr/a") ",\"--container-spec\",\"/x\"",
        CACHE("\"--folder\",\"/home/a\""),
        CACHE("\"--folder\",\"/usrs\""),
        CACHE("\"--ldconfig-path=/sbin/ldconfig\""),
        CACHE("\"--ldconfig-path=@/home/a/ldconfig\""),
        CACHE("\"/usr/lib\""),
        CACHE("\"--folders\",\"/usr/lib\""),
        ",\"enable-cuda-compat\",\"--host-driver-version=/x\"",
        ",\"enable-cuda-compat\",\"--host-driver-version=\"",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (strcmp(judge_toolkit("createContainer", known[i]), "known") != 0)
            fail_msg("%s is refused", known[i]);
        assert_string_equal(judge_toolkit("createRuntime", known[i]), "unknown");
        assert_string_equal(judge_toolkit("poststart", known[i]), "unknown");
    }
    for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
        if (strcmp(judge_toolkit("createContainer", unknown[i]), "unknown") != 0)
            fail_msg("%s is allowed", unknown[i]);
}

#define SETKEY(path, root, id)                                                                     \
    "{\"path\":\"" path "\",\"args\":[\"libnetwork-setkey\",\"" root "\",\"" id "\",\"0f\"]}"

static void test_dockers_hook(void **state)
{
    (void)state;
    assert_string_equal(judge(SETKEY("/proc/12/exe", "-exec-root=/run/docker", "0af")), "docker");
    assert_string_equal(judge(SETKEY("/proc/12/exe", "-exec-root=/x", "qz2x8kv1m0ythr5wcj9ab3den")),
                        "docker");
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
    assert_null(hook_read("prestart", json_root(doc), &hook));
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
        cmocka_unit_test(test_unknown_hooks),
        cmocka_unit_test(test_arguments_of_the_toolkit),
        cmocka_unit_test(test_dockers_hook),
        cmocka_unit_test(test_hooks_that_cannot_be_allowed),
        cmocka_unit_test(test_rules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
