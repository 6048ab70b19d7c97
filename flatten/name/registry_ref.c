#include "flatten/name/registry_ref.h"

#include "base/buf.h"
#include "base/digest/sha256.h"

#include <string.h>

#define DIGITS   "0123456789"
#define LETTERS  "abcdefghijklmnopqrstuvwxyz"
#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

enum { LONGEST_NAME = 255, LONGEST_TAG = 128 };

static const char hub[] = "docker.io";

void registry_ref_clear(struct registry_ref *ref)
{
    free(ref->host);
    free(ref->repository);
    free(ref->tag);
    free(ref->digest);
    *ref = (struct registry_ref){0};
}

/* ---- the host ---- */

static bool is_host(const char *text, size_t len)
{
    return memchr(text, '.', len) || memchr(text, ':', len) ||
           (len == strlen("localhost") && strncmp(text, "localhost", len) == 0);
}

static bool port_valid(const char *text, const char *end)
{
    size_t len = (size_t)(end - text);
    unsigned number = 0;

    if (len == 0 || len > 5 || strspn(text, DIGITS) < len)
        return false;
    for (size_t i = 0; i < len; i++)
        number = number * 10 + (unsigned)(text[i] - '0');
    return number > 0 && number <= 65535;
}

/* True for NAME, ADDRESS or [ADDRESS], each with or without :PORT. */
static bool host_valid(const char *text, size_t len)
{
    static const char in_name[] = LETTERS CAPITALS DIGITS ".-";
    const char *end = text + len, *at = text;

    if (*at == '[') {
        size_t inside = strspn(at + 1, DIGITS "abcdefABCDEF:.");
        at += 1 + inside;
        if (inside < 2 || at >= end || *at != ']')
            return false;
        at++;
    } else {
        size_t name = strspn(at, in_name);
        if (name == 0 || *at == '.' || *at == '-')
            return false;
        at += name;
    }
    return at == end || (at < end && *at == ':' && port_valid(at + 1, end));
}

static int take_host(const char **rest, char **host, struct err *err)
{
    const char *text = *rest;
    size_t len = strcspn(text, "/");
    bool named = text[len] && is_host(text, len);

    if (named && !host_valid(text, len))
        return err_set(err, ERR_USAGE, "docker://%s: '%.*s' is not HOST[:PORT]", text, (int)len,
                       text);
    bool is_hub = named && (strncmp(text, "docker.io/", 10) == 0 ||
                            strncmp(text, "index.docker.io/", 16) == 0 ||
                            strncmp(text, "registry-1.docker.io/", 21) == 0);
    if (named)
        *rest = text + len + 1;
    *host = named && !is_hub ? strndup(text, len) : strdup(hub);
    return *host ? 0 : err_nomem(err);
}

/* ---- the repository ---- */

/* True for runs of letters and digits, separated by '.', '_', '__' or dashes. */
static bool component_valid(const char *text, size_t len)
{
    size_t at = 0;

    for (;;) {
        size_t run = strspn(text + at, LETTERS DIGITS);
        if (run == 0 || at + run > len)
            return false;
        at += run;
        if (at == len)
            return true;
        if (text[at] == '-')
            at += strspn(text + at, "-");
        else if (strncmp(text + at, "__", 2) == 0)
            at += 2;
        else if (text[at] == '.' || text[at] == '_')
            at++;
        else
            return false;
    }
}

static int check_repository(const char *name, const char *whole, struct err *err)
{
    if (strlen(name) > LONGEST_NAME)
        return err_set(err, ERR_USAGE, "docker://%s: the name has more than %d characters", whole,
                       LONGEST_NAME);
    if (strpbrk(name, CAPITALS))
        return err_set(err, ERR_USAGE,
                       "docker://%s: '%s' has capitals; names in registries are lower case", whole,
                       name);
    for (const char *at = name;;) {
        size_t len = strcspn(at, "/");
        if (!component_valid(at, len))
            return err_set(err, ERR_USAGE,
                           "docker://%s: '%.*s' cannot be part of a name: letters, digits, and "
                           "'.', '_' or '-' between them",
                           whole, (int)len, at);
        if (!at[len])
            return 0;
        at += len + 1;
    }
}

static int set_repository(const char *name, const char *whole, struct registry_ref *out,
                          struct err *err)
{
    bool official = strcmp(out->host, hub) == 0 && !strchr(name, '/');

    if (!*name)
        return err_set(err, ERR_USAGE, "docker://%s: a name is missing, as in docker://HOST/NAME",
                       whole);
    if (check_repository(name, whole, err) < 0)
        return -1;
    out->repository = strf("%s%s", official ? "library/" : "", name);
    return out->repository ? 0 : err_nomem(err);
}

/* ---- tag and digest ---- */

static bool tag_valid(const char *tag)
{
    size_t len = strspn(tag, LETTERS CAPITALS DIGITS "_.-");

    return len > 0 && !tag[len] && len <= LONGEST_TAG && *tag != '.' && *tag != '-';
}

/* Cuts "@DIGEST" or ":TAG" off the name; without either the tag is "latest". */
static int take_version(char *name, const char *whole, struct registry_ref *out, struct err *err)
{
    char *at = strchr(name, '@'), *colon;
    struct digest digest;

    if (at)
        *at++ = '\0';
    colon = strchr(name, ':'); /* not a port: the host has been taken off */
    if (colon)
        *colon++ = '\0';
    if (at && colon)
        return err_set(err, ERR_USAGE,
                       "docker://%s: give a tag or a digest, not both: the digest alone says which",
                       whole);
    if (at && digest_parse(at, &digest, err) < 0)
        return err_set(err, ERR_USAGE, "docker://%s: what follows '@' is not sha256: and 64 digits",
                       whole);
    if (!at && colon && !tag_valid(colon))
        return err_set(err, ERR_USAGE, "docker://%s: '%s' is not a tag", whole, colon);
    if (at)
        out->digest = strdup(at);
    else
        out->tag = strdup(colon ? colon : "latest");
    return out->digest || out->tag ? 0 : err_nomem(err);
}

int registry_ref_parse(const char *text, struct registry_ref *out, struct err *err)
{
    const char *rest = text;

    *out = (struct registry_ref){0};
    if (take_host(&rest, &out->host, err) == 0) {
        _cleanup_free_ char *name = strdup(rest);
        if (!name)
            err_nomem(err);
        else if (take_version(name, text, out, err) == 0 &&
                 set_repository(name, text, out, err) == 0)
            return 0;
    }
    registry_ref_clear(out);
    return -1;
}

/* ---- the server ---- */

const char *registry_ref_server(const struct registry_ref *ref)
{
    return strcmp(ref->host, hub) == 0 ? "registry-1.docker.io" : ref->host;
}
