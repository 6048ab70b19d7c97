#include "flatten/keeper/registry/registry_upload.h"

#include <inttypes.h>
#include <string.h>

enum {
    MIB = 1024 * 1024,
    CHUNK = 64 * MIB,         /* bytes; some proxies take 100 MB */
    LEAST_CHUNK = 256 * 1024, /* bytes; many web servers take 1 MB by default */
    MOST_IDLE = 24,           /* requests without progress */
    MOST_RESTARTS = 8,
    LEAST_BY_TROUBLE = 8 * MIB, /* bytes: broken connections do not make chunks smaller */
};

enum upload_step { OPEN, ASK, SEND, FINISH };

/* A reply stands (a success or a refusal), or the next step follows. */
enum { STANDS, GO_ON };

static enum upload_step next_step(const struct upload *u)
{
    if (!u->location)
        return OPEN;
    if (u->unsure)
        return ASK;
    if (u->sent == 0 && (u->in_one || u->body->size <= u->chunk))
        return FINISH;
    return u->sent < u->body->size ? SEND : FINISH;
}

/* ---- requests ---- */

/* Returns the part of the body from `sent` on, of at most `most` bytes. */
static struct http_body body_part(const struct upload *u, uint64_t most)
{
    struct http_body p = *u->body;
    uint64_t left = p.size - u->sent;

    if (p.data)
        p.data += u->sent;
    p.offset += (off_t)u->sent;
    p.size = left < most ? left : most;
    return p;
}

static int put_rest(struct upload *u, struct http_reply *reply, struct err *err)
{
    static const char *const headers[] = {"Content-Type: application/octet-stream", NULL};
    const struct http_body rest = body_part(u, UINT64_MAX);
    _cleanup_buf_ struct buf url = BUF_INIT;

    buf_puts(&url, u->location);
    buf_puts(&url, strchr(u->location, '?') ? "&digest=" : "?digest=");
    http_put_escaped(&url, u->digest->text);
    if (buf_check(&url, err) < 0)
        return -1;
    const struct http_request request = {
        .method = "PUT", .url = url.data, .headers = headers, .body = &rest};
    return registry_exchange(u->r, u->h, &request, reply, err);
}

static int patch_chunk(struct upload *u, struct http_reply *reply, struct err *err)
{
    const struct http_body chunk = body_part(u, u->chunk);
    char range[96];
    const char *const headers[] = {"Content-Type: application/octet-stream", range, NULL};
    const struct http_request request = {
        .method = "PATCH", .url = u->location, .headers = headers, .body = &chunk};

    snprintf(range, sizeof(range), "Content-Range: %" PRIu64 "-%" PRIu64, u->sent,
             u->sent + chunk.size - 1);
    return registry_exchange(u->r, u->h, &request, reply, err);
}

static int send_step(struct upload *u, enum upload_step step, struct http_reply *reply,
                     struct err *err)
{
    const struct http_request ask = {.method = "GET", .url = u->location};

    if (!u->location)
        return registry_open_upload(u->r, u->h, "", registry_exchange, reply, err);
    if (step == ASK)
        return registry_exchange(u->r, u->h, &ask, reply, err);
    return step == SEND ? patch_chunk(u, reply, err) : put_rest(u, reply, err);
}

/* ---- replies ---- */

static void give_up(struct upload *u)
{
    free(u->location);
    u->location = NULL;
    u->restarts++;
    u->unsure = false;
    u->sent = 0;
}

/* Takes the URL for the next request. Without a Location it stays. */
static int take_location(struct upload *u, const struct http_reply *reply, struct err *err)
{
    size_t len;

    if (u->location && !http_header(reply, "Location", 0, &len))
        return 0;
    char *location = registry_upload_url(u->r, u->location, reply, err);
    if (!location)
        return -1;
    free(u->location);
    u->location = location;
    return 0;
}

/* Reads "Range: 0-LAST", with or without "bytes=". "0-0" means that nothing has arrived. */
static bool take_range(const struct http_reply *reply, uint64_t *have)
{
    size_t len, used = 0;
    const char *value = http_header(reply, "Range", 0, &len);
    char text[64];

    if (!value || len >= sizeof(text))
        return false;
    memcpy(text, value, len);
    text[len] = '\0';
    const char *at = strncmp(text, "bytes=", 6) == 0 ? text + 6 : text;
    if (strncmp(at, "0-", 2) != 0 || (used = strspn(at + 2, "0123456789")) == 0 || used > 18 ||
        at[2 + used])
        return false;
    uint64_t last = strtoull(at + 2, NULL, 10);
    *have = last ? last + 1 : 0;
    return true;
}

