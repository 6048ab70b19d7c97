/* Decides for one transfer to which addresses libcurl may connect (http_reach.h). */
#ifndef FLATTEN_HTTP_GUARD_H
#define FLATTEN_HTTP_GUARD_H

#include "flatten/keeper/http/http.h"

#include <curl/curl.h>

enum { HTTP_ADDRESS_SIZE = 64 }; /* of an address as text, perhaps with a zone */

struct http_guard {
    const struct http_request *request;
    struct http_reach *reach;        /* borrowed; NULL: all addresses are permitted */
    bool proxy;                      /* proxies of the environment are used */
    char refused[HTTP_ADDRESS_SIZE]; /* an address that was refused; "" for none */
};

/*
 * Fails with ERR_SYSTEM for a URL that names a forbidden address. Behind a proxy, which resolves
 * names, this is the only check.
 */
int http_guard_check(const struct http_guard *g, struct err *err) must_check;

/* Lets the guard see each address before the connection is made, and again before the request. */
CURLcode http_set_guard(CURL *curl, struct http_guard *g);

/* Sets the error for a request that was refused. Returns -1. */
int http_guard_explain(const struct http_guard *g, struct err *err);

#endif
