/*
 * The name of an image in a registry: [HOST[:PORT]/]NAME[:TAG|@DIGEST], after distribution/
 * reference. The first component is a host if it has a dot or a colon or is "localhost"; the
 * default is Docker Hub, where a name of one component is in "library/". A missing tag means
 * "latest".
 *
 * The parts are safe in a URL: they have only the characters of that grammar.
 */
#ifndef FLATTEN_REGISTRY_REF_H
#define FLATTEN_REGISTRY_REF_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>

struct registry_ref {
    char *host;       /* "docker.io", "host:5000", "[::1]:5000": the key of stored credentials */
    char *repository; /* "library/debian" */
    char *tag;        /* NULL with a digest */
    char *digest;     /* NULL with a tag */
};

/* Parses a name. ERR_USAGE if it is malformed. The caller clears *out with registry_ref_clear. */
int registry_ref_parse(const char *text, struct registry_ref *out, struct err *err) must_check;

/* Frees what it owns, and zeroes it. */
void registry_ref_clear(struct registry_ref *ref);

#define _cleanup_registry_ref_ _cleanup_(registry_ref_clear)

/* Returns the host of the API, which for Docker Hub is not docker.io. */
const char *registry_ref_server(const struct registry_ref *ref);

#endif
