/*
 * Adds flatbed-runtime to an engine's configuration and removes it, as text. Pure.
 *
 *  - Docker: daemon.json, "runtimes" and "default-runtime" (dockerd(8)).
 *  - containerd: config.toml, versions 2 and 3, the runtimes of its CRI plugin.
 *  - podman: containers.conf(5), [engine.runtimes] and [engine] runtime.
 *  - NVIDIA's container toolkit: config.toml, [nvidia-container-runtime] runtimes and mode. It is
 * no engine, but it stands between an engine and flatbed-runtime in the same way.
 *
 * A second edit changes nothing, and other text stays byte for byte. All three engines read an
 * empty file as an empty configuration, and so does this.
 */
#ifndef SHIM_INSTALL_H
#define SHIM_INSTALL_H

#include "base/buf.h"

#include <stdbool.h>

struct install {
    const char *name;    /* the runtime's name in the engine */
    const char *runtime; /* the path of flatbed-runtime */
    bool make_default;
    /* containerd only: */
    const char *plugin;         /* the ID of the plugin in this file; NULL: as its version says */
    const char *systemd_cgroup; /* "true" or "false", as for runc; NULL: as this file says */
};

/* Returns true for a name that all engines accept, and that is none of their own runtimes. */
bool install_name_valid(const char *name);

/* Adds the runtime. ERR_FORMAT, with a line, if the engine could not read the text. */
typedef int install_edit(const struct install *in, const struct buf *before, struct buf *after,
                         struct err *err);

/*
 * Removes the runtime. `backup` is the text from before the first edit, or NULL: an old default is
 * restored from it. `after` is empty if the file had nothing else.
 */
typedef int install_undo(const struct install *in, const struct buf *before,
                         const struct buf *backup, struct buf *after, struct err *err);

/*
 * Returns true if removing the runtime would restore an older default than the one that it replaces
 * now: then the backup is out of date.
 */
typedef bool install_outdated(const struct install *in, const struct buf *before,
                              const struct buf *backup);

install_outdated install_docker_outdated;
install_edit install_docker, install_containerd, install_podman, install_nvidia;
install_undo install_docker_undo, install_toml_undo;

/*
 * As install_toml_undo. ERR_FORMAT if another program has written the file since and has removed
 * the marks of the edit, but not the edit.
 */
install_undo install_nvidia_undo;

/* Returns true if an earlier edit of this containerd configuration made the runtime the default. */
bool install_containerd_is_default(const struct install *in, const struct buf *text);

#endif
