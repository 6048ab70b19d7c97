#include "shim/policy/registry_source.h"

#include "base/buf.h"

#include <string.h>

#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

enum { PREFIX = sizeof(REGISTRY_SOURCE) - 1, TAG_MOST = 128, PORT_DIGITS = 5, DIGEST_DIGITS = 64 };

static const char digest_start[] = "@sha256:";

bool registry_source_is(const char *text)
{
    return strncmp(text, REGISTRY_SOURCE, PREFIX) == 0;
}

/* ---- the host ---- */

static bool is_port(const char *text, size_t len)
{
    return len >= 1 && len <= PORT_DIGITS && strspn(text, DIGITS) == len;
}

/* True for a name with a dot or a port, an address, or localhost: others are taken for users of
 * Docker Hub. */
static bool is_host(const char *text, size_t len)
{
    bool address = text[0] == '[';
    const char *rest = address ? memchr(text, ']', len) : text;
    size_t name = rest ? (size_t)(rest - text) : 0;

    if (address) {
        if (!rest || strspn(text + 1, DIGITS "abcdefABCDEF:.") != name - 1 || name < 3)
            return false;
        name++;
    } else {
        name = strspn(text, LOWER UPPER DIGITS ".-");
    }
    bool has_port = name < len && text[name] == ':';
    if (name == 0 || name > len || text[0] == '.' || text[0] == '-' ||
        (has_port ? !is_port(text + name + 1, len - name - 1) : name != len))
        return false;
    return address || has_port || memchr(text, '.', len) ||
           (len == strlen("localhost") && memcmp(text, "localhost", len) == 0);
}

bool registry_source_is_local(const char *text)
{
    static const char *const hosts[] = {"localhost", "127.", "[::1]"};

    for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++) {
        size_t len = strlen(hosts[i]);
        if (registry_source_is(text) && strncmp(text + PREFIX, hosts[i], len) == 0 &&
            (i == 1 || strchr(":/", text[PREFIX + len])))
            return true;
    }
    return false;
}

/* ---- repository, tag, digest ---- */

/* Returns the length of a separator within a component: ".", "_", "__", or dashes; 0: none. */
static size_t separator(const char *text)
{
    if (text[0] == '.')
        return 1;
    if (text[0] == '_')
        return text[1] == '_' ? 2 : 1;
    return strspn(text, "-");
}

/* Returns the end of a repository, or NULL if it is none. */
static const char *skip_repository(const char *at)
{
    for (;;) {
        size_t len = strspn(at, LOWER DIGITS), gap;
        if (len == 0)
            return NULL;
        at += len;
        if ((gap = separator(at)) > 0)
            at += gap;
        else if (*at == '/')
            at++;
        else
            return at;
    }
}

static bool is_tag(const char *text)
{
    size_t len = strspn(text, LOWER UPPER DIGITS "._-");

    return len > 0 && len <= TAG_MOST && !text[len] && text[0] != '.' && text[0] != '-';
}

static bool is_digest(const char *text)
{
    size_t start = sizeof(digest_start) - 1;

    return strncmp(text, digest_start, start) == 0 && strlen(text + start) == DIGEST_DIGITS &&
           strspn(text + start, DIGITS "abcdef") == DIGEST_DIGITS;
}

bool registry_source_is_fixed(const char *source)
{
    return registry_source_is(source) && strchr(source, '@');
}

int registry_source_check(const char *source, struct err *err)
{
    const char *host = source + PREFIX, *slash = strchr(host, '/');

    if (!slash || !is_host(host, (size_t)(slash - host)))
        return err_set(err, ERR_POLICY,
                       "'%s': the registry must be written out, as in oci://registry.lab/models/x",
                       source);
    const char *end = skip_repository(slash + 1);
    if (!end || (*end && *end != ':' && *end != '@'))
        return err_set(err, ERR_POLICY,
                       "'%s': a repository has lowercase letters and digits, with ._- between "
                       "them",
                       source);
    if (*end == ':' && !is_tag(end + 1))
        return err_set(err, ERR_POLICY,
                       "'%s': a tag has letters, digits and ._- and begins with none of .- (and a "
                       "digest stands for itself, without a tag)",
                       source);
    if (*end == '@' && !is_digest(end))
        return err_set(err, ERR_POLICY, "'%s': a digest is @sha256: with 64 digits", source);
    return 0;
}

/* ---- templates ---- */

int registry_source_check_template(const char *text, struct err *err)
{
    static const char sample[] = "x"; /* as a value, it is fine in all parts but a digest */
    const char *host_end = strchr(text + PREFIX, '/');
    const char *brace = strchr(text, '{');
    _cleanup_buf_ struct buf source = BUF_INIT;

    if (brace && (!host_end || brace < host_end))
        return err_set(err, ERR_POLICY,
                       "'%s': the registry must be written out, without a variable", text);
    for (const char *at = text; *at; at++) {
        if (*at != '{') {
            buf_putc(&source, *at);
            continue;
        }
        buf_puts(&source, sample);
        at += strcspn(at, "}");
        if (!*at)
            break;
    }
    _cleanup_free_ char *whole = buf_take(&source, err);
    return whole ? registry_source_check(whole, err) : -1;
}
