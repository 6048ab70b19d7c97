/* The policy as values: accepted texts, and refusals with their places. */
#include "tests/unit/lib/shim_unit.h"

#include "shim/policy/template.h"

static void test_defaults(void **state)
{
    _cleanup_policy_ struct policy *p = shim_policy("");

    (void)state;
    assert_int_equal(p->mode, POLICY_ENFORCE);
    assert_int_equal(p->flavor, FLAVOR_UNKNOWN);
    assert_false(p->runtime_paths.given);
    assert_int_equal(p->carrier_count, 2);
    assert_int_equal(p->carriers[0], CARRIER_ANNOTATIONS);
    assert_int_equal(p->carriers[1], CARRIER_MOUNTS);
    assert_int_equal(p->volume_count, 0);
}

static void test_everything(void **state)
{
    _cleanup_policy_ struct policy *p = shim_policy(
        "\"mode\":\"permissive\","
        "\"runtime\":{\"paths\":[\"/opt/runc\",\"crun\"],\"flavor\":\"crun\"},"
        "\"requests\":[],\"identity\":[\"annotation:x.user\",\"process\"],"
        "\"volumes\":{\"cache\":{\"source\":\"/c/{user}/{name}\",\"target\":\"/k/{name}\","
        "\"access\":\"rw\",\"names\":[\"a*\"],\"always\":[\"torch\",\"pip\"],"
        "\"optional\":true,\"wait\":7,\"idmap\":\"ask\",\"create\":{\"mode\":\"02750\",\"owner\":"
        "\"7:8\"},"
        "\"options\":[\"noexec\",\"rro\"],\"env\":{\"X_1\":\"{target}/x\"},"
        "\"presets\":[\"torch\"]}}");
    const struct policy_volume *v = policy_volume_find(p, "cache", 5);

    (void)state;
    assert_int_equal(p->mode, POLICY_PERMISSIVE);
    assert_int_equal(p->flavor, FLAVOR_CRUN);
    assert_string_equal(p->runtime_paths.items[1], "crun");
    assert_int_equal(p->carrier_count, 0);
    assert_int_equal(p->identity.count, 2);
    assert_non_null(v);
    assert_int_equal(v->access, ACCESS_RW);
    assert_true(v->always);
    assert_string_equal(v->always_names.items[1], "pip");
    assert_true(v->optional);
    assert_int_equal(v->wait, 7);
    assert_int_equal(v->idmap, IDMAP_ASK);
    assert_int_equal(v->create.mode, 02750);
    assert_int_equal(v->create.owner, OWNER_FIXED);
    assert_int_equal(v->create.uid, 7);
    assert_int_equal(v->create.gid, 8);
    assert_string_equal(v->env[0].name, "X_1");
    assert_true(p->vars & 1u << VAR_USER);
    assert_true(p->vars & 1u << VAR_TARGET);
    assert_false(p->vars & 1u << VAR_PROJECT);
    assert_null(policy_volume_find(p, "cach", 4));
}

static const struct policy_bind_rule *rule_of(const struct policy *p, const char *path)
{
    const struct policy_bind_rule *found = NULL;

    for (size_t i = 0; i < p->binds.rule_count; i++)
        if (strcmp(p->binds.rules[i].path.text, path) == 0) {
            assert_null(found); /* a path has one rule */
            found = &p->binds.rules[i];
        }
    return found;
}

