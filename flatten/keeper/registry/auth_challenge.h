/*
 * WWW-Authenticate (RFC 9110, 11.6.1), as far as registries use it: Basic, and Bearer with the
 * realm, service and scope of a token server (distribution-spec's token authentication).
 */
#ifndef FLATTEN_AUTH_CHALLENGE_H
#define FLATTEN_AUTH_CHALLENGE_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct auth_challenge {
    bool basic, bearer; /* schemes that the registry offers */
    /* Parameters of the first Bearer; NULL if it lacks them. */
    char *realm, *service, *scope;
};

/*
 * Adds the schemes in the value of one header; unknown ones are ignored. ERR_FORMAT if a quoted
 * string does not end. The caller clears *out in any case.
 */
int auth_challenge_add(const char *text, size_t len, struct auth_challenge *out,
                       struct err *err) must_check;
/* Frees the parameters. */
void auth_challenge_clear(struct auth_challenge *c);

#define _cleanup_auth_challenge_ _cleanup_(auth_challenge_clear)

#endif
