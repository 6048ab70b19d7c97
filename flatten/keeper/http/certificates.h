/*
 * Certificates for one registry, where Docker and containers keep them: containers-certs.d(5),
 * docs.docker.com "Verify repository client with certificates". In a folder of the host's, *.crt
 * are CAs that count beside the system's, NAME.cert and NAME.key a client certificate and its key.
 *
 * The folder is --cert-dir if it is given, else HOST[:PORT] below
 * $XDG_CONFIG_HOME/containers/certs.d,
 * ~/.config/containers/certs.d, /etc/containers/certs.d, /etc/docker/certs.d: the first that is
 * there counts alone, as skopeo has it, also if it is empty.
 *
 * All are read and checked here, once: what is wrong is an error that names the file.
 */
#ifndef FLATTEN_CERTIFICATES_H
#define FLATTEN_CERTIFICATES_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"

struct certificates {
    struct buf authorities; /* PEM; empty: the system's alone count */
    struct buf cert, key;   /* PEM; empty: no client certificate */
};

void certificates_clear(struct certificates *c);

#define _cleanup_certificates_ _cleanup_(certificates_clear)

/*
 * For `host` as in a reference ("docker.io", "registry.example.org:5000"). `dir` is --cert-dir, or
 * NULL. No folder is no error. The caller clears *out in any case.
 */
int certificates_find(const char *host, const char *dir, struct certificates *out,
                      struct err *err) must_check;

#endif
