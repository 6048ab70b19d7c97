/* Plans from texts: a policy, a config.json, and the resulting plan. */
#ifndef TESTS_PLAN_UNIT_H
#define TESTS_PLAN_UNIT_H

#include "tests/unit/lib/shim_unit.h"

#include "shim/plan/decision/decision.h"

static const char plan_volumes[] =
    "\"volumes\":{"
    "\"data\":{\"source\":\"/srv/data/{name}\",\"target\":\"/work/data/{name}\","
    "\"names\":[\"imagenet\",\"coco-*\"],\"env\":{\"DATA\":\"{target}\"}},"
    "\"logs\":{\"source\":\"/srv/logs/{container}\",\"target\":\"/work\",\"access\":\"rw\","
    "\"always\":true},"
    "\"cache\":{\"source\":\"/srv/cache/{user}/{name}\",\"target\":\"/cache/{name}\","
    "\"access\":\"rw\",\"always\":[\"torch\"],\"presets\":[\"torch\",\"pip\"]},"
    "\"scratch\":{\"source\":\"/srv/{project}\",\"target\":\"/scratch\",\"access\":\"rw\"}}";

struct fixture {
    struct arena arena;
    struct policy *policy;
    struct json_doc *doc;
    struct spec spec;
    struct requests requests;
    struct plan plan;
    struct decision decision; /* begins as the plan */
    struct tuning_facts host;
    size_t depth; /* of the root */
};

/* Plans `config` (a document) under the policy of `sections`. */
static inline void plan_for(struct fixture *f, const char *sections, const char *config)
{
    struct err err = ERR_INIT;

    f->policy = shim_policy(sections);
    f->doc = shim_document(config);
    assert_works(spec_read(f->doc, &f->arena, &f->spec, &err), err);
    assert_works(requests_read(f->policy, &f->spec, &f->arena, &f->requests, &err), err);
    struct plan_input in = {
        .policy = f->policy,
        .requests = &f->requests,
        .spec = &f->spec,
        .values = {.value = {[VAR_USER] = "alice",
                             [VAR_CONTAINER] = "c1",
                             [VAR_PROJECT] = f->requests.project},
                   .missing = {[VAR_PROJECT] = "name it"}},
        .tuning = f->policy->tuning.given ? &f->host : NULL,
        .depth = f->depth,
    };
    assert_works(plan_make(&in, &f->arena, &f->plan, &err), err);
    assert_works(decision_begin(&f->plan, &f->arena, &f->decision, &err), err);
}

static inline int setup(void **state)
{
    struct fixture *f = *state = calloc(1, sizeof(struct fixture));

    if (!f)
        return -1;
    f->host = (struct tuning_facts){
        .memory = (uint64_t)64 << 30, .cpus = 16, .may_raise = true, .files = 1048576};
    f->host.limits[TUNING_NOFILE] = (struct tuning_limit){.soft = 1000, .hard = 20000};
    f->host.limits[TUNING_MEMLOCK] = (struct tuning_limit){.soft = 65536, .hard = 8388608};
    f->host.limits[TUNING_STACK] = (struct tuning_limit){.soft = 8388608, .hard = UINT64_MAX};
    return 0;
}

static inline int teardown(void **state)
{
    struct fixture *f = *state;

    if (f->policy)
        policy_free(f->policy);
    if (f->doc)
        json_free(f->doc);
    arena_free(&f->arena);
    free(f);
    return 0;
}

static inline const struct plan_op *mount_on(const struct fixture *f, const char *target)
{
    for (size_t i = 0; i < f->plan.count; i++)
        if (f->plan.ops[i].kind == PLAN_MOUNT && f->plan.ops[i].mount.target &&
            strcmp(f->plan.ops[i].mount.target, target) == 0)
            return &f->plan.ops[i];
    fail_msg("no mount on %s", target);
    return NULL;
}

/* Returns the outcome of the mount on `target`. */
static inline const struct outcome *outcome_on(const struct fixture *f, const char *target)
{
    return &f->decision.list[mount_on(f, target) - f->plan.ops];
}

static inline const struct plan_op *variable(const struct fixture *f, const char *name)
{
    for (size_t i = 0; i < f->plan.count; i++)
        if (f->plan.ops[i].kind == PLAN_ENV && strcmp(f->plan.ops[i].variable.name, name) == 0)
            return &f->plan.ops[i];
    fail_msg("no variable %s", name);
    return NULL;
}

/* Returns the outcome of the variable `name`. */
static inline const struct outcome *variable_outcome(const struct fixture *f, const char *name)
{
    return &f->decision.list[variable(f, name) - f->plan.ops];
}

static inline const struct plan_op *denial(const struct fixture *f)
{
    for (size_t i = 0; i < f->plan.count; i++)
        if (f->plan.ops[i].verdict == PLAN_DENIED)
            return &f->plan.ops[i];
    fail_msg("nothing is denied");
    return NULL;
}

#endif
