/* An edit of config.json without a host, for fuzzers: plan, check, apply, and once more. */
#ifndef TESTS_SHIM_FUZZ_H
#define TESTS_SHIM_FUZZ_H

#include "base/path.h"
#include "fuzz.h"
#include "shim/apply.h"

#include <string.h>

static inline struct policy *shim_fuzz_policy(const char *text, size_t len)
{
    static const struct json_options options = {.comments = true, .unique_keys = true};
    struct err err = ERR_INIT;
    struct json_doc *doc = json_parse(text, len, &options, &err);
    struct policy *policy = doc ? policy_new(&err) : NULL;

    if (!policy) {
        if (doc)
            json_free(doc);
        return NULL;
    }
    if (policy_add(policy, "policy.json", doc, &err) == 0 && policy_decode(policy, &err) == 0)
        return policy;
    must(err.msg[0] != '\0');
    policy_free(policy);
    return NULL;
}

/* What every plan keeps to. */
static inline void shim_fuzz_check(const struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_op *op = &plan->ops[i];
        must(op->reason != NULL);
        if (op->verdict != PLAN_ADDED)
            continue;
        if (op->kind == PLAN_ENV) {
            must(op->variable && op->value && plan->ops[op->mount].kind == PLAN_MOUNT);
            continue;
        }
        must(path_is_clean_absolute(op->source) && strcmp(op->source, "/") != 0);
        must(path_is_clean_absolute(op->target) && strcmp(op->target, "/") != 0);
        must(op->access <= op->volume->access);
        for (size_t j = 0; j < i; j++)
            must(plan->ops[j].kind != PLAN_MOUNT || plan->ops[j].verdict != PLAN_ADDED ||
                 strcmp(plan->ops[j].target, op->target) != 0);
    }
}

/* Edits `config`; *again is the new text (the caller frees it), NULL when it is refused. */
static inline bool shim_fuzz_edit(const struct policy *policy, const char *config, size_t len,
                                  char **again)
{
    static const struct json_options options = {.unique_keys = true};
    _cleanup_arena_ struct arena arena = {0};
    struct err err = ERR_INIT;
    _cleanup_json_ struct json_doc *doc = json_parse(config, len, &options, &err);
    struct requests requests;
    struct spec spec;
    struct plan plan;
    struct buf out = BUF_INIT;

    *again = NULL;
    if (!doc || spec_read(doc, &arena, &spec, &err) < 0)
        return false;
    must(requests_read(policy, &spec, &arena, &requests, &err) == 0);
    struct plan_input in = {
        .policy = policy,
        .requests = &requests,
        .spec = &spec,
        .values = {.value = {[VAR_USER] = "alice",
                             [VAR_UID] = "1000",
                             [VAR_CONTAINER] = "c1",
                             [VAR_PROJECT] = requests.project,
                             [VAR_HOSTNAME] = spec.hostname}},
    };
    must(plan_make(&in, &arena, &plan, &err) == 0);
    shim_fuzz_check(&plan);
    bool changes = plan_changes(&plan);
    must(apply_plan(&plan, doc, &spec, &err) == 0);
    must(changes == json_modified(doc));
    must(json_write(doc, &out, &err) == 0);
    *again = buf_take(&out, &err);
    return changes;
}

/* An edit, and a second one, which must find nothing left to do. */
static inline void shim_fuzz_edit_twice(const struct policy *policy, const char *config, size_t len)
{
    char *once, *twice = NULL;

    shim_fuzz_edit(policy, config, len, &once);
    if (!once)
        return;
    must(!shim_fuzz_edit(policy, once, strlen(once), &twice));
    must(twice && strcmp(once, twice) == 0);
    free(once);
    free(twice);
}

#endif
