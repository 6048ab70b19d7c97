#include "flatten/keeper/sink/sink_open.h"

#include "flatten/keeper/sink/sink_backends.h"
#include "flatten/name/registry_ref.h"

#include <string.h>

/* The error for a bare word tells how to write a directory or a file. */
static struct sink *open_daemon(const struct reference *ref, struct err *err)
{
    struct sink *sink = sink_open_daemon(ref->name, err);

    if (!sink && ref->sniffed)
        err_wrap(err, "docker-daemon:%s (a layout is oci:%s, an archive docker-archive:%s)",
                 ref->name, ref->name, ref->name);
    return sink;
}

struct sink *sink_open(const struct reference *ref, struct err *err)
{
    switch (ref->transport) {
    case TRANSPORT_OCI:
        return sink_open_oci(ref->path, err);
    case TRANSPORT_OCI_ARCHIVE:
    case TRANSPORT_DOCKER_ARCHIVE:
        return sink_open_archive(ref, err);
    case TRANSPORT_DOCKER_DAEMON:
        return open_daemon(ref, err);
    case TRANSPORT_STORAGE:
        return sink_open_storage(ref, err);
    case TRANSPORT_REGISTRY:
        return sink_open_registry(ref, err);
    }
    err_set(err, ERR_USAGE, "no such kind of reference");
    return NULL;
}

struct sink *sink_open_beside(const struct reference *ref, const struct reference *from,
                              struct err *err)
{
    struct reference here = *ref;
    _cleanup_registry_ref_ struct registry_ref a = {0}, b = {0};

    if (ref->transport != TRANSPORT_REGISTRY || from->transport != TRANSPORT_REGISTRY)
        return sink_open(ref, err);
    if (registry_ref_parse(ref->name, &a, err) < 0 || registry_ref_parse(from->name, &b, err) < 0)
        return NULL;
    if (strcmp(a.host, b.host) == 0 && strcmp(a.repository, b.repository) != 0)
        here.registry.mount_from = b.repository;
    return sink_open(&here, err);
}
