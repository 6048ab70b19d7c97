/*
 * containerd's configuration: the file and those that it imports, in the order in which containerd
 * reads them (cmd/containerd/server/config, LoadConfig): the files of `imports` come after the file
 * that names them, and their own imports after all of these; a file is read once.
 *
 * containerd 1.x replaces the section of a plugin by that of a later file; 2.x merges it key by
 * key, and later files win. In both, what the last file with a section of the plugin says counts.
 */
#ifndef SHIM_CONTAINERD_FILES_H
#define SHIM_CONTAINERD_FILES_H

#include "shim/admin/engine/toml_value.h"

enum { CONTAINERD_FILES_MOST = 256 };

struct containerd_file {
    const char *path;
    struct toml toml;
    const char *plugin; /* the ID of the plugin that has the runtimes, in a file of this version */
    bool has_plugin;    /* the file has a section of it */
};

struct containerd_files {
    struct arena arena; /* owns all texts */
    struct containerd_file *list;
    size_t count;
};

/*
 * Returns the ID of the plugin that has the runtimes (containerd/docs/cri/config.md) in a file of
 * version 2, 3 or 4. `importer` is the ID of the file that imports this one, for a file that says
 * no version; NULL: such a file is of version 1. NULL with ERR_UNSUPPORTED for other versions.
 */
const char *containerd_plugin(const struct toml *toml, const char *importer,
                              struct err *err) must_check;

/* Returns true for the ID in files of version 2, which containerd 2 translates. */
bool containerd_plugin_is_old(const char *plugin);

/*
 * Reads all files. A main file that does not exist gives an empty list; an import that does not
 * exist is an error, as for containerd. Errors name the file. The caller calls
 * containerd_files_free, also after a failure.
 */
int containerd_files_read(const char *path, struct containerd_files *out,
                          struct err *err) must_check;

/* Returns the file in which a change of the plugin takes effect, or NULL for an empty list. */
const struct containerd_file *containerd_files_last(const struct containerd_files *files);

/* Frees everything. */
void containerd_files_free(struct containerd_files *files);

#define _cleanup_containerd_files_ _cleanup_(containerd_files_free)

#endif
