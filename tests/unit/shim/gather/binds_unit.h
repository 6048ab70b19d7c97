/* Judges a mount of a user's, as values: facts about its source × rules → verdict and edit. */
#ifndef TEST_BINDS_UNIT_H
#define TEST_BINDS_UNIT_H

#include "tests/unit/lib/shim_unit.h"

#include "shim/apply/apply.h"

static const char policy_text[] =
    "\"volumes\":{\"data\":{\"source\":\"/srv/{name}\",\"target\":\"/d/{name}\"}},"
    "\"binds\":{\"default\":\"deny\",\"targets_deny\":[\"/\",\"/proc\",\"/dev\",\"/etc/"
    "ld.so.preload\"],"
    "\"rules\":[{\"path\":\"/home/alice\",\"access\":\"allow\",\"options\":[\"nosuid\",\"nodev\"]},"
    "{\"path\":\"/home/alice/secret\",\"access\":\"deny\",\"say\":\"it is secret\"},"
    "{\"path\":\"/srv\",\"access\":\"ro\"},{\"path\":\"/srv/rw\",\"access\":\"allow\"},"
    "{\"path\":\"/run/docker.sock\",\"access\":\"deny\",\"say\":\"it is root\"},"
    "{\"path\":\"/var/lib/docker/volumes\",\"access\":\"allow\",\"require_access\":false}]}";

#define PLAIN "/home/alice/x"
static const struct bind_source plain = {
    .judged = true, .path = PLAIN, .found = PLAIN, .readable = true, .writable = true};

struct result {
    enum plan_verdict verdict;
    bool any;
    char reason[512];
    char message[1024]; /* of decision_check */
    char *config;       /* after the edit */
};

static inline struct bind_rule_path *rules_of(const struct policy *policy, struct arena *arena)
{
    struct bind_rule_path *rules = arena_alloc(arena, 32 * sizeof(*rules));

    assert_non_null(rules);
    for (size_t i = 0; i < policy->binds.rule_count; i++)
        rules[i].path = policy->binds.rules[i].path.text;
    return rules;
}

static inline void judge_with(const char *sections, struct bind_facts *facts, const char *mount,
                              struct result *out)
{
    _cleanup_arena_ struct arena arena = {0};
    _cleanup_policy_ struct policy *policy = shim_policy(sections);
    _cleanup_free_ char *config = strf("{\"mounts\":[%s]}", mount);
    _cleanup_json_ struct json_doc *doc = shim_document(config);
    struct requests requests = {0};
    struct err err = ERR_INIT;
    struct buf text = BUF_INIT;
    struct spec spec;
    struct plan plan;
    struct decision decision;

    if (!facts->rules)
        facts->rules = rules_of(policy, &arena);
    assert_works(spec_read(doc, &arena, &spec, &err), err);
    struct plan_input in = {.policy = policy, .requests = &requests, .spec = &spec, .binds = facts};
    assert_works(plan_make(&in, &arena, &plan, &err), err);
    assert_works(decision_begin(&plan, &arena, &decision, &err), err);
    *out = (struct result){.any = plan.count > 0};
    if (plan.count) {
        assert_int_equal(plan.ops[0].kind, PLAN_BIND);
        out->verdict = plan.ops[0].verdict;
        snprintf(out->reason, sizeof(out->reason), "%s", plan.ops[0].reason);
    }
    if (decision_check(&decision, &err) < 0)
        snprintf(out->message, sizeof(out->message), "%s", err.msg);
    assert_works(apply_decision(&decision, doc, &spec, &err), err);
    assert_int_equal(decision_changes(&decision), json_modified(doc));
    assert_works(json_write(doc, &text, &err), err);
    out->config = buf_take(&text, &err);
}

#endif
