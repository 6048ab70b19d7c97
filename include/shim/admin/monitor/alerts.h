/*
 * Alerts: what was measured compared with the limits of "audit.alerts", and with the alerts of the
 * run before. Pure.
 *
 * An alert is raised once and cleared once. It is cleared when the value is a tenth of the limit
 * below it (above it, for free room), so that a value beside the limit does not alternate. A slow
 * start is cleared when the container is ready, or stops; one of a container that became ready
 * between two runs is raised in the second, and cleared in the third.
 */
#ifndef SHIM_ALERTS_H
#define SHIM_ALERTS_H

#include "base/arena.h"
#include "base/json/json.h"
#include "shim/admin/monitor/ready/ready.h"
#include "shim/policy/policy.h"

enum alert_kind { ALERT_UPPER, ALERT_COPYUP, ALERT_STORE, ALERT_START, ALERTS };
enum alert_change { ALERT_RAISED, ALERT_HELD, ALERT_CLEARED, ALERT_CHANGES };

extern const char *const alert_kind_names[ALERTS];          /* "upper_bytes" … */
extern const char *const alert_change_names[ALERT_CHANGES]; /* "alert", "held", "cleared" */

/* A container as measured. Texts are borrowed; they come from users. */
struct measured_container {
    const char *engine, *id, *name;
    const char *store;            /* never NULL; "" if it is known by its mount alone */
    bool known;                   /* the values are; else the alerts of the run before stay */
    uint64_t values[ALERT_STORE]; /* bytes, by kind */
    bool running;
    struct start start; /* while it runs */
};

/* The file system of a store as measured. */
struct measured_store {
    const char *path;
    bool known;          /* false: it does not answer; the alerts of all in it stay */
    uint64_t free, size; /* bytes */
};

struct measures {
    struct arena arena; /* owns the lists and texts */
    time_t time;        /* of the run, in seconds since 1970 */
    struct measured_container *containers;
    size_t container_count;
    struct measured_store *stores;
    size_t store_count;
};

/* Frees the measures. */
void measures_free(struct measures *m);
#define _cleanup_measures_ _cleanup_(measures_free)

struct alert {
    enum alert_kind kind;
    enum alert_change change;
    const char *engine, *id, *name; /* of the container; "" for a store */
    const char *store;
    bool gone;             /* cleared, because nothing is left to measure */
    uint64_t value, limit; /* bytes; seconds of a start, 0: nobody knows */
};

struct alert_list {
    struct arena arena; /* owns the list and the texts */
    struct alert *list;
    size_t count;
    time_t time; /* of the run, in seconds since 1970; 0: none */
};

/* Returns the alert of a container or a store (id ""), or NULL. */
const struct alert *alerts_get(const struct alert_list *alerts, enum alert_kind kind,
                               const char *store, const char *id);

/*
 * Judges the measures. `before` are the alerts that were raised or held; *out gets the new ones,
 * those held and those cleared. Fails only without memory.
 */
int alerts_judge(const struct policy_alerts *limits, const struct measures *measures,
                 const struct alert_list *before, struct alert_list *out,
                 struct err *err) must_check;

/* Appends a sentence for people: which container or store, value, limit, and what to do. */
void alert_describe(const struct alert *alert, struct buf *out);

/* Adds the alert's members to an object: "verdict", "alert", …, "say". */
void alert_put(const struct alert *alert, struct json_doc *doc, struct json *object);

/* Appends the alerts that are not cleared, and the time, for the next run. */
int alerts_save(const struct alert_list *alerts, struct buf *out, struct err *err) must_check;

/* Reads what alerts_save wrote. ERR_FORMAT for another text. */
int alerts_load(struct buf *text, struct alert_list *out, struct err *err) must_check;

/* Frees the list. */
void alerts_free(struct alert_list *alerts);
#define _cleanup_alerts_ _cleanup_(alerts_free)

#endif
