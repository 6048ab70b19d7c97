/* An edit of config.json without a host, for fuzzers: plan, check, apply, and once more. */
#ifndef TESTS_SHIM_FUZZ_H
#define TESTS_SHIM_FUZZ_H

#include "base/path.h"
#include "fuzz.h"
#include "shim/apply/apply.h"
#include "shim/policy/read/policy_read.h"
#include "shim/privilege/syscall_filter.h"

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

/* Checks the invariants of every new mount. */
static inline void shim_fuzz_check_mount(const struct plan *plan, size_t at)
{
    const struct plan_mount *m = &plan->ops[at].mount;

    must(path_is_clean_absolute(m->source) && strcmp(m->source, "/") != 0);
    must(path_is_clean_absolute(m->target) && strcmp(m->target, "/") != 0);
    must(m->access <= m->volume->access);
    for (size_t j = 0; j < at; j++)
        must(plan->ops[j].kind != PLAN_MOUNT || plan->ops[j].verdict != PLAN_ADDED ||
             strcmp(plan->ops[j].mount.target, m->target) != 0);
}

/* Checks the invariants of every plan. */
static inline void shim_fuzz_check(const struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_op *op = &plan->ops[i];
        const struct policy_volume *volume = op->kind == PLAN_MOUNT ? op->mount.volume
                                             : op->kind == PLAN_ENV ? op->variable.volume
                                                                    : NULL;
        must(op->reason != NULL && (op->asked_by || volume));
        if (op->verdict != PLAN_ADDED)
            continue;
        if (op->kind == PLAN_ENV) {
            const struct plan_variable *v = &op->variable;
            must(v->name && v->value);
            must(v->mount == PLAN_NO_MOUNT || plan->ops[v->mount].kind == PLAN_MOUNT);
        } else if (op->kind == PLAN_SHM) {
            must(op->shm.bytes && op->shm.value && op->shm.target);
        } else if (op->kind == PLAN_RLIMIT) {
            must(op->rlimit.amount && op->rlimit.value && op->rlimit.name);
        } else {
            must(op->kind == PLAN_MOUNT);
            shim_fuzz_check_mount(plan, i);
        }
    }
}

/* A host on which every path resolves to itself. */
static inline void shim_fuzz_binds(const struct policy *policy, const struct spec *spec,
                                   struct arena *arena, struct bind_facts *out)
{
    static struct bind_below below = {.path = "/srv/x/y"};

    *out = (struct bind_facts){
        .sources = arena_alloc(arena, (spec->mount_count + 1) * sizeof(*out->sources)),
        .rules = arena_alloc(arena, (policy->binds.rule_count + 1) * sizeof(*out->rules)),
    };
    must(out->sources && out->rules);
    for (size_t i = 0; i < policy->binds.rule_count; i++)
        out->rules[i] = (struct bind_rule_path){.path = policy->binds.rules[i].path.text};
    for (size_t i = 0; i < spec->mount_count; i++) {
        const char *source = spec->list[i].source;
        bool known = source && path_is_clean_absolute(source);
        out->sources[i] = (struct bind_source){.judged = spec->list[i].bind,
                                               .path = known ? source : NULL,
                                               .found = source,
                                               .problem = "unknown",
                                               .readable = true,
                                               .below = &below,
                                               .below_count = i % 2,
                                               .unsteady = i % 5 == 0,
                                               .writable = i % 3};
    }
}

/* A host of 16 CPUs and 64 GiB whose limits cannot be raised. */
static inline struct tuning_facts shim_fuzz_host(void)
{
    struct tuning_facts host = {.memory = (uint64_t)64 << 30, .cpus = 16, .files = 1048576};

    for (int kind = 0; kind < TUNING_KINDS; kind++)
        host.limits[kind] = (struct tuning_limit){.soft = 20000, .hard = 20000};
    return host;
}

/* Builds or refuses any filter. */
static inline void shim_fuzz_filter(const struct spec *spec)
{
    static const char *const names[] = {"mount", "clone"};
    const struct json *filter = json_path(spec->root, "linux", "seccomp", NULL);
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err err = ERR_INIT;

    syscall_filter_is_empty(filter);
    must(syscall_filter_allowed(filter, names, 2, &out, &err) == 0 || err.msg[0] != '\0');
}

/* Edits `config`; *again gets the new text (the caller frees it), or NULL if it is refused. */
static inline bool shim_fuzz_edit(const struct policy *policy, const char *config, size_t len,
                                  char **again)
{
    static const struct json_options options = {.unique_keys = true};
    _cleanup_arena_ struct arena arena = {0};
    struct err err = ERR_INIT;
    _cleanup_json_ struct json_doc *doc = json_parse(config, len, &options, &err);
    struct requests requests;
    struct bind_facts binds;
    struct security_facts security = {.host_namespaces = 5, .let_through = ""};
    struct tuning_facts tuning = shim_fuzz_host();
    struct spec spec;
    struct plan plan;
    struct decision decision;
    struct buf out = BUF_INIT;

    *again = NULL;
    if (!doc || spec_read(doc, &arena, &spec, &err) < 0)
        return false;
    shim_fuzz_filter(&spec);
    shim_fuzz_binds(policy, &spec, &arena, &binds);
    must(requests_read(policy, &spec, &arena, &requests, &err) == 0);
    struct plan_input in = {
        .policy = policy,
        .requests = &requests,
        .spec = &spec,
        .security = policy->security.given ? &security : NULL,
        .binds = policy->binds.given ? &binds : NULL,
        .tuning = policy->tuning.given ? &tuning : NULL,
        .depth = 40,
        .values = {.value = {[VAR_USER] = "alice",
                             [VAR_UID] = "1000",
                             [VAR_CONTAINER] = "c1",
                             [VAR_PROJECT] = requests.project,
                             [VAR_HOSTNAME] = spec.hostname}},
    };
    must(plan_make(&in, &arena, &plan, &err) == 0);
    shim_fuzz_check(&plan);
    must(decision_begin(&plan, &arena, &decision, &err) == 0);
    bool changes = decision_changes(&decision);
    must(apply_decision(&decision, doc, &spec, &err) == 0);
    must(changes == json_modified(doc));
    must(json_write(doc, &out, &err) == 0);
    *again = buf_take(&out, &err);
    return changes;
}

/* An edit, and a second one, which must not change anything. */
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
