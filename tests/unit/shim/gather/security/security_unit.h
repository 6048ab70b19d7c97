/* Judges a container by "security", as values: config.json × facts → verdicts and edits. */
#ifndef TEST_SECURITY_UNIT_H
#define TEST_SECURITY_UNIT_H

#include "tests/unit/lib/shim_unit.h"

#include "shim/apply/apply.h"

/* Docker's rules: all devices denied, nodes may be made, a few may be used. */
#define TAKEN "{\"allow\":false,\"access\":\"rwm\"}"
#define ORDINARY                                                                                   \
    TAKEN ",{\"allow\":true,\"type\":\"c\",\"major\":1,\"minor\":3,\"access\":\"rwm\"},"           \
          "{\"allow\":true,\"type\":\"c\",\"access\":\"m\"},"                                      \
          "{\"allow\":false,\"type\":\"c\",\"major\":10,\"minor\":229,\"access\":\"rwm\"}"
#define RULES(rules)   "\"linux\":{\"resources\":{\"devices\":[" rules "]}}"
#define ORDINARY_RULES "\"resources\":{\"devices\":[" TAKEN "]}"
#define CAPS(names)                                                                                \
    "\"process\":{\"capabilities\":{\"bounding\":[" names "],\"effective\":[" names "]}}"

struct result {
    enum plan_verdict verdict;
    size_t count;
    char message[1024]; /* of decision_check, or else the last reason */
    char *config;       /* after the edit; freed by check() */
};

static inline struct result judge(const char *security, const char *config,
                                  struct security_facts *facts)
{
    _cleanup_arena_ struct arena arena = {0};
    _cleanup_free_ char *section = strf("\"security\":{%s}", security);
    _cleanup_free_ char *text = strf("{%s}", config);
    _cleanup_policy_ struct policy *policy = shim_policy(section);
    _cleanup_json_ struct json_doc *doc = shim_document(text);
    struct requests requests = {0};
    struct result r = {0};
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;
    struct spec spec;
    struct plan plan;
    struct decision decision;

    if (!facts->let_through)
        facts->let_through = "";
    assert_works(spec_read(doc, &arena, &spec, &err), err);
    struct plan_input in = {
        .policy = policy, .requests = &requests, .spec = &spec, .security = facts};
    assert_works(plan_make(&in, &arena, &plan, &err), err);
    assert_works(decision_begin(&plan, &arena, &decision, &err), err);
    r.count = plan.count;
    if (plan.count) {
        r.verdict = plan.ops[plan.count - 1].verdict;
        snprintf(r.message, sizeof(r.message), "%s", plan.ops[plan.count - 1].reason);
    }
    if (decision_check(&decision, &err) < 0)
        snprintf(r.message, sizeof(r.message), "%s", err.msg);
    assert_works(apply_decision(&decision, doc, &spec, &err), err);
    assert_int_equal(decision_changes(&decision), json_modified(doc));
    assert_works(json_write(doc, &out, &err), err);
    r.config = buf_take(&out, &err);
    return r;
}

/* `says` NULL: no verdict. */
static inline void check(const char *security, const char *config, struct security_facts facts,
                         const char *says)
{
    struct result r = judge(security, config, &facts);

    free(r.config);
    if (says && (r.count != 1 || r.verdict != PLAN_DENIED || !strstr(r.message, says)))
        fail_msg("%s × %s: %zu operations, '%s'", security, config, r.count, r.message);
    if (!says && r.count)
        fail_msg("%s × %s: '%s'", security, config, r.message);
}

#define NO_FACTS ((struct security_facts){0})

#endif
