/*
 * Directories that lie in the stores of this host's engines and are named by none: of layers and
 * containers, in Docker's overlay2 and in containers-storage (podman, buildah, CRI-O).
 *
 * A directory is listed only if the engine's state was read whole and does not name it, nor does a
 * layer that it names, nor a mount of any mount namespace. A state that cannot be read, or is not
 * understood, is a problem of the list, and nothing of that store is listed.
 *
 * Before a directory is removed, all of this is found again under the engine's own locks; it is
 * renamed to STALE_PREFIX and its name first, so that no engine finds a part of it, and so that the
 * next run finds it again.
 */
#ifndef SHIM_STALE_H
#define SHIM_STALE_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STALE_PREFIX ".flatbed-stale-"

enum stale_engine { STALE_DOCKER, STALE_PODMAN, STALE_FLATBED };
enum stale_kind {
    STALE_LAYER,
    STALE_REMAINS,
    STALE_TREE,
    STALE_FOLDER,
    STALE_STAGED,
    STALE_UNFINISHED
};

extern const char *const stale_engine_names[], *const stale_kind_names[];

struct stale_item {
    enum stale_engine engine;
    enum stale_kind kind;
    const char *parent; /* the path of the directory in which it lies */
    const char *name;
    const char *link; /* its short name in PARENT/l; NULL: it has none */
    const char *why;  /* it is held to be unreferenced */
    int64_t changed;  /* seconds since the epoch: the newest of its top entries */
    uint64_t bytes;   /* on the disk; a file of several names counts in proportion */
    bool partial;     /* it is too large to be measured whole */
    bool removed;
    const char *kept; /* why it was not removed; NULL: it was, or nobody asked */
};

/* A store that was left out. */
struct stale_problem {
    const char *path, *why;
};

struct stale_list {
    struct arena arena; /* owns the texts */
    struct stale_item *list;
    size_t count;
    struct stale_problem *problems;
    size_t problem_count;
};

struct stale_limits {
    int64_t now;   /* seconds since the epoch */
    int64_t older; /* seconds: what is younger is not listed */
    bool remove;
    void (*log)(const struct stale_item *item); /* called before each removal; NULL: nobody asks */
    /* Called every few seconds while directories are measured; NULL: nobody asks. */
    void (*tell)(const char *path, size_t done, size_t count);
};

/*
 * Adds what is stale in a store, a data-root of Docker or a containers-storage, and removes it if
 * `limits` says so. A missing store is a problem only if it was `asked` for. Fails without memory.
 */
int stale_store(const char *path, bool asked, const struct stale_limits *limits,
                struct stale_list *out, struct err *err) must_check;

/* Adds the stores of this host's engines, or a user's own. */
int stale_usual_stores(const struct stale_limits *limits, struct stale_list *out,
                       struct err *err) must_check;

/* Reads "30d", "12h" or "30", which are days. Returns false for other texts. */
bool stale_duration(const char *text, int64_t *seconds);

/* Adds an item, or returns NULL without memory. */
struct stale_item *stale_add(struct stale_list *list);

/* Adds a problem, with copies of the texts. */
int stale_problem(struct stale_list *list, const char *path, const char *why,
                  struct err *err) must_check;

/* Measures an item in the open directory in which it lies. */
void stale_measure(int parent, struct stale_item *item);

void stale_free(struct stale_list *list);

#define _cleanup_stale_ _cleanup_(stale_free)

#endif
