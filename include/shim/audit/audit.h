/*
 * The record of each decision about a container, as the policy's "audit" says: a line of JSON in a
 * file (audit_line, audit_file), a message to syslog, counters for Prometheus (metrics).
 *
 * Denials that a permissive policy lets pass, and records that cannot be written to the file,
 * always go to syslog. A rootless runtime writes no files: their owner would be the user.
 */
#ifndef SHIM_AUDIT_H
#define SHIM_AUDIT_H

#include "shim/oci/call.h"
#include "shim/plan/decision/decision.h"
#include "shim/plan/judge.h"

#include <time.h>

enum audit_verdict {
    AUDIT_ALLOWED, /* the container starts as it is */
    AUDIT_CHANGED, /* the container starts with an edited config.json */
    AUDIT_DENIED,  /* the container does not start */
};

/* One decision. Texts are borrowed; NULL is unknown. */
struct audit_record {
    struct timespec time;
    enum audit_verdict verdict;
    const char *command, *container, *bundle;
    const char *engine; /* never NULL */
    const char *image, *namespace_name, *profile;
    enum policy_mode mode;
    bool uid_known; /* `uid` is the container's owner */
    uid_t uid;
    const char *user;
    struct id_pair process;          /* ids of its process, as the host sees them */
    unsigned off;                    /* bits of enum policy_opt_out */
    const char *error;               /* the reason of a denial */
    const char *warning;             /* the denials that a permissive policy let pass */
    const struct decision *decision; /* or NULL */
    uint64_t free, least_free;       /* bytes of the container's store; 0: there is enough */
};

/* A line of 4 KiB is one write for a pipe (PIPE_BUF) and one message for most log collectors. */
enum { AUDIT_LINE = 4096, AUDIT_OPERATIONS = 256 };

/*
 * Appends the record as a line of JSON of at most `limit` bytes: long texts are cut and end with
 * "…", operations that do not fit are left out and counted, denials last. Pure.
 */
int audit_line(const struct audit_record *record, size_t limit, struct buf *out,
               struct err *err) must_check;

/* Adds "time" to an object, in UTC with milliseconds. */
void audit_put_time(struct json_doc *doc, struct json *object, const struct timespec *time);

extern const char *const audit_verdict_names[];

/*
 * Returns the engine that started the runtime: "docker", "containerd", "cri", "podman", "cri-o" or
 * "unknown", first by --root and the bundle's path, which only the engine sets, then by
 * annotations. `spec` may be NULL. Pure.
 */
const char *audit_engine(const struct call *call, const struct spec *spec);

/*
 * Appends a line (with its newline) to the audit file with one write(2), under rundir_lock, after
 * rotating the file if it would grow beyond its size. The file and its directories must be owned by
 * root and not writable by others. The beginning of a line that a killed writer left is cut off.
 */
int audit_file_append(const struct policy_audit *audit, const struct buf *line,
                      struct err *err) must_check;

/*
 * Replaces a file of metrics, without fsync: mode 0644, as the collector is not root. The directory
 * must exist.
 */
int audit_metrics_replace(const char *path, const struct buf *text, struct err *err) must_check;

/* The work of a copier of staged volumes, for the counters. */
struct audit_copy {
    const char *result; /* "made", "unchanged", "failed"; NULL: nothing was to be copied */
    uint64_t bytes;     /* of files that were copied */
    size_t evicted;     /* copies */
    const char *cache;  /* its path */
    uint64_t room;      /* bytes that its copies take now */
};

/* Counts it in a file of metrics, without fsync. */
int audit_metrics_copy(const char *path, const struct audit_copy *copy, struct err *err) must_check;

/* Sends a record to /dev/log. `problem` is the reason why there is no line in the file, or NULL. */
void audit_syslog(const struct audit_record *record, const char *problem);
/* Sends a warning to /dev/log. */
void audit_syslog_warning(const char *text);

/* The container that a decision is about, as far as it is known. */
struct audit_subject {
    const struct policy *policy;
    const struct call *call;
    const struct spec *spec;           /* or NULL */
    const struct judgement *judgement; /* or NULL; else with `decision` */
    const struct decision *decision;
};

/*
 * Writes a decision to all places that the policy names. `why` is the text of a denial or a
 * warning, or NULL. Fails only if the policy requires the record of a container that starts, and it
 * could not be written.
 */
int audit_decision(const struct audit_subject *subject, enum audit_verdict verdict,
                   const struct err *why, struct err *err) must_check;

/* Writes down that the container does not start. Failures are ignored. */
void audit_refusal(const struct audit_subject *subject, const struct err *why);

#endif
