#include "shim/admin/status/status.h"

#include "shim/admin/check/lint.h"
#include "shim/admin/engine/engine_runtimes.h"
#include "shim/admin/engine/runtime_program.h"
#include "shim/admin/leftovers/named_cache.h"
#include "shim/admin/stage/stage_report.h"
#include "shim/admin/warm/warm_report.h"
#include "shim/host/trust.h"
#include "shim/policy/read/policy_read.h"

#include <string.h>

static const char *keep(struct status *s, const char *text)
{
    return text ? arena_strndup(&s->arena, text, strlen(text)) : NULL;
}

/* ---- the policy ---- */

static int count_findings(const struct policy *policy, struct status *s, struct err *err)
{
    _cleanup_findings_ struct findings findings = {0};

    lint_policy(policy, &findings);
    lint_host(policy, &findings);
    lint_engines(policy, &findings);
    s->policy.errors = findings_count(&findings, FINDING_ERROR);
    s->policy.warnings = findings_count(&findings, FINDING_WARNING);
    return findings.failed ? err_nomem(err) : 0;
}

static int read_copies(const struct policy *policy, struct status *s, struct err *err)
{
    struct stage_report report;

    if (trust_rootless()) {
        s->stage.problem = "only root can look";
        return 0;
    }
    if (stage_report_read(policy, &s->arena, &report, err) < 0)
        return -1;
    s->stage.caches = report.count;
    for (size_t i = 0; i < report.count; i++) {
        const struct stage_report_cache *cache = &report.list[i];
        if (cache->problem)
            s->stage.problem = cache->problem;
        s->stage.bytes += cache->bytes;
        for (size_t k = 0; k < cache->items.count; k++)
            s->stage.copies += cache->items.list[k].state == STAGE_READY;
    }
    return 0;
}

static int read_policy(struct status *s, struct err *err)
{
    _cleanup_policy_ struct policy *policy = policy_new(err);
    struct err why = ERR_INIT;

    if (!policy)
        return -1;
    if (policy_open(policy, NULL, &why) < 0 || policy_decode(policy, &why) < 0) {
        s->policy.path = policy_default_path;
        s->policy.problem = keep(s, why.msg);
        return s->policy.problem ? 0 : err_nomem(err);
    }
    if (policy->file_count == 0)
        return 0;
    s->policy.path = keep(s, policy->files[0].path);
    s->policy.mode = policy->mode;
    s->policy.files = policy->file_count;
    if (policy->warm.given &&
        !(s->warm.cache = keep(s, policy->warm.cache.text ? policy->warm.cache.text : WARM_CACHE)))
        return err_nomem(err);
    if (!s->policy.path)
        return err_nomem(err);
    return read_copies(policy, s, err) < 0 ? -1 : count_findings(policy, s, err);
}

/* ---- engines ---- */

static int add_around(struct status *s, struct status_engine *e, const char *name, struct err *err)
{
    const char *copy = keep(s, name);

    if (!copy)
        return err_nomem(err);
    for (size_t i = 0; i < e->around_count; i++)
        if (strcmp(e->around[i], name) == 0)
            return 0;
    if (e->around_count < STATUS_AROUND_MOST)
        e->around[e->around_count++] = copy;
    return 0;
}

static int add_runtime(struct status *s, struct status_engine *e, const struct engine_runtime *r,
                       struct err *err)
{
    if (!engine_runtime_is_flatbed(r))
        return add_around(s, e, r->name, err);
    if (e->runtime && !r->is_default)
        return 0;
    e->runtime = keep(s, r->name);
    e->program = keep(s, r->path);
    e->is_default = r->is_default;
    return e->runtime && e->program ? 0 : err_nomem(err);
}

/* Docker has a runtime named runc, whatever its configuration says. */
static int add_dockers_runc(struct status *s, struct status_engine *e, struct err *err)
{
    struct runtime_program runc;

    runtime_program_find("runc", &runc);
    return strcmp(e->name, "docker") == 0 && runc.found && runc.kind != RUNTIME_FLATBED
               ? add_around(s, e, "runc", err)
               : 0;
}

static int read_engines(struct status *s, struct err *err)
{
    static const char *const engines[STATUS_ENGINES][2] = {{"docker", "dockerd"},
                                                           {"containerd", "containerd"},
                                                           {"podman", "podman"},
                                                           {"CRI-O", "crio"}};
    _cleanup_engine_runtimes_ struct engine_runtimes runtimes = {0};
    struct runtime_program program;

    if (engine_runtimes_read(&runtimes, err) < 0)
        return -1;
    for (size_t i = 0; i < STATUS_ENGINES; i++) {
        runtime_program_find(engines[i][1], &program);
        if (!program.found)
            continue;
        struct status_engine *e = &s->engines[s->engine_count++];
        *e = (struct status_engine){.name = engines[i][0]};
        for (size_t k = 0; k < runtimes.count; k++)
            if (strcmp(runtimes.list[k].engine, e->name) == 0 &&
                add_runtime(s, e, &runtimes.list[k], err) < 0)
                return -1;
        if (add_dockers_runc(s, e, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- restack ---- */

static int read_restack(struct status *s, struct err *err)
{
    _cleanup_restack_cache_ struct restack_cache cache = RESTACK_CACHE_INIT;
    _cleanup_arena_ struct arena arena = {0};
    struct restack_list list = {0};
    struct err why = ERR_INIT;

    if (trust_rootless()) {
        s->restack.problem = "only root can look";
        return 0;
    }
    if (s->policy.problem)
        return 0; /* it names the cache */
    if (named_cache_open(NULL, false, &cache, &why) < 0 ||
        (cache.fd >= 0 && restack_list_read(&cache, &arena, &list, &why) < 0)) {
        s->restack.problem = keep(s, why.msg);
        return s->restack.problem ? 0 : err_nomem(err);
    }
    if (cache.fd < 0)
        return 0;
    s->restack.cache = keep(s, cache.path);
    for (size_t i = 0; i < list.count; i++) {
        s->restack.trees += strcmp(list.items[i].state, "ready") == 0;
        s->restack.bytes += list.items[i].bytes;
    }
    return s->restack.cache ? 0 : err_nomem(err);
}

static int read_warm(struct status *s, struct err *err)
{
    _cleanup_arena_ struct arena arena = {0};
    struct warm_report report;
    struct err why = ERR_INIT;

    if (!s->warm.cache || trust_rootless())
        return 0;
    if (warm_report_read(s->warm.cache, &arena, &report, &why) < 0) {
        s->warm.problem = keep(s, why.msg);
        return s->warm.problem ? 0 : err_nomem(err);
    }
    s->warm.records = report.count;
    s->warm.bytes = report.bytes;
    for (size_t i = 0; i < report.count; i++)
        s->warm.off += *report.list[i].record.off != '\0';
    return 0;
}

int status_read(struct status *out, struct err *err)
{
    *out = (struct status){0};
    return read_policy(out, err) < 0 || read_engines(out, err) < 0 || read_restack(out, err) < 0 ||
                   read_warm(out, err) < 0
               ? -1
               : 0;
}

bool status_is_well(const struct status *status)
{
    return !status->policy.problem && status->policy.errors == 0;
}

void status_free(struct status *status)
{
    arena_free(&status->arena);
    *status = (struct status){0};
}
