/* The interface of http_tls.c to http.c. */
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

#endif
