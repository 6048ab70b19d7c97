#include "shim/plan/tuning/plan_tune.h"

#include "base/size.h"

#include <inttypes.h>

enum { PAGE = 4096 };

static const uint64_t default_worker_memory = (uint64_t)1 << 30;

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
    if (kind == TUNING_SHM)
        op->shm.target = "/dev/shm";
    else if (kind == TUNING_WORKERS)
        op->variable.name = "FLATBED_WORKERS";
    else
        op->rlimit.name = tuning_rlimit(kind);
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

/* Returns the amount in bytes or pieces; 0 for none. */
static uint64_t amount_resolve(const struct tuner *t, enum tuning_kind kind,
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

/* PyTorch calls one worker for each CPU the most that makes sense; each takes memory, too. */
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
    uint64_t value = amount_resolve(t, kind, &tune->value);
    uint64_t most = tune->most.given ? amount_resolve(t, kind, &tune->most) : value;

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
