#include "flatten/name/image_name.h"

#include "base/buf.h"
#include "base/digest/sha256.h"
#include "flatten/name/registry_ref.h"

#include <string.h>

enum { SHORT_ID = 12, LONGEST = 512 };

#define ALNUM "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

bool image_name_fits_layout(const char *name)
{
    static const char separators[] = "-._:@+";

    if (strlen(name) > LONGEST)
        return false;
    for (const char *at = name;; at++) {
        size_t len = strspn(at, ALNUM "-._:@+");
        if (len == 0 || strchr(separators, at[0]) || strchr(separators, at[len - 1]))
            return false;
        at += len;
        if (*at != '/')
            return !*at;
    }
}

bool image_name_fits_engine(const char *name)
{
    _cleanup_registry_ref_ struct registry_ref unused = {0};
    struct err ignored = ERR_INIT;

    return !strchr(name, '@') && registry_ref_parse(name, &unused, &ignored) == 0;
}

const char *image_name_tag(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *colon = strchr(slash ? slash : name, ':');

    return colon && !strchr(name, '@') ? colon + 1 : NULL;
}

bool image_name_is_fixed(const char *name)
{
    size_t hex = strspn(name, "0123456789abcdef");

    return strchr(name, '@') || strncmp(name, "sha256:", 7) == 0 ||
           (!name[hex] && hex >= SHORT_ID && hex <= 2 * SHA256_SIZE);
}

bool image_name_place(const char *name, size_t *out)
{
    enum { MOST_DIGITS = 7 };
    size_t digits = *name == '@' ? strspn(name + 1, "0123456789") : 0;

    if (digits == 0 || digits > MOST_DIGITS || name[1 + digits])
        return false;
    *out = (size_t)strtoul(name + 1, NULL, 10);
    return true;
}

char *image_name_tagged(const char *name, struct err *err)
{
    bool complete = image_name_tag(name) || strchr(name, '@');
    char *tagged = strf("%s%s", name, complete ? "" : ":latest");

    if (!tagged)
        err_nomem(err);
    return tagged;
}

/* The first component is a host if it could not be part of a path on Docker Hub. */
static bool has_host(const char *name)
{
    size_t len = strcspn(name, "/");

    if (!name[len])
        return false;
    return memchr(name, '.', len) || memchr(name, ':', len) ||
           (len == strlen("localhost") && strncmp(name, "localhost", len) == 0);
}

char *image_name_local(const char *name, struct err *err)
{
    _cleanup_free_ char *tagged = image_name_tagged(name, err);

    if (!tagged || has_host(tagged))
        return steal_ptr(&tagged);
    char *local = strf("localhost/%s", tagged);
    if (!local)
        err_nomem(err);
    return local;
}

char *image_name_full(const char *name, struct err *err)
{
    static const char old_hub[] = "index.docker.io/";
    _cleanup_free_ char *tagged = image_name_tagged(name, err);
    const char *rest = tagged, *hub = "docker.io/";

    if (!tagged)
        return NULL;
    if (strncmp(rest, old_hub, sizeof(old_hub) - 1) == 0)
        rest += sizeof(old_hub) - 1;
    else if (strncmp(rest, hub, strlen(hub)) == 0)
        rest += strlen(hub);
    else if (has_host(rest))
        return steal_ptr(&tagged);
    char *full = strf("%s%s%s", hub, strchr(rest, '/') ? "" : "library/", rest);
    if (!full)
        err_nomem(err);
    return full;
}
