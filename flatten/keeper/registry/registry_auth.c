#include "flatten/keeper/registry/registry_auth.h"

#include "base/base64.h"
#include "base/json/json.h"
#include "flatten/keeper/registry/auth_challenge.h"
#include "flatten/keeper/registry/credentials.h"

#include <pthread.h>
#include <string.h>

enum {
    TOKEN_REPLY_LIMIT = 1024 * 1024,
    TOKEN_LIMIT = 48 * 1024, /* bytes */
    TOKEN_SECONDS = 60,
};

struct registry_auth {
    pthread_mutex_t lock;
    const struct registry_ref *ref;
    char *scope;
    bool insecure; /* credentials may go over plain HTTP to any host */
    bool looked_up;
    struct credentials credentials;
    char *header; /* "Authorization: …", or NULL */
    unsigned generation;
    bool basic; /* the header is Basic: there is no better one */
};

struct registry_auth *registry_auth_new(const struct registry_ref *ref, const char *scope,
                                        bool insecure, struct err *err)
{
    struct registry_auth *a = calloc(1, sizeof(*a));

    if (!a || !(a->scope = strdup(scope))) {
        free(a);
        err_nomem(err);
        return NULL;
    }
    pthread_mutex_init(&a->lock, NULL);
    a->ref = ref;
    a->insecure = insecure;
    return a;
}

void registry_auth_free(struct registry_auth *a)
{
    pthread_mutex_destroy(&a->lock);
    credentials_clear(&a->credentials);
    free(a->header);
    free(a->scope);
    free(a);
}

bool registry_auth_known(struct registry_auth *a)
{
    pthread_mutex_lock(&a->lock);
    bool known =
        a->credentials.username || a->credentials.identity_token || a->credentials.registry_token;
    pthread_mutex_unlock(&a->lock);
    return known;
}

int registry_auth_header(struct registry_auth *a, char **line, unsigned *generation,
                         struct err *err)
{
    pthread_mutex_lock(&a->lock);
    *line = a->header ? strdup(a->header) : NULL;
    *generation = a->generation;
    bool failed = a->header && !*line;
    pthread_mutex_unlock(&a->lock);
    return failed ? err_nomem(err) : 0;
}

static char *basic_header(const struct credentials *c)
{
    _cleanup_free_ char *plain = strf("%s:%s", c->username, c->password ? c->password : "");
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err ignored = ERR_INIT;

    if (!plain)
        return NULL;
    buf_puts(&out, "Authorization: Basic ");
    base64_encode(&out, plain, strlen(plain));
    return buf_take(&out, &ignored);
}

/* ---- a token ---- */

static bool is_token(const char *text)
{
    size_t len = strlen(text);

    for (size_t i = 0; i < len; i++)
        if (text[i] <= ' ' || text[i] == 0x7f)
            return false;
    return len > 0 && len <= TOKEN_LIMIT;
}

char *registry_token_parse(const char *text, size_t len, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_parse(text, len, NULL, err);

    if (!doc) {
        err_wrap(err, "the token server's reply");
        return NULL;
    }
    const char *token = json_text(json_get(json_root(doc), "token"));
    if (!token || !*token)
        token = json_text(json_get(json_root(doc), "access_token"));
    if (!token || !is_token(token)) {
        err_set(err, ERR_FORMAT, "the token server's reply has no token that can be used");
        return NULL;
    }
    char *copy = strdup(token);
    if (!copy)
        err_nomem(err);
    return copy;
}

static void put_parameter(struct buf *out, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    if (out->len > 0)
        buf_putc(out, '&');
    buf_printf(out, "%s=", name);
    http_put_escaped(out, value);
}

/* Each scope is a parameter of its own. */
static void put_scopes(struct buf *out, const char *scopes)
{
    for (size_t len; *scopes; scopes += len + (scopes[len] == ' ')) {
        len = strcspn(scopes, " ");
        _cleanup_free_ char *one = strndup(scopes, len);
        out->failed = out->failed || !one;
        put_parameter(out, "scope", one);
    }
}

/*
 * Appends the parameters for the token server: for the URL, or with an identity token for a form
 * (OAuth 2).
 */
static void put_question(const struct registry_auth *a, const struct auth_challenge *c,
                         struct buf *out)
{
    put_parameter(out, "service", c->service);
    put_scopes(out, a->scope);
    if (!a->credentials.identity_token) {
        put_parameter(out, "account", a->credentials.username);
        return;
    }
    put_parameter(out, "client_id", "flatten");
    put_parameter(out, "grant_type", "refresh_token");
    put_parameter(out, "refresh_token", a->credentials.identity_token);
}

/* Asks for a token. *failure tells whether another try may work, as in struct http_reply. */
static int ask_token(struct http *h, const struct http_request *request, char **token,
                     enum http_failure *failure, struct err *err)
{
    _cleanup_http_reply_ struct http_reply reply = {0};
    struct http_text text = {.limit = TOKEN_REPLY_LIMIT};
    struct http_request r = *request;

