/* The copies in all caches of a policy, as a table or as JSON. */
#ifndef ADMIN_STAGE_REPORT_H
#define ADMIN_STAGE_REPORT_H

#include "base/json/json.h"
#include "shim/policy/policy.h"
#include "shim/stage/cache/stage_room.h"

struct stage_report_cache {
    const struct policy_stage *rules;
    struct stage_items items;
    uint64_t bytes;      /* of all copies */
    const char *problem; /* why it cannot be read; or NULL */
};

struct stage_report {
    struct stage_report_cache *list; /* in the arena */
    size_t count;
};

/* Reads all caches. One that does not exist yet is empty. */
int stage_report_read(const struct policy *policy, struct arena *arena, struct stage_report *out,
                      struct err *err) must_check;

/* Appends the table. `terminal` is the width of columns_print. */
int stage_report_print(const struct stage_report *report, size_t terminal, struct arena *arena,
                       struct buf *out, struct err *err) must_check;

/* Adds "caches" to an object. Failures are the document's (json_failed). */
void stage_report_json(const struct stage_report *report, struct json_doc *doc,
                       struct json *object);

#endif
