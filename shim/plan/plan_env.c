#include "shim/plan/plan_build.h"
#include "shim/policy/preset.h"

#include <string.h>

static const struct plan_op *planned_variable(const struct planner *p, const struct plan_op *op)
{
    for (size_t i = 0; i < p->plan->count; i++) {
        const struct plan_op *other = &p->plan->ops[i];
        if (other != op && other->kind == PLAN_ENV && other->verdict == PLAN_ADDED &&
            strcmp(other->variable, op->variable) == 0)
            return other;
    }
    return NULL;
}

int plan_decide_variable(struct planner *p, struct plan_op *op, const char *reason)
{
    const struct spec *spec = p->in->spec;
    const char *present = spec_env(spec, op->variable);
    const struct plan_op *other = planned_variable(p, op);

    if (!spec->process)
        return plan_decide(p, op, PLAN_SKIPPED, NULL, "the container has no process");
    op->same = present && strcmp(present, op->value) == 0;
    if (present)
        return plan_decide(p, op, PLAN_KEPT, NULL,
                           op->same ? "set already" : "the container sets it itself");
    if (other)
        return plan_decide(p, op, PLAN_SKIPPED, NULL, "set for %s already", other->name);
    return plan_decide(p, op, PLAN_ADDED, NULL, "%s", reason);
}

/* Adds a variable of the mount at that index; `value` is a template. */
static int add(struct planner *p, size_t mount, const char *variable, const char *value,
               const struct policy_place *place)
{
    struct plan_op *op = plan_push(p, PLAN_ENV);
    const struct plan_op *of = &p->plan->ops[mount];
    struct template_values values = p->in->values;
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err why = ERR_INIT;

    if (!op)
        return -1;
    op->volume = of->volume;
    op->name = of->name;
    op->asked_by = of->asked_by;
    op->place = *place;
    op->mount = mount;
    op->variable = variable;
    values.value[VAR_NAME] = *of->name ? of->name : NULL;
    values.value[VAR_TARGET] = of->target;
    if (template_expand(value, &values, &text, &why) < 0)
        return plan_decide(p, op, PLAN_DENIED, NULL, "%s", why.msg);
    op->value = arena_strndup(p->arena, text.data, text.len);
    return op->value ? plan_decide_variable(p, op, "tells where the volume is") : err_nomem(p->err);
}

static bool has_preset(const struct policy_volume *v, const char *name)
{
    for (size_t i = 0; i < v->presets.count; i++)
        if (strcmp(v->presets.items[i], name) == 0)
            return true;
    return false;
}

static int add_for_mount(struct planner *p, size_t mount)
{
    const struct plan_op *op = &p->plan->ops[mount];
    const struct policy_volume *v = op->volume;

    if (op->verdict == PLAN_DENIED || op->verdict == PLAN_SKIPPED)
        return 0;
    for (size_t i = 0; i < v->env_count; i++)
        if (add(p, mount, v->env[i].name, v->env[i].value.text, &v->env[i].value.place) < 0)
            return -1;
    op = &p->plan->ops[mount];
    if (has_preset(v, op->name))
        return add(p, mount, preset_variable(op->name), "{target}", &v->presets.place);
    return 0;
}

int plan_add_env(struct planner *p)
{
    size_t mounts = p->plan->count;

    for (size_t i = 0; i < mounts; i++)
        if (add_for_mount(p, i) < 0)
            return -1;
    return 0;
}
