/*
 * The Authorization of requests to a registry: none, Basic, or a bearer token from the server that
 * a 401 names (distribution-spec, token authentication; OAuth 2 for identity tokens). Credentials
 * are read at the first 401. Threads share a struct registry_auth.
 */
#ifndef FLATTEN_REGISTRY_AUTH_H
#define FLATTEN_REGISTRY_AUTH_H

#include "flatten/keeper/http/http.h"
#include "flatten/name/registry_ref.h"

struct registry_auth;

/*
 * `scope` is for the token server, "repository:NAME:pull", or several with spaces. `ref` is
 * borrowed. Without `insecure`, plain HTTP is for token servers on this host alone.
 */
struct registry_auth *registry_auth_new(const struct registry_ref *ref, const char *scope,
                                        bool insecure, struct err *err) must_check;
/* Frees credentials and header. */
void registry_auth_free(struct registry_auth *a);

/*
 * Sets *line to the header line for the next request, which the caller frees; NULL for none.
 * *generation is its number.
 */
int registry_auth_header(struct registry_auth *a, char **line, unsigned *generation,
                         struct err *err) must_check;

/*
 * Renews the header after a 401 to a request with the header of that generation. Returns 1 if
 * another header is worth a try, 0 if nothing more can be done, -1 with an error; reply->failure
 * says whether another try may work.
 */
int registry_auth_renew(struct registry_auth *a, struct http *h, struct http_reply *reply,
                        unsigned generation, struct err *err) must_check;

/* True if credentials were found. */
bool registry_auth_known(struct registry_auth *a);

/*
 * Returns the token in the reply of a token server, for the caller to free; or NULL with
 * ERR_FORMAT.
 */
char *registry_token_parse(const char *text, size_t len, struct err *err) must_check;

#endif
