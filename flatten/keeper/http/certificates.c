#include "flatten/keeper/http/certificates.h"

#include "base/fdio.h"

#include <dirent.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>
#include <sys/stat.h>

enum {
    FILE_LIMIT = 4 * 1024 * 1024, /* of all of a kind, too */
    MOST_FILES = 1000,            /* in the directory */
};

void certificates_clear(struct certificates *c)
{
    if (c->key.data)
        OPENSSL_cleanse(c->key.data, c->key.len);
    buf_free(&c->authorities);
    buf_free(&c->cert);
    buf_free(&c->key);
}

/* ---- one file ---- */

/* Without a password: one that is asked for on a terminal would stop whoever has none. */
static int no_password(char *out, int size, int writing, void *ctx)
{
    (void)out, (void)size, (void)writing, (void)ctx;
    return -1;
}

/* How many certificates there are; -1 if one of them is damaged. The first is *leaf's, if asked. */
static int count_certificates(BIO *bio, X509 **leaf)
{
    int count = 0;
    X509 *one;

    ERR_clear_error();
    for (; (one = PEM_read_bio_X509_AUX(bio, NULL, no_password, NULL)); count++) {
        if (leaf && count == 0)
            *leaf = one;
        else
            X509_free(one);
    }
    bool ended = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    ERR_clear_error();
    return ended ? count : -1;
}

static int check_certificates(const struct buf *text, X509 **leaf, struct err *err)
{
    BIO *bio = text->len ? BIO_new_mem_buf(text->data, (int)text->len) : NULL;
    int count = bio ? count_certificates(bio, leaf) : 0;

    BIO_free(bio);
    if (count == 0)
        return err_set(err, ERR_FORMAT, "it has no certificate in PEM form");
    return count < 0 ? err_set(err, ERR_FORMAT, "a certificate in it is damaged") : 0;
}

static int check_key(const struct buf *text, const X509 *leaf, struct err *err)
{
    BIO *bio = text->len ? BIO_new_mem_buf(text->data, (int)text->len) : NULL;
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL) : NULL;
    bool belongs = key && X509_check_private_key(leaf, key) == 1;
    bool readable = key != NULL;

    EVP_PKEY_free(key);
    BIO_free(bio);
    ERR_clear_error();
    if (!readable)
        return err_set(err, ERR_FORMAT, "it has no key in PEM form, or one with a password");
    return belongs ? 0 : err_set(err, ERR_FORMAT, "the key is not its certificate's");
}

static int read_file(const char *dir, const char *name, struct buf *out, struct err *err)
{
    _cleanup_free_ char *path = strf("%s/%s", dir, name);

    return path ? file_read(AT_FDCWD, path, FILE_LIMIT, out, err) : err_nomem(err);
}

static int add_authority(const char *dir, const char *name, struct buf *out, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (read_file(dir, name, &text, err) < 0)
        return -1;
    if (check_certificates(&text, NULL, err) < 0)
        return err_wrap(err, "%s/%s", dir, name);
    if (text.len + 1 > FILE_LIMIT - out->len)
        return err_set(err, ERR_LIMIT, "%s: its CAs have more than %d bytes", dir, FILE_LIMIT);
    buf_append(out, text.data, text.len);
    buf_putc(out, '\n'); /* what follows starts a line */
    return buf_check(out, err);
}

static int check_pair(const char *dir, const char *cert, const char *key,
                      const struct certificates *c, struct err *err)
{
    X509 *leaf = NULL;
    int rc = 0;

    if (check_certificates(&c->cert, &leaf, err) < 0)
        rc = err_wrap(err, "%s/%s", dir, cert);
    else if (check_key(&c->key, leaf, err) < 0)
        rc = err_wrap(err, "%s/%s", dir, key);
    X509_free(leaf);
    return rc;
}

static int add_pair(const char *dir, const char *cert, struct certificates *c, struct err *err)
{
    int stem = (int)(strlen(cert) - strlen(".cert"));
    _cleanup_free_ char *key = strf("%.*s.key", stem, cert);

    if (!key)
        return err_nomem(err);
    if (c->cert.len)
        return err_set(err, ERR_UNSUPPORTED,
                       "%s/%s: it is not the only client certificate there; leave the one that "
                       "the registry is to be shown",
                       dir, cert);
    if (read_file(dir, cert, &c->cert, err) < 0)
        return -1;
    if (read_file(dir, key, &c->key, err) < 0)
        return err->sys == ENOENT ? err_set(err, ERR_USAGE,
                                            "%s/%s: its key %s is missing (a CA's certificate is "
                                            "called *.crt)",
                                            dir, cert, key)
                                  : -1;
    return check_pair(dir, cert, key, c, err);
}

