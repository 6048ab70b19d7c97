/*
 * flatbed-runtime in an engine's configuration: what is put in and taken out, as text. Pure.
 *
 *  - Docker: daemon.json, "runtimes" and "default-runtime" (dockerd(8)).
 *  - containerd: config.toml, versions 2 and 3, the runtimes of its CRI plugin.
 *  - podman: containers.conf(5), [engine.runtimes] and [engine] runtime.
 *
 * Editing twice changes nothing the second time, and what was not ours stays byte for byte. The
 * three read an empty file as an empty configuration, and so it is taken here.
 */
#ifndef SHIM_INSTALL_H
#define SHIM_INSTALL_H

#include "base/buf.h"

#include <stdbool.h>

struct install {
    const char *name;    /* of the runtime, to the engine */
    const char *runtime; /* the path of flatbed-runtime */
    bool make_default;
};

/* True for a name that all engines take, and that means none of their own runtimes. */
bool install_name_valid(const char *name);

/* Puts it in. ERR_FORMAT, with a line, where the text is not what the engine reads. */
typedef int install_edit(const struct install *in, const struct buf *before, struct buf *after,
                         struct err *err);

/*
 * Takes it out. `backup` is the text from before the first edit, or NULL: a default that was there
 * comes back from it. `after` is empty where nothing but ours was in the file.
 */
typedef int install_undo(const struct install *in, const struct buf *before,
                         const struct buf *backup, struct buf *after, struct err *err);

/*
 * True if taking it out would bring back an older default than the one that it replaces now: then
 * the backup is out of date.
 */
typedef bool install_outdated(const struct install *in, const struct buf *before,
                              const struct buf *backup);

install_outdated install_docker_outdated;
install_edit install_docker, install_containerd, install_podman;
install_undo install_docker_undo, install_toml_undo;

#endif
