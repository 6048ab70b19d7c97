/*
 * Files of cgroups that `linux.resources` names: runc and crun open them by that name in the
 * container's cgroup, and write to them as root. Pure.
 */
#ifndef SHIM_CGROUP_FILES_H
#define SHIM_CGROUP_FILES_H

#include "base/json/json.h"

/* A file that no container needs. */
struct cgroup_file {
    const char *key;     /* "linux.resources.unified"; static */
    const char *name;    /* as it is written, of the document */
    const char *problem; /* "is a file of another cgroup"; static */
};

/*
 * Returns true for `linux.resources` of config.json, or the file of an update, that names a file by
 * which processes of others are moved, stopped or killed, such as cgroup.procs, or one of another
 * cgroup: the first is *out. A size of pages that is none would become such a file under crun, and
 * a name of an interface that is too long overruns its buffer.
 */
bool cgroup_file_find(const struct json *resources, struct cgroup_file *out);

#endif
