/* Plans the variables of volumes. */
#include "shim/plan/plan_parts.h"
#include "shim/policy/preset.h"

#include <string.h>

/* Adds a variable for the mount at that index; `value` is a template. */
static int add_variable(struct planner *p, size_t mount, const char *variable, const char *value,
                        const struct policy_place *place)
{
    struct plan_op *op = plan_push(p, PLAN_ENV);
    const struct plan_op *of = &p->ops[mount];
    struct template_values values = p->in->values;
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err why = ERR_INIT;

    if (!op)
        return -1;
    op->asked_by = of->asked_by;
    op->place = *place;
    op->variable =
        (struct plan_variable){.volume = of->mount.volume, .name = variable, .mount = mount};
    values.value[VAR_NAME] = *of->mount.name ? of->mount.name : NULL;
    values.value[VAR_TARGET] = of->mount.target;
    if (template_expand(value, &values, &text, &why) < 0)
        return plan_decide(p, op, PLAN_DENIED, NULL, "%s", why.msg);
    op->variable.value = arena_strndup(p->arena, text.data, text.len);
    return op->variable.value ? plan_decide_variable(p, op, "tells where the volume is")
                              : err_nomem(p->err);
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
    const struct plan_op *op = &p->ops[mount];
    const struct policy_volume *v = op->mount.volume;

    if (op->verdict == PLAN_DENIED || op->verdict == PLAN_SKIPPED)
        return 0;
    for (size_t i = 0; i < v->env_count; i++)
        if (add_variable(p, mount, v->env[i].name, v->env[i].value.text, &v->env[i].value.place) <
            0)
            return -1;
    op = &p->ops[mount];
    if (has_preset(v, op->mount.name))
        return add_variable(p, mount, preset_variable(op->mount.name), "{target}",
                            &v->presets.place);
    return 0;
}

int plan_add_env(struct planner *p)
{
    size_t mounts = p->count;

    for (size_t i = 0; i < mounts; i++)
        if (add_for_mount(p, i) < 0)
            return -1;
    return 0;
}
