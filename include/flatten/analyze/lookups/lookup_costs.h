/*
 * The cost model of lookups (docs/overlay-costs.md): a cold lookup in n layers takes 1 + k * (n -
 * 1) times as long as in one. It is linear, so the mean of n gives the mean of the times. The
 * factors k are those that flatbed bench measured on this host and saved; where it did not, those
 * that were measured on ext4 elsewhere.
 */
#ifndef FLATTEN_LOOKUP_COSTS_H
#define FLATTEN_LOOKUP_COSTS_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum lookup_kind { LOOKUP_STAT, LOOKUP_MISSING, LOOKUP_READDIR, LOOKUP_KINDS };

/* The caches that are cold. */
enum lookup_cold {
    LOOKUP_MOUNT,    /* the overlay's own dentries: the image's other containers run already */
    LOOKUP_DENTRIES, /* all dentries and inodes */
    LOOKUP_DISK,     /* these and the page cache */
    LOOKUP_COLDS,
};

enum { LOOKUP_COSTS_TEXT = 80 };

struct lookup_costs {
    double k[LOOKUP_KINDS][LOOKUP_COLDS];
    bool measured[LOOKUP_COLDS]; /* k was measured, and is no default */
    bool saved_here;             /* `file` is where flatbed bench --save writes */
    char file[256];              /* that k comes from; "": defaults */
    char date[LOOKUP_COSTS_TEXT], kernel[LOOKUP_COSTS_TEXT], filesystem[LOOKUP_COSTS_TEXT];
};

extern const struct lookup_costs lookup_default_costs;
extern const char *const lookup_kind_key[LOOKUP_KINDS], *const lookup_cold_key[LOOKUP_COLDS];

/* Returns how many times as long a lookup takes as with one layer. */
double lookup_ratio(const struct lookup_costs *c, enum lookup_kind kind, enum lookup_cold cold,
                    double layers);

/*
 * Parses what flatbed bench --json prints: version 1, and for each state that was measured a k from
 * 0 to 1000 for stat, missing and readdir. Unknown members are ignored. Pure. On failure *out has
 * the defaults; `file` and `saved_here` are the caller's to set.
 */
int lookup_costs_parse(const char *text, size_t len, struct lookup_costs *out,
                       struct err *err) must_check;

#endif
