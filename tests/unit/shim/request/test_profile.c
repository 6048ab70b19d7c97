/* Profiles: the one that applies to a container, and its overrides. */
#include "tests/unit/lib/shim_unit.h"

#include "shim/policy/template.h"
#include "shim/request/profile.h"

struct fixture {
    struct arena arena;
    struct policy *policy;
    struct json_doc *doc;
    struct spec spec;
    struct requests requests;
    struct profile_choice choice;
};

static int setup(void **state)
{
    *state = calloc(1, sizeof(struct fixture));
    return *state ? 0 : -1;
}

static void forget(struct fixture *f)
{
    if (f->policy)
        policy_free(f->policy);
    if (f->doc)
        json_free(f->doc);
    arena_free(&f->arena);
    *f = (struct fixture){0};
}

static int teardown(void **state)
{
    forget(*state);
    free(*state);
    return 0;
}

static void choose(struct fixture *f, const char *sections, const char *config)
{
    struct err err = ERR_INIT;

    forget(f);
    f->policy = shim_policy(sections);
    f->doc = shim_document(config);
    assert_works(spec_read(f->doc, &f->arena, &f->spec, &err), err);
    assert_works(requests_read(f->policy, &f->spec, &f->arena, &f->requests, &err), err);
    assert_works(profile_choose(f->policy, &f->spec, &f->requests, &f->arena, &f->choice, &err),
                 err);
}

static const char *chosen(const struct fixture *f)
{
    return f->choice.profile ? f->choice.profile->name : "none";
}

/* ---- matching ---- */

#define IDENTITY "\"identity\":[\"process\"],"
#define ONE(match)                                                                                 \
    IDENTITY "\"profiles\":[{\"name\":\"p\",\"match\":{" match "}},"                               \
             "{\"name\":\"rest\",\"match\":{}}]"
#define USER(uid)       "\"process\":{\"user\":{\"uid\":" #uid ",\"gid\":0}}"
#define NOTES(text)     "\"annotations\":{" text "}"
#define IMAGE(name)     NOTES("\"io.kubernetes.cri.image-name\":\"" name "\"")
#define NAMESPACE(name) NOTES("\"io.kubernetes.cri.sandbox-namespace\":\"" name "\"")

