/*
 * Measures how long a command takes in a container of an image on this host: on the overlay of the
 * image's layers, on one layer (a tree as rootfs.beyond "restack" mounts it), and on the overlay
 * with volumes for caches; with cold and with warm caches. Each run has a new container of the
 * low-level runtime, with an upper directory in memory and without a network.
 *
 * A child does the work in mount and PID namespaces of its own. At its end, also if it is killed or
 * this process is, the kernel removes its mounts and processes.
 */
#ifndef SHIM_START_H
#define SHIM_START_H

#include "shim/admin/engine/engine_image.h"

#include <stdbool.h>

enum start_root { START_OVERLAY, START_RESTACKED, START_CACHES, START_ROOTS };
enum start_state { START_COLD, START_WARM, START_STATES };
enum { START_MOST_RUNS = 101, START_TAIL = 4096, START_WHY = 1024, START_MOST_TIMEOUT = 86400 };

extern const char *const start_root_names[START_ROOTS], *const start_state_names[START_STATES];

/* A directory of the host in the container. */
struct start_volume {
    const char *source, *target;
    bool write;
    const char *variable; /* of the environment, set to the target; NULL: none */
};

struct start_options {
    const struct engine_image *image;
    const char *const *command; /* behind the image's entry point */
    size_t words;
    const struct start_volume *volumes; /* START_CACHES is measured if there are any */
    size_t volume_count;
    const char *runtime;    /* path of runc or crun */
    const char *dir;        /* for temporary files, on the file system of the layers */
    unsigned runs, timeout; /* timeout: seconds, of one run */
    bool states[START_STATES];
};

/* Plain data. */
struct start_result {
    unsigned runs;
    size_t layers;
    bool measured[START_STATES][START_ROOTS];
    double seconds[START_STATES][START_ROOTS][START_MOST_RUNS];
    char why[START_ROOTS][START_WHY]; /* the reason why a root was not measured; "": it was */
    int failed;                       /* exit status of the command; 0: it never failed */
    char tail[START_TAIL];            /* the end of its standard error */
    char where[64];                   /* the run in which it failed */
};

/*
 * Runs the measurement. A command that fails ends it: `failed` is set then, and this returns 0.
 * ERR_LIMIT for a run beyond the timeout, ERR_SYSTEM.
 */
int start_measure(const struct start_options *options, struct start_result *out,
                  struct err *err) must_check;

/* ---- pure ---- */

enum start_verdict { START_BASE, START_WORTH, START_NOT_WORTH };

/* The runs of one root in one state. */
struct start_summary {
    double median, low, high; /* seconds; quartiles */
    double ratio;             /* of the overlay's median to this one: above 1 is faster */
    enum start_verdict verdict;
};

/*
 * Summarizes the runs of a root. It is worth having if it saves more than 5 % of the overlay's
 * median, and more than the larger of the two distances between quartiles.
 */
void start_summarize(const struct start_result *r, enum start_state state, enum start_root root,
                     struct start_summary *out);

/* Returns the first state that was measured: cold before warm. */
enum start_state start_first_state(const struct start_result *r);

/* The texts around a result. */
struct start_report {
    const char *image;
    double limit;           /* seconds; 0: none */
    enum start_root chosen; /* the root to which the limit applies */
};

/* Returns true if the median of the chosen root, in the first state, is beyond the limit. */
bool start_exceeds(const struct start_report *report, const struct start_result *r);

/* Append the result as a table, `terminal` columns wide (columns_print), and advice; as JSON. */
void start_put_text(const struct start_report *report, const struct start_result *r,
                    size_t terminal, bool colour, struct buf *out);
void start_put_json(const struct start_report *report, const struct start_result *r,
                    struct buf *out);

#endif
