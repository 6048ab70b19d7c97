/*
 * The mark of a launch in a file of /run/flatbed: which process launches the container, and where
 * the low-level runtime will keep it. It tells later calls whether what the file says is still in
 * force.
 *
 * The process stays the same when it becomes the low-level runtime, so while it runs, the container
 * may be about to appear. After that, runc and crun keep a directory of the container's name until
 * it is deleted: ROOT/ID, where ROOT is --root, or /run/runc and /run/crun (crun also looks at
 * XDG_RUNTIME_DIR, as root, too).
 */
#ifndef SHIM_LAUNCH_MARK_H
#define SHIM_LAUNCH_MARK_H

#include "base/json/json.h"
#include "shim/host/process/process.h"

/* Returns the mark of this process and a container, for `doc`. `root` is --root or NULL. */
struct json *launch_mark_make(struct json_doc *doc, const char *root, const char *id);

/* Returns true if a process other than this one, and those that it descends from, still launches.
 * False without a mark. */
bool launch_mark_runs(const struct json *mark);

/* Returns true if the low-level runtime has a directory for the container. */
bool launch_mark_kept(const struct json *mark);

/*
 * Returns true if nothing is left of the launch: its process has ended, and no runtime has a
 * directory for the container. False if the mark does not say all of that.
 */
bool launch_mark_over(const struct json *mark);

/* Returns true if a runtime with that --root (or NULL) has a directory for a container. */
bool container_kept(const char *root, const char *id);

/*
 * Returns true if such a runtime has a container: it would refuse to create another of that name.
 * (runc keeps ROOT/ID/state.json, crun ROOT/ID/status.)
 */
bool container_exists(const char *root, const char *id);

/*
 * Sets *out to the container's first process, as that runtime wrote it down; it may have ended.
 * ERR_SYSTEM: there is no container of that name; ERR_POLICY: there are several, in the default
 * directories of both runtimes.
 */
int container_process(const char *root, const char *id, struct process *out,
                      struct err *err) must_check;

#endif