static const struct {
    const char *policy, *config, *name;
} matches[] = {
    {ONE("\"image\":[\"*jupyter*\"]"), "{" IMAGE("docker.io/jupyter/base:1") "}", "p"},
    {ONE("\"image\":[\"x\",\"docker.io/*/base:*\"]"), "{" IMAGE("docker.io/a/b/base:1") "}", "p"},
    {ONE("\"image\":[\"docker.io_jupyter_base_1\"]"), "{" IMAGE("docker.io/jupyter/base:1") "}",
     "p"},
    {ONE("\"image\":[\"jupyter\"]"), "{" IMAGE("docker.io/jupyter/base:1") "}", "rest"},
    {ONE("\"image\":[\"*\"]"), "{}", "rest"},
    {ONE("\"namespace\":[\"team-*\"]"), "{" NAMESPACE("team-a") "}", "p"},
    {ONE("\"namespace\":[\"team-*\"]"), "{" NAMESPACE("kube-system") "}", "rest"},
    {ONE("\"namespace\":[\"*\"]"), "{}", "rest"},
    {ONE("\"uid\":[\"1000-59999\"]"), "{" USER(1000) "}", "p"},
    {ONE("\"uid\":[\"1000-59999\"]"), "{" USER(59999) "}", "p"},
    {ONE("\"uid\":[\"1000-59999\"]"), "{" USER(60000) "}", "rest"},
    {ONE("\"uid\":[\"1000-59999\"]"), "{" USER(999) "}", "rest"},
    {ONE("\"uid\":[\"7\",\"0\"]"), "{" USER(0) "}", "p"},
    /* the owner is unknown */
    {ONE("\"uid\":[\"0-4294967294\"]"), "{}", "rest"},
    {ONE("\"uid\":[\"0-4294967294\"]"),
     "{" USER(1) ",\"linux\":{\"namespaces\":[{\"type\":\"user\",\"path\":\"/x\"}]}}", "rest"},
    /* through the mapping */
    {ONE("\"uid\":[\"100007\"]"),
     "{" USER(7) ",\"linux\":{\"namespaces\":[{\"type\":\"user\"}],\"uidMappings\":[{"
                 "\"containerID\":0,\"hostID\":100000,\"size\":100}],"
                 "\"gidMappings\":[{\"containerID\":0,\"hostID\":100000,\"size\":100}]}}",
     "p"},
    {ONE("\"annotation\":{\"a.b\":\"x*\",\"c\":[\"1\",\"2\"]}"),
     "{" NOTES("\"a.b\":\"xy\",\"c\":\"2\"") "}", "p"},
    {ONE("\"annotation\":{\"a.b\":\"x*\",\"c\":[\"1\",\"2\"]}"),
     "{" NOTES("\"a.b\":\"xy\",\"c\":\"3\"") "}", "rest"},
    {ONE("\"annotation\":{\"a.b\":\"*\"}"), "{}", "rest"},
    /* all of them */
    {ONE("\"uid\":[\"0\"],\"image\":[\"a\"]"), "{" USER(0) "," IMAGE("a") "}", "p"},
    {ONE("\"uid\":[\"0\"],\"image\":[\"a\"]"), "{" USER(1) "," IMAGE("a") "}", "rest"},
    {ONE("\"uid\":[\"0\"],\"image\":[\"a\"]"), "{" USER(0) "," IMAGE("b") "}", "rest"},
    /* the first */
    {"\"profiles\":[{\"name\":\"a\",\"match\":{}},{\"name\":\"b\",\"match\":{}}]", "{}", "a"},
    {"\"profiles\":[]", "{}", "none"},
    /* a flatbed annotation that only a profile has */
    {ONE("\"annotation\":{\"flatbed.team\":\"x\"}"), "{" NOTES("\"flatbed.team\":\"x\"") "}", "p"},
};

static void test_matching(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(matches) / sizeof(*matches); i++) {
        choose(f, matches[i].policy, matches[i].config);
        if (strcmp(chosen(f), matches[i].name) != 0)
            fail_msg("%s under %s: '%s'", matches[i].config, matches[i].policy, chosen(f));
        assert_null(f->choice.problem);
        assert_int_equal(f->requests.count, 0);
    }
}

/* An identity that cannot be looked up decides nothing: the launch is denied. */
static void test_unknown_identity(void **state)
{
    static const char policy[] = "\"identity\":[\"annotation:who\"],\"profiles\":["
                                 "{\"name\":\"p\",\"match\":{\"uid\":[\"1-5\"],\"image\":[\"a\"]}},"
                                 "{\"name\":\"rest\",\"match\":{}}]";
    struct fixture *f = *state;

    choose(f, policy,
           "{" NOTES("\"who\":\"no-such-user-here\",\"io.kubernetes.cri.image-name\":"
                     "\"a\"") "}");
    assert_string_equal(chosen(f), "none");
    assert_contains(f->choice.problem, "depends on whose container it is: who: there is no user");
    choose(f, policy,
           "{" NOTES("\"who\":\"no-such-user-here\",\"io.kubernetes.cri.image-name\":"
                     "\"b\"") "}");
    assert_string_equal(chosen(f), "rest"); /* the owner is not looked up */
    assert_null(f->choice.problem);
}

/* ---- asking ---- */

#define ASKING                                                                                     \
    IDENTITY "\"requests\":[\"annotations\",\"mounts\",\"environment\"],\"profiles\":["            \
             "{\"name\":\"strict\",\"match\":{\"uid\":[\"5\"]}},"                                  \
             "{\"name\":\"p\",\"match\":{\"annotation\":{\"flatbed.profile\":\"inter*\"},"         \
             "\"uid\":[\"0-9\"]}},{\"name\":\"q\",\"match\":{\"annotation\":"                      \
             "{\"flatbed.profile\":[\"big\",\"huge\"]}}}]"

