/* Lints of `flatbed check` in valid policies, and policies without lints. */
#include "tests/unit/lib/shim_unit.h"

#include "shim/admin/check/lint.h"

/* Returns the rules of the lints in a policy, as "rule:line ". */
static char *lints(const char *sections)
{
    _cleanup_policy_ struct policy *policy = shim_policy(sections);
    _cleanup_findings_ struct findings f = {0};
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;

    lint_policy(policy, &f);
    assert_false(f.failed);
    buf_puts(&out, "");
    for (size_t i = 0; i < f.count; i++)
        buf_printf(&out, "%s:%u ", f.list[i].rule, f.list[i].line);
    return buf_take(&out, &err);
}

#define assert_lints(sections, expected)                                                           \
    do {                                                                                           \
        _cleanup_free_ char *found_ = lints(sections);                                             \
        assert_string_equal(found_, expected);                                                     \
    } while (0)

#define VOLUME(more)                                                                               \
    "\"volumes\":{\"v\":{\"source\":\"/s/{name}\",\"target\":\"/t/{name}\"" more "}}"

static void names_that_another_offers(void **state)
{
    (void)state;
    assert_lints(VOLUME(",\n\"names\":[\"a\",\"b*\"]"), "");
    assert_lints(VOLUME(",\n\"names\":[\"*\",\"a\"]"), "name-covered:2 ");
    assert_lints(VOLUME(",\n\"names\":[\"a1\",\"a*\"]"), "name-covered:2 ");
    assert_lints(VOLUME(",\n\"names\":[\"a\",\"a\"]"), "name-covered:2 ");
    assert_lints(VOLUME(",\n\"names\":[]"), "volume-not-offered:2 ");
    assert_lints(VOLUME(",\n\"names\":[\"uv\"],\"presets\":[\"uv\",\n\"pip\"]"),
                 "preset-not-offered:2 ");
    assert_lints("\"volumes\":{\"v\":{\"source\":\"/s\",\"target\":\"/t\",\n\"names\":[\"a\"]}}",
                 "name-unused:2 ");
}

static void volumes_that_cannot_be_meant(void **state)
{
    (void)state;
    assert_lints(VOLUME(",\"access\":\"ro\",\n\"create\":{\"mode\":\"0755\"}"),
                 "create-read-only:2 ");
    assert_lints("\"volumes\":{\"a\":{\"source\":\"/s\",\"target\":\"/t\",\"always\":true},\n"
                 "\"b\":{\"source\":\"/u\",\"target\":\"/t\",\"always\":true}}",
                 "target-twice:2 ");
    assert_lints("\"volumes\":{\"a\":{\"source\":\"/s\",\"target\":\"/t\",\"always\":true},\n"
                 "\"b\":{\"source\":\"/u\",\"target\":\"/t\"}}",
                 "");
}

#define FETCHED(source, max, more)                                                                 \
    "\"volumes\":{\"v\":{\"source\":\"oci://" source "\",\"target\":\"/t\",\"stage\":{"            \
    "\"cache\":\"/c\"" max "}" more "}}"
#define MOST ",\"max\":\"1t\""

static void volumes_from_a_registry(void **state)
{
    (void)state;
    assert_lints(FETCHED("r.lab/m/{name}", MOST, ",\"names\":[\"llama-*\"]"), "");
    assert_lints(FETCHED("r.lab/m/{user}", MOST, ""), "");
    assert_lints(FETCHED("r.lab/m/{name}", MOST, ""), "registry-any-name:1 ");
    assert_lints(FETCHED("r.lab/m/{hostname}", MOST, ""), "registry-any-name:1 ");
    assert_lints(FETCHED("127.0.0.1:5000/m", MOST, ""), "registry-local:1 ");
    assert_lints(FETCHED("r.lab/m", "", ""), "registry-no-max:1 ");
}

/* Members of "security" without which a policy judges half. */
#define WHOLE                                                                                      \
    "\"devices\":{\"allow\":[]},\"seccomp\":{\"require\":true},\"namespaces\":{\"host\":[]},"      \
    "\"realtime\":\"deny\""
