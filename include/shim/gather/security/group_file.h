/*
 * The container's /etc/group, in which runc looks up supplementary groups by their numbers as names
 * (group_names.h) once all mounts are made. The file is known beforehand only if nobody but root
 * can exchange it meanwhile: root owns it and all directories on the way, no one else may write to
 * them, and nothing is mounted on the way but, on the file itself, such a file of the host.
 */
#ifndef SHIM_GROUP_FILE_H
#define SHIM_GROUP_FILE_H

#include "base/buf.h"
#include "shim/host/users/group_names.h"
#include "shim/oci/spec.h"

struct group_file {
    struct group_names names;
    const char *problem; /* why the file is not known: the end of a sentence; NULL: it is */
    /* A bind mount lies below one that users can change. If they put a link there, it could be made
     * over the file: the mounts must be compared before the process starts (nested.h). */
    bool movable;
};

/*
 * Reads the file, which may be missing. `spec` has the mounts as they will be made; `bundle` is the
 * open directory that relative paths start from. Opens only directories and regular files. Texts
 * are in the arena. Fails without memory, or as targets_find does.
 */
int group_file_gather(const struct spec *spec, int bundle, struct arena *arena,
                      struct group_file *out, struct err *err) must_check;

/* Returns false if that supplementary group may become another, and appends why. Pure, but for the
 * name of the group in the host's /etc/group. */
bool group_file_allows(const struct group_file *file, uint32_t gid, struct buf *why);

#endif