static const struct {
    const char *config, *name, *problem;
} asked[] = {
    {"{" USER(1) "," NOTES("\"flatbed.profile\":\"interactive\"") "}", "p", NULL},
    {"{" USER(1) "," NOTES("\"flatbed.profile\":\"huge\"") "}", "q", NULL},
    {"{" USER(1) "}", "none", NULL},
    {"{\"process\":{\"user\":{\"uid\":1,\"gid\":1},\"env\":[\"FLATBED_PROFILE=big\"]}}", "q", NULL},
    {"{\"mounts\":[{\"destination\":\"/run/flatbed/request/profile/big\",\"type\":\"bind\","
     "\"source\":\"/dev/null\"}]}",
     "q", NULL},
    /* a carrier before the environment wins */
    {"{\"process\":{\"user\":{\"uid\":1,\"gid\":1},\"env\":[\"FLATBED_PROFILE=big\"]},"
     "\"annotations\":{\"flatbed.profile\":\"inter\"}}",
     "p", NULL},
    {"{" USER(1) "," NOTES("\"flatbed.profile\":\"bigger\"") "}", "none",
     "the profile 'bigger' cannot be requested here; those that can: inter*, big, huge"},
    {"{" USER(10) "," NOTES("\"flatbed.profile\":\"interactive\"") "}", "none",
     "the profile 'interactive' is not for this container"},
    {"{" USER(5) "," NOTES("\"flatbed.profile\":\"big\"") "}", "strict",
     "the profile 'big' is not to be had: 'strict' comes first"},
    {"{" USER(5) "}", "strict", NULL},
};

static void test_asking(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
        choose(f, ASKING, asked[i].config);
        if (strcmp(chosen(f), asked[i].name) != 0 || !f->choice.problem != !asked[i].problem)
            fail_msg("%s: '%s', %s", asked[i].config, chosen(f), f->choice.problem);
        if (asked[i].problem)
            assert_contains(f->choice.problem, asked[i].problem);
    }
}

static void test_none_offered(void **state)
{
    struct fixture *f = *state;

    choose(f, "", "{" NOTES("\"flatbed.profile\":\"x\"") "}");
    assert_string_equal(f->choice.problem,
                        "the profile 'x' cannot be requested here; those that can: none");
    assert_string_equal(f->choice.problem_key, "flatbed.profile");
}

/* Annotations choose no profile if "requests" does not list them. */
static void test_unheard(void **state)
{
    struct fixture *f = *state;

    choose(f,
           "\"requests\":[],\"profiles\":[{\"name\":\"p\",\"match\":"
           "{\"annotation\":{\"flatbed.profile\":\"x\"}}}]",
           "{" NOTES("\"flatbed.profile\":\"x\"") "}");
    assert_string_equal(chosen(f), "none");
    assert_null(f->choice.problem);
}

/* ---- overriding ---- */

static const char overriding[] =
    "\"opt_out\":[\"mounts\"],\"volumes\":{\"a\":{\"source\":\"/a\",\"target\":\"/ta\","
    "\"always\":true,\"env\":{\"X\":\"1\",\"Y\":\"2\"}},"
    "\"b\":{\"source\":\"/b\",\"target\":\"/tb\"}},"
    "\"binds\":{\"default\":\"deny\",\"require_access\":true},"
    "\"security\":{\"privileged\":\"deny\",\"hooks\":\"deny\"},"
    "\"audit\":{\"file\":\"/var/log/a\",\"keep\":9},"
    "\"profiles\":[{\"name\":\"p\",\"match\":{},\"mode\":\"permissive\",\"opt_out\":[],"
    "\"volumes\":{\"a\":{\"always\":false,\"env\":{\"Y\":\"3\"}},"
    "\"c\":{\"source\":\"/c/{user}\",\"target\":\"/tc\"}},"
    "\"binds\":{\"default\":\"allow\"},\"security\":{\"hooks\":\"keep\"},"
    "\"audit\":{\"syslog\":true}},{\"name\":\"q\",\"match\":{}}]";

