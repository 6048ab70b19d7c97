/*
 * Image references: the place of an image, in the forms of containers-transports(5).
 *
 *   docker-archive:FILE[:NAME]   oci:DIR[:TAG]   oci-archive:FILE[:TAG]   docker-daemon:NAME
 *   docker://[HOST[:PORT]/]NAME[:TAG|@DIGEST]   containers-storage:[[DRIVER@]ROOT[+RUN]]NAME
 *
 * A word without a transport is a path if that exists (a directory is an OCI layout, a file an
 * archive), else an image of the Docker daemon.
 */
#ifndef FLATTEN_REFERENCE_H
#define FLATTEN_REFERENCE_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum transport {
    TRANSPORT_OCI,
    TRANSPORT_OCI_ARCHIVE,
    TRANSPORT_DOCKER_ARCHIVE,
    TRANSPORT_DOCKER_DAEMON,
    TRANSPORT_REGISTRY,
    TRANSPORT_STORAGE, /* of podman, buildah, CRI-O: containers-storage */
};

enum { REGISTRY_RETRIES = 5 }; /* the default */

/* Options of the connection to a registry. reference_parse leaves them to its caller, zeroed. */
struct registry_options {
    bool insecure;        /* do not verify certificates, and accept plain HTTP */
    uint64_t retries;     /* how often to repeat a request after a temporary failure */
    const char *cert_dir; /* certificates.h; or NULL */
    /* For a destination: a repository of the same registry that blobs may come from; or NULL. */
    const char *mount_from;
};

struct reference {
    enum transport transport;
    bool sniffed; /* guessed from a word without a transport: an archive may be of either kind */
    bool by_tag;  /* a destination that ends with ":{tag}", which is no part of `name` */
    char *path;   /* of the file or directory; NULL for the daemon and registries */
    char *name;   /* a tag for OCI layouts and archives, name[:tag] for the others; may be NULL */
    char *store;  /* of podman: "[DRIVER@]ROOT[+RUN]" as it is written; NULL: podman's default */
    struct registry_options registry;
    uint64_t max_ratio; /* of unpacked to compressed bytes of a source; 0: the default */
};

/* Frees path, name and store, and zeroes the reference. */
void reference_clear(struct reference *ref);

/* True for an image of an engine: the Docker daemon or podman. */
bool reference_is_engine(const struct reference *ref) must_check;

/* Returns "docker-daemon:" and so on, as the transport is written. */
const char *reference_prefix(enum transport transport) must_check;

#define _cleanup_reference_ _cleanup_(reference_clear)

#endif
