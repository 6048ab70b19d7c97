/* What the policy's "tuning" gives a container; and the variables that come of it. */
#include "shim/plan/plan_tune.h"
#include "shim/policy/size.h"

#include <inttypes.h>
#include <string.h>

#define WORKERS_VARIABLE "FLATBED_WORKERS"

enum { PAGE = 4096 };

static const uint64_t default_worker_memory = (uint64_t)1 << 30;

/* ---- what is wanted ---- */

static const struct {
    enum plan_kind kind;
    const char *key;
} kinds[TUNING_KINDS] = {
    [TUNING_SHM] = {PLAN_SHM, "tuning.shm_size"},
    [TUNING_MEMLOCK] = {PLAN_RLIMIT, "tuning.memlock"},
    [TUNING_WORKERS] = {PLAN_ENV, "tuning.workers"},
    [TUNING_NOFILE] = {PLAN_RLIMIT, "tuning.nofile"},
    [TUNING_STACK] = {PLAN_RLIMIT, "tuning.stack"},
};

struct plan_op *plan_tune_push(struct planner *p, enum tuning_kind kind, const char *asked_by)
{
    struct plan_op *op = plan_push(p, kinds[kind].kind);

    if (!op)
        return NULL;
    op->asked_by = asked_by;
    op->place = p->in->policy->tuning.of[kind].place;
    op->mount = PLAN_NO_MOUNT;
    op->limit = tuning_rlimit(kind);
    if (kind == TUNING_SHM)
        op->target = "/dev/shm";
    if (kind == TUNING_WORKERS)
        op->variable = WORKERS_VARIABLE;
    return op;
}

const char *plan_tune_text(struct planner *p, enum tuning_kind kind, uint64_t amount)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    const char *copy = NULL;

    if (kind == TUNING_WORKERS || kind == TUNING_NOFILE)
        buf_printf(&text, "%" PRIu64, amount);
    else
        size_print(amount, &text);
    if (!text.failed)
        copy = arena_strndup(p->arena, text.data, text.len);
    if (!copy)
        err_nomem(p->err);
    return copy;
}

/* 0: none. */
static uint64_t resolve(const struct tuner *t, enum tuning_kind kind,
                        const struct policy_amount *amount)
{
    uint64_t whole = kind == TUNING_SHM ? t->memory : t->cpus;

    if (!amount->given)
        return 0;
    if (!amount->share)
        return amount->number;
    uint64_t part = whole / 100 * amount->number + whole % 100 * amount->number / 100;
    if (kind == TUNING_SHM)
        return part / PAGE * PAGE;
    return part ? part : 1;
}

/* A worker for each CPU is what PyTorch calls the most that makes sense; each takes memory. */
static uint64_t fit_workers(const struct tuner *t, uint64_t workers)
{
    uint64_t each = t->p->in->policy->tuning.worker_memory;
    uint64_t room = t->memory / (each ? each : default_worker_memory);

    if (t->memory && room < workers)
        workers = room;
    return workers ? workers : 1;
}

static int deny_request(struct tuner *t, enum tuning_kind kind, uint64_t most)
{
    const struct tuning_request *request = &t->p->in->requests->tuning[kind];
    struct plan_op *op = plan_tune_push(t->p, kind, request->key);
    const char *asked = plan_tune_text(t->p, kind, request->amount);
    const char *offered = plan_tune_text(t->p, kind, most);

    if (!op || !asked || !offered)
        return -1;
    return plan_decide(t->p, op, PLAN_DENIED, NULL, "%s is more than is offered: at most %s", asked,
                       offered);
}

int plan_tune_wish(struct tuner *t, enum tuning_kind kind, struct wish *out)
{
    const struct policy_tune *tune = &t->p->in->policy->tuning.of[kind];
    uint64_t value = resolve(t, kind, &tune->value);
    uint64_t most = tune->most.given ? resolve(t, kind, &tune->most) : value;

    value = value > most ? most : value;
    if (value && kind == TUNING_WORKERS)
        value = fit_workers(t, value);
    *out = (struct wish){.given = value, .amount = value, .asked_by = kinds[kind].key};
    if (kind >= TUNING_ASKABLE || !t->p->in->requests->tuning[kind].key)
        return 0;
    const struct tuning_request *request = &t->p->in->requests->tuning[kind];
    if (request->amount > most)
        return deny_request(t, kind, most);
    *out = (struct wish){
        .given = true, .asked = true, .amount = request->amount, .asked_by = request->key};
    return 0;
}

/* ---- workers ---- */

static int add_workers(struct tuner *t)
{
    struct wish wish;

    if (plan_tune_wish(t, TUNING_WORKERS, &wish) < 0)
        return -1;
    if (!wish.given)
        return 0;
    struct plan_op *op = plan_tune_push(t->p, TUNING_WORKERS, wish.asked_by);
    if (!op)
        return -1;
    op->amount = wish.amount;
    op->value = plan_tune_text(t->p, TUNING_WORKERS, wish.amount);
    if (!op->value)
        return -1;
    return plan_decide_variable(t->p, op,
                                wish.asked ? "asked for" : "by the container's CPUs and memory");
}

/* ---- threads ---- */

static const struct {
    const char *name;
    bool follows; /* where it is not set, its library goes by OMP_NUM_THREADS */
} thread_variables[] = {
    {"OMP_NUM_THREADS", false},   {"MKL_NUM_THREADS", true},     {"OPENBLAS_NUM_THREADS", true},
    {"BLIS_NUM_THREADS", true},   {"NUMEXPR_NUM_THREADS", true}, {"NUMEXPR_MAX_THREADS", false},
    {"NUMBA_NUM_THREADS", false}, {"RAYON_NUM_THREADS", false},
};

static int add_thread_variable(struct tuner *t, const char *name, const char *value, bool leave)
{
    struct planner *p = t->p;
    struct plan_op *op = plan_push(p, PLAN_ENV);

    if (!op)
        return -1;
    op->asked_by = "tuning.threads";
    op->place = p->in->policy->tuning.threads_place;
    op->mount = PLAN_NO_MOUNT;
    op->variable = name;
    op->value = value;
    if (leave && !spec_env(p->in->spec, name))
        return plan_decide(p, op, PLAN_SKIPPED, NULL,
                           "it follows OMP_NUM_THREADS, which the container sets itself");
    return plan_decide_variable(p, op, "as many as the container has CPUs");
}

static int add_threads(struct tuner *t)
{
    const char *value = plan_tune_text(t->p, TUNING_WORKERS, t->cpus);
    const char *own = spec_env(t->p->in->spec, "OMP_NUM_THREADS");

    if (!value)
        return -1;
    bool leave = own && strcmp(own, value) != 0;
    for (size_t i = 0; i < sizeof(thread_variables) / sizeof(*thread_variables); i++)
        if (add_thread_variable(t, thread_variables[i].name, value,
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
    if (plan_add_shm(&t) < 0 || plan_add_rlimits(&t) < 0 || add_workers(&t) < 0)
        return -1;
    return p->in->policy->tuning.threads ? add_threads(&t) : 0;
}