static void test_overrides_merge(void **state)
{
    _cleanup_policy_ struct policy *base = shim_policy(overriding);
    const struct policy *p = base->profiles[0].policy;
    const struct policy_volume *a = policy_volume_find(p, "a", 1);

    (void)state;
    assert_int_equal(p->mode, POLICY_PERMISSIVE);
    assert_int_equal(p->opt_out, 0);
    assert_int_equal(p->volume_count, 3);
    assert_string_equal(a->source.text, "/a");
    assert_false(a->always);
    assert_int_equal(a->env_count, 2);
    assert_string_equal(a->env[1].value.text, "3");
    assert_int_equal(p->binds.fallback, BIND_ALLOW);
    assert_true(p->binds.require_access);
    assert_true(p->security.privileged.deny);
    assert_false(p->security.hooks.deny);
    assert_string_equal(p->audit.file.text, "/var/log/a");
    assert_int_equal(p->audit.keep, 9);
    assert_true(p->audit.syslog);
    assert_true(p->vars & 1u << VAR_USER);
}

/* The settings of one profile do not change the policy or another profile. */
static void test_overrides_stay_inside(void **state)
{
    _cleanup_policy_ struct policy *base = shim_policy(overriding);
    const struct policy *all[] = {base, base->profiles[1].policy};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct policy_volume *a = policy_volume_find(all[i], "a", 1);
        assert_int_equal(all[i]->mode, POLICY_ENFORCE);
        assert_int_equal(all[i]->opt_out, 1u << OPT_OUT_MOUNTS);
        assert_int_equal(all[i]->volume_count, 2);
        assert_true(a->always);
        assert_string_equal(a->env[1].value.text, "2");
        assert_int_equal(all[i]->binds.fallback, BIND_DENY);
        assert_true(all[i]->security.hooks.deny);
        assert_false(all[i]->audit.syslog);
        assert_false(all[i]->vars & 1u << VAR_USER);
    }
}

/* The profiles of a later file replace those of an earlier one, and override all files. */
static void test_later_file(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_policy_ struct policy *p = policy_new(&err);

    (void)state;
    assert_works(shim_add_text(p, "a.json",
                               "{\"version\":1,\"profiles\":[{\"name\":\"old\",\"match\":{}}]}",
                               &err),
                 err);
    assert_works(shim_add_text(p, "b.json",
                               "{\"version\":1,\"profiles\":[{\"name\":\"new\",\"match\":{},"
                               "\"binds\":{\"default\":\"ro\"}}]}",
                               &err),
                 err);
    assert_works(shim_add_text(p, "c.json",
                               "{\"version\":1,\"binds\":{\"default\":\"deny\","
                               "\"require_access\":true}}",
                               &err),
                 err);
    assert_works(policy_decode(p, &err), err);
    assert_int_equal(p->profile_count, 1);
    assert_string_equal(p->profiles[0].name, "new");
    assert_int_equal(p->profiles[0].policy->binds.fallback, BIND_RO);
    assert_true(p->profiles[0].policy->binds.require_access);
}

/* ---- what is no profile ---- */

#define PROFILE(text) "{\"version\":1,\n\"profiles\":[{" text "}]}"
#define NAMED(text)   PROFILE("\"name\":\"p\",\"match\":{}," text)
#define MATCH(text)   PROFILE("\"name\":\"p\",\"match\":{" text "}")

