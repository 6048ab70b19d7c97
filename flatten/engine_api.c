#include "flatten/engine_api.h"

#include "base/buf.h"
#include "base/fdio.h"
#include "flatten/engine_reply.h"
#include "flatten/image.h"
#include "flatten/interrupt.h"

#include <curl/curl.h>
#include <string.h>
#include <sys/stat.h>

enum {
    CONNECT_SECONDS = 10,
    ANSWER_SECONDS = 120, /* for small replies; images take as long as they take */
    TRANSFER_BUFFER = 512 * 1024,
    REFUSAL_LIMIT = 64 * 1024, /* bytes of an error's body that are looked at */
    SAVE_TAIL = 8 * 1024,
};

struct engine {
    CURL *curl;
    char *socket; /* path; NULL for TCP */
    char *base;   /* URL without a path */
    char error[CURL_ERROR_SIZE];
};

/* ---- where the daemon is ---- */

static int set_tcp(struct engine *e, const char *text, struct err *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-._:[]";
    const char *verify = getenv("DOCKER_TLS_VERIFY"), *bracket = strrchr(text, ']');
    size_t len = strspn(text, allowed);

    if (verify && *verify)
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
    const char *host = getenv("DOCKER_HOST");

    if (!host || !*host)
        return set_socket(e, "/var/run/docker.sock", err);
    if (strncmp(host, "unix://", 7) == 0)
        return set_socket(e, host + 7, err);
    if (strncmp(host, "tcp://", 6) == 0)
        return set_tcp(e, host + 6, err);
    return err_set(err, ERR_UNSUPPORTED,
                   "DOCKER_HOST=%s: only unix:///PATH and tcp://HOST:PORT are supported", host);
}

struct engine *engine_open(struct err *err)
{
    _cleanup_engine_ struct engine *e = calloc(1, sizeof(*e));

    if (!e) {
        err_nomem(err);
        return NULL;
    }
    /* Nothing of TLS: only plain HTTP is spoken. */
    if (curl_global_init(CURL_GLOBAL_NOTHING) != CURLE_OK || !(e->curl = curl_easy_init())) {
        err_set(err, ERR_SYSTEM, "libcurl cannot start");
        return NULL;
    }
    return find_daemon(e, err) < 0 ? NULL : steal_ptr(&e);
}

void engine_free(struct engine *e)
{
    if (e->curl) {
        curl_easy_cleanup(e->curl);
        curl_global_cleanup();
    }
    free(e->socket);
    free(e->base);
    free(e);
}

/* ---- one request ---- */

typedef int take_body(void *ctx, const char *data, size_t len, struct err *err);

struct request {
    struct engine *engine;
    take_body *take; /* the body of a 200 */
    void *ctx;
    bool quick; /* the answer is small, and soon there */
    int upload; /* or -1: GET */
    off_t at;
    uint64_t size;
    struct buf refusal; /* the body of any other status */
    struct err *err;    /* where the callbacks report */
    bool failed;        /* they did */
};

static long status_of(const struct request *r)
{
    long status = 0;

    return curl_easy_getinfo(r->engine->curl, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK ? status
                                                                                           : 0;
}

static size_t on_body(char *data, size_t unit, size_t count, void *ctx)
{
    struct request *r = ctx;
    size_t len = unit * count;

    if (status_of(r) == 200) {
        r->failed = r->take(r->ctx, data, len, r->err) < 0;
        return r->failed ? CURL_WRITEFUNC_ERROR : len;
    }
    size_t room = REFUSAL_LIMIT - r->refusal.len;
    buf_append(&r->refusal, data, len < room ? len : room);
    return len;
}

static size_t on_upload(char *buffer, size_t unit, size_t count, void *ctx)
{
    struct request *r = ctx;
    size_t want = unit * count;

    if (want > r->size - (uint64_t)r->at)
        want = (size_t)(r->size - (uint64_t)r->at);
    if (want > 0 && fd_pread_exact(r->upload, buffer, want, r->at, r->err) < 0) {
        r->failed = true;
        return CURL_READFUNC_ABORT;
    }
    r->at += (off_t)want;
    return want;
}

/* Called while data flows and about once a second while it does not: time to notice a Ctrl-C. */
static int on_progress(void *ctx, curl_off_t down_all, curl_off_t down, curl_off_t up_all,
                       curl_off_t up)
{
    (void)ctx, (void)down_all, (void)down, (void)up_all, (void)up;
    return interrupted();
}

#define SET(option, value)                                                                         \
    do {                                                                                           \
        CURLcode rc_ = curl_easy_setopt(curl, option, value);                                      \
        if (rc_ != CURLE_OK)                                                                       \
            return rc_;                                                                            \
    } while (0)

static CURLcode set_connection(struct request *r)
{
    CURL *curl = r->engine->curl;

    curl_easy_reset(curl); /* keeps the connection */
    SET(CURLOPT_ERRORBUFFER, r->engine->error);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_PROTOCOLS_STR, "http");
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_PATH_AS_IS, 1L);
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    SET(CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    if (r->quick)
        SET(CURLOPT_TIMEOUT, (long)ANSWER_SECONDS);
    if (r->engine->socket)
        SET(CURLOPT_UNIX_SOCKET_PATH, r->engine->socket);
    return CURLE_OK;
}

