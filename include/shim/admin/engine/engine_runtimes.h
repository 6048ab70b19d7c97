/*
 * The runtimes that the engines of this host know, from their configurations: dockerd(8),
 * containerd/docs/cri/config.md, containers.conf(5), crio.conf(5). Options of a daemon's command
 * line are not seen.
 */
#ifndef SHIM_ENGINE_RUNTIMES_H
#define SHIM_ENGINE_RUNTIMES_H

#include "base/json/json.h"
#include "shim/admin/engine/containerd_files.h"

extern const char docker_default_path[];     /* /etc/docker/daemon.json */
extern const char containerd_default_path[]; /* /etc/containerd/config.toml */

struct engine_runtime {
    const char *engine; /* "docker", "containerd", "podman" or "CRI-O"; static */
    const char *file, *name;
    const char *path; /* of the program; a name where the engine searches for it */
    bool is_default;
};

struct engine_runtimes {
    struct arena arena; /* owns the texts */
    struct engine_runtime *list;
    size_t count;
};

/* These add the runtimes of one configuration. Of equal names in an engine the last one counts. */

/* A daemon.json. Returns -1 without memory. */
int engine_runtimes_add_docker(struct engine_runtimes *r, const char *file,
                               const struct json *daemon, struct err *err) must_check;
/* All files of a containerd. */
int engine_runtimes_add_containerd(struct engine_runtimes *r, const struct containerd_files *files,
                                   struct err *err) must_check;
/* A containers.conf. */
int engine_runtimes_add_podman(struct engine_runtimes *r, const char *file, const struct toml *toml,
                               struct err *err) must_check;
/* A crio.conf. */
int engine_runtimes_add_crio(struct engine_runtimes *r, const char *file, const struct toml *toml,
                             struct err *err) must_check;

/*
 * Adds the runtimes of all engines from the files in /etc (and podman's in /usr/share/containers).
 * Files that do not exist or that the engine could not read are left out. Returns -1 without
 * memory.
 */
int engine_runtimes_read(struct engine_runtimes *r, struct err *err) must_check;

/* Returns true if a containers.conf names the default runtime of podman. */
bool engine_podman_has_default(const char *path);

/* Returns the default runtime of an engine if it is a runtime of NVIDIA, else NULL. */
const struct engine_runtime *engine_runtimes_nvidia_default(const struct engine_runtimes *r,
                                                            const char *engine);

/* Returns true if the runtime is one of NVIDIA's. */
bool engine_runtime_is_nvidia(const struct engine_runtime *runtime);

/* Returns true for flatbed-runtime, and for a runtime of NVIDIA that calls it. */
bool engine_runtime_is_flatbed(const struct engine_runtime *runtime);

/* Frees everything. */
void engine_runtimes_free(struct engine_runtimes *r);

#define _cleanup_engine_runtimes_ _cleanup_(engine_runtimes_free)

#endif
