/* Directories that programs of deep learning fill, by their usual paths. Pure. */
#ifndef SHIM_HABITS_H
#define SHIM_HABITS_H

#include <stddef.h>

enum habit_kind {
    HABIT_CACHE,   /* a volume with a preset moves it */
    HABIT_WORK,    /* results of the user: a volume of that class */
    HABIT_INSTALL, /* programs: they belong in the image */
    HABIT_TEMPORARY,
};

struct habit {
    enum habit_kind kind;
    const char *parts;  /* the end of the path; each component may be a glob */
    const char *what;   /* for people */
    const char *class;  /* the usual name of a class of volumes; NULL: none */
    const char *preset; /* of HABIT_CACHE; else NULL */
};

/*
 * Returns the habit whose directory holds `path`, or is it, and in *len the length of that part of
 * the path; NULL if there is none. The first in the list counts, as do the shortest paths.
 */
const struct habit *habit_of(const char *path, size_t *len);

#endif
