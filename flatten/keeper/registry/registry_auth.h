/*
 * The Authorization of a registry's requests: nothing, Basic, or a bearer token from the server
 * that a 401 names (distribution-spec, token authentication; OAuth 2 for identity tokens).
 * Credentials are looked up when they are first asked for. Threads share one.
 */
#ifndef FLATTEN_REGISTRY_AUTH_H
#define FLATTEN_REGISTRY_AUTH_H

#include "flatten/keeper/http/http.h"
#include "flatten/name/registry_ref.h"

struct registry_auth;

/* `scope` as token servers read it, "repository:NAME:pull", or several with spaces. Over plain
 * HTTP tokens come only from loopback to loopback, or from anybody if `insecure`. */
struct registry_auth *registry_auth_new(const struct registry_ref *ref, const char *scope,
                                        bool insecure, struct err *err) must_check;
void registry_auth_free(struct registry_auth *a);

/*
 * The header line for the next request, which the caller frees; NULL for none. *generation tells
 * which it was.
 */
int registry_auth_header(struct registry_auth *a, char **line, unsigned *generation,
                         struct err *err) must_check;

/*
 * After a 401 to a request with that generation's header: 1 if another header is worth a try, 0 if
 * nothing more can be done, -1 with an error; reply->failure says whether it may pass.
 */
int registry_auth_renew(struct registry_auth *a, struct http *h, struct http_reply *reply,
                        unsigned generation, struct err *err) must_check;

/* True if there were credentials to be refused. */
bool registry_auth_known(struct registry_auth *a);

/* The token in a token server's reply; NULL with an error. The caller frees it. */
char *registry_token_parse(const char *text, size_t len, struct err *err) must_check;

#endif
