/* One reading of a command line under one grammar; call_read.c compares several. */
#ifndef SHIM_CALL_GRAMMAR_H
#define SHIM_CALL_GRAMMAR_H

#include "shim/runtime/call/call_read.h"

#include <stddef.h>

enum { READING_REASON = 160 };

struct reading {
    struct call call;
    bool rejected;               /* the runtime would refuse this line */
    char reason[READING_REASON]; /* why */
};

struct grammar {
    enum lowlevel_flavor flavor;
    /*
     * runc alone: knows all options in all commands, as later versions do more and more. The set of
     * known options matters even for other words: known ones are moved to the front together with
     * the word behind them.
     */
    bool newer;
    bool later_reorder; /* runc alone: the order of words as urfave/cli has it since about 1.22.5 */
    bool unknown_values; /* read unknown options as ones that take the next word as their value */
};

/* Reads the words under one grammar. All texts in *out are borrowed from argv. Pure. */
void grammar_read(const struct grammar *grammar, int argc, char *const argv[], struct reading *out);

/*
 * Returns true for an id that runc refuses, and that crun before 1.21 takes for a path: by it a
 * container has many names, and "delete --force .." removes the directory above --root.
 */
bool grammar_id_is_path(const char *id);

#endif