    r.timeout_seconds = TOKEN_SECONDS;
    r.identify = true;
    r.begin = http_text_begin;
    r.take = http_text_take;
    r.ctx = &text;
    int rc = http_perform(h, &r, &reply, err);
    *failure = rc < 0 ? reply.failure : HTTP_GAVE_UP;
    if (rc == 0 && (reply.status == 429 || reply.status >= 500))
        *failure = HTTP_BROKEN;
    if (rc == 0 && (reply.status == 401 || reply.status == 403 || reply.status == 400))
        rc =
            err_set(err, ERR_SYSTEM, "the credentials are refused (HTTP status %ld)", reply.status);
    else if (rc == 0 && reply.status != 200)
        rc = err_set(err, ERR_SYSTEM, "it answers with HTTP status %ld", reply.status);
    if (rc == 0 &&
        !(*token = registry_token_parse(text.text.len ? text.text.data : "", text.text.len, err)))
        rc = -1;
    buf_free(&text.text);
    return rc;
}

/*
 * Returns the URL of the token server, for the caller to free. It may get the credentials: over
 * plain HTTP only within this host, which loopback_only ensures.
 */
static char *realm_url(const struct registry_auth *a, const char *realm, struct err *err)
{
    _cleanup_free_ char *url = realm ? http_url_join(NULL, realm, err) : NULL;

    if (!realm)
        err_set(err, ERR_FORMAT, "the registry wants a token, and does not say from which server");
    if (!url)
        return NULL;
    if (!http_url_is_tls(url) && !a->insecure && http_url_place(url) != HTTP_LOOPBACK) {
        err_set(err, ERR_FORMAT, "the registry wants a token from %.200s, which is not https", url);
        return NULL;
    }
    return steal_ptr(&url);
}

/* Returns the URL with a query added, for the caller to free; NULL without memory. */
static char *with_query(const char *url, const struct buf *query)
{
    return strf("%s%c%s", url, strchr(url, '?') ? '&' : '?', query->data ? query->data : "");
}

static int fetch_token(struct registry_auth *a, struct http *h, const struct auth_challenge *c,
                       char **token, enum http_failure *failure, struct err *err)
{
    static const char form[] = "Content-Type: application/x-www-form-urlencoded";
    const struct credentials *known = &a->credentials;
    _cleanup_buf_ struct buf question = BUF_INIT;
    _cleanup_free_ char *realm = realm_url(a, c->realm, err), *basic = NULL, *url = NULL;

    if (!realm)
        return -1;
    put_question(a, c, &question);
    if (buf_check(&question, err) < 0)
        return -1;
    if (known->username && !known->identity_token && !(basic = basic_header(known)))
        return err_nomem(err);
    bool post = known->identity_token != NULL;
    if (!(url = post ? strdup(realm) : with_query(realm, &question)))
        return err_nomem(err);
    const char *const headers[] = {post ? form : basic, NULL};
    const struct http_body body = {.data = question.data, .size = question.len};
    const struct http_request request = {.method = post ? "POST" : "GET",
                                         .url = url,
                                         .headers = headers,
                                         .body = post ? &body : NULL,
                                         .loopback_only = !http_url_is_tls(url) && !a->insecure};
    return ask_token(h, &request, token, failure, err) < 0
               ? err_wrap(err, "the token server %s", realm)
               : 0;
}

/* ---- after a 401 ---- */

static int find_credentials(struct registry_auth *a, struct err *err)
{
    if (a->looked_up)
        return 0;
    a->looked_up = true;
    return credentials_find(a->ref->host, a->ref->repository, &a->credentials, err) < 0
               ? err_wrap(err, "credentials")
               : 0;
}

/*
 * Makes the header line for the next request. Returns 1, 0 if there is nothing more to offer, or
 * -1.
 */
static int make_header(struct registry_auth *a, struct http *h, const struct auth_challenge *c,
                       char **out, enum http_failure *failure, struct err *err)
{
    const struct credentials *known = &a->credentials;
    _cleanup_free_ char *token = NULL;

    *out = NULL;
    if (c->bearer && known->registry_token && is_token(known->registry_token) && !a->header)
        token = strdup(known->registry_token);
    else if (c->bearer && fetch_token(a, h, c, &token, failure, err) < 0)
        return -1;
    if (c->bearer) {
        *out = token ? strf("Authorization: Bearer %s", token) : NULL;
        return *out ? 1 : err_nomem(err);
    }
    if (!c->basic || !known->username || a->basic)
        return 0;
    a->basic = true;
    *out = basic_header(known);
    return *out ? 1 : err_nomem(err);
}

static int parse_challenges(const struct http_reply *reply, struct auth_challenge *out,
                            struct err *err)
{
    const char *value;
    size_t len;

    for (size_t i = 0; (value = http_header(reply, "WWW-Authenticate", i, &len)); i++)
        if (auth_challenge_add(value, len, out, err) < 0)
            return -1;
    return 0;
}

static int renew_header(struct registry_auth *a, struct http *h, struct http_reply *reply,
                        struct err *err)
{
    enum http_failure failure = HTTP_GAVE_UP;
    _cleanup_auth_challenge_ struct auth_challenge challenge = {0};
    char *header;

    if (find_credentials(a, err) < 0 || parse_challenges(reply, &challenge, err) < 0)
        return -1;
    int rc = make_header(a, h, &challenge, &header, &failure, err);
    if (rc < 0)
        reply->failure = failure;
    if (rc > 0) {
        free(a->header);
        a->header = header;
        a->generation++;
    }
    return rc;
}

int registry_auth_renew(struct registry_auth *a, struct http *h, struct http_reply *reply,
                        unsigned generation, struct err *err)
{
    pthread_mutex_lock(&a->lock);
    /* Another thread may have renewed it meanwhile. */
    int rc = a->generation != generation ? 1 : renew_header(a, h, reply, err);
    pthread_mutex_unlock(&a->lock);
    return rc;
}
