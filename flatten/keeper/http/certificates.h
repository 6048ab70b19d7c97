/*
 * Certificates for one registry, where Docker and containers keep them: containers-certs.d(5),
 * docs.docker.com "Verify repository client with certificates". In the directory of a host, *.crt
 * are CAs beside those of the system; NAME.cert and NAME.key are a client certificate and its key.
 *
 * The directory is --cert-dir if it is given. Otherwise it is the first of these that exists, even
 * if it is empty, as in skopeo: HOST[:PORT] below $XDG_CONFIG_HOME/containers/certs.d,
 * ~/.config/containers/certs.d, the certs.d of a rootless Docker, /etc/containers/certs.d,
 * /etc/docker/certs.d.
 *
 * All files are read and checked here, once. An error names the file.
 */
#ifndef FLATTEN_CERTIFICATES_H
#define FLATTEN_CERTIFICATES_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"

struct certificates {
    struct buf authorities; /* PEM; empty: only those of the system count */
    struct buf cert, key;   /* PEM; empty: no client certificate */
};

void certificates_clear(struct certificates *c);

#define _cleanup_certificates_ _cleanup_(certificates_clear)

/*
 * Finds the certificates for `host`, written as in a reference ("docker.io",
 * "registry.example.org:5000"). `dir` is --cert-dir, or NULL. It is no error if no directory
 * exists. The caller clears *out in any case.
 */
int certificates_find(const char *host, const char *dir, struct certificates *out,
                      struct err *err) must_check;

#endif
