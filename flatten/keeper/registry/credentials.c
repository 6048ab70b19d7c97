#include "flatten/keeper/registry/credentials.h"

#include "base/base64.h"
#include "base/fdio.h"
#include "flatten/keeper/http/environment.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>

enum { FILE_LIMIT = 4 * 1024 * 1024 };

void credentials_clear(struct credentials *c)
{
    free(c->username);
    free(c->password);
    free(c->identity_token);
    free(c->registry_token);
    *c = (struct credentials){0};
}

/* ---- one entry ---- */

static int copy_text(const struct json *value, char **out, struct err *err)
{
    const char *text = json_text(value);

    if (text && *text && !*out && !(*out = strdup(text)))
        return err_nomem(err);
    return 0;
}

/* "auth" is base64 of USER:PASSWORD. Docker may end it with NULs. */
static int decode_auth(const char *text, struct credentials *out, struct err *err)
{
    _cleanup_buf_ struct buf plain = BUF_INIT;
    const char *colon;

    if (!base64_decode(&plain, text, strlen(text)) || !plain.data ||
        !(colon = strchr(plain.data, ':')))
        return err_set(err, ERR_FORMAT, "'auth' is not base64 of USER:PASSWORD");
    out->username = strndup(plain.data, (size_t)(colon - plain.data));
    out->password = strdup(colon + 1);
    return out->username && out->password ? 0 : err_nomem(err);
}

/* Returns 1, 0 for an empty entry, or -1. Docker leaves {} behind for credentials in a helper. */
static int take_entry(const struct json *entry, struct credentials *out, struct err *err)
{
    const char *auth = json_text(json_get(entry, "auth"));

    if (auth && *auth && decode_auth(auth, out, err) < 0)
        return -1;
    if (copy_text(json_get(entry, "username"), &out->username, err) < 0 ||
        copy_text(json_get(entry, "password"), &out->password, err) < 0 ||
        copy_text(json_get(entry, "identitytoken"), &out->identity_token, err) < 0 ||
        copy_text(json_get(entry, "registrytoken"), &out->registry_token, err) < 0)
        return -1;
    return out->username || out->identity_token || out->registry_token;
}

/* ---- which entry ---- */

static bool is_hub(const char *host, size_t len)
{
    static const char *const names[] = {"docker.io", "index.docker.io", "registry-1.docker.io"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strlen(names[i]) == len && strncasecmp(names[i], host, len) == 0)
            return true;
    return false;
}

/* Old keys of Docker are URLs ("https://index.docker.io/v1/"): only the host in them counts. */
static bool is_key_of_host(const char *key, const char *host)
{
    const char *scheme = strstr(key, "://"), *start = scheme ? scheme + 3 : key;
    size_t len = strcspn(start, "/");

    if (!scheme && start[len] && strcmp(start + len, "/") != 0)
        return false; /* key of a repository */
    return (len == strlen(host) && strncasecmp(start, host, len) == 0) ||
           (is_hub(host, strlen(host)) && is_hub(start, len));
}

/* Returns the value of the longest key that is the repository, a path above it, or the host. */
static const struct json *find_entry(const struct json *map, const char *host,
                                     const char *repository)
{
    _cleanup_free_ char *key = strf("%s/%s", host, repository);

    if (!json_is(map, JSON_OBJECT))
        return NULL;
    for (char *end; key; *end = '\0') {
        const struct json *found = json_get(map, key);
        if (found)
            return found;
        end = strrchr(key, '/');
        if (!end)
            break;
    }
    for (size_t i = 0; i < map->len; i++)
        if (is_key_of_host(map->members[i].key, host))
            return map->members[i].value;
    return NULL;
}

int credentials_in(const struct json *config, const char *host, const char *repository,
                   struct credentials *out, struct err *err)
{
    static const char hub_key[] = "https://index.docker.io/v1/"; /* as docker login stores it */
    const char *server = is_hub(host, strlen(host)) ? hub_key : host;
    const char *helper = json_text(find_entry(json_get(config, "credHelpers"), host, repository));
    const char *store = json_text(json_get(config, "credsStore"));
    int rc = 0;

    if (helper && *helper)
        return credential_helper_get(helper, server, out, err);
    if (store && *store)
        rc = credential_helper_get(store, server, out, err);
    const struct json *entry =
        rc == 0 ? find_entry(json_get(config, "auths"), host, repository) : NULL;
    if (!entry)
        return rc;
    rc = take_entry(entry, out, err);
    return rc < 0 ? err_wrap(err, "the entry for %s", host) : rc;
}

/* ---- which file ---- */

/* Returns as credentials_in. A missing file has no entries, unless `must_exist`. */
static int read_file(const char *path, bool must_exist, const char *host, const char *repository,
                     struct credentials *out, struct err *err)
{
    static const struct json_options options = {.max_bytes = FILE_LIMIT};
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (file_read(AT_FDCWD, path, FILE_LIMIT, &text, err) < 0) {
        if (!must_exist && (err->sys == ENOENT || err->sys == ENOTDIR)) {
            *err = (struct err)ERR_INIT;
            return 0;
        }
        return -1;
    }
    if (strspn(text.data ? text.data : "", " \t\r\n") == text.len)
        return 0;
    _cleanup_json_ struct json_doc *doc = json_parse(text.data, text.len, &options, err);
    int rc = doc ? credentials_in(json_root(doc), host, repository, out, err) : -1;
    return rc < 0 ? err_wrap(err, "%s", path) : rc;
}

enum { FILES = 3 };

static int list_files(char *paths[FILES], struct err *err)
{
    const char *home = environment_get("HOME"), *runtime = environment_get("XDG_RUNTIME_DIR");
    const char *config = environment_get("XDG_CONFIG_HOME"),
               *docker = environment_get("DOCKER_CONFIG");

    paths[0] = runtime ? strf("%s/containers/auth.json", runtime)
                       : strf("/run/containers/%u/auth.json", (unsigned)getuid());
    paths[1] = config ? strf("%s/containers/auth.json", config)
                      : strf("%s/.config/containers/auth.json", home ? home : "");
    paths[2] =
        docker ? strf("%s/config.json", docker) : strf("%s/.docker/config.json", home ? home : "");
    for (size_t i = 0; i < FILES; i++)
        if (!paths[i])
            return err_nomem(err);
    return 0;
}

int credentials_find(const char *host, const char *repository, struct credentials *out,
                     struct err *err)
{
    const char *only = environment_get("REGISTRY_AUTH_FILE");
    char *paths[FILES] = {NULL};
    int rc = 0;

    *out = (struct credentials){0};
    if (only)
        return read_file(only, true, host, repository, out, err) < 0 ? -1 : 0;
    if (list_files(paths, err) < 0)
        rc = -1;
    for (size_t i = 0; rc == 0 && i < FILES; i++)
        rc = read_file(paths[i], false, host, repository, out, err);
    for (size_t i = 0; i < FILES; i++)
        free(paths[i]);
    return rc < 0 ? -1 : 0;
}