static CURLcode set_transfer(struct request *r, const char *url, struct curl_slist *headers)
{
    CURL *curl = r->engine->curl;

    SET(CURLOPT_URL, url);
    SET(CURLOPT_HTTPHEADER, headers);
    SET(CURLOPT_BUFFERSIZE, (long)TRANSFER_BUFFER);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, r);
    SET(CURLOPT_NOPROGRESS, 0L);
    SET(CURLOPT_XFERINFOFUNCTION, on_progress);
    if (r->upload < 0)
        return CURLE_OK;
    SET(CURLOPT_POST, 1L);
    SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->size);
    SET(CURLOPT_UPLOAD_BUFFERSIZE, (long)TRANSFER_BUFFER);
    SET(CURLOPT_READFUNCTION, on_upload);
    SET(CURLOPT_READDATA, r);
    return CURLE_OK;
}

/* The connection failed: what to do about it. */
static int explain(const struct engine *e, CURLcode code, struct err *err)
{
    const char *where = e->socket ? e->socket : e->base + strlen("http://");
    long number = 0;

    if (interrupt_check(err) < 0)
        return -1;
    if (code != CURLE_COULDNT_CONNECT)
        return err_set(err, ERR_SYSTEM, "the Docker daemon at %s: %s", where,
                       e->error[0] ? e->error : curl_easy_strerror(code));
    if (curl_easy_getinfo(e->curl, CURLINFO_OS_ERRNO, &number) != CURLE_OK)
        number = 0;
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
                where, number ? strerror((int)number) : e->error);
    err->sys = (int)number;
    return -1;
}

/* A status that is not 200: its body is JSON with a "message", or should be. */
static int refused(const struct request *r, long status, struct err *err)
{
    enum err_kind kind = status == 404 || status == 400 ? ERR_USAGE : ERR_SYSTEM;
    struct err ignored = ERR_INIT;
    _cleanup_json_ struct json_doc *doc =
        r->refusal.len ? json_parse(r->refusal.data, r->refusal.len, NULL, &ignored) : NULL;
    const char *message = doc ? json_text(json_get(json_root(doc), "message")) : NULL;

    if (message)
        return err_set(err, kind, "the daemon says: %.*s", (int)strcspn(message, "\r\n"), message);
    return err_set(err, kind, "the daemon answers with HTTP status %ld", status);
}

static int perform(struct request *r, const char *url, struct curl_slist *headers, long *status,
                   struct err *err)
{
    CURLcode code = set_connection(r);

    r->err = err;
    r->engine->error[0] = '\0';
    if (code == CURLE_OK)
        code = set_transfer(r, url, headers);
    if (code == CURLE_OK)
        code = curl_easy_perform(r->engine->curl);
    *status = status_of(r);
    if (r->failed)
        return -1;
    /* A daemon that has refused need not listen to the rest of an upload. */
    if (*status > 200 && (code == CURLE_OK || r->refusal.len > 0))
        return refused(r, *status, err);
    if (code != CURLE_OK)
        return explain(r->engine, code, err);
    return *status == 200 ? 0 : refused(r, *status, err);
}

static int send_request(struct request *r, const char *path, long *status, struct err *err)
{
    _cleanup_free_ char *url = strf("%s%s", r->engine->base, path);
    struct curl_slist *headers = NULL, *more;
    int rc;

    if (!url)
        return err_nomem(err);
    if (r->upload >= 0) {
        headers = curl_slist_append(NULL, "Content-Type: application/x-tar");
        /* A daemon that refuses does so before the upload, where its words cannot get lost. */
        more = headers ? curl_slist_append(headers, "Expect: 100-continue") : NULL;
        if (!more) {
            curl_slist_free_all(headers);
            return err_nomem(err);
        }
    }
    rc = perform(r, url, headers, status, err);
    curl_slist_free_all(headers);
    buf_free(&r->refusal);
    return rc;
}

