/*
 * The command line of an OCI runtime, as runc and crun read it.
 *
 * The two disagree: `-b=/x` is "/x" to runc and "=/x" to crun, crun knows `-f FILE`, clusters and
 * abbreviations. So the line is read under both grammars (and twice where an option is unknown: as
 * a flag, and as one that takes a value). Readings that the runtime itself would refuse are
 * dropped; if the others agree, nobody needs to know which runtime it is. For runc that includes
 * the options and the reordering of words of older and later versions. The grammars were tried on
 * runc 1.1.5 and crun 1.8.1; the rows of tests/unit/test_call.c are the record.
 *
 * Pure: nothing is opened. All texts are borrowed from argv.
 */
#ifndef SHIM_CALL_READ_H
#define SHIM_CALL_READ_H

#include "base/cleanup.h"
#include "base/err.h"
#include "shim/oci/call.h"
#include "shim/oci/lowlevel.h"

/* Options of flatbed-runtime itself: the first words of the line, "--flatbed-NAME=VALUE". */
struct call_own {
    const char *policy;  /* --flatbed-policy=FILE, or NULL */
    const char *runtime; /* --flatbed-runtime=PATH, or NULL */
    bool version;        /* --flatbed-version */
    int count;           /* words that are ours */
};

/*
 * Reads our own options. An unknown or empty one is ERR_USAGE; out->count is then where the
 * runtime's words seem to begin.
 */
int call_own_parse(int argc, char *const argv[], struct call_own *out, struct err *err) must_check;

/*
 * Reads words (argv without program name and own options). `flavor` narrows it to one grammar.
 * Returns 0 when there is one meaning, 1 when the flavour must be known to tell (*out is then one
 * of the readings, good enough to find the log), -1 with ERR_USAGE when nothing sensible remains
 * of a line that creates a container (*out as with 1).
 */
int call_read(int argc, char *const argv[], enum lowlevel_flavor flavor, struct call *out,
              struct err *err) must_check;

/* True if the command reads config.json: create, run, restore, and not only for its help. */
bool call_edits(const struct call *call);

/* True for an exec whose process is a file. Such a line never fails: in doubt it is passed on. */
bool call_execs(const struct call *call);

#endif
