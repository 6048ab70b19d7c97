#include "shim/apply/apply_parts.h"

#include <inttypes.h>
#include <string.h>

/* Leaves one "size=", in the place of the first. */
static void put_size(struct json_doc *doc, struct json *mount, uint64_t bytes)
{
    struct json *options = json_get(mount, "options"), *value;
    char text[32];
    bool put = false;

    snprintf(text, sizeof(text), "size=%" PRIu64, bytes);
    value = json_string(doc, text);
    for (size_t i = 0; i < json_count(options);) {
        const char *option = json_text(json_at(options, i));
        if (!option || strncmp(option, "size=", strlen("size=")) != 0) {
            i++;
        } else if (put) {
            json_remove_at(options, i);
        } else {
            json_replace_at(doc, options, i++, value);
            put = true;
        }
    }
}

static void put_limit(struct json_doc *doc, const struct spec *spec,
                      const struct plan_rlimit *limit)
{
    struct json *entry = limit->entry;

    if (!entry) {
        entry = json_append(doc, json_list(doc, spec->process, "rlimits"), json_object(doc));
        json_set(doc, entry, "type", json_string(doc, limit->name));
    }
    json_set(doc, entry, "hard", json_number(doc, limit->amount));
    json_set(doc, entry, "soft", json_number(doc, limit->amount));
}

void apply_tuning(const struct decision *decision, struct json_doc *doc, const struct spec *spec)
{
    for (size_t i = 0; i < decision->count; i++) {
        const struct outcome *o = &decision->list[i];
        if (o->verdict != PLAN_ADDED && o->verdict != PLAN_DOWNGRADED)
            continue;
        if (o->op->kind == PLAN_SHM)
            put_size(doc, o->op->shm.entry, o->op->shm.bytes);
        else if (o->op->kind == PLAN_RLIMIT)
            put_limit(doc, spec, &o->op->rlimit);
    }
}
