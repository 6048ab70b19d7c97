#include "flatten/keeper/http/http.h"

#include <curl/curl.h>
#include <string.h>

char *http_url_join(const char *base, const char *location, struct err *err)
{
    CURLU *url = curl_url();
    char *joined = NULL, *scheme = NULL, *copy = NULL;

    if (!url) {
        err_nomem(err);
        return NULL;
    }
    bool good = curl_url_set(url, CURLUPART_URL, base, CURLU_PATH_AS_IS) == CURLUE_OK &&
                curl_url_set(url, CURLUPART_URL, location, CURLU_PATH_AS_IS) == CURLUE_OK &&
                curl_url_set(url, CURLUPART_FRAGMENT, NULL, 0) == CURLUE_OK &&
                curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0) &&
                curl_url_get(url, CURLUPART_URL, &joined, 0) == CURLUE_OK;
    if (!good)
        err_set(err, ERR_FORMAT, "'%.200s' is not a location for HTTP", location);
    else if (!(copy = strdup(joined)))
        err_nomem(err);
    curl_free(scheme);
    curl_free(joined);
    curl_url_cleanup(url);
    return copy;
}

/* Returns the origin of a URL, "scheme://host:port" (RFC 6454), for the caller to free; or NULL. */
static char *origin(const char *text)
{
    CURLU *url = curl_url();
    char *scheme = NULL, *host = NULL, *port = NULL, *out = NULL;

    if (url && curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK &&
        curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
        curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
        curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK)
        out = strf("%s://%s:%s", scheme, host, port);
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    if (url)
        curl_url_cleanup(url);
    return out;
}

bool http_same_origin(const char *a, const char *b)
{
    _cleanup_free_ char *x = origin(a), *y = origin(b);

    return x && y && strcasecmp(x, y) == 0;
}

void http_put_escaped(struct buf *out, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-._~";

    for (; *text; text++) {
        if (strchr(plain, *text))
            buf_putc(out, *text);
        else
            buf_printf(out, "%%%02X", (unsigned char)*text);
    }
}
