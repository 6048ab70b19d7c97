#include "flatten/keeper/http/engine_internal.h"

#include "base/buf.h"
#include "base/fdio.h"
#include "base/path.h"
#include "flatten/exchange/image_limits.h"
#include "flatten/keeper/http/environment.h"

#include <string.h>
#include <sys/stat.h>

enum {
    ANSWER_SECONDS = 120, /* for small replies; images have no limit */
    CLEANUP_SECONDS = 10,
};

struct engine {
    struct http *http;
    char *socket; /* path; NULL for TCP */
    char *base;   /* URL without a path */
};

/* ---- the daemon's address ---- */

static int set_tcp(struct engine *e, const char *text, struct err *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-._:[]";
    const char *verify = environment_get("DOCKER_TLS_VERIFY"), *bracket = strrchr(text, ']');
    size_t len = strspn(text, allowed);

    if (verify)
        return err_set(err, ERR_UNSUPPORTED,
                       "DOCKER_TLS_VERIFY: TLS is not supported; use the "
                       "daemon's socket, or an ssh tunnel to it");
    if (len == 0 || (text[len] && strcmp(text + len, "/") != 0))
        return err_set(err, ERR_USAGE, "DOCKER_HOST=tcp://%s is not tcp://HOST:PORT", text);
    bool has_port = strchr(bracket ? bracket : text, ':') != NULL;
    e->base = strf("http://%.*s%s", (int)len, text, has_port ? "" : ":2375");
    return e->base ? 0 : err_nomem(err);
}

static int set_socket(struct engine *e, const char *path, struct err *err)
{
    if (path[0] != '/')
        return err_set(err, ERR_USAGE, "DOCKER_HOST=unix://%s is not unix:///PATH", path);
    e->socket = strdup(path);
    e->base = strdup("http://docker");
    return e->socket && e->base ? 0 : err_nomem(err);
}

static int find_daemon(struct engine *e, struct err *err)
{
    const char *host = environment_get("DOCKER_HOST");

    if (!host)
        return set_socket(e, "/var/run/docker.sock", err);
    if (strncmp(host, "unix://", 7) == 0)
        return set_socket(e, host + 7, err);
    if (strncmp(host, "tcp://", 6) == 0)
        return set_tcp(e, host + 6, err);
    return err_set(err, ERR_UNSUPPORTED,
                   "DOCKER_HOST=%s: only unix:///PATH and tcp://HOST:PORT are supported", host);
}

struct engine *engine_open_until(const atomic_bool *stop, struct err *err)
{
    _cleanup_engine_ struct engine *e = calloc(1, sizeof(*e));

    if (!e) {
        err_nomem(err);
        return NULL;
    }
    if (find_daemon(e, err) < 0)
        return NULL;
    const struct http_options options = {.socket = e->socket, .stop = stop};
    return (e->http = http_new(&options, err)) ? steal_ptr(&e) : NULL;
}

struct engine *engine_open(struct err *err)
{
    return engine_open_until(NULL, err);
}

void engine_free(struct engine *e)
{
    cleanup_http(&e->http);
    free(e->socket);
    free(e->base);
    free(e);
}

/* ---- one request ---- */

/* Explains a connection that failed, and what to do about it. Returns -1. */
static int explain_connection(const struct engine *e, const struct http_reply *reply,
                              struct err *err)
{
    const char *where = e->socket ? e->socket : e->base + strlen("http://");
    int number = reply->sys;

    if (reply->failure == HTTP_GAVE_UP)
        return -1;
    if (reply->failure != HTTP_NO_CONNECT)
        return err_wrap(err, "the Docker daemon at %s", where);
    _cleanup_free_ char *reason = strdup(err->msg);
    if (number == EACCES || number == EPERM)
        err_set(err, ERR_SYSTEM,
                "permission denied at the Docker daemon's socket %s: be root or in its group "
                "(often 'docker'), or set DOCKER_HOST to the socket of a rootless daemon",
                where);
    else if (number == ENOENT)
        err_set(err, ERR_SYSTEM,
                "there is no Docker daemon at %s: start it, or set DOCKER_HOST to where it is",
                where);
    else
        err_set(err, ERR_SYSTEM,
                "no Docker daemon answers at %s (%s): start it, or set DOCKER_HOST to where it is",
                where,
                number   ? strerror(number)
                : reason ? reason
                         : "?");
    err->sys = number;
    return -1;
}

/* Explains a status other than 200, by the "message" in its body if there is one. Returns -1. */
static int explain_refusal(const struct http_reply *reply, struct err *err)
{
    const struct buf *text = &reply->refusal;
    enum err_kind kind = reply->status == 404 || reply->status == 400 ? ERR_USAGE : ERR_SYSTEM;
    struct err ignored = ERR_INIT;
    _cleanup_json_ struct json_doc *doc =
        text->len ? json_parse(text->data, text->len, NULL, &ignored) : NULL;
    const char *message = doc ? json_text(json_get(json_root(doc), "message")) : NULL;

    if (message)
        return err_set(err, kind, "the daemon says: %.*s", (int)strcspn(message, "\r\n"), message);
    return err_set(err, kind, "the daemon answers with HTTP status %ld", reply->status);
}