/* A key without its certificate is a name that was mistyped, not one to pass over. */
static int check_lonely(const char *dir, const char *key, struct err *err)
{
    int stem = (int)(strlen(key) - strlen(".key"));
    _cleanup_free_ char *cert = strf("%s/%.*s.cert", dir, stem, key);
    struct stat st;

    if (!cert)
        return err_nomem(err);
    if (stat(cert, &st) == 0 || errno != ENOENT)
        return 0; /* it is read in its turn */
    return err_set(err, ERR_USAGE, "%s/%s: its certificate %.*s.cert is missing", dir, key, stem,
                   key);
}

/* ---- a directory ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);

    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static int take_file(const char *dir, const char *name, struct certificates *c, struct err *err)
{
    if (ends_with(name, ".crt"))
        return add_authority(dir, name, &c->authorities, err);
    if (ends_with(name, ".cert"))
        return add_pair(dir, name, c, err);
    return ends_with(name, ".key") ? check_lonely(dir, name, err) : 0;
}

/* In the order of their names: what is wrong is always the same file. */
static int load(const char *dir, struct certificates *c, struct err *err)
{
    struct dirent **names;
    int count = scandir(dir, &names, NULL, alphasort), rc = 0;

    if (count < 0)
        return err_sys(err, "%s", dir);
    if (count > MOST_FILES)
        rc = err_set(err, ERR_LIMIT, "%s: more than %d files", dir, MOST_FILES);
    for (int i = 0; i < count; i++) {
        if (rc == 0)
            rc = take_file(dir, names[i]->d_name, c, err);
        free(names[i]);
    }
    free(names);
    return rc;
}

/* ---- the choice of the directory ---- */

enum { DIRECTORIES = 5 };

static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

static int list_directories(const char *host, char *out[DIRECTORIES], struct err *err)
{
    const char *config = variable("XDG_CONFIG_HOME"), *home = variable("HOME");
    size_t count = 0;

    if (config && !(out[count++] = strf("%s/containers/certs.d/%s", config, host)))
        return err_nomem(err);
    if (home && !(out[count++] = strf("%s/.config/containers/certs.d/%s", home, host)))
        return err_nomem(err);
    /* The directory of a rootless Docker. */
    if ((config && !(out[count++] = strf("%s/docker/certs.d/%s", config, host))) ||
        (!config && home && !(out[count++] = strf("%s/.config/docker/certs.d/%s", home, host))))
        return err_nomem(err);
    if (!(out[count++] = strf("/etc/containers/certs.d/%s", host)) ||
        !(out[count] = strf("/etc/docker/certs.d/%s", host)))
        return err_nomem(err);
    return 0;
}

/* A directory that this user may not search counts as missing: /etc/docker may be for root only. */
static int load_first(char *const directories[DIRECTORIES], struct certificates *out,
                      struct err *err)
{
    for (size_t i = 0; i < DIRECTORIES && directories[i]; i++) {
        struct stat st;
        if (stat(directories[i], &st) == 0 && access(directories[i], R_OK | X_OK) == 0)
            return load(directories[i], out, err);
        if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
            return err_sys(err, "%s", directories[i]);
    }
    return 0;
}

int certificates_find(const char *host, const char *dir, struct certificates *out, struct err *err)
{
    char *directories[DIRECTORIES] = {NULL};

    *out = (struct certificates){BUF_INIT, BUF_INIT, BUF_INIT};
    if (dir)
        return load(dir, out, err) < 0 ? err_wrap(err, "--cert-dir") : 0;
    int rc = list_directories(host, directories, err);
    if (rc == 0)
        rc = load_first(directories, out, err);
    for (size_t i = 0; i < DIRECTORIES; i++)
        free(directories[i]);
    return rc < 0 ? err_wrap(err, "certificates for %s", host) : 0;
}