#define SAFE                  ",\"security\":{" WHOLE ",\"privileged\":\"deny\",\"system_paths\":\"deny\"}"
#define RULES(fallback, list) "\"binds\":{\"default\":\"" fallback "\",\"rules\":[" list "]}" SAFE
#define RULE(path, access)    "\n{\"path\":\"" path "\",\"access\":\"" access "\"}"

static void rules_that_never_decide(void **state)
{
    (void)state;
    assert_lints(RULES("deny", RULE("/a", "allow") "," RULE("/a/b", "deny")), "");
    assert_lints(RULES("deny", RULE("/a", "allow") "," RULE("/a", "ro")), "bind-twice:2 ");
    assert_lints(RULES("deny", RULE("/a", "deny")), "bind-needless:2 ");
    assert_lints(RULES("allow", RULE("/a", "deny") "," RULE("/a/b", "deny")), "bind-needless:3 ");
    assert_lints(RULES("allow", RULE("/a", "deny") "," RULE("/ab", "deny")), "");
    assert_lints(RULES("deny", RULE("/var/lib/docker/containers", "allow")), "engine-files:2 ");
    assert_lints(RULES("deny", RULE("/run/containerd/x", "ro")), "engine-files:2 ");
    assert_lints(RULES("allow", RULE("/var/lib/docker/containers", "deny")), "");
    assert_lints(RULES("deny", RULE("/var/lib/docker/volumes", "allow")), "");
    assert_lints(RULES("deny", RULE("/var/lib/containers/storage/volumes", "allow")), "");
    /* the messages for users differ */
    assert_lints(RULES("deny", "{\"path\":\"/a\",\"access\":\"deny\",\"say\":\"no\"}"), "");
}

#define SECURITY(more) "\"binds\":{\"default\":\"deny\"},\"security\":{" more "}"

static void sections_that_undo_each_other(void **state)
{
    (void)state;
    assert_lints(SECURITY(WHOLE ",\"privileged\":\"deny\",\"system_paths\":\"deny\",\n"
                                "\"capabilities\":{\"max\":[\"CHOWN\"],\"drop\":[\"CHOWN\"]}"),
                 "max-undone:2 ");
    assert_lints(
        SECURITY("\"devices\":{\"allow\":[]},\"seccomp\":{\"require\":true},\"privileged\":"
                 "\"deny\",\"system_paths\":\"deny\",\"realtime\":\"deny\",\n\"namespaces\":{"
                 "\"host\":[\"pid\"]}"),
        "namespace-around:2 ");
    assert_lints("\"binds\":{\n\"default\":\"deny\"}", "binds-around:2 ");
    assert_lints("\"security\":{" WHOLE ",\n\"privileged\":\"deny\",\"system_paths\":\"deny\"}",
                 "security-around:2 ");
    assert_lints(SECURITY(WHOLE ",\n\"privileged\":\"deny\""), "system-paths-around:2 ");
    assert_lints(SECURITY(WHOLE ",\n\"privileged\":\"deny\",\"system_paths\":\"keep\""), "");
    assert_lints(SECURITY(WHOLE ",\"capabilities\":{\"max\":[]},\n\"privileged\":\"deny\","
                                "\n\"user\":{\"root\":\"deny\"}"),
                 "setuid-around:3 ");
    assert_lints(SECURITY(WHOLE ",\"capabilities\":{\"max\":[]},\"privileged\":\"deny\",\"user\":{"
                                "\"root\":\"deny\"},\"no_new_privileges\":true"),
                 "");
    assert_lints("\"security\":{\"seccomp\":{\"require\":true}}", "privileged-allowed:0 ");
    assert_lints("\"mode\":\"off\"", "mode-off:0 ");
}

