/* Marks by which a container says that it is ready. */
#ifndef SHIM_READY_MARK_H
#define SHIM_READY_MARK_H

#include "base/json/json.h"
#include "shim/admin/containers/containers.h"
#include "shim/policy/policy.h"

#include <sys/types.h>

/* The state of a mark. */
enum mark_answer {
    MARK_UNKNOWN, /* nothing can be said: no health check, a log that is not a file, no answer */
    MARK_MISSING,
    MARK_SET,
    MARK_PASSED /* it is set, and nobody knows any more since when */
};

/*
 * Looks for the mark of a container that started at `started`; *at is when it was set, in seconds
 * since 1970. An older mark is of a start before.
 */
enum mark_answer mark_find(const struct policy_ready *ready, const struct container_found *c,
                           pid_t pid, double started, double *at);

/* The health of a container as the engine wrote it: Docker's State.Health, podman's file. Pure. */
enum mark_answer mark_of_health(const struct json *health, double started, double *at);

/*
 * Looks for a line that matches in a log: lines of JSON (Docker's json-file, journal.h), or with
 * the time first (podman's k8s-file). Texts of more than 4 KiB are cut. Pure.
 */
enum mark_answer mark_in_log(const char *pattern, const char *log, size_t len, double started,
                             double *at);

#endif
