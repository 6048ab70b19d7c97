/*
 * Text from registries and users: WWW-Authenticate, a token server's reply, the name of an
 * image, a file of credentials, a Location. The first byte chooses.
 */
#include "fuzz.h"

#include "flatten/keeper/http/http.h"
#include "flatten/keeper/registry/auth_challenge.h"
#include "flatten/keeper/registry/credentials.h"
#include "flatten/keeper/registry/registry_auth.h"
#include "flatten/name/registry_ref.h"

#include <string.h>

static bool is_plain(const char *text, const char *more)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

    for (; *text; text++)
        if (!strchr(plain, *text) && !strchr(more, *text))
            return false;
    return true;
}

static void check_challenge(const char *text, size_t len)
{
    _cleanup_auth_challenge_ struct auth_challenge c = {0};
    struct err err = ERR_INIT;
    int rc = auth_challenge_add(text, len, &c, &err);

    must(rc == 0 || err.kind == ERR_FORMAT);
    must(c.bearer || (!c.realm && !c.service && !c.scope));
}

static void check_token(const char *text, size_t len)
{
    struct err err = ERR_INIT;
    _cleanup_free_ char *token = registry_token_parse(text, len, &err);

    must(token || err.kind != ERR_NONE);
    for (const char *at = token; at && *at; at++)
        must((unsigned char)*at > ' ' && *at != 0x7f);
}

/* Parsed names go into URLs unescaped. */
static void check_name(const char *text)
{
    _cleanup_registry_ref_ struct registry_ref ref = {0};
    struct err err = ERR_INIT;

    if (registry_ref_parse(text, &ref, &err) < 0) {
        must(err.kind == ERR_USAGE);
        return;
    }
    must(is_plain(ref.host, ":[]") && is_plain(ref.repository, "/"));
    must(!strstr(ref.repository, "..") && ref.repository[0] != '/');
    must(!ref.tag != !ref.digest);
    must(is_plain(ref.tag ? ref.tag : ref.digest, ":"));
}

/* Helpers are programs: none is started from here. */
static void check_credentials(const char *text, size_t len)
{
    struct err err = ERR_INIT;
    _cleanup_json_ struct json_doc *doc = json_parse(text, len, NULL, &err);
    _cleanup_credentials_ struct credentials c = {0};

    if (!doc)
        return;
    json_remove(json_root(doc), "credHelpers");
    json_remove(json_root(doc), "credsStore");
    int rc = credentials_in(json_root(doc), "quay.io", "a/b", &c, &err);
    must(rc >= 0 || err.kind == ERR_FORMAT);
    must(rc != 0 || (!c.username && !c.identity_token && !c.registry_token));
}

static void check_location(const char *text)
{
    struct err err = ERR_INIT;
    _cleanup_free_ char *url = http_url_join("https://quay.io/v2/x", text, &err);

    must(url ? strncmp(url, "http", 4) == 0 : err.kind == ERR_FORMAT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char *text = strndup((const char *)data + 1, size - 1);
    must(text);
    size_t len = strlen(text);
    switch (data[0]) {
    case 'w':
        check_challenge((const char *)data + 1, size - 1);
        break;
    case 't':
        check_token((const char *)data + 1, size - 1);
        break;
    case 'n':
        check_name(text);
        break;
    case 'c':
        check_credentials(text, len);
        break;
    default:
        check_location(text);
    }
    free(text);
    return 0;
}
