/*
 * Specifications of the Container Device Interface (CDI 0.3 to 1.0, SPEC.md of
 * github.com/cncf-tags/container-device-interface): the administrator's word for mounts and hooks
 * that come with a device. Only files in /etc/cdi and /var/run/cdi count that only root could have
 * written, with the extensions that the reference implementation reads, .json and .yaml.
 */
#ifndef SHIM_CDI_H
#define SHIM_CDI_H

#include "base/arena.h"
#include "base/json/json.h"

/* A mount of a specification. */
struct cdi_mount {
    const char *source, *target; /* as written */
    bool writable;               /* its options do not say "ro" */
};

/* A hook of a specification. */
struct cdi_hook {
    const char *stage, *path;
    const char **args;
    size_t arg_count;
};

struct cdi {
    struct cdi_mount *mounts;
    size_t mount_count;
    struct cdi_hook *hooks;
    size_t hook_count;
    bool read; /* by cdi_read */
};

/* Adds the mounts and hooks of a specification: texts are copied into the arena. What is not of the
 * right type is skipped. Fails only without memory. Pure. */
int cdi_add(struct cdi *cdi, const struct json *spec, struct arena *arena,
            struct err *err) must_check;

/* Reads all specifications of this host, once. One that is not trusted, or that cannot be parsed,
 * is skipped. Fails only without memory. */
int cdi_read(struct cdi *cdi, struct arena *arena, struct err *err) must_check;

/* Returns the mount of that source and target, or NULL. Pure. */
const struct cdi_mount *cdi_find_mount(const struct cdi *cdi, const char *source,
                                       const char *target);

/* Returns true if a specification has a hook with that stage (hookName), path and those arguments.
 * Pure. */
bool cdi_has_hook(const struct cdi *cdi, const char *stage, const char *path,
                  const struct json *args);

#endif
