#include "flatten/keeper/registry/registry.h"

#include "flatten/keeper/registry/registry_internal.h"

#include <string.h>

enum {
    MOST_REDIRECTS = 5,
    MOST_HEADERS = 8,
    MOST_RENEWALS = 2, /* in one exchange: a token may have expired, or have too small a scope */
    STALL_SECONDS = 60,
    COMMIT_SECONDS = 15 * 60, /* a registry may hash and copy a blob before it answers */
};

void registry_free(struct registry *r)
{
    if (r->auth)
        registry_auth_free(r->auth);
    registry_ref_clear(&r->ref);
    certificates_clear(&r->certificates);
    free(r->mount_from);
    free(r->base);
    free(r);
}

const struct registry_ref *registry_ref(const struct registry *r)
{
    return &r->ref;
}

struct http *registry_http(struct registry *r, const atomic_bool *stop, struct err *err)
{
    const struct http_options options = {
        .tls = true,
        .insecure = r->options.insecure,
        .proxy = http_url_place(r->base) != HTTP_LOOPBACK,
        .reach = &r->reach,
        .certificates = &r->certificates,
        .stop = stop,
    };

    return http_new(&options, err);
}

char *registry_url(const struct registry *r, const char *format, ...)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err ignored = ERR_INIT;
    va_list args;

    buf_printf(&out, "%s/v2/%s/", r->base, r->ref.repository);
    va_start(args, format);
    buf_vprintf(&out, format, args);
    va_end(args);
    return buf_take(&out, &ignored);
}

const char *registry_mount_from(const struct registry *r)
{
    return r->mount_from;
}

/* ---- a request ---- */

static bool is_redirect(const struct http_request *request, long status)
{
    bool read_only = strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;

    return read_only &&
           (status == 301 || status == 302 || status == 303 || status == 307 || status == 308);
}

/*
 * Makes one request, with the Authorization if it goes to the registry itself. Only a registry on
 * this host gets requests without HTTPS.
 */
static int perform_authorized(struct registry *r, struct http *h,
                              const struct http_request *request, const char *url,
                              unsigned *generation, struct http_reply *reply, struct err *err)
{
    const char *headers[MOST_HEADERS + 2];
    struct http_request one = *request;
    _cleanup_free_ char *authorization = NULL;
    size_t count = 0;

    for (; request->headers && request->headers[count] && count < MOST_HEADERS; count++)
        headers[count] = request->headers[count];
    one.identify = http_same_origin(url, r->base);
    if (one.identify && registry_auth_header(r->auth, &authorization, generation, err) < 0)
        return -1;
    one.loopback_only = one.identify && !http_url_is_tls(url) && !r->options.insecure;
    headers[count] = authorization;
    headers[count + 1] = NULL;
    one.stall_seconds = request->body ? COMMIT_SECONDS : STALL_SECONDS;
    one.headers = headers;
    one.url = url;
    return http_perform(h, &one, reply, err);
}

char *registry_follow(const struct registry *r, const char *url, const char *location,
                      struct err *err)
{
    _cleanup_free_ char *next = http_url_join(url, location, err);

    if (next && !r->options.insecure && http_url_is_tls(url) && !http_url_is_tls(next)) {
        size_t len = strcspn(next, "?#"); /* the query may be a signature */
        err_set(err, ERR_SYSTEM, "it leads from https to %.*s", len < 200 ? (int)len : 200, next);
        return NULL;
    }
    return steal_ptr(&next);
}

static int follow_redirect(const struct registry *r, const struct http_reply *reply, char **url,
                           struct err *err)
{
    _cleanup_free_ char *location = NULL;

    if (http_header_copy(reply, "Location", &location, err) < 0)
        return -1;
    if (!location)
        return err_set(err, ERR_FORMAT, "a redirect (HTTP status %ld) without a Location",
                       reply->status);
    char *next = registry_follow(r, *url, location, err);
    if (!next)
        return -1;
    free(*url);
    *url = next;
    return 0;
}

static int exchange_url(struct registry *r, struct http *h, const struct http_request *request,
                        char **url, struct http_reply *reply, struct err *err)
{
    unsigned redirects = 0, renewals = 0, generation = 0;

    for (;;) {
        if (perform_authorized(r, h, request, *url, &generation, reply, err) < 0)
            return -1;
        if (is_redirect(request, reply->status)) {
            if (redirects++ == MOST_REDIRECTS)
                return err_set(err, ERR_LIMIT, "more than %d redirects", MOST_REDIRECTS);
            if (follow_redirect(r, reply, url, err) < 0)
                return -1;
        } else if (reply->status == 401 && http_same_origin(*url, r->base) &&
                   renewals++ < MOST_RENEWALS) {
            int rc = registry_auth_renew(r->auth, h, reply, generation, err);
            if (rc <= 0)
                return rc;
        } else {
            return 0;
        }
        http_reply_clear(reply);
    }
}

int registry_exchange(struct registry *r, struct http *h, const struct http_request *request,
                      struct http_reply *reply, struct err *err)
{
    _cleanup_free_ char *url = strdup(request->url);

    if (!url)
        return err_nomem(err);
    int rc = exchange_url(r, h, request, &url, reply, err);
    if (rc < 0 && reply->failure == HTTP_DONE)
        reply->failure = HTTP_GAVE_UP;
    return rc;
}

int registry_request(struct registry *r, struct http *h, const struct http_request *request,
                     struct http_reply *reply, struct err *err)
{
    unsigned tries = 0;
    int rc;

    do
        rc = registry_retry(r, h, &tries, registry_exchange(r, h, request, reply, err), reply, err);
    while (rc > 0);
    return rc;
}

/* ---- refusals ---- */

static enum err_kind kind_of(long status)
{
    return status == 404 || status == 400 ? ERR_USAGE : ERR_SYSTEM;
}

