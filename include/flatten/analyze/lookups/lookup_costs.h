/*
 * The cost model of lookups (docs/overlay-costs.md): a cold lookup in n layers takes 1 + k * (n -
 * 1) times as long as in one. Linear, so the mean of n does for many. k is what flatbed bench
 * measured on this host, where it did and saved that; else what was measured elsewhere, on ext4.
 */
#ifndef FLATTEN_LOOKUP_COSTS_H
#define FLATTEN_LOOKUP_COSTS_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum lookup_kind { LOOKUP_STAT, LOOKUP_MISSING, LOOKUP_READDIR, LOOKUP_KINDS };

/* What is cold. */
enum lookup_cold {
    LOOKUP_MOUNT, /* the overlay's own dentries: a container that starts beside others of its image
                   */
    LOOKUP_DENTRIES, /* all dentries and inodes */
    LOOKUP_DISK,     /* and the page cache */
    LOOKUP_COLDS,
};

enum { LOOKUP_COSTS_TEXT = 80 };

struct lookup_costs {
    double k[LOOKUP_KINDS][LOOKUP_COLDS];
    bool measured[LOOKUP_COLDS]; /* on this host; else a default */
    char file[256];              /* that they are from; "": none */
    char date[LOOKUP_COSTS_TEXT], kernel[LOOKUP_COSTS_TEXT], filesystem[LOOKUP_COSTS_TEXT];
};

extern const struct lookup_costs lookup_default_costs;
extern const char *const lookup_kind_key[LOOKUP_KINDS], *const lookup_cold_key[LOOKUP_COLDS];

/* Where flatbed bench --save keeps them. */
extern const char lookup_costs_path[];

/* How many times as long as with one layer. */
double lookup_ratio(const struct lookup_costs *c, enum lookup_kind kind, enum lookup_cold cold,
                    double layers);

/*
 * What flatbed bench wrote. Version 1, k from 0 to 1000 for stat, missing and readdir alike where a
 * state was measured; members that are not known are for others. Pure.
 */
int lookup_costs_parse(const char *text, size_t len, struct lookup_costs *out,
                       struct err *err) must_check;

/*
 * From a file, or NULL: from lookup_costs_path. There, none is no error; one that others than root
 * can write to, or that is no good, is: the caller may go on with the defaults, which *out has
 * then.
 */
int lookup_costs_load(const char *path, struct lookup_costs *out, struct err *err) must_check;

#endif
