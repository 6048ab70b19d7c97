/*
 * The cost of path lookups on OverlayFS. The kernel looks a name up in each layer that has the
 * parent directory, newest first, until it finds a file, an opaque directory or a whiteout
 * (fs/overlayfs/namei.c). A probe is one such layer. Pure: computed from a layer stack.
 *
 * A missing name costs as many probes as its directory has layers; so does a directory, unless
 * something stops the search. In means, a missing name is as likely in a directory as the directory
 * has entries.
 */
#ifndef FLATTEN_LOOKUPS_H
#define FLATTEN_LOOKUPS_H

#include "flatten/analyze/bytes/layer_stack.h"

enum { LOOKUP_WORST = 20, LOOKUP_SITES = 16 };

struct lookup_stats {
    double mean;
    unsigned p99, most;
};

struct lookup_dir {
    uint32_t node;
    uint32_t entries; /* visible names in it */
    uint16_t layers;
};

/* A directory that Python searches for modules. */
struct lookup_site {
    uint32_t node;
    uint32_t modules; /* visible packages and .py files */
    uint16_t layers;
};

/*
 * The lookups of importing every module of the sites once. Found: the module's file, or its
 * directory and the files that Python opens in it. Absent: the module's name in each earlier site.
 */
struct lookup_import {
    struct lookup_site sites[LOOKUP_SITES]; /* in the order of sys.path */
    size_t site_count;
    uint64_t modules;
    uint64_t found, absent; /* lookups */
    uint64_t found_probes, absent_probes;
};

struct lookup_report {
    uint64_t directories, paths;  /* visible ones; the root is no path */
    struct lookup_stats depth;    /* layers that hold a directory, by directory */
    struct lookup_stats existing; /* probes, by path */
    struct lookup_stats missing;  /* probes */
    uint64_t *by_depth;           /* directories by number of layers, 0 to layers */
    uint64_t *entries_by_depth;   /* the names in them, likewise */
    unsigned layers;
    struct lookup_dir worst[LOOKUP_WORST]; /* most extra probes for all entries first */
    size_t worst_count;
    struct lookup_import import;
};

/* Frees what it owns, and zeroes it. */
void lookup_report_clear(struct lookup_report *r);

#define _cleanup_lookup_report_ _cleanup_(lookup_report_clear)

/*
 * Counts lookups as if all layers above the `kept` oldest were one: kept = s->layers for the image
 * as it is, 0 for one flattened to a single layer. The caller clears *out, also after a failure.
 */
int lookups_count(const struct layer_stack *s, unsigned kept, struct lookup_report *out,
                  struct err *err) must_check;

#endif