static void test_a_preset(void **state)
{
    _cleanup_policy_ struct policy *p = shim_policy(
        "\n\"security\":{\"preset\":\"shared-lab\"},\n\"binds\":{\"preset\":\"shared-lab\"}");

    (void)state;
    assert_true(p->security.privileged.deny);
    assert_true(p->security.root.deny);
    assert_true(p->security.privileges.deny);
    assert_true(p->security.unfiltered.deny);
    assert_true(p->security.system_paths.deny);
    assert_true(p->security.realtime.deny);
    assert_true(p->security.devices.given);
    assert_int_equal(p->security.devices.count, 0);
    assert_int_equal(p->security.host_namespaces, 0);
    assert_int_equal(p->security.max.set, 1u << 10); /* CAP_NET_BIND_SERVICE */
    assert_int_equal(p->binds.fallback, BIND_DENY);
    assert_true(p->binds.require_access);
    assert_int_equal(rule_of(p, "/run/docker.sock")->access, BIND_DENY);
    assert_true(p->binds.named_volumes.named_volumes);
    /* all of it is decided where the policy names the preset */
    unsigned line, column;
    assert_ptr_equal(p->security.privileged.place.file, &p->files[0]);
    json_position(p->files[0].doc, p->security.privileged.place.offset, &line, &column);
    assert_int_equal(line, 2);
    json_position(p->files[0].doc, rule_of(p, "/run/podman")->place.offset, &line, &column);
    assert_int_equal(line, 3);
}

/* A preset is read before the keys beside it, whatever their order; lists replace its lists. */
static void test_keys_beside_a_preset(void **state)
{
    _cleanup_policy_ struct policy *p =
        shim_policy("\"security\":{\"devices\":{\"allow\":[\"/dev/x\"]},\"preset\":\"shared-lab\","
                    "\"user\":{\"say\":\"ask\"}},"
                    "\"binds\":{\"rules\":[{\"path\":\"/srv\",\"access\":\"ro\"},"
                    "{\"path\":\"/run/podman\",\"access\":\"allow\"}],"
                    "\"preset\":\"shared-lab\",\"default\":\"ro\",\"named_volumes\":\"ro\"},"
                    "\"profiles\":[{\"name\":\"a\",\"match\":{},"
                    "\"binds\":{\"rules\":[{\"path\":\"/x\",\"access\":\"allow\"}]},"
                    "\"security\":{\"privileged\":\"allow\"}}]");
    const struct policy *profile = p->profiles[0].policy;

    (void)state;
    assert_int_equal(p->security.devices.count, 1);
    assert_true(p->security.root.deny);
    assert_string_equal(p->security.root_say, "ask");
    assert_int_equal(p->binds.fallback, BIND_RO);
    assert_int_equal(rule_of(p, "/srv")->access, BIND_RO);
    assert_int_equal(rule_of(p, "/run/podman")->access, BIND_ALLOW);
    assert_int_equal(rule_of(p, "/run/docker.sock")->access, BIND_DENY);
    assert_int_equal(p->binds.named_volumes.access, BIND_RO);
    assert_false(profile->security.privileged.deny);
    assert_true(profile->security.root.deny);
    assert_null(rule_of(profile, "/srv"));
    assert_int_equal(rule_of(profile, "/x")->access, BIND_ALLOW);
    assert_int_equal(rule_of(profile, "/run/podman")->access, BIND_DENY);
}

static void test_a_preset_in_a_profile_or_a_later_file(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_policy_ struct policy *p = policy_new(&err);

    (void)state;
    assert_non_null(p);
    assert_works(
        shim_add_text(p, "a", "{\"version\":1,\"security\":{\"privileged\":\"allow\"}}", &err),
        err);
    assert_works(
        shim_add_text(
            p, "b",
            "{\"version\":1,\"security\":{\"preset\":\"shared-lab\"},\"profiles\":[{\"name\":"
            "\"a\",\"match\":{},\"binds\":{\"preset\":\"shared-lab\"}}]}",
            &err),
        err);
    assert_works(policy_decode(p, &err), err);
    assert_true(p->security.privileged.deny);
    assert_false(p->binds.given);
    assert_non_null(rule_of(p->profiles[0].policy, "/run/docker.sock"));
}

#define VOLUME(text) "{\"version\":1,\"volumes\":{\"d\":{" text "}}}"

#define AUDIT(text) "{\"version\":1,\"audit\":{" text "}}"

