/*
 * What was decided about a container, written down where the policy's "audit" says: a line of JSON
 * in a file (audit_line, audit_file), a message to syslog, counters for Prometheus (metrics).
 *
 * What a permissive policy lets pass although it is denied, and what cannot be written to the file,
 * goes to syslog in any case. A rootless runtime writes no files: they would be the user's.
 */
#ifndef SHIM_AUDIT_H
#define SHIM_AUDIT_H

#include "shim/plan/decision.h"
#include "shim/plan/judge.h"

#include <time.h>

enum audit_verdict {
    AUDIT_ALLOWED, /* starts as it is */
    AUDIT_CHANGED, /* starts with an edited config.json */
    AUDIT_DENIED,  /* does not start */
};

/* One decision. Texts are borrowed; NULL is not known. */
struct audit_record {
    struct timespec time;
    enum audit_verdict verdict;
    const char *command, *container, *bundle;
    const char *engine; /* never NULL */
    const char *image, *namespace_name, *profile;
    enum policy_mode mode;
    bool uid_known; /* whose container it is */
    uid_t uid;
    const char *user;
    struct id_pair process;          /* the host's ids of its process */
    unsigned off;                    /* bits of enum policy_opt_out */
    const char *error;               /* why it is denied */
    const char *warning;             /* what a permissive policy let pass */
    const struct decision *decision; /* or NULL */
};

enum { AUDIT_LINE = 32 * 1024, AUDIT_OPERATIONS = 256 };

/*
 * Appends the record as a line of JSON of at most `limit` bytes: operations that do not fit are
 * left out and counted, denials last. Pure.
 */
int audit_line(const struct audit_record *record, size_t limit, struct buf *out,
               struct err *err) must_check;

extern const char *const audit_verdict_names[];

/*
 * Who started the runtime: "docker", "containerd", "cri", "podman", "cri-o" or "unknown", by what
 * is only the engine's to say (--root, the bundle's path) and then by its annotations. `spec` may
 * be NULL. Pure.
 */
const char *audit_engine(const struct call *call, const struct spec *spec);

/*
 * Appends a line (with its newline) to the audit file with one write(2), under rundir_lock, after
 * putting the file aside if it would grow beyond its size. The file must be root's, in folders that
 * are root's. A line that a killed writer left half written is cut off.
 */
int audit_file_append(const struct policy_audit *audit, const struct buf *line,
                      struct err *err) must_check;

/* One message to /dev/log; `problem` (why there is no line in the file) or NULL. */
void audit_syslog(const struct audit_record *record, const char *problem);
void audit_syslog_warning(const char *text);

/* Who and what a decision is about, as far as it is known. */
struct audit_subject {
    const struct policy *policy;
    const struct call *call;
    const struct spec *spec;           /* or NULL */
    const struct judgement *judgement; /* or NULL; else with `decision` */
    const struct decision *decision;
};

/*
 * Writes a decision down; `why` is of a denial or a warning, or NULL. Fails only if the policy
 * requires that what starts is written down, and it could not be.
 */
int audit_decision(const struct audit_subject *subject, enum audit_verdict verdict,
                   const struct err *why, struct err *err) must_check;

/* Writes down that it fails, which it does anyway. */
void audit_refusal(const struct audit_subject *subject, const struct err *why);

#endif
