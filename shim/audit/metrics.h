/*
 * Counters of decisions in a file for Prometheus' textfile collector (exposition format 0.0.4).
 *
 * The counts live in the file: it is read, counted up and replaced under a lock. A file in another
 * format is started anew, which Prometheus takes for a counter's reset.
 */
#ifndef SHIM_METRICS_H
#define SHIM_METRICS_H

#include "shim/audit/audit.h"

enum metric {
    METRIC_CONTAINERS,
    METRIC_OPERATIONS,
    METRIC_WARNINGS,
    METRIC_AUDIT_ERRORS,
    METRIC_STAGE_LAUNCHES,
    METRIC_STAGE_BYTES,
    METRIC_STAGE_WAITED,
    METRIC_STAGE_COPIES,
    METRIC_STAGE_COPIED,
    METRIC_STAGE_EVICTED,
    METRIC_STAGE_ROOM,
    METRICS
};

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

/* Reads samples. Returns false, with no sample, for a text in another format. Pure. */
bool metrics_parse(struct metrics *m, const char *text);

/* Counts up one sample. A new one is dropped if there is no room. Pure. */
void metrics_add(struct metrics *m, enum metric metric, const char *labels, uint64_t value);

/* Counts a decision, and whether it could not be audited. Pure. */
void metrics_count(struct metrics *m, const struct audit_record *record, bool audit_failed);

/* Counts what a copier did, and replaces the room that its cache takes. Pure. */
void metrics_count_copy(struct metrics *m, const struct audit_copy *copy);

/* Appends all samples with their HELP and TYPE. Pure. */
void metrics_print(const struct metrics *m, struct buf *out);

/* Counts a decision in the file, without fsync. */
int metrics_update(const char *path, const struct audit_record *record, bool audit_failed,
                   struct err *err) must_check;

#endif
