#include "base/fdio.h"
#include "flatten/keeper/http/environment.h"
#include "flatten/keeper/http/http_internal.h"

#include <fcntl.h>

enum { AUTHORITIES_LIMIT = 16 * 1024 * 1024 };

/* SSL_CERT_FILE and SSL_CERT_DIR replace the certificates of the system, as in OpenSSL. */

int http_put_authorities(struct buf *out, struct err *err)
{
    const char *file = environment_get("SSL_CERT_FILE");
    const curl_version_info_data *built = curl_version_info(CURLVERSION_NOW);

    if (file)
        return file_read(AT_FDCWD, file, AUTHORITIES_LIMIT, out, err);
    if (built->cainfo && file_read(AT_FDCWD, built->cainfo, AUTHORITIES_LIMIT, out, err) < 0) {
        if (err->sys != ENOENT)
            return -1;
        *err = (struct err)ERR_INIT; /* this system has no CAs */
    }
    return 0;
}

static CURLcode set_authorities(CURL *curl, const struct certificates *c)
{
    const char *file = environment_get("SSL_CERT_FILE");
    const char *dir = environment_get("SSL_CERT_DIR");

    if (c && c->authorities.len) {
        struct curl_blob blob = {c->authorities.data, c->authorities.len, CURL_BLOB_NOCOPY};
        SET(CURLOPT_CAINFO_BLOB, &blob);
    } else if (file) {
        SET(CURLOPT_CAINFO, file);
    }
    if (dir)
        SET(CURLOPT_CAPATH, dir);
    return CURLE_OK;
}

static CURLcode set_identity(CURL *curl, const struct certificates *c)
{
    struct curl_blob cert = {c->cert.data, c->cert.len, CURL_BLOB_NOCOPY};
    struct curl_blob key = {c->key.data, c->key.len, CURL_BLOB_NOCOPY};

    SET(CURLOPT_SSLCERT_BLOB, &cert);
    SET(CURLOPT_SSLKEY_BLOB, &key);
    return CURLE_OK;
}

CURLcode http_set_tls(CURL *curl, const struct http_options *options, bool identify)
{
    const struct certificates *c = options->certificates;

    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_SSL_VERIFYPEER, options->insecure ? 0L : 1L);
    SET(CURLOPT_SSL_VERIFYHOST, options->insecure ? 0L : 2L);
    SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    CURLcode code = set_authorities(curl, c);
    return code == CURLE_OK && identify && c && c->cert.len ? set_identity(curl, c) : code;
}
