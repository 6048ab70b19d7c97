#include "flatten/keeper/http/http.h"

#include "base/fdio.h"
#include "flatten/keeper/http/http_guard.h"
#include "flatten/keeper/http/http_internal.h"
#include "flatten/stream/interrupt.h"

#include <pthread.h>
#include <string.h>

enum {
    CONNECT_SECONDS = 20,
    TRANSFER_BUFFER = 512 * 1024,
    HEADER_LIMIT = 64 * 1024,   /* bytes, of one response */
    HEADERS_LIMIT = 256 * 1024, /* bytes, with those of interim responses (1xx) */
    REFUSAL_LIMIT = 64 * 1024,
    STALL_BYTES = 1000, /* bytes a second */
};

struct http {
    CURL *curl;
    struct http_options options;
    char error[CURL_ERROR_SIZE];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static CURLcode started;

static void start_curl(void)
{
    started = curl_global_init(CURL_GLOBAL_DEFAULT);
}

struct http *http_new(const struct http_options *options, struct err *err)
{
    _cleanup_http_ struct http *h = calloc(1, sizeof(*h));

    if (!h) {
        err_nomem(err);
        return NULL;
    }
    pthread_once(&once, start_curl);
    h->options = *options;
    if (started != CURLE_OK || !(h->curl = curl_easy_init())) {
        err_set(err, ERR_SYSTEM, "libcurl cannot start");
        return NULL;
    }
    return steal_ptr(&h);
}

void http_free(struct http *h)
{
    if (h->curl)
        curl_easy_cleanup(h->curl);
    free(h);
}

bool http_stopped(const struct http *h)
{
    return h->options.stop && atomic_load(h->options.stop);
}

void http_reply_clear(struct http_reply *reply)
{
    buf_free(&reply->headers);
    buf_free(&reply->refusal);
    *reply = (struct http_reply){0};
}

/* ---- a transfer ---- */

struct transfer {
    struct http *http;
    const struct http_request *request;
    struct http_reply *reply;
    struct http_guard guard;
    size_t header_bytes;
    uint64_t sent;
    bool begun;      /* request->begin was called */
    struct err *err; /* of the callbacks */
    bool failed;     /* a callback failed */
};

static bool is_success(long status)
{
    return status >= 200 && status < 300;
}

static void note_status(struct transfer *t)
{
    if (curl_easy_getinfo(t->http->curl, CURLINFO_RESPONSE_CODE, &t->reply->status) != CURLE_OK)
        t->reply->status = 0;
}

static size_t on_header(char *line, size_t unit, size_t count, void *ctx)
{
    struct transfer *t = ctx;
    struct buf *headers = &t->reply->headers;
    size_t len = unit * count, text = len;

    if (len >= 5 && strncmp(line, "HTTP/", 5) == 0)
        buf_truncate(headers, 0); /* the response before was interim */
    t->header_bytes += len;
    if (headers->len + len > HEADER_LIMIT || t->header_bytes > HEADERS_LIMIT) {
        err_set(t->err, ERR_LIMIT, "the headers of the reply have more than %d bytes",
                HEADER_LIMIT);
        t->failed = true;
        return 0;
    }
    while (text > 0 && strchr("\r\n", line[text - 1]))
        text--;
    buf_append(headers, line, text);
    buf_putc(headers, '\n');
    return len;
}

static int take_body(struct transfer *t, const char *data, size_t len)
{
    const struct http_request *r = t->request;

    if (!t->begun) {
        t->begun = true;
        if (r->begin && r->begin(r->ctx, t->reply, t->err) < 0)
            return -1;
    }
    return r->take ? r->take(r->ctx, data, len, t->err) : 0;
}

static size_t on_body(char *data, size_t unit, size_t count, void *ctx)
{
    struct transfer *t = ctx;
    struct buf *refusal = &t->reply->refusal;
    size_t len = unit * count;

    note_status(t);
    if (is_success(t->reply->status)) {
        t->failed = take_body(t, data, len) < 0;
        return t->failed ? CURL_WRITEFUNC_ERROR : len;
    }
    size_t room = REFUSAL_LIMIT - refusal->len;
    if (room == 0)
        return CURL_WRITEFUNC_ERROR; /* the rest is not needed */
    buf_append(refusal, data, len < room ? len : room);
    return len;
}

/* A body of unknown size. */
static size_t on_flow(char *buffer, size_t unit, size_t count, void *ctx)
{
    struct transfer *t = ctx;
    const struct http_body *body = t->request->body;
    ssize_t n = body->read(body->ctx, buffer, unit * count, t->err);

    t->failed = n < 0;
    t->sent += n < 0 ? 0 : (uint64_t)n;
    return n < 0 ? CURL_READFUNC_ABORT : (size_t)n;
}

static size_t on_upload(char *buffer, size_t unit, size_t count, void *ctx)
{
    struct transfer *t = ctx;
    const struct http_body *body = t->request->body;
    size_t want = unit * count;

    if (want > body->size - t->sent)
        want = (size_t)(body->size - t->sent);
    if (body->data)
        memcpy(buffer, body->data + t->sent, want);
    else if (want > 0 &&
             fd_pread_exact(body->fd, buffer, want, body->offset + (off_t)t->sent, t->err) < 0) {
        t->failed = true;
        return CURL_READFUNC_ABORT;
    }
    t->sent += want;
    return want;
}

/*
 * Starts the body again: a connection that was kept may be dead, and the request goes out on
 * another.
 */
static int on_seek(void *ctx, curl_off_t offset, int origin)
{
    struct transfer *t = ctx;

    if (t->request->body->read)
        return t->sent == 0 && offset == 0 ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
    if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > t->request->body->size)
        return CURL_SEEKFUNC_FAIL;
    t->sent = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}

