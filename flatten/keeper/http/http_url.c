#include "flatten/keeper/http/http_internal.h"

#include <string.h>

/* libcurl percent-decodes a host and maps what is not ASCII (IDN): such hosts have two readings. */
static bool is_ascii(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text >= 0x80)
            return false;
    return true;
}

/* Returns the URL in libcurl's own writing, to be freed with curl_free; or NULL. */
static char *rewrite(const char *base, const char *location)
{
    const unsigned flags = CURLU_PATH_AS_IS | CURLU_DISALLOW_USER;
    CURLU *url = curl_url();
    char *scheme = NULL, *host = NULL, *text = NULL;
    bool good = url && (!base || curl_url_set(url, CURLUPART_URL, base, flags) == CURLUE_OK) &&
                curl_url_set(url, CURLUPART_URL, location, flags) == CURLUE_OK &&
                curl_url_set(url, CURLUPART_FRAGMENT, NULL, 0) == CURLUE_OK &&
                curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0) &&
                curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK && *host &&
                is_ascii(host) && curl_url_get(url, CURLUPART_URL, &text, 0) == CURLUE_OK;

    curl_free(scheme);
    curl_free(host);
    curl_url_cleanup(url);
    return good ? text : NULL;
}

char *http_url_join(const char *base, const char *location, struct err *err)
{
    char *text = rewrite(base, location), *copy = NULL;

    if (!text)
        err_set(err, ERR_FORMAT, "'%.200s' is not an http or https URL without a user name",
                location);
    else if (!(copy = strdup(text)))
        err_nomem(err);
    curl_free(text);
    return copy;
}

char *http_url_part_host(CURLU *url)
{
    char *host = NULL, *copy = NULL;

    if (curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK) {
        size_t len = strlen(host);
        bool bracketed = len > 2 && host[0] == '[' && host[len - 1] == ']';
        copy = bracketed ? strndup(host + 1, len - 2) : strdup(host);
    }
    curl_free(host);
    return copy;
}

char *http_url_host(const char *url)
{
    CURLU *parsed = curl_url();
    char *host = parsed && curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK
                     ? http_url_part_host(parsed)
                     : NULL;

    curl_url_cleanup(parsed);
    return host;
}

bool http_url_is_tls(const char *url)
{
    return strncmp(url, "https://", 8) == 0;
}

/* Returns the origin of a URL, "scheme://host:port" (RFC 6454), for the caller to free; or NULL. */
static char *origin(const char *text)
{
    CURLU *url = curl_url();
    char *scheme = NULL, *host = NULL, *port = NULL, *zone = NULL, *out = NULL;

    if (url && curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK &&
        curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
        curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
        curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK) {
        (void)!curl_url_get(url, CURLUPART_ZONEID, &zone, 0);
        out = strf("%s://%s%%%s:%s", scheme, host, zone ? zone : "", port);
    }
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    curl_free(zone);
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
