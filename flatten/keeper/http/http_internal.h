/* What http.c and http_tls.c share. */
#ifndef FLATTEN_HTTP_INTERNAL_H
#define FLATTEN_HTTP_INTERNAL_H

#include "flatten/keeper/http/http.h"

#include <curl/curl.h>

/* For functions that return a CURLcode, with a `curl` to set options of. */
#define SET(option, value)                                                                         \
    do {                                                                                           \
        CURLcode rc_ = curl_easy_setopt(curl, option, value);                                      \
        if (rc_ != CURLE_OK)                                                                       \
            return rc_;                                                                            \
    } while (0)

/* Whom to believe, and with `identify` who we are. */
CURLcode http_set_tls(CURL *curl, const struct http_options *options, bool identify);

#endif