static bool told_to_stop(const struct transfer *t)
{
    return !t->request->goes_on && (interrupted() || http_stopped(t->http));
}

/* Called while data flows, and about once a second while it does not: notices Ctrl-C. */
static int on_progress(void *ctx, curl_off_t down_all, curl_off_t down, curl_off_t up_all,
                       curl_off_t up)
{
    (void)down_all, (void)down, (void)up_all, (void)up;
    return told_to_stop((const struct transfer *)ctx);
}

static CURLcode set_connection(struct http *h, bool identify)
{
    CURL *curl = h->curl;

    curl_easy_reset(curl); /* keeps the connections */
    SET(CURLOPT_ERRORBUFFER, h->error);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_PROTOCOLS_STR, "http");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_HTTP09_ALLOWED, 0L);
    SET(CURLOPT_PATH_AS_IS, 1L);
    SET(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    SET(CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L); /* those of a proxy are not of the reply */
    SET(CURLOPT_USERAGENT, "flatten/" FLATBED_VERSION);
    if (!h->options.proxy)
        SET(CURLOPT_PROXY, "");
    if (h->options.socket)
        SET(CURLOPT_UNIX_SOCKET_PATH, h->options.socket);
    return h->options.tls ? http_set_tls(curl, &h->options, identify) : CURLE_OK;
}

static CURLcode set_body(struct transfer *t)
{
    CURL *curl = t->http->curl;
    const struct http_request *r = t->request;

    if (r->body) {
        SET(CURLOPT_UPLOAD, 1L);
        SET(CURLOPT_INFILESIZE_LARGE, r->body->read ? -1 : (curl_off_t)r->body->size);
        SET(CURLOPT_UPLOAD_BUFFERSIZE, (long)TRANSFER_BUFFER);
        SET(CURLOPT_READFUNCTION, r->body->read ? on_flow : on_upload);
        SET(CURLOPT_READDATA, t);
        SET(CURLOPT_SEEKFUNCTION, on_seek);
        SET(CURLOPT_SEEKDATA, t);
    } else if (strcmp(r->method, "HEAD") == 0) {
        SET(CURLOPT_NOBODY, 1L);
        return CURLE_OK;
    } else if (strcmp(r->method, "GET") == 0) {
        SET(CURLOPT_HTTPGET, 1L);
        return CURLE_OK;
    } else {
        SET(CURLOPT_POSTFIELDS, "");
        SET(CURLOPT_POSTFIELDSIZE, 0L);
    }
    SET(CURLOPT_CUSTOMREQUEST, r->method);
    return CURLE_OK;
}

static CURLcode set_transfer(struct transfer *t, struct curl_slist *headers)
{
    CURL *curl = t->http->curl;

    SET(CURLOPT_URL, t->request->url);
    SET(CURLOPT_HTTPHEADER, headers);
    SET(CURLOPT_BUFFERSIZE, (long)TRANSFER_BUFFER);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, t);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, t);
    SET(CURLOPT_NOPROGRESS, 0L);
    SET(CURLOPT_XFERINFOFUNCTION, on_progress);
    SET(CURLOPT_XFERINFODATA, t);
    if (t->request->timeout_seconds)
        SET(CURLOPT_TIMEOUT, (long)t->request->timeout_seconds);
    if (t->request->stall_seconds) {
        SET(CURLOPT_LOW_SPEED_LIMIT, (long)STALL_BYTES);
        SET(CURLOPT_LOW_SPEED_TIME, (long)t->request->stall_seconds);
    }
    return set_body(t);
}

/* True if a connection was made, even if it failed later. */
static bool was_connected(const struct http *h)
{
    curl_off_t microseconds;

    return curl_easy_getinfo(h->curl, CURLINFO_CONNECT_TIME_T, &microseconds) == CURLE_OK &&
           microseconds > 0;
}

/*
 * A TLS alert proves that the peer speaks TLS. With TLS 1.3 a refused client certificate shows only
 * at the first read.
 */
