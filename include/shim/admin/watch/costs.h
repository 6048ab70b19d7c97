/* The times of lookups that flatbed bench --save measured on this host. */
#ifndef SHIM_WATCH_COSTS_H
#define SHIM_WATCH_COSTS_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>

#define WATCH_COSTS_FILE "/var/lib/flatbed/costs.json"

/* The times in a root that was just mounted: of a name that is found [0], and a missing one [1]. */
struct watch_costs {
    bool known;
    double seconds[2]; /* with one layer */
    double more[2];    /* what each further layer adds, as a part of that */
};

/* Reads the file. Without `must`, a file that is not there leaves `known` false. */
int watch_costs_read(const char *path, bool must, struct watch_costs *out,
                     struct err *err) must_check;

/* Parses what flatbed bench --json prints. */
int watch_costs_parse(const char *text, size_t len, struct watch_costs *out,
                      struct err *err) must_check;

#endif
