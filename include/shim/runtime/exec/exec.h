/*
 * exec: applies to process.json the rules that create kept (exec_rules.h), and adds the variables
 * and resource limits that create added, unless exec sets them itself (to other values than the
 * engine did then). Without rules of a policy that is enforced nothing is an error: a malformed
 * file is left to the runtime to refuse.
 */
#ifndef SHIM_EXEC_EDIT_H
#define SHIM_EXEC_EDIT_H

#include "base/cleanup.h"
#include "base/err.h"
#include "shim/oci/call.h"
#include "shim/oci/lowlevel.h"

/* Descriptors for the low-level runtime; -1: none. The caller closes both. */
struct exec_files {
    int process;   /* an open copy of what the process became (handed_file.h), to read instead */
    int directory; /* the working directory, as the process's user opened it */
    int number;    /* of the descriptor as which the process finds that directory in its /proc */
};

/*
 * Judges and edits the process of a call for which call_execs is true. `low` will execute it, and
 * may be asked for its version. The file stays as it is. ERR_POLICY: it is denied.
 */
int exec_edit(const struct call *call, struct lowlevel *low, struct exec_files *out,
              struct err *err) must_check;

/*
 * Returns ERR_POLICY if the first process of a container, for which call_starts is true, waits in a
 * directory that its user may not enter.
 */
int start_check(const struct call *call, struct err *err) must_check;

/*
 * Takes rules for devices out of the file of an update, for which call_updates is true, if the
 * policy's rules hold for the container: crun would apply them. *copy as for exec_edit.
 * ERR_POLICY: it asks for a priority that the policy denied when the container was created.
 */
int update_edit(const struct call *call, int *copy, struct err *err) must_check;

#endif
