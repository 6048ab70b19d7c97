#include "shim/apply/apply_parts.h"

void apply_groups(const struct decision *decision, struct json_doc *doc, const struct spec *spec)
{
    for (size_t i = 0; i < decision->count; i++) {
        const struct outcome *o = &decision->list[i];
        if (o->op->kind != PLAN_GROUPS || o->verdict != PLAN_ADDED)
            continue;
        struct json *list = json_list(doc, json_get(spec->process, "user"), "additionalGids");
        for (size_t n = 0; n < o->op->groups.count; n++)
            json_append(doc, list, json_number(doc, o->op->groups.list[n]));
    }
}
