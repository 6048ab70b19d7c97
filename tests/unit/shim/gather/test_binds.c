/* The user's mounts as values: facts about sources × rules → verdicts and edits. */
#include "tests/unit/shim/gather/binds_unit.h"

/* One mount of `source`, with these options. */
static struct result judged(const struct bind_source *source, const char *options)
{
    struct bind_source sources[] = {*source, {0}};
    struct bind_facts facts = {.sources = sources};
    struct result r;
    _cleanup_free_ char *mount = strf(
        "{\"destination\":\"/x\",\"type\":\"bind\",\"source\":\"/s\",\"options\":[%s]}", options);

    judge_with(policy_text, &facts, mount, &r);
    free(r.config);
    r.config = NULL;
    return r;
}

static struct result judged_path(const char *path)
{
    struct bind_source source = plain;

    source.path = source.found = path;
    return judged(&source, "\"rbind\",\"rprivate\",\"nosuid\",\"nodev\"");
}

static void test_the_longest_path_wins(void **state)
{
    static const struct {
        const char *path;
        enum plan_verdict verdict;
    } rows[] = {
        {"/home/alice", PLAN_DENIED}, /* holds the secret */
        {"/home/alice/x", PLAN_KEPT},
        {"/home/alice2", PLAN_DENIED},
        {"/home/alice/secret", PLAN_DENIED},
        {"/home/alice/secret/deep", PLAN_DENIED},
        {"/home/alice/secrets", PLAN_KEPT},
        {"/srv/x", PLAN_DOWNGRADED},
        {"/srv/rw", PLAN_KEPT},
        {"/srv/rw/x", PLAN_KEPT},
        {"/srv", PLAN_DOWNGRADED},
        {"/run/docker.sock", PLAN_DENIED},
        {"/run", PLAN_DENIED},
        {"/", PLAN_DENIED},
        {"/etc", PLAN_DENIED},
        {"/var/lib/docker/volumes/v/_data", PLAN_KEPT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct result r = judged_path(rows[i].path);
        if (r.verdict != rows[i].verdict)
            fail_msg("%s: %d, %s", rows[i].path, r.verdict, r.reason);
    }
}

static void test_refusals_say_what_to_do(void **state)
{
    (void)state;
    assert_contains(judged_path("/etc").message,
                    "no rule contains it (policy.json:1); these volumes are offered: flatbed.data; "
                    "mounts are allowed from: /home/alice, /srv (read-only), /srv/rw, /var");
    assert_contains(judged_path("/run/docker.sock").message,
                    "/run/docker.sock is not allowed: it is root");
}

static void test_within_an_allowed_directory_stricter_rules_count(void **state)
{
    static const char lax[] = "\"binds\":{\"rules\":["
                              "{\"path\":\"/srv/data\",\"access\":\"ro\"},"
                              "{\"path\":\"/run/docker.sock\",\"access\":\"deny\","
                              "\"say\":\"it is root\"}]}";
    struct bind_source sources[] = {plain};
    struct bind_facts facts = {.sources = sources};
    static const char mount[] =
        "{\"destination\":\"/x\",\"source\":\"/s\",\"options\":[\"rbind\"]}";
    struct result r;

    (void)state;
    sources[0].path = "/srv";
    judge_with(lax, &facts, mount, &r);
    assert_int_equal(r.verdict, PLAN_DOWNGRADED);
    free(r.config);
    facts.rules = NULL;
    sources[0].path = "/run";
    judge_with(lax, &facts, mount, &r);
    assert_contains(r.message, "/run holds /run/docker.sock, which is not allowed: it is root");
    free(r.config);
    facts.rules = NULL;
    sources[0].path = "/etc";
    judge_with(lax, &facts, mount, &r);
    assert_int_equal(r.verdict, PLAN_KEPT);
    free(r.config);
}

/* Compares the options after the edit; a second edit changes nothing. */
static void assert_options(const char *path, bool submounts, const char *before, const char *after)
{
    struct bind_source sources[] = {plain};
    struct bind_below below = {.path = path};
    struct result r, again;
    _cleanup_free_ char *mount =
        strf("{\"destination\":\"/x\",\"source\":\"/s\",\"options\":[%s]}", before);
    _cleanup_free_ char *expected =
        strf("{\"mounts\":[{\"destination\":\"/x\",\"source\":\"/s\",\"options\":[%s]}]}", after);
    _cleanup_free_ char *edited =
        strf("{\"destination\":\"/x\",\"source\":\"/s\",\"options\":[%s]}", after);

    sources[0].path = path;
    sources[0].below = &below;
    sources[0].below_count = submounts ? 1 : 0;
    struct bind_facts facts = {.sources = sources};
    judge_with(policy_text, &facts, mount, &r);
    assert_string_equal(r.config, expected);
    free(r.config);
    facts.rules = NULL;
    judge_with(policy_text, &facts, edited, &again);
    assert_int_equal(again.verdict, PLAN_KEPT);
    free(again.config);
}

static void test_edits(void **state)
{
    (void)state;
    assert_options("/srv/x", false, "\"rbind\"", "\"rbind\",\"rprivate\",\"ro\"");
    assert_options("/srv/x", false, "\"rprivate\",\"rbind\",\"rw\"",
                   "\"rprivate\",\"rbind\",\"ro\"");
    assert_options("/srv/x", false, "\"ro\",\"rbind\",\"private\",\"rw\",\"rrw\"",
                   "\"ro\",\"rbind\",\"rprivate\"");
    assert_options("/srv/x", true, "\"rbind\",\"ro\"", "\"ro\",\"private\",\"bind\"");
    assert_options("/home/alice/x", false, "\"bind\",\"rw\"",
                   "\"bind\",\"rw\",\"private\",\"nosuid\",\"nodev\"");
    assert_options("/home/alice/x", false,
                   "\"private\",\"bind\",\"nosuid\",\"nodev\",\"suid\",\"rdev\"",
                   "\"private\",\"bind\",\"nosuid\",\"nodev\"");
    assert_options("/home/alice/x", true, "\"rbind\",\"rprivate\",\"nosuid\",\"nodev\"",
                   "\"rbind\",\"rprivate\",\"nosuid\",\"nodev\"");
    /* Mounts that are made later; crun takes rprivate for rbind. */
    assert_options("/srv/x", false, "\"rbind\",\"rslave\",\"ro\"", "\"rbind\",\"ro\",\"rprivate\"");
    assert_options("/srv/x", false, "\"bind\",\"rprivate\",\"slave\",\"ro\"",
                   "\"bind\",\"ro\",\"private\"");
    assert_options("/srv/x", false, "\"rbind\",\"unbindable\",\"ro\"",
                   "\"rbind\",\"ro\",\"rprivate\"");
    assert_options("/srv/x", false, "\"bind\",\"private\",\"ro\"", "\"bind\",\"private\",\"ro\"");
    assert_options("/srv/x", true, "\"bind\",\"rprivate\",\"ro\"", "\"bind\",\"ro\",\"private\"");
}

/* The user's own mount of a volume's source at its target is refused if it is writable. */
static void test_a_volume_with_more_access_is_the_users(void **state)
{
    static const char own[] =
        "\"volumes\":{\"d\":{\"source\":\"/s\",\"target\":\"/x\",\"always\":true}},"
        "\"binds\":{\"default\":\"deny\"}";
    struct bind_source source = plain;
    struct bind_facts facts = {.sources = &source};
    _cleanup_arena_ struct arena arena = {0};
    _cleanup_policy_ struct policy *policy = shim_policy(own);
    struct requests requests = {0};
    struct err err = ERR_INIT;

    (void)state;
    for (int rw = 0; rw < 2; rw++) {
        _cleanup_free_ char *config = strf("{\"mounts\":[{\"destination\":\"/x\",\"type\":"
                                           "\"bind\",\"source\":\"/s\",\"options\":[\"rbind\","
                                           "\"%s\",\"rprivate\",\"nosuid\",\"nodev\"]}]}",
                                           rw ? "rw" : "ro");
        _cleanup_json_ struct json_doc *doc = shim_document(config);
        struct spec spec;
        struct plan plan;
        struct decision decision;
        assert_works(spec_read(doc, &arena, &spec, &err), err);
        struct plan_input in = {
            .policy = policy, .requests = &requests, .spec = &spec, .binds = &facts};
        assert_works(plan_make(&in, &arena, &plan, &err), err);
        assert_works(decision_begin(&plan, &arena, &decision, &err), err);
        assert_int_equal(decision_check(&decision, &err), rw ? -1 : 0);
    }
}

static void test_overlays_hide_what_they_show(void **state)
{
    struct bind_source source = plain;

    (void)state;
    source.opaque = "/home";
    source.type = "overlay";
    assert_int_equal(judged(&source, "\"rprivate\",\"nosuid\",\"nodev\"").verdict, PLAN_KEPT);
    source.opaque = "/home/alice/x";
    assert_contains(judged(&source, "").message, "/home/alice/x is an overlay");
    source.path = "/etc";
    assert_contains(judged(&source, "").message, "/etc is not allowed");
}

static void test_volumes_own_file_systems_need_a_rule(void **state)
{
    struct bind_source source = plain;

    (void)state;
    source.path = "/var/lib/docker/volumes/v/_data";
    source.opaque = "/var/lib/docker/volumes/v/_data";
    source.type = "ext4";
    assert_contains(judged(&source, "").message,
                    "/var/lib/docker/volumes/v/_data is a ext4 file system that was mounted for");
}

/* Each mount below a source is judged by its own source. */
static void test_what_is_mounted_below(void **state)
{
    static const struct {
        struct bind_below below;
        enum plan_verdict verdict;
    } rows[] = {
        {{.path = "/home/alice/x/y"}, PLAN_KEPT},
        {{.path = "/srv/rw"}, PLAN_KEPT},
        {{.path = "/srv"}, PLAN_DOWNGRADED},
        {{.path = "/etc"}, PLAN_DOWNGRADED},
        {{.path = "/home/alice/secret"}, PLAN_DOWNGRADED},
        {{.path = "/home/alice/x/y", .opaque = "/home/alice/x/y"}, PLAN_DOWNGRADED},
    };
    static const char options[] = "\"rbind\",\"rprivate\",\"nosuid\",\"nodev\"";

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct bind_below below[] = {{.path = "/home/alice/x/a"}, rows[i].below};
        struct bind_source source = plain;
        source.below = below;
        source.below_count = 2;
        struct result r = judged(&source, options);
        if (r.verdict != rows[i].verdict)
            fail_msg("%s: %d, %s", rows[i].below.path, r.verdict, r.reason);
        source.unsteady = true;
        assert_contains(judged(&source, options).reason,
                        r.verdict == PLAN_KEPT ? "allowed" : "allowed, without some");
    }
}