/* Appends the first of errors[], as "message (CODE)". False if there is none. */
static bool put_reason(const struct buf *text, struct buf *out)
{
    struct err ignored = ERR_INIT;
    _cleanup_json_ struct json_doc *doc =
        text->len ? json_parse(text->data, text->len, NULL, &ignored) : NULL;
    const struct json *error = doc ? json_at(json_get(json_root(doc), "errors"), 0) : NULL;
    const char *code = json_text(json_get(error, "code"));
    const char *message = json_text(json_get(error, "message"));

    if (!code && !message)
        return false;
    buf_append(out, message ? message : code, strcspn(message ? message : code, "\r\n"));
    if (message && code)
        buf_printf(out, " (%.*s)", (int)strcspn(code, "\r\n"), code);
    return !out->failed;
}

int registry_refused(const struct registry *r, const struct http_reply *reply, struct err *err)
{
    _cleanup_buf_ struct buf reason = BUF_INIT;
    const char *hint = "";

    if (reply->status == 401 || reply->status == 403)
        hint = registry_auth_known(r->auth) ? "; the stored credentials do not suffice"
                                            : "; log in first, as with 'skopeo login'";
    if (put_reason(&reply->refusal, &reason))
        return err_set(err, kind_of(reply->status), "the registry says: %s%s", reason.data, hint);
    return err_set(err, kind_of(reply->status), "the registry answers with HTTP status %ld%s",
                   reply->status, hint);
}

/* ---- opening ---- */

/*
 * Asks whether the server is a registry. A registry may also answer with 401, which tells how to
 * authenticate.
 */
static int ping_registry(struct registry *r, struct http *h, struct http_reply *reply,
                         struct err *err)
{
    _cleanup_free_ char *url = strf("%s/v2/", r->base);
    struct http_text text = {.limit = 1024 * 1024};
    const struct http_request request = {.method = "GET",
                                         .url = url,
                                         .timeout_seconds = STALL_SECONDS,
                                         .begin = http_text_begin,
                                         .take = http_text_take,
                                         .ctx = &text};

    if (!url)
        return err_nomem(err);
    int rc = registry_request(r, h, &request, reply, err);
    buf_free(&text.text);
    return rc;
}

static int explain_unreachable(const struct http_reply *reply, bool plain, struct err *err)
{
    if (reply->failure == HTTP_UNKNOWN_CLIENT)
        return err_wrap(err, "it may want a client certificate (--cert-dir, certs.d)");
    if (reply->failure == HTTP_NOT_TLS && !plain)
        return err_wrap(err, "no HTTPS (--insecure allows plain HTTP)");
    return -1;
}

/* Tries https, then http where that is permitted and the server does not speak https. */
static int find_scheme(struct registry *r, struct err *err)
{
    const char *server = registry_ref_server(&r->ref);
    _cleanup_http_ struct http *h = NULL;
    _cleanup_http_reply_ struct http_reply reply = {0};

    if (!(r->base = strf("https://%s", server)))
        return err_nomem(err);
    if (!(h = registry_http(r, NULL, err)))
        return -1;
    bool plain = r->options.insecure || http_url_place(r->base) == HTTP_LOOPBACK;
    int rc = ping_registry(r, h, &reply, err);
    if (rc < 0 && plain && (reply.failure == HTTP_NOT_TLS || reply.failure == HTTP_NO_CONNECT)) {
        http_reply_clear(&reply);
        free(r->base);
        if (!(r->base = strf("http://%s", server)))
            return err_nomem(err);
        rc = ping_registry(r, h, &reply, err);
    }
    if (rc < 0)
        return explain_unreachable(&reply, plain, err);
    r->answered = true;
    if (reply.status == 200 || reply.status == 401 || reply.status == 403)
        return 0;
    return reply.status == 404 ? err_set(err, ERR_USAGE, "it is not a registry: it has no /v2/")
                               : registry_refused(r, &reply, err);
}

/* Reads the certificates for this registry, and adds its CAs to the others. */
static int find_certificates(struct registry *r, struct err *err)
{
    struct certificates *c = &r->certificates;
    _cleanup_buf_ struct buf all = BUF_INIT;

    if (certificates_find(r->ref.host, r->options.cert_dir, c, err) < 0)
        return -1;
    if (!c->authorities.len)
        return 0;
    if (http_put_authorities(&all, err) < 0)
        return -1;
    buf_putc(&all, '\n');
    buf_append(&all, c->authorities.data, c->authorities.len);
    if (buf_check(&all, err) < 0)
        return -1;
    buf_free(&c->authorities);
    c->authorities = all;
    all = (struct buf)BUF_INIT;
    return 0;
}

struct registry *registry_open(const char *name, const struct registry_options *options,
                               const char *actions, struct err *err)
{
    _cleanup_registry_ struct registry *r = calloc(1, sizeof(*r));

    if (!r) {
        err_nomem(err);
        return NULL;
    }
    r->options = *options;
    if (registry_ref_parse(name, &r->ref, err) < 0 || find_certificates(r, err) < 0)
        return NULL;
    const char *other = options->mount_from;
    _cleanup_free_ char *scope =
        strf("repository:%s:%s%s%s%s", r->ref.repository, actions, other ? " repository:" : "",
             other ? other : "", other ? ":pull" : "");
    if (!scope || (other && !(r->mount_from = strdup(other)))) {
        err_nomem(err);
        return NULL;
    }
    r->auth = registry_auth_new(&r->ref, scope, options->insecure, err);
    if (!r->auth)
        return NULL;
    if (find_scheme(r, err) < 0) {
        err_wrap(err, "the registry %s", r->ref.host);
        return NULL;
    }
    return steal_ptr(&r);
}
