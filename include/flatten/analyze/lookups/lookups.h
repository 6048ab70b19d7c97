/*
 * What path lookups cost on OverlayFS: the kernel looks a name up in every layer that holds its
 * directory, newest first, until it finds something other than a directory, an opaque directory or
 * a whiteout (fs/overlayfs/namei.c). Probes count those layers. Pure: from strata to numbers.
 *
 * A missing name costs as many probes as its directory has layers; a directory itself, too, unless
 * something stops the search. For means, a missing name is thought to be as likely in a directory
 * as it has entries.
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
    uint32_t entries; /* names in it that show */
    uint16_t layers;
};

/* A directory that Python searches for modules. */
struct lookup_site {
    uint32_t node;
    uint32_t modules; /* packages and .py files that show */
    uint16_t layers;
};

/*
 * Importing every module of the sites once. Existing: the names that an import finds, which are the
 * module's file, or its directory and what starts it. Missing: the same name in each site before.
 */
struct lookup_import {
    struct lookup_site sites[LOOKUP_SITES]; /* in the order of sys.path */
    size_t site_count;
    uint64_t modules;
    uint64_t found, absent; /* lookups */
    uint64_t found_probes, absent_probes;
};

struct lookup_report {
    uint64_t directories, paths;  /* that show; the root is no path */
    struct lookup_stats depth;    /* layers that hold a directory, by directory */
    struct lookup_stats existing; /* probes, by path */
    struct lookup_stats missing;  /* probes */
    uint64_t *by_depth;           /* directories by number of layers, 0 to layers */
    uint64_t *entries_by_depth;   /* and the names in them */
    unsigned layers;
    struct lookup_dir worst[LOOKUP_WORST]; /* most probes beyond one for each entry first */
    size_t worst_count;
    struct lookup_import import;
};

void lookup_report_clear(struct lookup_report *r);

#define _cleanup_lookup_report_ _cleanup_(lookup_report_clear)

/*
 * Counts, as if all layers above the `kept` oldest were one: strata's number of layers for the
 * image as it is, 0 for a flattened one.
 */
int lookups_count(const struct layer_stack *s, unsigned kept, struct lookup_report *out,
                  struct err *err) must_check;

#endif
