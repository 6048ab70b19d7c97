/*
 * The command line of an OCI runtime, as runc and crun read it.
 *
 * The two disagree: `-b=/x` is "/x" to runc and "=/x" to crun; crun knows `-f FILE`, clusters and
 * abbreviations. So the line is read under both grammars (and twice if an option is unknown: as a
 * flag, and as one that takes a value). Readings that the runtime itself would refuse are dropped;
 * if the others agree, it does not matter which runtime it is. For runc that includes the options,
 * and the order of words, of older and later versions. The grammars were tried on runc 1.1.5 and
 * crun 1.8.1; the rows of tests/unit/shim/runtime/call/test_call.c are the record.
 *
 * Pure: nothing is opened. All texts are borrowed from argv.
 */
#ifndef SHIM_CALL_READ_H
#define SHIM_CALL_READ_H

#include "base/cleanup.h"
#include "base/err.h"
#include "shim/oci/call.h"
#include "shim/oci/lowlevel.h"

/* The options of flatbed-runtime itself: the first words of the line, "--flatbed-NAME=VALUE". */
struct call_own {
    const char *policy;  /* --flatbed-policy=FILE, or NULL */
    const char *runtime; /* --flatbed-runtime=PATH, or NULL */
    bool version;        /* --flatbed-version */
    int count;           /* how many words these are */
};

/*
 * Reads the program's own options. ERR_USAGE for an unknown or empty one; out->count is then the
 * likely start of the runtime's words.
 */
int call_own_parse(int argc, char *const argv[], struct call_own *out, struct err *err) must_check;

/* The results of call_read that are no failure. */
enum { CALL_CLEAR = 0, CALL_AMBIGUOUS = 1 };

/*
 * Reads words (argv without program name and own options). `flavor` narrows it to one grammar.
 * Returns CALL_CLEAR if there is one meaning; CALL_AMBIGUOUS if the flavour must be known (*out is
 * then one of the readings, good enough to find the log); -1 with ERR_USAGE if a line that creates
 * a container, an exec, or an update makes no sense or has two meanings (*out as before).
 */
int call_read(int argc, char *const argv[], enum lowlevel_flavor flavor, struct call *out,
              struct err *err) must_check;

/* Returns true if the command reads config.json: create, run, restore, unless only for its help. */
bool call_edits(const struct call *call);

/* Returns true for a delete whose container is known. */
bool call_deletes(const struct call *call);

/* Returns true for an exec whose container is known. */
bool call_execs(const struct call *call);

/* Returns true for a start whose container is known. */
bool call_starts(const struct call *call);

/* Returns true for an update by a file, of a container that is known. */
bool call_updates(const struct call *call);

#endif