/* A rule for the mounts of engines does not allow their other files. */
static void test_an_engines_state_needs_a_rule_of_its_own(void **state)
{
    struct bind_source source = plain;

    (void)state;
    source.path = "/var/lib/docker/volumes/metadata.db";
    source.state = "/var/lib/docker/volumes";
    assert_contains(
        judged(&source, "").message,
        "/var/lib/docker/volumes/metadata.db is an engine's own state, and needs a rule "
        "that names it");
    source.path = "/srv/rw/x";
    source.state = "/srv";
    assert_int_equal(judged(&source, "").verdict, PLAN_KEPT);
}

static void test_null_is_harmless(void **state)
{
    struct bind_source source = plain;

    (void)state;
    source.path = "/dev/null";
    source.null_device = true;
    assert_int_equal(judged(&source, "\"rbind\"").verdict, PLAN_KEPT);
}

static void test_an_engines_init(void **state)
{
    struct bind_source source = plain;

    (void)state;
    source.path = "/usr/bin/tini-static";
    source.init = true;
    assert_int_equal(judged(&source, "\"bind\",\"ro\"").verdict, PLAN_KEPT);
    assert_int_equal(judged(&source, "\"bind\"").verdict, PLAN_DENIED);
}

static void test_what_cannot_be_looked_at_is_denied(void **state)
{
    static const struct bind_source gone = {.judged = true, .problem = "it is gone"};

    (void)state;
    struct result r = judged(&gone, "");
    assert_int_equal(r.verdict, PLAN_DENIED);
    assert_contains(r.message, "it is gone");
}

