/* Finds the engine that called. */
#include "shim/audit/audit.h"

#include <string.h>

static bool has_part(const char *path, const char *part)
{
    return path && strstr(path, part);
}

/* Compares the last component, which for a containerd shim is its namespace. */
static bool ends_in(const char *path, const char *name)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash && strcmp(slash + 1, name) == 0;
}

static const char *by_annotations(const struct spec *spec)
{
    const char *manager = spec_annotation(spec, "io.container.manager");

    if (manager && strcmp(manager, "libpod") == 0)
        return "podman";
    if (manager && strcmp(manager, "cri-o") == 0)
        return "cri-o";
    if (spec_annotation(spec, "io.kubernetes.cri.container-type"))
        return "cri";
    return "unknown";
}

const char *audit_engine(const struct call *call, const struct spec *spec)
{
    const char *root = call->root, *bundle = call->bundle;

    if (ends_in(root, "moby") || has_part(bundle, "/io.containerd.runtime.v2.task/moby/"))
        return "docker";
    if (ends_in(root, "k8s.io") || has_part(bundle, "/io.containerd.runtime.v2.task/k8s.io/"))
        return "cri";
    if (has_part(root, "/containerd/runc/") || has_part(bundle, "/io.containerd.runtime.v2.task/"))
        return "containerd";
    return spec ? by_annotations(spec) : "unknown";
}
