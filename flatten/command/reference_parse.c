#include "flatten/command/reference_parse.h"

#include "base/cli/log.h"
#include "flatten/keeper/podman/podman.h"
#include "flatten/name/image_name.h"
#include "flatten/name/registry_ref.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

static const enum transport transports[] = {
    TRANSPORT_OCI,           TRANSPORT_OCI_ARCHIVE, TRANSPORT_DOCKER_ARCHIVE,
    TRANSPORT_DOCKER_DAEMON, TRANSPORT_REGISTRY,    TRANSPORT_STORAGE,
};

/* Splits PATH[:NAME] at the first colon, as containers-transports(5) does. */
static int split_path(const char *text, struct reference *out, struct err *err)
{
    size_t len = strcspn(text, ":");

    if (len == 0)
        return err_set(err, ERR_USAGE,
                       "a path is missing in the reference, as in oci:DIR:TAG or "
                       "docker-archive:FILE");
    out->path = strndup(text, len);
    if (text[len] == ':')
        out->name = strdup(text + len + 1);
    if (!out->path || (text[len] == ':' && !out->name))
        return err_nomem(err);
    if (out->name && !*out->name)
        return err_set(err, ERR_USAGE, "nothing follows the last ':' of the reference");
    return 0;
}

/*
 * True for USER:PASSWORD@HOST/…, which no message may show. Another text with an '@' ends in a
 * digest.
 */
static bool has_login(const char *text)
{
    const char *at = strchr(text, '@');
    size_t digits = at && strncmp(at, "@sha", 4) == 0 ? strspn(at + 4, "0123456789") : 0;

    return at && (strpbrk(at + 1, "@/") || digits == 0 || at[4 + digits] != ':');
}

static int refuse_login(struct err *err)
{
    return err_set(err, ERR_USAGE,
                   "a reference must not contain a user and a password, which the list of "
                   "processes shows to all: log in first, as with 'skopeo login HOST'");
}

static int set_daemon(const char *name, bool destination, struct reference *out, struct err *err)
{
    out->transport = TRANSPORT_DOCKER_DAEMON;
    if (!*name && destination)
        return 0;
    if (has_login(name))
        return refuse_login(err);
    if (!*name)
        return err_set(err, ERR_USAGE, "docker-daemon: needs a name, as in docker-daemon:NAME:TAG");
    if (strpbrk(name, " \t\n?#%"))
        return err_set(err, ERR_USAGE, "'%s' is not the name of an image", name);
    out->name = strdup(name);
    return out->name ? 0 : err_nomem(err);
}

/*
 * Takes "[DRIVER@]ROOT[+RUN]" between brackets (containers-storage(5)): podman gets its parts as
 * options. Returns what follows, or NULL.
 */