static void take_least(struct upload *u, const struct http_reply *reply)
{
    size_t len;
    const char *value = http_header(reply, "OCI-Chunk-Min-Length", 0, &len);

    u->least = value && len < 16 ? strtoull(value, NULL, 10) : 0;
    if (u->least < LEAST_CHUNK)
        u->least = LEAST_CHUNK;
    if (u->chunk < u->least)
        u->chunk = u->least;
}

/* Halves the chunk. False if it cannot be smaller. */
static bool halve_chunk(struct upload *u)
{
    uint64_t piece = u->body->size < u->chunk ? u->body->size : u->chunk;

    if (u->in_one || piece / 2 < u->least)
        return false;
    u->chunk = piece / 2;
    return true;
}

/* After the question how much has arrived. If the registry cannot tell, the upload starts again. */
static int after_ask(struct upload *u, const struct http_reply *reply, struct err *err)
{
    uint64_t have;

    if (reply->status == 401 || reply->status == 403 || registry_may_pass(reply->status))
        return STANDS;
    if (reply->status >= 300 || !take_range(reply, &have) || have > u->body->size) {
        give_up(u);
        return GO_ON;
    }
    u->sent = have;
    u->unsure = false;
    return take_location(u, reply, err) < 0 ? -1 : GO_ON;
}

static int after_open(struct upload *u, const struct http_reply *reply, struct err *err)
{
    if (reply->status != 202)
        return STANDS;
    take_least(u, reply);
    return take_location(u, reply, err) < 0 ? -1 : GO_ON;
}

static void take_in_one(struct upload *u)
{
    give_up(u);
    u->in_one = true;
    u->r->chunk = UINT64_MAX;
}

static int after_refusal(struct upload *u, enum upload_step step, long status)
{
    bool chunked = step == SEND || u->sent > 0;

    if (status == 413 && halve_chunk(u)) {
        u->r->chunk = u->chunk; /* for the next blob as well */
        u->unsure = true;
    } else if (status == 416 && chunked) {
        u->unsure = true;
    } else if (status == 404 && chunked) {
        give_up(u);
    } else if (step == SEND && (status == 400 || status == 405 || status == 415 || status == 501)) {
        take_in_one(u);
    } else {
        return STANDS;
    }
    return GO_ON;
}

/* After a chunk: the registry may have taken less of it. */
static int after_send(struct upload *u, const struct http_reply *reply, struct err *err)
{
    uint64_t sent = u->sent + body_part(u, u->chunk).size, have = sent;

    if (reply->status >= 300)
        return after_refusal(u, SEND, reply->status);
    u->unsure = take_range(reply, &have) && have > sent;
    if (!u->unsure)
        u->sent = have;
    return take_location(u, reply, err) < 0 ? -1 : GO_ON;
}

/* Returns STANDS, GO_ON, or -1. */
static int after_step(struct upload *u, enum upload_step step, const struct http_reply *reply,
                      struct err *err)
{
    switch (step) {
    case OPEN:
        return after_open(u, reply, err);
    case ASK:
        return after_ask(u, reply, err);
    case SEND:
        return after_send(u, reply, err);
    case FINISH:
        break;
    }
    return reply->status < 300 ? STANDS : after_refusal(u, FINISH, reply->status);
}

/* ---- all of it ---- */

/* After a broken connection, or a busy registry. */
static void after_trouble(struct upload *u, enum upload_step step)
{
    if (!u->location)
        return;
    if (step == FINISH && u->sent == 0)
        give_up(u);
    else
        u->unsure = true;
    if (step == SEND && u->chunk >= 2 * LEAST_BY_TROUBLE)
        (void)halve_chunk(u);
}

/*
 * Returns 1 if the blob is there: an upload that seemed to fail may have succeeded. Else 0, or -1.
 */
static int blob_arrived(struct upload *u, struct http_reply *reply, struct err *err)
{
    if (registry_ask_blob(u->r, u->h, u->digest, reply, err) < 0)
        return -1;
    bool there = reply->status == 200;
    http_reply_clear(reply);
    return there;
}

