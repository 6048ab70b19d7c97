/*
 * The sandbox of the process that reads images: an image is hostile, and so is a parser that it has
 * fooled.
 *
 * A process in the sandbox has no capabilities and can gain none (capabilities(7),
 * PR_SET_NO_NEW_PRIVS). It reaches no file by name (Landlock, landlock(7), where the kernel has
 * it). It makes only the system calls of a short list (seccomp(2)): those for memory, threads,
 * time, and descriptors that it holds or receives over a socket; any other ends it with SIGSYS. No
 * mapping can become executable.
 *
 * RLIMIT_CORE is the only resource limit that is set: a dump would put content of the image, and of
 * the process, into a file. RLIMIT_NPROC counts all processes of the user, and none of root, so it
 * would stop threads for the load of others; the list permits no new process. RLIMIT_AS and
 * RLIMIT_DATA would need a figure that no image reaches, while an image may have millions of paths:
 * the demands of hostile input are bounded where they are made (json.h, attributes.h, layer.h,
 * merged_limits.h). RLIMIT_FSIZE would bound the files of the destination, which --max-size does.
 *
 * A build with AddressSanitizer has no list, because its runtime makes other system calls. A build
 * for coverage, which writes its counters to files at the end of the process, has neither list nor
 * Landlock, and is never an optimised one.
 */
#ifndef FLATTEN_SANDBOX_H
#define FLATTEN_SANDBOX_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>

/*
 * Enters the sandbox, for good. The process has one thread. ERR_SYSTEM where the kernel has no
 * seccomp.
 */
int sandbox_enter(struct err *err) must_check;

/* True if this build has the list of system calls. */
bool sandbox_has_list(void);
bool sandbox_closes_files(void); /* True if this build uses Landlock, where the kernel has it. */

#endif