/* ---- what is asked ---- */

static int put_escaped(struct engine *e, const char *text, size_t len, struct buf *out,
                       struct err *err)
{
    char *escaped = curl_easy_escape(e->curl, text, (int)len);

    if (!escaped)
        return err_nomem(err);
    buf_puts(out, escaped);
    curl_free(escaped);
    return 0;
}

/* "/images/NAME" with each part of the name escaped: a slash in it stays one in the path. */
static int image_path(struct engine *e, const char *name, struct buf *out, struct err *err)
{
    buf_puts(out, "/images");
    for (const char *at = name;; at++) {
        size_t len = strcspn(at, "/");
        if (len == 0 || len > 1024 || strspn(at, ".") == len)
            return err_set(err, ERR_USAGE, "'%s' is not the name of an image", name);
        buf_putc(out, '/');
        if (put_escaped(e, at, len, out, err) < 0)
            return -1;
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

static struct json_doc *get_json(struct engine *e, const char *path, long *status, struct err *err)
{
    static const struct json_options options = {.max_bytes = IMAGE_JSON_LIMIT};
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct request r = {.engine = e, .take = take_text, .ctx = &text, .quick = true, .upload = -1};

    if (send_request(&r, path, status, err) < 0)
        return NULL;
    struct json_doc *doc = json_parse(text.len ? text.data : "", text.len, &options, err);
    if (!doc)
        err_wrap(err, "the daemon's reply");
    return doc;
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
    if (image_path(e, name, &path, err) < 0)
        return NULL;
    buf_puts(&path, "/json");
    if (buf_check(&path, err) < 0)
        return NULL;
    struct json_doc *doc = get_json(e, path.data, &status, err);
    if (missing)
        *missing = !doc && status == 404;
    return doc;
}

/* ---- images in and out ---- */

static int take_file(void *ctx, const char *data, size_t len, struct err *err)
{
    return fd_write_all(*(int *)ctx, data, len, err) < 0
               ? err_wrap(err, "temporary file (set TMPDIR)")
               : 0;
}

int engine_save(struct engine *e, const char *name, const char *platform, int fd, struct err *err)
{
    struct request r = {.engine = e, .take = take_file, .ctx = &fd, .upload = -1};
    _cleanup_buf_ struct buf path = BUF_INIT;
    long status;

    if (image_path(e, name, &path, err) < 0)
        return -1;
    buf_puts(&path, platform ? "/get?platform=" : "/get");
    if (platform && put_escaped(e, platform, strlen(platform), &path, err) < 0)
        return -1;
    return buf_check(&path, err) < 0 ? -1 : send_request(&r, path.data, &status, err);
}

int engine_save_error(int fd, struct err *err)
{
    static const char mark[] = "{\"errorDetail\"";
    struct err said = ERR_INIT;
    struct engine_reply reply = {0};
    char tail[SAVE_TAIL];
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -1;
    off_t from = st.st_size > SAVE_TAIL ? st.st_size - SAVE_TAIL : 0;
    size_t len = (size_t)(st.st_size - from);
    if (fd_pread_exact(fd, tail, len, from, &said) < 0)
        return -1;
    said = (struct err)ERR_INIT;
    const char *at = memmem(tail, len, mark, sizeof(mark) - 1);
    if (at && engine_reply_feed(&reply, at, len - (size_t)(at - tail), &said) < 0 &&
        said.kind == ERR_SYSTEM)
        *err = said;
    engine_reply_clear(&reply);
    return -1;
}

static int take_reply(void *ctx, const char *data, size_t len, struct err *err)
{
    return engine_reply_feed(ctx, data, len, err);
}

int engine_load(struct engine *e, int fd, uint64_t size, struct err *err)
{
    _cleanup_engine_reply_ struct engine_reply reply = {0};
    struct request r = {.engine = e, .take = take_reply, .ctx = &reply, .upload = fd, .size = size};
    long status;

    if (send_request(&r, "/images/load?quiet=1", &status, err) < 0)
        return -1;
    return engine_reply_end(&reply, err);
}
