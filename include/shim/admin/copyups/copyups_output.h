/* The output of copyups for all containers: text, JSON, a page of HTML, or changes (--watch). */
#ifndef SHIM_COPYUPS_OUTPUT_H
#define SHIM_COPYUPS_OUTPUT_H

#include "base/json/json.h"
#include "shim/admin/copyups/report.h"
#include "shim/admin/copyups/tally.h"
#include "shim/admin/page/page_file.h"

enum { COPYUPS_TOTALS = 50 };

struct copyups_total {
    const char *name; /* of the list */
    uint64_t bytes;
};

/* A container as it was when --watch read it last. */
struct copyups_past {
    char *id;
    struct tally tally;
    bool here; /* in this round, too */
};

struct copyups_output {
    bool json, watch; /* these are set before */
    const char *html; /* the file; or NULL */
    const struct policy *policy;

    struct copyups_past *past; /* owned */
    size_t past_count;
    bool again;               /* not the first round of --watch */
    struct page_file page;    /* of --html */
    struct json_doc *skipped; /* {"skipped": […]}, printed at the end */
    struct json *skips;
    struct copyups_total totals[COPYUPS_TOTALS];
    size_t total_count, printed;
    uint64_t bytes;
};

#define COPYUPS_OUTPUT_INIT                                                                        \
    {                                                                                              \
        .page = PAGE_FILE_INIT                                                                     \
    }

/* Prints what comes before the containers. */
int copyups_output_begin(struct copyups_output *o, struct err *err) must_check;

/* Says that a container is left out, and why; with `watch` only in the first round. */
void copyups_output_skip(struct copyups_output *o, const char *engine, const char *name,
                         const char *why);

/* Prints a container. With `watch` its tally is taken away. */
int copyups_output_add(struct copyups_output *o, const struct copyups_report *report,
                       struct tally *tally, struct err *err) must_check;

/* Prints what comes after the containers; with `watch` it forgets those that are gone. */
int copyups_output_end(struct copyups_output *o, struct err *err) must_check;

/* Frees everything. A page that was not ended is removed. */
void copyups_output_free(struct copyups_output *o);

#endif
