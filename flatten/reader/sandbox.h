/*
 * What reads an image has nothing to lose: an image is hostile, and so is each parser of it once it
 * is fooled.
 *
 * A process that has entered the sandbox has no capabilities and can gain none (capabilities(7),
 * PR_SET_NO_NEW_PRIVS), reaches no file by name (Landlock, landlock(7), where the kernel has it)
 * and makes none but the system calls of a short list (seccomp(2)): those for memory, threads,
 * time, and descriptors that it holds already or is handed over a socket. Any other ends it with
 * SIGSYS. It cannot become executable in new places either: no mapping may be.
 *
 * Of resource limits only that of core dumps is set: a dump would put an image's content, and what
 * the process holds, into a file. RLIMIT_NPROC counts all processes of the user, and not root's, so
 * it would stop threads where somebody else is busy; the list lets no process be made. RLIMIT_AS
 * and RLIMIT_DATA would need a figure that no image reaches, while paths may be millions: what
 * hostile input can ask for is bounded where it is asked for (json.h, attributes.h, layer.h,
 * merged.h). RLIMIT_FSIZE would bound the files of the destination, as --max-size does already.
 *
 * AddressSanitizer's runtime needs what the list does not have: in such a build there is no list,
 * and sandbox_has_list is false. Coverage counters go into files when the process ends: a build for
 * these (which is never an optimised one) has neither a list nor Landlock.
 */
#ifndef FLATTEN_SANDBOX_H
#define FLATTEN_SANDBOX_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>

/* Cannot be undone. To be called while there is one thread. */
int sandbox_enter(struct err *err) must_check;

bool sandbox_has_list(void);
bool sandbox_closes_files(void); /* where the kernel can */

#endif
