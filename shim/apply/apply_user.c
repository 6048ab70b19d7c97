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

struct json *apply_file_entry(const struct plan_file *file, struct json_doc *doc)
{
    static const char *const options[] = {"bind", "ro", "nosuid", "nodev", "noexec"};
    struct json *entry = json_object(doc), *list = json_array(doc);

    json_set(doc, entry, "destination", json_string(doc, file->target));
    json_set(doc, entry, "type", json_string(doc, "bind"));
    json_set(doc, entry, "source", json_string(doc, file->source));
    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
        json_append(doc, list, json_string(doc, options[i]));
    json_set(doc, entry, "options", list);
    return entry;
}
