/*
 * Image references, in skopeo's forms: where an image is, or where it shall be.
 *
 *   docker-archive:FILE[:NAME]   oci:DIR[:TAG]   oci-archive:FILE[:TAG]   docker-daemon:NAME
 *   docker://[HOST[:PORT]/]NAME[:TAG|@DIGEST]
 *
 * A bare path that exists is looked into (a directory is an OCI layout, a file an archive); another
 * bare word is an image of the Docker daemon. Both forms of containers-transports(5).
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
};

enum { REGISTRY_RETRIES = 5 }; /* where the user does not say */

/* How to talk to a registry; a zeroed struct is what references are parsed with. */
struct registry_options {
    bool insecure;        /* certificates are not verified, plain HTTP will do */
    uint64_t retries;     /* how often a request that may work later is repeated */
    const char *cert_dir; /* certificates.h; or NULL */
    /* For a destination: a repository of the same registry that blobs may come from; or NULL. */
    const char *mount_from;
};

struct reference {
    enum transport transport;
    bool sniffed; /* a bare word: an archive may be of either kind, the daemon may not be meant */
    char *path;   /* of the file or directory; NULL for the daemon and registries */
    char *name;   /* tag of OCI layouts and archives, name[:tag] of the others; may be NULL */
    struct registry_options registry;
};

/* Parses it into *out, which the caller clears with reference_clear. */
int reference_parse(const char *text, struct reference *out, struct err *err) must_check;

/*
 * The same for a destination, where a bare path need not exist: FILE.tar is an archive. The
 * daemon's needs no name here: "docker-daemon:" is where images go that keep theirs.
 */
int reference_parse_destination(const char *text, struct reference *out,
                                struct err *err) must_check;

void reference_clear(struct reference *ref);

#define _cleanup_reference_ _cleanup_(reference_clear)

#endif
