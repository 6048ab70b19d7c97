/*
 * Credentials that a user has stored for a registry, by docker login, podman login or skopeo login:
 * containers-auth.json(5) and Docker's config.json.
 *
 * The file is $REGISTRY_AUTH_FILE if that is set. Else it is the first with an entry of
 * $XDG_RUNTIME_DIR/containers/auth.json (without the variable /run/containers/UID/auth.json),
 * $XDG_CONFIG_HOME/containers/auth.json (~/.config) and $DOCKER_CONFIG/config.json (~/.docker). In
 * a file, credHelpers come before credsStore before auths; the longest key of HOST/PATH/… down to
 * HOST counts.
 */
#ifndef FLATTEN_CREDENTIALS_H
#define FLATTEN_CREDENTIALS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/json/json.h"

#include <stdbool.h>

/* All NULL: nothing is stored. */
struct credentials {
    char *username, *password;
    char *identity_token; /* a refresh token, to get tokens with (OAuth 2) */
    char *registry_token; /* a bearer token */
};

/* Frees all parts. */
void credentials_clear(struct credentials *c);

#define _cleanup_credentials_ _cleanup_(credentials_clear)

/*
 * Reads the files and asks helpers. `host` as in a reference: "docker.io" for Docker Hub.
 * ERR_FORMAT for a file that cannot be parsed, ERR_SYSTEM for one that cannot be read and for a
 * helper that fails; credentials that are not stored are no error. The caller clears *out in any
 * case.
 */
int credentials_find(const char *host, const char *repository, struct credentials *out,
                     struct err *err) must_check;

/* ---- for credentials_find, and tests ---- */

/* The same in the document of one file. Returns 1 if it has an entry, 0 if not, or -1. */
int credentials_in(const struct json *config, const char *host, const char *repository,
                   struct credentials *out, struct err *err) must_check;

/*
 * Runs "docker-credential-HELPER get" for a server (github.com/docker/docker-credential-helpers).
 * Returns 1 if the helper knows it, 0 if not, or -1.
 */
int credential_helper_get(const char *helper, const char *server, struct credentials *out,
                          struct err *err) must_check;

#endif