static const struct shim_wrong wrongs[] = {
    {"{\"version\":1,\"profiles\":{}}", "expected an array, not an object"},
    {"{\"version\":1,\"profiles\":[1]}", "p.json:1:26: expected an object, not a number"},
    {PROFILE("\"match\":{}"), "p.json:2:13: there is no \"name\""},
    {PROFILE("\"name\":\"p\""), "p.json:2:13: there is no \"match\""},
    {PROFILE("\"name\":\"a b\",\"match\":{}"), "'a b' cannot be the name of a profile"},
    {PROFILE("\"name\":\"p\",\"match\":{}},{\"name\":\"p\",\"match\":{}"),
     "there is a profile 'p' already"},
    {NAMED("\"runtime\":{}"),
     "p.json:2:36: \"runtime\" cannot be in a profile: it holds for all containers"},
    {NAMED("\"version\":1"), "\"version\" cannot be in a profile"},
    {NAMED("\"requests\":[]"), "\"requests\" cannot be in a profile"},
    {NAMED("\"identity\":[]"), "\"identity\" cannot be in a profile"},
    {NAMED("\"profiles\":[]"), "\"profiles\" cannot be in a profile"},
    {NAMED("\"volums\":{}"), "p.json:2:36: unknown key \"volums\"; did you mean \"volumes\"?"},
    {NAMED("\"mode\\u0000x\":\"off\""), "p.json:2:36: the key \"mode...\" has a NUL byte"},
    {NAMED("\"audit\\u0000\":{}"), "the key \"audit...\" has a NUL byte"},
    {PROFILE("\"name\\u0000\":\"p\",\"match\":{}"), "the key \"name...\" has a NUL byte"},
    {PROFILE("\"name\":\"p\",\"match\\u0000\":{}"), "the key \"match...\" has a NUL byte"},
    {NAMED("\"version\\u0000\":1"), "the key \"version...\" has a NUL byte"},
    {NAMED("\"mode\":\"of\""), "expected one of enforce, permissive, off"},
    {NAMED("\"audit\":{\"keep\":\"4\"}"), "p.json:2:52: expected a number, not a string"},
    {NAMED("\"binds\":{\"default\":\"no\"}"), "p.json:2:55: 'no': expected one of allow, ro, deny"},
    {NAMED("\"volumes\":{\"n\":{\"source\":\"/s\"}}"), "volumes.n: there is no \"target\""},
    {MATCH("\"images\":[]"), "unknown key \"images\"; did you mean \"image\"?"},
    {MATCH("\"image\":[]"), "p.json:2:42: an empty list matches nothing"},
    {MATCH("\"image\":\"x\""), "expected an array, not a string"},
    {MATCH("\"uid\":[1000]"), "expected a string, not a number"},
    {MATCH("\"uid\":[\"9-8\"]"), "p.json:2:41: '9-8': expected a uid or a range"},
    {MATCH("\"uid\":[\"-1\"]"), "expected a uid or a range"},
    {MATCH("\"uid\":[\"4294967295\"]"), "expected a uid or a range"},
    {MATCH("\"uid\":[\"1-2-3\"]"), "expected a uid or a range"},
    {MATCH("\"uid\":[\"alice\"]"), "expected a uid or a range"},
    {MATCH("\"annotation\":{}"), "no annotation is named"},
    {MATCH("\"annotation\":{\"a\":1}"), "expected a string, not a number"},
    {MATCH("\"annotation\":{\"a\":[]}"), "an empty list matches nothing"},
};

static void test_errors_point_at_their_place(void **state)
{
    (void)state;
    shim_assert_wrong(wrongs, sizeof(wrongs) / sizeof(*wrongs));
}

UNIT_SUITE(test_profile)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_matching, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unknown_identity, setup, teardown),
        cmocka_unit_test_setup_teardown(test_asking, setup, teardown),
        cmocka_unit_test_setup_teardown(test_none_offered, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unheard, setup, teardown),
        cmocka_unit_test(test_overrides_merge),
        cmocka_unit_test(test_overrides_stay_inside),
        cmocka_unit_test(test_later_file),
        cmocka_unit_test(test_errors_point_at_their_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
