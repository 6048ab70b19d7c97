/* The findings of `flatbed copyups` for one container, as text, as HTML and as JSON. */
#ifndef SHIM_COPYUPS_REPORT_H
#define SHIM_COPYUPS_REPORT_H

#include "base/buf.h"
#include "shim/admin/containers/containers.h"
#include "shim/admin/copyups/tally.h"
#include "shim/policy/policy.h"

struct copyups_report {
    const struct container_found *container;
    const struct container_root *root;
    const struct tally *tally;
    const struct policy *policy; /* NULL: none */
};

/* Appends a container for people; `terminal`: its columns, 0 for none. */
int copyups_print(const struct copyups_report *report, bool colour, size_t terminal,
                  struct buf *out, struct err *err) must_check;

/* Appends a container as an object of JSON. */
int copyups_json(const struct copyups_report *report, struct buf *out, struct err *err) must_check;

/* Appends the beginning and the end of a page, and a container between them. */
void copyups_html_begin(struct buf *out);
int copyups_html(const struct copyups_report *report, struct buf *out, struct err *err) must_check;
void copyups_html_end(struct buf *out);

#endif
