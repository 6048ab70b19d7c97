/* The records of the store, as a table and as JSON. */
#ifndef ADMIN_WARM_REPORT_H
#define ADMIN_WARM_REPORT_H

#include "base/json/json.h"
#include "shim/warm/record/warm_store.h"

struct warm_item {
    char key[CHAIN_KEY];
    int64_t used; /* seconds since 1970 */
    struct warm_record record;
    const char *problem; /* why the record cannot be read; NULL: it can */
    const char *leaves;  /* why flatbed gc removes it; NULL: it stays */
};

struct warm_report {
    struct warm_item *list;
    size_t count;
    uint64_t bytes; /* of all ranges */
};

/* Reads all records of a store at that path; a missing one has none. All of it is in the arena. */
int warm_report_read(const char *path, struct arena *arena, struct warm_report *out,
                     struct err *err) must_check;

/* Appends the table for a terminal of that width; 0: it is none. */
int warm_report_print(const struct warm_report *report, size_t terminal, struct arena *arena,
                      struct buf *out, struct err *err) must_check;

/* Returns one record as an object; with its files if `files`. */
struct json *warm_report_json(const struct warm_item *item, bool files, struct json_doc *doc);

/* Appends the facts of one record, and its files in the order in which they are read. */
void warm_report_print_one(const struct warm_record *record, struct buf *out);

/*
 * Removes records of layers and volumes that are gone, those that cannot be read, and those that no
 * container has used for `seconds`; with `dry` none. Sets `leaves` of these in *out.
 */
int warm_report_trim(const char *path, int64_t seconds, bool dry, struct arena *arena,
                     struct warm_report *out, struct err *err) must_check;

#endif
