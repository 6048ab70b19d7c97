/*
 * The report of watch, as text and as JSON. Pure, but for the order of the entries.
 *
 * Probes are what lookups cost an overlay whose caches are cold: each searches the layers that hold
 * the directory (Documentation/filesystems/overlayfs.rst, "Merged directories"), one for a missing
 * name all of them.
 */
#ifndef SHIM_WATCH_REPORT_H
#define SHIM_WATCH_REPORT_H

#include "base/buf.h"
#include "shim/admin/containers/containers.h"
#include "shim/admin/watch/costs.h"
#include "shim/admin/watch/watch.h"

enum { WATCH_TOP_MOST = 1000 };

struct watch_report {
    const struct container_found *container;
    const struct watch *watch;
    const struct watch_costs *costs;
    double seconds;
    size_t layers; /* of the root, the upper directory counted; 0: not known */
    struct seen_entry *directories[WATCH_TOP_MOST], *programs[WATCH_TOP_MOST];
    size_t directory_count, program_count;
};

/* Lookups of the listed directories on layers, and what one layer would save. */
struct watch_depth {
    uint64_t lookups, probes;
    double saved; /* seconds */
};

/* Returns the sums of the directories that are on a layer. */
struct watch_depth watch_depth(const struct watch_report *r);

/* Appends the text. `width` in columns; 0: no terminal. */
void watch_print(const struct watch_report *r, size_t width, struct buf *out);

/* Appends one JSON object and a newline. */
int watch_json(const struct watch_report *r, struct buf *out, struct err *err) must_check;

#endif
