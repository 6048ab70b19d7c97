#include "shim/privilege/capability.h"
#include "shim/runtime/apply/apply_parts.h"

static void put_filter(struct json_doc *doc, const struct spec *spec, struct json *profile)
{
    struct json *object = json_get(spec->root, "linux");

    if (!json_is(object, JSON_OBJECT))
        object = json_set(doc, spec->root, "linux", json_object(doc));
    json_set(doc, object, "seccomp", profile);
}

void apply_security(const struct decision *decision, struct json_doc *doc, const struct spec *spec)
{
    for (size_t i = 0; i < decision->count; i++) {
        const struct plan_op *op = decision->list[i].op;
        if (op->kind == PLAN_CAPABILITIES)
            capability_keep(spec->process, op->capabilities);
        else if (op->kind == PLAN_PRIVILEGES)
            json_set(doc, spec->process, "noNewPrivileges", json_bool(doc, true));
        else if (op->kind == PLAN_FILTER)
            put_filter(doc, spec, op->profile);
    }
}