static const struct shim_wrong wrongs[] = {
    {"[]", "p.json:1:1: expected an object, not an array"},
    {"{}", "p.json:1:1: there is no \"version\": 1"},
    {"{\"version\":2}", "p.json:1:12: version 2"},
    {"{\"version\":\"1\"}", "p.json:1:12: expected a number, not a string"},
    {"{\"version\":1,\n  \"volums\":{}}",
     "p.json:2:3: unknown key \"volums\"; did you mean \"volumes\"?"},
    {"{\"version\":1,\"mode\\u0000x\":\"off\"}", "p.json:1:14: the key \"mode...\" has a NUL byte"},
    {"{\"version\":1,\"security\":{\"hooks\\u0000\":\"deny\"}}",
     "the key \"hooks...\" has a NUL byte"},
    {"{\"version\":1,\"zzz\":{}}", "p.json:1:14: unknown key \"zzz\""},
    {"{\"version\":1,\"mode\":\"enforced\"}",
     "p.json:1:21: 'enforced': expected one of enforce, permissive, off"},
    {"{\"version\":1,\"opt_out\":[\"binds\"]}", "1:25: 'binds': expected one of mounts, tuning"},
    {"{\"version\":1,\"opt_out\":\"mounts\"}", "expected an array, not a string"},
    {"{\"version\":1,\"security\":{\"preset\":\"shared\"}}",
     "p.json:1:35: 'shared': expected one of shared-lab"},
    {"{\"version\":1,\"binds\":{\"preset\":true}}", "p.json:1:32: expected a string"},
    {"{\"version\":1,\"binds\":{\"named_volumes\":\"rw\"}}", "expected one of allow, ro, deny"},
    {AUDIT("\"file\":\"a.jsonl\""), "p.json:1:30: 'a.jsonl' is not a clean absolute path"},
    {AUDIT("\"metrics\":\"/\""), "'/' is not a clean absolute path"},
    {AUDIT("\"syslog\":\"yes\""), "expected true or false, not a string"},
    {AUDIT("\"max_size\":\"64 MB\""), "'64 MB': expected bytes such as \"64m\""},
    {AUDIT("\"max_size\":\"4095\""), "at least \"4k\""},
    {AUDIT("\"max_size\":\"99999999999999999999g\""), "expected bytes"},
    {AUDIT("\"max_size\":\"17179869184g\""), "expected bytes"},
    {AUDIT("\"keep\":0"), "0: expected a number of files"},
    {AUDIT("\"files\":1"), "did you mean \"file\"?"},
    {AUDIT("\"alerts\":{\"upper_byte\":\"1g\"}"), "did you mean \"upper_bytes\"?"},
    {AUDIT("\"alerts\":{\"upper_bytes\":\"0\"}"), "'0': expected bytes such as \"20g\""},
    {AUDIT("\"alerts\":{\"copyup_bytes\":\"10%\"}"), "'10%': expected bytes such as \"20g\""},
    {AUDIT("\"alerts\":{\"store_free\":\"0%\"}"), "or 1 to 99 per cent"},
    {AUDIT("\"alerts\":{\"store_free\":\"100%\"}"), "or 1 to 99 per cent"},
    {AUDIT("\"alerts\":{\"start_seconds\":15}"), "need each other"},
    {AUDIT("\"alerts\":{\"ready\":\"health\"}"), "need each other"},
    {AUDIT("\"alerts\":{\"start_seconds\":0,\"ready\":\"health\"}"),
     "expected seconds, 1 to 86400"},
    {AUDIT("\"alerts\":{\"ready\":\"log\"}"), "expected \"health\", {"},
    {AUDIT("\"alerts\":{\"ready\":{\"log\":\"(\"}}"), "an extended regular expression"},
    {AUDIT("\"alerts\":{\"ready\":{\"file\":\"ready\"}}"), "not a clean absolute path"},
    {AUDIT("\"alerts\":{\"ready\":{\"file\":\"/a\",\"log\":\"b\"}}"), "expected \"health\", {"},
    {AUDIT("\"alerts\":{\"command\":[]}"), "expected a program and its arguments"},
    {AUDIT("\"alerts\":{\"command\":[\"mail\"]}"), "'mail' is not a clean absolute path"},
    {AUDIT("\"alerts\":{\"command\":\"/bin/mail\"}"), "expected an array, not a string"},
    {"{\"version\":1,\"requests\":[\"mails\"]}", "expected one of annotations"},
    {"{\"version\":1,\"requests\":[\"mounts\",\"mounts\"]}", "1:35: \"mounts\" is there already"},
    {"{\"version\":1,\"requests\":[\"environment\"],\"volumes\":{\"a-b\":{\"source\":\"/a\","
     "\"target\":\"/a\"},\"A.b\":{\"source\":\"/b\",\"target\":\"/b\"}}}",
     "p.json:1:88: volumes.A.b: to the environment it is the same name as 'a-b'"},
    {"{\"version\":1,\"identity\":[\"annotation:\"]}", "expected \"process\""},
    {"{\"version\":1,\"runtime\":{\"paths\":[]}}", "no runtime is named"},
    {"{\"version\":1,\"runtime\":{\"paths\":[\"bin/runc\"]}}", "neither absolute nor a bare name"},
    {"{\"version\":1,\"runtime\":{\"paths\":\"runc\"}}", "expected an array, not a string"},
    {"{\"version\":1,\"runtime\":{\"path\":[]}}", "did you mean \"paths\"?"},
    {"{\"version\":1,\"volumes\":[]}", "expected an object, not an array"},
    {"{\"version\":1,\"volumes\":{\"a/b\":{}}}", "cannot be the name of a class"},
    {"{\"version\":1,\"volumes\":{\"project\":{}}}", "flatbed.project means something else"},
    {VOLUME("\"target\":\"/d\""), "p.json:1:25: volumes.d: there is no \"source\""},
    {VOLUME("\"source\":\"/d\""), "there is no \"target\""},
    {VOLUME("\"source\":\"d\""), "'d' is not an absolute path"},
    {VOLUME("\"source\":\"{name}\""), "is not an absolute path"},
    {VOLUME("\"source\":\"/{nme}\""), "p.json:1:39: there is no {nme}; did you mean {name}?"},
    {VOLUME("\"source\":\"/{target}\""), "{target} cannot be used here"},
    {VOLUME("\"source\":\"\""), "an empty string"},
    {VOLUME("\"source\":\"/a\\u0000b\""), "NUL byte"},
    {VOLUME("\"access\":\"rx\""), "expected one of ro, rw"},
    {VOLUME("\"access\":true"), "expected a string, not true or false"},
    {VOLUME("\"always\":\"yes\""), "expected true, false or an array of names, not a string"},
    {VOLUME("\"always\":[\"a/b\"]"), "'a/b' cannot be a name"},
    {VOLUME("\"always\":true,\"source\":\"/{name}\",\"target\":\"/t\""), "say which names"},
    {VOLUME("\"pool\":\"p\""), "'p' is not an absolute path"},
    {VOLUME("\"pool\":\"/p/{nme}\""), "there is no {nme}"},
    {VOLUME("\"pool\":\"/p\",\"idmap\":\"ask\",\"source\":\"/s\",\"target\":\"/t\""),
     "exclude each other"},
    {VOLUME("\"idmap\":\"yes\""), "p.json:1:38: expected true, false or \"ask\""},
    {VOLUME("\"wait\":\"5s\""), "expected a number, not a string"},
    {VOLUME("\"wait\":61"), "61: expected whole seconds, 1 to 60"},
    {VOLUME("\"wait\":0"), "expected whole seconds"},
    {VOLUME("\"wait\":1.5"), "1.5: expected whole seconds"},
    {VOLUME("\"wait\":-1"), "expected whole seconds"},
    {VOLUME("\"create\":{\"mode\":493}"), "expected a string, not a number"},
    {VOLUME("\"create\":{\"mode\":\"0999\"}"), "expected an octal mode"},
    {VOLUME("\"create\":{\"owner\":\"root\"}"),
     "expected \"process\", \"identity\" or \"UID:GID\""},
    {VOLUME("\"create\":{\"owner\":\"0:4294967295\"}"), "UID:GID"},
    {VOLUME("\"create\":true"), "expected an object"},
    {VOLUME("\"options\":[\"ro\"]"), "is said by \"access\""},
    {VOLUME("\"options\":[\"size=1g\"]"), "unknown mount option 'size=1g'"},
    {VOLUME("\"env\":{\"A B\":\"x\"}"), "cannot be a variable"},
    {VOLUME("\"env\":{\"A\":\"{x}\"}"), "there is no {x}"},
    {VOLUME("\"presets\":[\"tourch\"]"), "unknown preset 'tourch'; there are torch, huggingface"},
    {VOLUME("\"presets\":[\"torch\"],\"source\":\"/s\",\"target\":\"/t\""), "need {name}"},
};