int engine_send(struct engine_request *r, const char *path, long *status, struct err *err)
{
    /*
     * With Expect, a daemon that refuses answers before the upload, when its words cannot get lost.
     */
    static const char *const upload_headers[] = {"Content-Type: application/x-tar",
                                                 "Expect: 100-continue", NULL};
    _cleanup_free_ char *url = strf("%s%s", r->engine->base, path);
    _cleanup_http_reply_ struct http_reply reply = {0};
    const struct http_request request = {
        .method = r->method   ? r->method
                  : r->upload ? "POST"
                              : "GET",
        .url = url,
        .headers = r->upload ? upload_headers : NULL,
        .body = r->upload,
        .timeout_seconds = r->goes_on ? CLEANUP_SECONDS
                           : r->quick ? ANSWER_SECONDS
                                      : 0,
        .goes_on = r->goes_on,
        .take = r->take,
        .ctx = r->ctx,
    };

    if (!url)
        return err_nomem(err);
    int rc = http_perform(r->engine->http, &request, &reply, err);
    *status = reply.status;
    if (rc < 0)
        return explain_connection(r->engine, &reply, err);
    return reply.status == 200 ? 0 : explain_refusal(&reply, err);
}

/* ---- requests ---- */

/* Appends "/images/NAME". Each part of the name is escaped: slashes between them stay. */
static int image_path(const char *name, struct buf *out, struct err *err)
{
    buf_puts(out, "/images");
    for (const char *at = name;; at++) {
        size_t len = strcspn(at, "/");
        if (len == 0 || len > 1024 || strspn(at, ".") == len)
            return err_set(err, ERR_USAGE, "'%s' is not the name of an image", name);
        buf_putc(out, '/');
        _cleanup_free_ char *part = strndup(at, len);
        if (!part)
            return err_nomem(err);
        http_put_escaped(out, part);
        at += len;
        if (!*at)
            return 0;
    }
}

static int take_text(void *ctx, const char *data, size_t len, struct err *err)
{
    struct buf *out = ctx;

    if (len > IMAGE_JSON_LIMIT - out->len)
        return err_set(err, ERR_LIMIT, "the daemon's reply has more than %d bytes",
                       IMAGE_JSON_LIMIT);
    buf_append(out, data, len);
    return buf_check(out, err);
}

struct json_doc *engine_ask(struct engine_request *r, const char *path, long *status,
                            struct err *err)
{
    static const struct json_options options = {.max_bytes = IMAGE_JSON_LIMIT};
    _cleanup_buf_ struct buf text = BUF_INIT;

    r->take = take_text;
    r->ctx = &text;
    r->quick = true;
    int rc = engine_send(r, path, status, err);
    r->ctx = NULL;
    if (rc < 0)
        return NULL;
    struct json_doc *doc = json_parse(text.len ? text.data : "", text.len, &options, err);
    if (!doc)
        err_wrap(err, "the daemon's reply");
    return doc;
}

static struct json_doc *get_json(struct engine *e, const char *path, long *status, struct err *err)
{
    struct engine_request r = {.engine = e};

    return engine_ask(&r, path, status, err);
}

int engine_speaks(struct engine *e, unsigned minor, struct err *err)
{
    unsigned major, has;
    long status;
    _cleanup_json_ struct json_doc *doc = get_json(e, "/version", &status, err);

    if (!doc)
        return -1;
    const char *version = json_text(json_get(json_root(doc), "ApiVersion"));
    if (!version || sscanf(version, "%3u.%3u", &major, &has) != 2)
        return err_set(err, ERR_FORMAT, "the daemon does not say its API version");
    return major > 1 || (major == 1 && has >= minor);
}

struct json_doc *engine_inspect(struct engine *e, const char *name, bool *missing, struct err *err)
{
    _cleanup_buf_ struct buf path = BUF_INIT;
    long status = 0;

    if (missing)
        *missing = false;
    if (image_path(name, &path, err) < 0)
        return NULL;
    buf_puts(&path, "/json");
    if (buf_check(&path, err) < 0)
        return NULL;
    struct json_doc *doc = get_json(e, path.data, &status, err);
    if (missing)
        *missing = !doc && status == 404;
    return doc;
}

struct json_doc *engine_info(struct engine *e, struct err *err)
{
    long status;

    return get_json(e, "/info", &status, err);
}

/* ---- images in and out ---- */

static int take_file(void *ctx, const char *data, size_t len, struct err *err)
{
    return fd_write_all(*(int *)ctx, data, len, err) < 0
               ? err_wrap(err, "temporary file in %s (set TMPDIR)", temporary_dir())
               : 0;
}

int engine_save(struct engine *e, const char *name, const char *platform, int fd, struct err *err)
{
    struct engine_request r = {.engine = e, .take = take_file, .ctx = &fd};
    _cleanup_buf_ struct buf path = BUF_INIT;
    long status;

    if (image_path(name, &path, err) < 0)
        return -1;
    buf_puts(&path, platform ? "/get?platform=" : "/get");
    if (platform)
        http_put_escaped(&path, platform);
    return buf_check(&path, err) < 0 ? -1 : engine_send(&r, path.data, &status, err);
}

static int take_reply(void *ctx, const char *data, size_t len, struct err *err)
{
    return engine_reply_feed(ctx, data, len, err);
}

int engine_upload(struct engine *e, const char *path, const struct http_body *body,
                  struct engine_reply *reply, struct err *err)
{
    struct engine_request r = {.engine = e, .take = take_reply, .ctx = reply, .upload = body};
    long status;

    return engine_send(&r, path, &status, err) < 0 ? -1 : engine_reply_end(reply, err);
}

int engine_load(struct engine *e, int fd, uint64_t size, struct err *err)
{
    _cleanup_engine_reply_ struct engine_reply reply = {0};
    const struct http_body body = {.fd = fd, .size = size};

    return engine_upload(e, "/images/load?quiet=1", &body, &reply, err);
}
