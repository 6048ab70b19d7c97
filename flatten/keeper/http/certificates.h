/*
 * Certificates for one registry, in the directories of Docker and containers:
 * containers-certs.d(5), docs.docker.com "Verify repository client with certificates". *.crt are
 * CAs, beside those of the system; NAME.cert and NAME.key are a client certificate and its key.
 *
 * The directory is --cert-dir if it is given; else HOST[:PORT] below
 * $XDG_CONFIG_HOME/containers/certs.d, ~/.config/containers/certs.d, docker/certs.d of the first of
 * the two that is set (rootless Docker), /etc/containers/certs.d, /etc/docker/certs.d. Only the
 * first that exists counts, even if it is empty, as in skopeo.
 *
 * All files are read and checked once; an error names the file.
 */
#ifndef FLATTEN_CERTIFICATES_H
#define FLATTEN_CERTIFICATES_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"

struct certificates {
    struct buf authorities; /* PEM; empty: those of the system alone */
    struct buf cert, key;   /* PEM; empty: no client certificate */
};

/* Frees the certificates; the key is overwritten first. */
void certificates_clear(struct certificates *c);

#define _cleanup_certificates_ _cleanup_(certificates_clear)

/*
 * Reads the certificates for `host`, as in a reference ("docker.io", "registry.example.org:5000").
 * `dir` is --cert-dir, or NULL. A missing directory is no error; ERR_FORMAT for a file that is
 * damaged, ERR_USAGE for a key or certificate without the other, ERR_UNSUPPORTED for two client
 * certificates. The caller clears *out in any case.
 */
int certificates_find(const char *host, const char *dir, struct certificates *out,
                      struct err *err) must_check;

#endif