static const char *take_store(const char *text, struct reference *out, struct err *err)
{
    static const char driver[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    const char *end = strchr(text, ']');
    size_t word = strspn(text + 1, driver);
    const char *root = text + 1 + (text[1 + word] == '@' && word ? word + 1 : 0);
    const char *run = end ? memchr(root, '+', (size_t)(end - root)) : NULL;

    if (!end || root[0] != '/' || (run && run[1] != '/')) {
        err_set(err, ERR_USAGE,
                "containers-storage:%s: a store is written [DRIVER@ROOT+RUN], with absolute paths",
                text);
        return NULL;
    }
    if (memchr(root, ':', (size_t)(end - root))) {
        err_set(err, ERR_UNSUPPORTED,
                "containers-storage:%s: options of a store belong in storage.conf", text);
        return NULL;
    }
    if (!(out->store = strndup(text + 1, (size_t)(end - text) - 1))) {
        err_nomem(err);
        return NULL;
    }
    return end + 1;
}

/* A name becomes a word of podman's command line: the first character is never '-'. */
static int set_storage(const char *text, bool destination, struct reference *out, struct err *err)
{
    static const char alnum[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const char *name = text[0] == '[' ? take_store(text, out, err) : text;

    if (!name)
        return -1;
    name += name[0] == '@'; /* skopeo writes "@ID" */
    if (!*name && destination)
        return 0;
    if (has_login(name))
        return refuse_login(err);
    if (!*name)
        return err_set(err, ERR_USAGE,
                       "containers-storage: needs a name, as in containers-storage:NAME:TAG");
    if (!strchr(alnum, name[0]) || name[strcspn(name, " \t\n?#%[]\\")])
        return err_set(err, ERR_USAGE, "'%s' is not the name of an image", name);
    out->name = strdup(name);
    return out->name ? 0 : err_nomem(err);
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);

    return len > end_len && strcmp(text + len - end_len, end) == 0;
}

/* True for a word that looks like the name of an archive. */
static bool is_archive_name(const char *text)
{
    static const char *const ends[] = {".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz"};

    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        if (ends_with(text, ends[i]))
            return true;
    return false;
}

static int set_registry(const char *name, struct reference *out, struct err *err)
{
    _cleanup_registry_ref_ struct registry_ref unused = {0};

    if (has_login(name))
        return refuse_login(err);
    if (registry_ref_parse(name, &unused, err) < 0)
        return -1;
    out->name = strdup(name);
    return out->name ? 0 : err_nomem(err);
}

/* True for DIR:TAG without "oci:". */
static bool names_layout(const char *text)
{
    size_t len = strcspn(text, ":");
    _cleanup_free_ char *dir = text[len] ? strndup(text, len) : NULL;
    struct stat st;

    return dir && stat(dir, &st) == 0 && S_ISDIR(st.st_mode);
}

/*
 * True for FILE:NAME without "docker-archive:": FILE is named like an archive, or the whole is no
 * name that an engine could know.
 */
static bool names_archive(const char *text)
{
    size_t len = strcspn(text, ":");
    _cleanup_free_ char *file = text[len] ? strndup(text, len) : NULL;
    struct stat st;

    if (!file || is_archive_name(file))
        return file;
    return !strchr(file, '@') && !image_name_fits_engine(text) &&
           (strchr(file, '/') || (stat(file, &st) == 0 && S_ISREG(st.st_mode)));
}

/* Parses a word without a transport. Only a destination may name a file that does not exist. */
static int guess_transport(const char *text, bool destination, struct reference *out,
                           struct err *err)
{
    struct stat st = {0};
    bool exists = strcmp(text, "-") == 0 || stat(text, &st) == 0;

    if (!exists && !(destination && ends_with(text, ".tar"))) {
        if (has_login(text) && strcspn(text, ":") < strcspn(text, "@"))
            return refuse_login(err);
        if (names_layout(text))
            return err_set(err, ERR_USAGE, "%s: an OCI layout with a tag is written oci:%s", text,
                           text);
        if (strchr("./", text[0]) || is_archive_name(text))
            return err_set(err, ERR_USAGE, "%s: no such file%s", text,
                           destination ? "; write oci:DIR or docker-archive:FILE" : "");
        if (names_archive(text))
            return err_set(err, ERR_USAGE,
                           "%s: an archive with the name of an image is written docker-archive:%s",
                           text, text);
        out->sniffed = true;
        return set_daemon(text, destination, out, err);
    }
    out->transport = S_ISDIR(st.st_mode) ? TRANSPORT_OCI : TRANSPORT_DOCKER_ARCHIVE;
    out->sniffed = true;
    out->path = strdup(text);
    return out->path ? 0 : err_nomem(err);
}

static int parse_reference(const char *text, bool destination, struct reference *out,
                           struct err *err)
{
    for (size_t i = 0; i < sizeof(transports) / sizeof(*transports); i++) {
        const char *prefix = reference_prefix(transports[i]);
        size_t len = strlen(prefix);
        if (strncmp(text, prefix, len) != 0)
            continue;
        out->transport = transports[i];
        if (out->transport == TRANSPORT_STORAGE)
            return set_storage(text + len, destination, out, err);
        if (out->transport == TRANSPORT_DOCKER_DAEMON)
            return set_daemon(text + len, destination, out, err);
        if (out->transport == TRANSPORT_REGISTRY)
            return set_registry(text + len, out, err);
        return split_path(text + len, out, err);
    }
    if (!*text)
        return err_set(err, ERR_USAGE, "the reference is empty");
    bool is_url = strstr(text, "://") || strncmp(text, "docker:", 7) == 0;
    if (is_url && has_login(text))
        return refuse_login(err);
    if (is_url)
        return err_set(err, ERR_USAGE,
                       "%s: an image of a registry is written docker://HOST/NAME:TAG", text);
    return guess_transport(text, destination, out, err);
}

int reference_parse(const char *text, struct reference *out, struct err *err)
{
    *out = (struct reference){0};
    if (parse_reference(text, false, out, err) == 0)
        return 0;
    reference_clear(out);
    return -1;
}

/* Refuses a name that engines would not load. */
static int check_engine_name(const char *name, struct err *err)
{
    if (image_name_fits_engine(name))
        return 0;
    return err_set(
        err, ERR_USAGE,
        "'%s' is not a NAME:TAG that engines load from an archive: a name has lower-case "
        "letters, digits, and '.', '_', '-' and '/' between them",
        name);
}

static int check_tag(const char *name, struct err *err)
{
    if (image_name_fits_layout(name))
        return 0;
    return err_set(err, ERR_USAGE,
                   "'%s' is not a tag for an OCI layout: it has letters, digits, and '.', '_', "
                   "'-', '+', ':', '@' and '/' between them",
                   name);
}

int reference_parse_destination(const char *text, struct reference *out, struct err *err)
{
    bool by_tag = ends_with(text, ":{tag}");
    _cleanup_free_ char *shorter = strndup(text, strlen(text) - (by_tag ? strlen(":{tag}") : 0));

    *out = (struct reference){0};
    if (!shorter)
        return err_nomem(err);
    int rc = parse_reference(shorter, true, out, err);
    out->by_tag = by_tag;
    if (rc == 0 && out->path && strcmp(out->path, "-") == 0)
        rc = err_set(err, ERR_USAGE, "an image is not written to standard output: name a file");
    if (rc == 0 && out->name &&
        (out->transport == TRANSPORT_DOCKER_ARCHIVE || out->transport == TRANSPORT_STORAGE))
        rc = check_engine_name(out->name, err);
    if (rc == 0 && out->name &&
        (out->transport == TRANSPORT_OCI || out->transport == TRANSPORT_OCI_ARCHIVE))
        rc = check_tag(out->name, err);
    if (rc == 0 && out->transport == TRANSPORT_REGISTRY && out->name && strchr(out->name, '@'))
        rc = err_set(err, ERR_USAGE,
                     "docker://%s: the new image's digest is not known yet: give it a tag",
                     out->name);
    if (rc == 0)
        return 0;
    reference_clear(out);
    return -1;
}

void reference_choose_engine(struct reference *ref, bool quiet)
{
    if (!ref->sniffed || ref->transport != TRANSPORT_DOCKER_DAEMON || !podman_is_default())
        return;
    ref->transport = TRANSPORT_STORAGE;
    if (!quiet)
        log_info("there is no Docker daemon: %s is podman's, containers-storage:%s", ref->name,
                 ref->name);
}
