#include "flatten/name/reference.h"

void reference_clear(struct reference *ref)
{
    free(ref->path);
    free(ref->name);
    free(ref->store);
    *ref = (struct reference){0};
}

bool reference_is_engine(const struct reference *ref)
{
    return ref->transport == TRANSPORT_DOCKER_DAEMON || ref->transport == TRANSPORT_STORAGE;
}

const char *reference_prefix(enum transport transport)
{
    static const char *const prefixes[] = {
        [TRANSPORT_OCI] = "oci:",
        [TRANSPORT_OCI_ARCHIVE] = "oci-archive:",
        [TRANSPORT_DOCKER_ARCHIVE] = "docker-archive:",
        [TRANSPORT_DOCKER_DAEMON] = "docker-daemon:",
        [TRANSPORT_REGISTRY] = "docker://",
        [TRANSPORT_STORAGE] = "containers-storage:",
    };

    return prefixes[transport];
}