/* Bounds the requests for one blob. */
struct patience {
    unsigned tries; /* since the last progress */
    unsigned idle;  /* requests in a row without progress */
    uint64_t most;
};

static int check_patience(struct patience *p, const struct upload *u, uint64_t before,
                          struct err *err)
{
    if (u->sent >= p->most + LEAST_CHUNK) {
        p->most = u->sent;
        p->tries = 0;
    }
    p->idle = u->sent >= before + LEAST_CHUNK ? 0 : p->idle + 1;
    return p->idle <= MOST_IDLE && u->restarts <= MOST_RESTARTS
               ? 0
               : err_set(err, ERR_SYSTEM, "the registry takes no more than %" PRIu64 " bytes",
                         p->most);
}

/* Returns 1 if the blob is there, 0 if the reply is a refusal, or -1. */
static int run_upload(struct upload *u, struct http_reply *reply, struct err *err)
{
    struct patience patience = {0};

    for (;;) {
        uint64_t before = u->sent;
        enum upload_step step = next_step(u);
        int there = step == OPEN && u->restarts ? blob_arrived(u, reply, err) : 0;
        if (there)
            return there;
        int rc = send_step(u, step, reply, err);
        int what = rc < 0 ? STANDS : after_step(u, step, reply, err);
        if (what < 0 || (rc == 0 && what == STANDS && step == FINISH && reply->status == 201))
            return what < 0 ? -1 : 1;
        if (check_patience(&patience, u, before, err) < 0) {
            if (u->in_one)
                return -1;
            *err = (struct err)ERR_INIT; /* chunks do not work: try one piece */
            take_in_one(u);
            u->restarts = 1;
            patience = (struct patience){0};
            what = GO_ON;
        }
        if (what == GO_ON) {
            http_reply_clear(reply);
            continue;
        }
        rc = registry_retry(u->r, u->h, &patience.tries, rc, reply, err);
        if (rc <= 0)
            return rc;
        after_trouble(u, step);
    }
}

void upload_init(struct registry *r, struct http *h, const struct http_body *body,
                 struct upload *out)
{
    uint64_t chunk = r->chunk;

    *out = (struct upload){.r = r,
                           .h = h,
                           .body = body,
                           .in_one = chunk == UINT64_MAX,
                           .chunk = chunk ? chunk : CHUNK};
}

bool upload_ahead(struct upload *u)
{
    _cleanup_http_reply_ struct http_reply reply = {0};
    enum upload_step step = next_step(u);
    struct err ignored = ERR_INIT;
    uint64_t before = u->sent;

    if (send_step(u, step, &reply, &ignored) == 0 && after_step(u, step, &reply, &ignored) == GO_ON)
        return step == OPEN || u->sent > before;
    after_trouble(u, step);
    return false;
}

int upload_finish(struct upload *u, struct err *err)
{
    _cleanup_http_reply_ struct http_reply reply = {0};
    int rc = run_upload(u, &reply, err);

    if (rc > 0) {
        free(u->location); /* it is complete */
        u->location = NULL;
    }
    return rc == 0 ? registry_refused(u->r, &reply, err) : rc;
}

void upload_cancel(struct upload *u)
{
    enum { PATIENCE = 5 /* seconds */ };
    _cleanup_http_reply_ struct http_reply reply = {0};
    const struct http_request request = {
        .method = "DELETE", .url = u->location, .goes_on = true, .timeout_seconds = PATIENCE};
    struct err ignored = ERR_INIT;

    if (u->location)
        (void)!registry_exchange(u->r, u->h, &request, &reply, &ignored);
    upload_clear(u);
}

void upload_clear(struct upload *u)
{
    free(u->location);
    u->location = NULL;
}

int registry_push_blob(struct registry *r, struct http *h, const struct digest *digest,
                       const struct http_body *body, struct err *err)
{
    struct upload u;

    upload_init(r, h, body, &u);
    u.digest = digest;
    int rc = registry_has_blob(r, h, digest, err);
    if (rc == 0)
        rc = upload_finish(&u, err);
    upload_clear(&u);
    return rc < 0 ? err_wrap(err, "uploading %s", digest->text) : 0;
}
