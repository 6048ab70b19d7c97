/*
 * Counters of decisions in a file for Prometheus' textfile collector (exposition format 0.0.4).
 *
 * The file is the memory: it is read, counted up and replaced under a lock. One that cannot be read
 * as ours is started anew, which Prometheus takes for a counter's reset.
 */
#ifndef SHIM_METRICS_H
#define SHIM_METRICS_H

#include "shim/audit/audit.h"

enum metric { METRIC_CONTAINERS, METRIC_OPERATIONS, METRIC_WARNINGS, METRIC_AUDIT_ERRORS, METRICS };

enum { METRICS_SAMPLES = 256, METRICS_LABELS = 96, METRICS_BYTES = 64 * 1024 };

struct metric_sample {
    enum metric metric;
    char labels[METRICS_LABELS]; /* "{verdict=\"denied\"}", or "" */
    uint64_t value;
};

struct metrics {
    struct metric_sample list[METRICS_SAMPLES];
    size_t count;
};

/* False, with nothing in it, for a text that is not ours. Pure. */
bool metrics_parse(struct metrics *m, const char *text);

/* Counts up; what there is no room for is not counted. Pure. */
void metrics_add(struct metrics *m, enum metric metric, const char *labels, uint64_t value);

/* Counts a decision, and whether it could not be written down. Pure. */
void metrics_count(struct metrics *m, const struct audit_record *record, bool audit_failed);

/* Appends all samples with their HELP and TYPE. Pure. */
void metrics_print(const struct metrics *m, struct buf *out);

/* Counts a decision in the file. It is not made to survive a crash. */
int metrics_update(const char *path, const struct audit_record *record, bool audit_failed,
                   struct err *err) must_check;

#endif