static void test_errors_point_at_their_place(void **state)
{
    (void)state;
    shim_assert_wrong(wrongs, sizeof(wrongs) / sizeof(*wrongs));
}

/* The mode and the runtime are known even if another part of the policy is wrong. */
static void test_header_survives_errors_elsewhere(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_policy_ struct policy *p = policy_new(&err);

    (void)state;
    assert_works(shim_add_text(p, "p.json",
                               "{\"version\":1,\"zzz\":1,\"mode\":\"off\","
                               "\"runtime\":{\"paths\":[\"crun\"]}}",
                               &err),
                 err);
    assert_int_equal(p->mode, POLICY_OFF);
    assert_string_equal(p->runtime_paths.items[0], "crun");
    assert_fails(policy_decode(p, &err), err, ERR_POLICY);
}

static void test_later_files_override_and_add(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_policy_ struct policy *p = policy_new(&err);

    (void)state;
    assert_works(shim_add_text(p, "a.json",
                               "{\"version\":1,\"runtime\":{\"paths\":[\"a\"],\"flavor\":\"runc\"},"
                               "\"volumes\":{\"d\":{\"source\":\"/a\",\"target\":\"/t\","
                               "\"names\":[\"x\",\"y\"],\"env\":{\"A\":\"1\",\"B\":\"1\"},"
                               "\"create\":{\"mode\":\"0750\"}}}}",
                               &err),
                 err);
    assert_works(shim_add_text(p, "b.json",
                               "{\"version\":1,\"runtime\":{\"paths\":[\"b\"]},"
                               "\"volumes\":{\"d\":{\"source\":\"/b\",\"names\":[\"z\"],"
                               "\"env\":{\"B\":\"2\",\"C\":\"2\"},\"create\":{\"owner\":\"1:1\"}},"
                               "\"e\":{\"source\":\"/e\",\"target\":\"/e\"}}}",
                               &err),
                 err);
    assert_works(policy_decode(p, &err), err);
    const struct policy_volume *d = policy_volume_find(p, "d", 1);
    assert_string_equal(p->runtime_paths.items[0], "b");
    assert_int_equal(p->flavor, FLAVOR_RUNC);
    assert_int_equal(p->volume_count, 2);
    assert_string_equal(d->source.text, "/b");
    assert_string_equal(d->target.text, "/t");
    assert_int_equal(d->names.count, 1);
    assert_int_equal(d->env_count, 3);
    assert_string_equal(d->env[1].value.text, "2");
    assert_int_equal(d->create.mode, 0750);
    assert_int_equal(d->create.owner, OWNER_FIXED);
    struct buf place = BUF_INIT;
    policy_place_print(&d->source.place, &place);
    assert_string_equal(place.data, "b.json:1");
    buf_free(&place);
}

UNIT_SUITE(test_policy)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_a_preset),
        cmocka_unit_test(test_keys_beside_a_preset),
        cmocka_unit_test(test_a_preset_in_a_profile_or_a_later_file),
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_errors_point_at_their_place),
        cmocka_unit_test(test_header_survives_errors_elsewhere),
        cmocka_unit_test(test_later_files_override_and_add),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
