#include "shim/plan/tuning/plan_tuning.h"

#include "shim/gather/limits.h"
#include "shim/plan/tuning/plan_rlimit.h"
#include "shim/plan/tuning/plan_shm.h"

#include <string.h>

static int plan_workers(struct tuner *t)
{
    struct wish wish;

    if (plan_tune_wish(t, TUNING_WORKERS, &wish) < 0)
        return -1;
    if (!wish.given)
        return 0;
    struct plan_op *op = plan_tune_push(t->p, TUNING_WORKERS, wish.asked_by);
    if (!op)
        return -1;
    op->variable.value = plan_tune_text(t->p, TUNING_WORKERS, wish.amount);
    if (!op->variable.value)
        return -1;
    return plan_decide_variable(t->p, op,
                                wish.asked ? "asked for" : "by the container's CPUs and memory");
}

/* ---- threads ---- */

static const struct {
    const char *name;
    bool follows; /* if it is not set, its library follows OMP_NUM_THREADS */
} thread_variables[] = {
    {"OMP_NUM_THREADS", false},   {"MKL_NUM_THREADS", true},     {"OPENBLAS_NUM_THREADS", true},
    {"BLIS_NUM_THREADS", true},   {"NUMEXPR_NUM_THREADS", true}, {"NUMEXPR_MAX_THREADS", false},
    {"NUMBA_NUM_THREADS", false}, {"RAYON_NUM_THREADS", false},
};

static int plan_thread_variable(struct tuner *t, const char *name, const char *value, bool leave)
{
    struct planner *p = t->p;
    struct plan_op *op = plan_push(p, PLAN_ENV);

    if (!op)
        return -1;
    op->asked_by = "tuning.threads";
    op->place = p->in->policy->tuning.threads_place;
    op->variable.name = name;
    op->variable.value = value;
    if (leave && !spec_env(p->in->spec, name))
        return plan_decide(p, op, PLAN_SKIPPED, NULL,
                           "it follows OMP_NUM_THREADS, which the container sets itself");
    return plan_decide_variable(p, op, "as many as the container has CPUs");
}

static int plan_threads(struct tuner *t)
{
    const char *value = plan_tune_text(t->p, TUNING_WORKERS, t->cpus);
    const char *own = spec_env(t->p->in->spec, "OMP_NUM_THREADS");

    if (!value)
        return -1;
    bool leave = own && strcmp(own, value) != 0;
    for (size_t i = 0; i < sizeof(thread_variables) / sizeof(*thread_variables); i++)
        if (plan_thread_variable(t, thread_variables[i].name, value,
                                 leave && thread_variables[i].follows) < 0)
            return -1;
    return 0;
}

/* ---- all of it ---- */

static uint64_t smaller(uint64_t limit, uint64_t of_host)
{
    return limit && (!of_host || limit < of_host) ? limit : of_host;
}

int plan_add_tuning(struct planner *p)
{
    const struct tuning_facts *host = p->in->tuning;
    struct container_limits limits;
    struct tuner t = {.p = p};

    limits_read(p->in->spec, &limits);
    t.memory = smaller(limits.memory, host->memory);
    t.cpus = smaller(limits.quota_cpus, limits.set_cpus ? limits.set_cpus : host->cpus);
    if (plan_shm(&t) < 0 || plan_rlimits(&t) < 0 || plan_workers(&t) < 0)
        return -1;
    return p->in->policy->tuning.threads ? plan_threads(&t) : 0;
}
