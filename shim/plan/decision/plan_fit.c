/* Fits a decision to what the low-level runtime can do. */
#include "shim/plan/decision/decision.h"

#include <string.h>

/* True for a new bind mount; overlays have nothing mounted below them, and are not idmapped. */
static bool is_new_bind(const struct outcome *o)
{
    return o->op->kind == PLAN_MOUNT && o->verdict == PLAN_ADDED && !o->op->mount.pool;
}

/* True for a mount that an earlier edit made: this runtime must be able to map its ids, too. */
static bool is_kept_idmap(const struct outcome *o)
{
    const struct plan_mount *m = &o->op->mount;

    return o->op->kind == PLAN_MOUNT && o->verdict == PLAN_KEPT && m->ours && m->idmap;
}

static bool policy_says_rro(const struct plan_mount *m)
{
    const struct policy_list *options = &m->volume->options;

    for (size_t i = 0; i < options->count; i++)
        if (strcmp(options->items[i], "rro") == 0)
            return true;
    return false;
}

enum plan_need plan_need(const struct decision *decision)
{
    enum plan_need need = PLAN_NEEDS_NOTHING;

    for (size_t i = 0; i < decision->count; i++) {
        const struct plan_mount *m = &decision->list[i].op->mount;
        if (is_kept_idmap(&decision->list[i]))
            return PLAN_NEEDS_FEATURES;
        if (!is_new_bind(&decision->list[i]))
            continue;
        if (m->idmap || (m->access == ACCESS_RO && policy_says_rro(m)))
            return PLAN_NEEDS_FEATURES;
        if (m->access == ACCESS_RO)
            need = PLAN_WANTS_FEATURES;
    }
    return need;
}

static int refuse_mount(const struct plan_mount *m, const char *what, const char *runtime,
                        struct err *err)
{
    return err_set(err, ERR_UNSUPPORTED,
                   "volumes.%s: %s Linux 5.12 and a runtime that knows it; '%s features' does "
                   "not say so",
                   m->volume->name, what, runtime);
}

int plan_fit(const struct features *features, const char *runtime, bool enforce,
             struct decision *decision, struct err *err)
{
    for (size_t i = 0; i < decision->count; i++) {
        struct outcome *o = &decision->list[i];
        const struct plan_mount *m = &o->op->mount;
        if (is_kept_idmap(o) && enforce && !features->idmap)
            return refuse_mount(m, "an idmapped mount needs", runtime, err);
        if (!is_new_bind(o))
            continue;
        bool read_only = m->access == ACCESS_RO;
        if (enforce && read_only && !features->rro && policy_says_rro(m))
            return refuse_mount(m, "the option 'rro' needs", runtime, err);
        if (enforce && m->idmap && !features->idmap)
            return refuse_mount(m, "an idmapped mount needs", runtime, err);
        o->mount.rro = read_only && features->rro;
        o->mount.idmap = m->idmap && features->idmap;
        o->mount.ridmap = m->idmap && features->ridmap;
        if (m->idmap && !o->mount.idmap)
            o->reason = "mounted without idmap, which the low-level runtime does not have";
    }
    return 0;
}