static void half_a_policy(void **state)
{
    static const char *const lacks[][2] = {
        {"\"seccomp\":{\"require\":true},\"namespaces\":{\"host\":[]},\"capabilities\":{\"max\":[]"
         "},\"realtime\":\"deny\"",
         "devices-around:2 "},
        {"\"devices\":{\"allow\":[]},\"namespaces\":{\"host\":[]},\"capabilities\":{\"max\":[]},"
         "\"realtime\":\"deny\"",
         "seccomp-around:2 "},
        {"\"devices\":{\"allow\":[]},\"seccomp\":{\"require\":true},\"capabilities\":{\"max\":[]},"
         "\"realtime\":\"deny\"",
         "namespaces-around:2 "},
        {"\"devices\":{\"allow\":[]},\"seccomp\":{\"require\":true},\"namespaces\":{\"host\":[]},"
         "\"capabilities\":{\"max\":[]}",
         "realtime-around:2 "},
        {WHOLE, "capabilities-around:2 "},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(lacks) / sizeof(*lacks); i++) {
        _cleanup_free_ char *text =
            strf(SECURITY("\"privileged\":\"deny\",\"system_paths\":\"deny\","
                          "\"no_new_privileges\":true,\"user\":{\n\"root\":\"deny\"},%s"),
                 lacks[i][0]);
        assert_lints(text, lacks[i][1]);
    }
    assert_lints("\"binds\":{\n\"default\":\"deny\",\"require_access\":true}" SAFE,
                 "access-around:2 ");
    assert_lints("\"binds\":{\"preset\":\"shared-lab\"},\"security\":{\"preset\":\"shared-lab\"}",
                 "");
}

static void actions_out_of_reach(void **state)
{
    static const struct {
        const char *sections;
        bool noted;
    } rows[] = {{"\"security\":{\"preset\":\"shared-lab\"}", true},
                {"\"binds\":{\"default\":\"ro\"}", true},
                {"\"binds\":{\"default\":\"allow\"}", false},
                {"\"tuning\":{\"threads\":true}", false},
                {"\"mode\":\"off\",\"security\":{\"preset\":\"shared-lab\"}", false}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_policy_ struct policy *policy = shim_policy(rows[i].sections);
        _cleanup_findings_ struct findings f = {0};
        lint_reach(policy, &f);
        assert_int_equal(f.count, rows[i].noted);
        assert_int_equal(findings_count(&f, FINDING_NOTE), rows[i].noted);
    }
}

#define PRESETS "\"binds\":{\"preset\":\"shared-lab\"},\"security\":{\"preset\":\"shared-lab\"},"

/* Lists that give more than they seem to, or that lost what the preset's had. */
static void lists_that_are_wide(void **state)
{
    (void)state;
    assert_lints(
        "\"binds\":{\"preset\":\"shared-lab\"},\n\"security\":{\"preset\":\"shared-lab\","
        "\"devices\":{\"allow\":[\"/dev/fuse\",\"/dev/snd/*\"]},\"annotations\":{\"allow\":["
        "\"run.oci.keep_original_groups\"]}}",
        "");
    assert_lints("\"binds\":{\"preset\":\"shared-lab\"},\n\"security\":{\"preset\":\"shared-lab\","
                 "\"devices\":{\"allow\":[\"/dev/*\"]}}",
                 "devices-wide:2 ");
    assert_lints("\"binds\":{\"preset\":\"shared-lab\"},\n\"security\":{\"preset\":\"shared-lab\","
                 "\"annotations\":{\"allow\":[\"*\"]}}",
                 "annotations-wide:2 ");
    assert_lints(
        "\"binds\":{\"preset\":\"shared-lab\",\"targets_deny\":[\"/etc\"]},\n\"security\":{"
        "\"preset\":\"shared-lab\"}",
        "targets-few:1 targets-few:1 targets-few:1 ");
    assert_lints("\"binds\":{\"preset\":\"shared-lab\"},\n\"security\":{\"preset\":\"shared-lab\","
                 "\"hooks\":{\"allow\":[{\"path\":\"/usr/bin/env\"}]}}",
                 "hooks-wide:2 ");
}