static enum http_failure failure_of_alert(const struct http *h)
{
    return strstr(h->error, "certificate required") || strstr(h->error, "bad certificate") ||
                   strstr(h->error, "handshake failure")
               ? HTTP_UNKNOWN_CLIENT
               : HTTP_FAILED;
}

/* True if a proxy refuses the connection in a way that will not pass. */
static bool proxy_refused(const struct http *h)
{
    long status;

    return curl_easy_getinfo(h->curl, CURLINFO_HTTP_CONNECTCODE, &status) == CURLE_OK &&
           status >= 400 && status < 500 && status != 408 && status != 429;
}

static enum http_failure failure_of(const struct http *h, CURLcode code)
{
    if (strstr(h->error, " alert "))
        return failure_of_alert(h);
    if (proxy_refused(h))
        return HTTP_FAILED;
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
        return HTTP_NO_CONNECT;
    case CURLE_SSL_CONNECT_ERROR:
        return HTTP_NOT_TLS;
    case CURLE_OPERATION_TIMEDOUT:
        return was_connected(h) ? HTTP_BROKEN : HTTP_NO_CONNECT;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
        return HTTP_BROKEN;
    default:
        return HTTP_FAILED;
    }
}

static int explain_failure(struct transfer *t, CURLcode code)
{
    struct http *h = t->http;
    long number = 0;

    t->reply->failure = HTTP_GAVE_UP;
    if (t->failed || (!t->request->goes_on && interrupt_check(t->err) < 0))
        return -1;
    if (told_to_stop(t))
        return err_set(t->err, ERR_SYSTEM, "stopped");
    if (t->guard.refused[0]) {
        t->reply->failure = HTTP_FAILED;
        return http_guard_explain(&t->guard, t->err);
    }
    t->reply->failure = failure_of(h, code);
    if (t->reply->failure == HTTP_NO_CONNECT &&
        curl_easy_getinfo(h->curl, CURLINFO_OS_ERRNO, &number) == CURLE_OK)
        t->reply->sys = (int)number;
    err_set(t->err, ERR_SYSTEM, "%s%s", h->error[0] ? h->error : curl_easy_strerror(code),
            code == CURLE_PEER_FAILED_VERIFICATION
                ? "; its CA may be in certs.d or --cert-dir, or take --insecure"
                : "");
    t->err->sys = t->reply->sys;
    return -1;
}

/*
 * True if the server has refused. It may then close the connection during the upload, and send no
 * body.
 */
static bool was_refused(const struct transfer *t, CURLcode code)
{
    return t->header_bytes > 0 && t->reply->status >= 300 &&
           (t->reply->refusal.len > 0 || code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR);
}

static int perform_transfer(struct transfer *t, struct curl_slist *headers)
{
    CURLcode code = set_connection(t->http, t->request->identify);

    t->http->error[0] = '\0';
    if (code == CURLE_OK)
        code = http_set_guard(t->http->curl, &t->guard);
    if (code == CURLE_OK)
        code = set_transfer(t, headers);
    if (code == CURLE_OK)
        code = curl_easy_perform(t->http->curl);
    note_status(t);
    bool refused = was_refused(t, code);
    if (t->failed || told_to_stop(t) || (code != CURLE_OK && !refused))
        return explain_failure(t, code);
    if (buf_check(&t->reply->headers, t->err) < 0 || buf_check(&t->reply->refusal, t->err) < 0) {
        t->reply->failure = HTTP_GAVE_UP;
        return -1;
    }
    return 0;
}

/* False for control characters: a line break in a header would begin another. */
static bool is_one_line(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

static int add_headers(const char *const *lines, struct curl_slist **out, struct err *err)
{
    for (; lines && *lines; lines++) {
        if (!is_one_line(*lines))
            return err_set(err, ERR_FORMAT, "a header has a control character");
        struct curl_slist *more = curl_slist_append(*out, *lines);
        if (!more)
            return err_nomem(err);
        *out = more;
    }
    return 0;
}

int http_perform(struct http *h, const struct http_request *request, struct http_reply *reply,
                 struct err *err)
{
    struct transfer t = {.http = h, .request = request, .reply = reply, .err = err};
    struct curl_slist *headers = NULL;
    int rc = -1;

    t.guard = (struct http_guard){
        .request = request, .reach = h->options.reach, .proxy = h->options.proxy};
    *reply = (struct http_reply){.failure = HTTP_GAVE_UP};
    if (!is_one_line(request->url))
        err_set(err, ERR_FORMAT, "a URL has a control character");
    else if (http_guard_check(&t.guard, err) == 0 &&
             add_headers(request->headers, &headers, err) == 0) {
        reply->failure = HTTP_DONE;
        rc = perform_transfer(&t, headers);
    }
    curl_slist_free_all(headers);
    return rc;
}
