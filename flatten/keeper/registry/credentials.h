/*
 * What a user has stored for a registry, by docker login, podman login or skopeo login:
 * containers-auth.json(5) and Docker's config.json.
 *
 * $REGISTRY_AUTH_FILE alone if it is set; else $XDG_RUNTIME_DIR/containers/auth.json (without the
 * variable /run/containers/UID/auth.json), $XDG_CONFIG_HOME/containers/auth.json (~/.config),
 * $DOCKER_CONFIG/config.json (~/.docker): the first that has an entry. In a file, credHelpers come
 * before credsStore before auths; the longest key of HOST/PATH/… down to HOST counts.
 */
#ifndef FLATTEN_CREDENTIALS_H
#define FLATTEN_CREDENTIALS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/json/json.h"

#include <stdbool.h>

/* Absent parts are NULL; all of them: nothing is stored. */
struct credentials {
    char *username, *password;
    char *identity_token; /* to get tokens with (OAuth 2 refresh token) */
    char *registry_token; /* a bearer token itself */
};

void credentials_clear(struct credentials *c);

#define _cleanup_credentials_ _cleanup_(credentials_clear)

/*
 * Looks in the files and asks helpers. `host` as in a reference: "docker.io" for Docker Hub.
 * Nothing stored is no error; a file that cannot be read or parsed is, and so is a helper that
 * fails. The caller clears *out.
 */
int credentials_find(const char *host, const char *repository, struct credentials *out,
                     struct err *err) must_check;

/* ---- for credentials_find, and tests ---- */

/* The same in one file's document. 1 if it has an entry, 0 if not, or -1. */
int credentials_in(const struct json *config, const char *host, const char *repository,
                   struct credentials *out, struct err *err) must_check;

/*
 * Runs "docker-credential-HELPER get" for a server (github.com/docker/docker-credential-helpers). 1
 * if it knows it, 0 if not, or -1.
 */
int credential_helper_get(const char *helper, const char *server, struct credentials *out,
                          struct err *err) must_check;

#endif
