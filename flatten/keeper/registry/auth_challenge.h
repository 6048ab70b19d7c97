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
    bool basic, bearer; /* what is offered; both false: neither */
    /* of the first Bearer; NULL where it does not say */
    char *realm, *service, *scope;
};

/*
 * Adds what one header's value offers; schemes that are not known are passed over. ERR_FORMAT if a
 * quoted string does not end. The caller clears *out in any case.
 */
int auth_challenge_add(const char *text, size_t len, struct auth_challenge *out,
                       struct err *err) must_check;
void auth_challenge_clear(struct auth_challenge *c);

#define _cleanup_auth_challenge_ _cleanup_(auth_challenge_clear)

#endif
