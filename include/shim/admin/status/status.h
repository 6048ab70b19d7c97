/*
 * The state of flatbed on this host at a glance: the policy, what each engine runs, the trees of
 * restack and the records of warm. Reads configurations only; no engine is asked. Changes nothing.
 */
#ifndef SHIM_STATUS_H
#define SHIM_STATUS_H

#include "shim/policy/policy.h"

enum { STATUS_ENGINES = 4, STATUS_AROUND_MOST = 8 };

/* An engine that is installed here. */
struct status_engine {
    const char *name;    /* "docker", "containerd", "podman" or "CRI-O"; static */
    const char *runtime; /* its name for flatbed-runtime; NULL: it does not know it */
    const char *program; /* of that runtime; NVIDIA's, where that calls flatbed-runtime */
    bool is_default;
    const char *around[STATUS_AROUND_MOST]; /* its runtimes that no policy judges */
    size_t around_count;
};

struct status {
    struct arena arena; /* owns the texts */
    struct {
        const char *path;    /* NULL: there is none */
        const char *problem; /* why no container can start; NULL: it loads */
        enum policy_mode mode;
        size_t files, errors, warnings;
    } policy;
    struct status_engine engines[STATUS_ENGINES];
    size_t engine_count;
    struct {
        const char *cache;   /* its directory; NULL: it was never used */
        const char *problem; /* why it cannot be read; NULL: it can */
        size_t trees;
        uint64_t bytes; /* on the disk */
    } restack;
    struct {
        size_t caches, copies;
        uint64_t bytes;
        const char *problem; /* why a cache cannot be read; NULL: it can */
    } stage;
    struct {
        const char *cache;   /* of the policy's "warm"; NULL: it has none */
        const char *problem; /* why the records cannot be read; NULL: they can */
        size_t records, off; /* those that are off, as they save too little */
        uint64_t bytes;      /* that a start reads ahead, of all records */
    } warm;
};

/* Reads all of it. The caller frees *out, also after a failure. Fails only without memory. */
int status_read(struct status *out, struct err *err) must_check;

/* Appends it as text for a terminal of that width; 0: it is none. */
void status_print(const struct status *status, size_t terminal, struct buf *out);

/* Appends it as JSON. */
int status_json(const struct status *status, struct buf *out, struct err *err) must_check;

/* Returns true if containers can start: a policy loads and has no errors, or there is none. */
bool status_is_well(const struct status *status);

/* Frees the texts. */
void status_free(struct status *status);

#define _cleanup_status_ _cleanup_(status_free)

#endif