#define PROFILE(name, match, more) "\n{\"name\":\"" name "\",\"match\":{" match "}" more "}"

static void profiles_that_never_count_or_undo_all(void **state)
{
    (void)state;
    assert_lints("\"profiles\":[" PROFILE("a", "\"uid\":[\"1\"]", "") "," PROFILE("b", "", "") "]",
                 "");
    assert_lints("\"profiles\":[" PROFILE("a", "", "") "," PROFILE("b", "\"uid\":[\"1\"]", "") "]",
                 "profile-never:3 ");
    assert_lints("\"profiles\":[" PROFILE("a", "\"image\":[\"*\"]", ",\"mode\":\"off\"") "]",
                 "profile-lax:2 ");
    assert_lints("\"profiles\":[" PROFILE("a", "\"annotation\":{\"flatbed.profile\":\"x\"}",
                                          ",\"mode\":\"permissive\"") "]",
                 "profile-lax:2 ");
    assert_lints(
        "\"profiles\":[" PROFILE("a", "\"uid\":[\"1\"],\"image\":[\"x\"]", ",\"mode\":\"off\"") "]",
        "");
    assert_lints("\"profiles\":[" PROFILE("a", "", ",\"mode\":\"off\"") "]", "profile-lax:2 ");
    assert_lints(PRESETS
                 "\"profiles\":[" PROFILE("a", "\"annotation\":{\"flatbed.profile\":\"x\"}",
                                          ",\"security\":{\"user\":{\"root\":\"allow\"}}") "]",
                 "profile-lax:2 ");
    assert_lints(PRESETS "\"profiles\":[" PROFILE("a", "\"image\":[\"x\"]",
                                                  ",\"security\":{\"devices\":{\"allow\":[]}}") "]",
                 "");
    assert_lints("\"mode\":\"permissive\",\"profiles\":[" PROFILE("a", "\"image\":[\"*\"]",
                                                                  ",\"mode\":\"enforce\"") "]",
                 "mode-permissive:0 ");
}

static void what_is_beyond_needs_a_depth(void **state)
{
    (void)state;
    assert_lints("\"rootfs\":{\n\"beyond\":\"restack\"}", "beyond-nothing:2 ");
    assert_lints("\"rootfs\":{\n\"beyond\":\"deny\"}", "beyond-nothing:2 ");
    assert_lints("\"rootfs\":{\"beyond\":\"restack\",\"max_depth\":32}", "");
    assert_lints("\"rootfs\":{\"beyond\":\"warn\"}", "");
}

static void an_error_of_loading_is_taken_apart(void **state)
{
    (void)state;
    _cleanup_findings_ struct findings f = {0};
    struct err err = ERR_INIT;

    err_set(&err, ERR_FORMAT, "/etc/a:b.json:12:7: what: 3:4: it is");
    findings_add_error(&f, &err);
    err_set(&err, ERR_FORMAT, "no place");
    findings_add_error(&f, &err);
    assert_int_equal(f.count, 2);
    assert_string_equal(f.list[0].file, "/etc/a:b.json");
    assert_int_equal(f.list[0].line, 12);
    assert_int_equal(f.list[0].column, 7);
    assert_string_equal(f.list[0].message, "what: 3:4: it is");
    assert_null(f.list[1].file);
    assert_string_equal(f.list[1].message, "no place");
}

UNIT_SUITE(test_lint)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_another_offers),
        cmocka_unit_test(what_is_beyond_needs_a_depth),
        cmocka_unit_test(volumes_that_cannot_be_meant),
        cmocka_unit_test(volumes_from_a_registry),
        cmocka_unit_test(rules_that_never_decide),
        cmocka_unit_test(sections_that_undo_each_other),
        cmocka_unit_test(half_a_policy),
        cmocka_unit_test(actions_out_of_reach),
        cmocka_unit_test(profiles_that_never_count_or_undo_all),
        cmocka_unit_test(lists_that_are_wide),
        cmocka_unit_test(an_error_of_loading_is_taken_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
