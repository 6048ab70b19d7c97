#include "shim/apply.h"
#include "shim/capability.h"

static void keep_capabilities(const struct spec *spec, uint64_t kept)
{
    static const char *const names[] = {"bounding", "effective", "permitted", "inheritable",
                                        "ambient"};
    const struct json *sets = json_get(spec->process, "capabilities");

    for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++) {
        struct json *list = json_get(sets, names[n]);
        for (size_t i = json_count(list); i > 0; i--) {
            const char *name = json_text(json_at(list, i - 1));
            if (name && !(capability_bit(name) & kept))
                json_remove_at(list, i - 1);
        }
    }
}

static void put_filter(struct json_doc *doc, const struct spec *spec, struct json *profile)
{
    struct json *object = json_get(spec->root, "linux");

    if (!json_is(object, JSON_OBJECT))
        object = json_set(doc, spec->root, "linux", json_object(doc));
    json_set(doc, object, "seccomp", profile);
}

void apply_security(const struct plan *plan, struct json_doc *doc, const struct spec *spec)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_op *op = &plan->ops[i];
        if (op->kind == PLAN_CAPABILITIES)
            keep_capabilities(spec, op->capabilities);
        else if (op->kind == PLAN_PRIVILEGES)
            json_set(doc, spec->process, "noNewPrivileges", json_bool(doc, true));
        else if (op->kind == PLAN_FILTER)
            put_filter(doc, spec, op->profile);
    }
}
