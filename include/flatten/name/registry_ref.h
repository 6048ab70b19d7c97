/*
 * The name of an image in a registry: [HOST[:PORT]/]NAME[:TAG|@DIGEST], as distribution/reference
 * has it. The first component is a host if it has a dot or a colon in it or is "localhost"; without
 * one it is Docker Hub, where a name of one component is in "library/". A missing tag means
 * "latest".
 *
 * What comes out is safe as part of a URL: the parts hold nothing but the grammar's characters.
 */
#ifndef FLATTEN_REGISTRY_REF_H
#define FLATTEN_REGISTRY_REF_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>

struct registry_ref {
    char *host; /* "docker.io", "host:5000", "[::1]:5000": what credentials are stored under */
    char *repository; /* "library/debian" */
    char *tag;        /* NULL with a digest */
    char *digest;     /* NULL with a tag */
};

/* Errors are ERR_USAGE. The caller clears *out with registry_ref_clear. */
int registry_ref_parse(const char *text, struct registry_ref *out, struct err *err) must_check;
void registry_ref_clear(struct registry_ref *ref);

#define _cleanup_registry_ref_ _cleanup_(registry_ref_clear)

/* The host that the API is at: Docker Hub's is another than its name. */
const char *registry_ref_server(const struct registry_ref *ref);

/* True for "localhost", names below it, 127.0.0.0/8 and ::1, with or without a port. */
bool registry_host_is_loopback(const char *host);

#endif
