/* One reading of a command line under one grammar: what call_read.c compares. */
#ifndef SHIM_CALL_GRAMMAR_H
#define SHIM_CALL_GRAMMAR_H

#include "shim/runtime/call/call_read.h"

#include <stddef.h>

enum { READING_REASON = 160 };

struct reading {
    struct call call;
    const char *unknown;         /* the first option that the grammar does not know, or NULL */
    bool rejected;               /* the runtime refuses this line */
    char reason[READING_REASON]; /* why */
};

struct grammar {
    enum lowlevel_flavor flavor;
    /*
     * runc alone: one that knows all options everywhere, as later versions do more and more. Which
     * it knows matters even where they are not meant: known ones are moved to the front with the
     * word behind them.
     */
    bool newer;
    bool later_reorder; /* runc alone: the order of words as urfave/cli has it since about 1.22.5 */
    bool unknown_values; /* read unknown options as ones that take the next word as their value */
};

void grammar_read(const struct grammar *grammar, int argc, char *const argv[], struct reading *out);

/* True for a command of the OCI runtimes, whether or not it creates containers. */
bool grammar_command_known(const char *command);

/* True for create, run, restore. */
bool grammar_command_creates(const char *command);

#endif