static void test_access(void **state)
{
    static const char own[] = "\"binds\":{\"require_access\":true,\"rules\":["
                              "{\"path\":\"/v\",\"access\":\"allow\",\"require_access\":false}]}";
    static const char mount[] = "{\"destination\":\"/x\",\"source\":\"/s\",\"options\":[\"bind\"]}";
    static const struct {
        bool readable, writable, engine;
        const char *path, *nobody;
        enum plan_verdict verdict;
    } rows[] = {
        {true, true, false, "/a", NULL, PLAN_KEPT},
        {true, false, false, "/a", NULL, PLAN_DOWNGRADED},
        {false, true, false, "/a", NULL, PLAN_DENIED},
        {false, false, true, "/a", NULL, PLAN_KEPT},
        {false, false, false, "/v/x", NULL, PLAN_KEPT},
        {true, true, false, "/a", "unknown", PLAN_DENIED},
        {true, true, false, "/v", "unknown", PLAN_KEPT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct bind_source source = plain;
        struct bind_facts facts = {.sources = &source, .nobody = rows[i].nobody};
        struct result r;
        source.path = rows[i].path;
        source.readable = rows[i].readable;
        source.writable = rows[i].writable;
        source.engine = rows[i].engine;
        judge_with(own, &facts, mount, &r);
        if (r.verdict != rows[i].verdict)
            fail_msg("row %zu: %d, %s", i, r.verdict, r.reason);
        free(r.config);
    }
}

static void test_a_strict_rule_that_cannot_be_placed_denies(void **state)
{
    static const char own[] =
        "\"binds\":{\"rules\":[{\"path\":\"/{project}\",\"access\":\"deny\"}]}";
    struct bind_rule_path unknown = {.problem = "no value for {project}"};
    struct bind_source source = plain;
    struct bind_facts facts = {.sources = &source, .rules = &unknown};
    struct result r;

    (void)state;
    judge_with(own, &facts, "{\"destination\":\"/x\",\"source\":\"/s\",\"options\":[\"bind\"]}",
               &r);
    assert_int_equal(r.verdict, PLAN_DENIED);
    assert_contains(r.message, "no value for {project}");
    free(r.config);
}

UNIT_SUITE(test_binds)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_longest_path_wins),
        cmocka_unit_test(test_refusals_say_what_to_do),
        cmocka_unit_test(test_within_an_allowed_directory_stricter_rules_count),
        cmocka_unit_test(test_edits),
        cmocka_unit_test(test_a_volume_with_more_access_is_the_users),
        cmocka_unit_test(test_overlays_hide_what_they_show),
        cmocka_unit_test(test_volumes_own_file_systems_need_a_rule),
        cmocka_unit_test(test_what_is_mounted_below),
        cmocka_unit_test(test_an_engines_state_needs_a_rule_of_its_own),
        cmocka_unit_test(test_null_is_harmless),
        cmocka_unit_test(test_an_engines_init),
        cmocka_unit_test(test_what_cannot_be_looked_at_is_denied),
        cmocka_unit_test(test_access),
        cmocka_unit_test(test_a_strict_rule_that_cannot_be_placed_denies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
