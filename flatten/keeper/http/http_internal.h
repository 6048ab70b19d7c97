/* The interfaces of http_tls.c and http_url.c to the other sources of this room. */
#ifndef FLATTEN_HTTP_INTERNAL_H
#define FLATTEN_HTTP_INTERNAL_H

#include "flatten/keeper/http/http.h"

#include <curl/curl.h>

/* Sets an option of `curl`, in functions that return a CURLcode. */
#define SET(option, value)                                                                         \
    do {                                                                                           \
        CURLcode rc_ = curl_easy_setopt(curl, option, value);                                      \
        if (rc_ != CURLE_OK)                                                                       \
            return rc_;                                                                            \
    } while (0)

/* Sets which certificates are trusted, and with `identify` the client certificate. */
CURLcode http_set_tls(CURL *curl, const struct http_options *options, bool identify);

/* Returns the host of a parsed URL without brackets, for the caller to free; or NULL. */
char *http_url_part_host(CURLU *url);

#endif
