#include "flatten/keeper/registry/registry_internal.h"

#include <string.h>

/* Pushing (distribution-spec, "Push"), except for the content of blobs: registry_upload.c. */

/* ---- blobs ---- */

int registry_ask_blob(struct registry *r, struct http *h, const struct digest *digest,
                      struct http_reply *reply, struct err *err)
{
    _cleanup_free_ char *url = registry_url(r, "blobs/%s", digest->text);
    const struct http_request request = {.method = "HEAD", .url = url};

    return url ? registry_request(r, h, &request, reply, err) : err_nomem(err);
}

int registry_open_upload(struct registry *r, struct http *h, const char *query, registry_send *send,
                         struct http_reply *reply, struct err *err)
{
    _cleanup_free_ char *url = registry_url(r, "blobs/uploads/%s", query);
    const struct http_request request = {.method = "POST", .url = url};

    return url ? send(r, h, &request, reply, err) : err_nomem(err);
}

char *registry_upload_url(struct registry *r, const char *from, const struct http_reply *reply,
                          struct err *err)
{
    _cleanup_free_ char *base = from ? strdup(from) : registry_url(r, "blobs/uploads/");
    _cleanup_free_ char *location = NULL;

    if (!base) {
        err_nomem(err);
        return NULL;
    }
    if (http_header_copy(reply, "Location", &location, err) < 0)
        return NULL;
    if (!location) {
        err_set(err, ERR_FORMAT, "the registry does not say where to upload to");
        return NULL;
    }
    return registry_follow(r, base, location, err);
}

/* Cancels an upload. Some registries cannot: there it expires. */
static int cancel_upload(struct registry *r, struct http *h, const struct http_reply *opened,
                         struct err *err)
{
    _cleanup_free_ char *url = registry_upload_url(r, NULL, opened, err);
    _cleanup_http_reply_ struct http_reply reply = {0};
    const struct http_request request = {.method = "DELETE", .url = url};
    struct err ignored = ERR_INIT;

    if (!url)
        return -1;
    (void)!registry_exchange(r, h, &request, &reply, &ignored);
    return 0;
}

/* Mounts the blob from another repository. Returns 1, 0 if the registry does not, or -1. */
static int mount_blob(struct registry *r, struct http *h, const struct digest *digest,
                      struct err *err)
{
    _cleanup_http_reply_ struct http_reply reply = {0};
    _cleanup_buf_ struct buf query = BUF_INIT;

    buf_puts(&query, "?mount=");
    http_put_escaped(&query, digest->text);
    buf_puts(&query, "&from=");
    http_put_escaped(&query, registry_mount_from(r));
    if (buf_check(&query, err) < 0 ||
        registry_open_upload(r, h, query.data, registry_request, &reply, err) < 0)
        return -1;
    if (reply.status == 202 && cancel_upload(r, h, &reply, err) < 0)
        return -1;
    return reply.status == 201;
}

int registry_has_blob(struct registry *r, struct http *h, const struct digest *digest,
                      struct err *err)
{
    _cleanup_http_reply_ struct http_reply reply = {0};

    if (registry_ask_blob(r, h, digest, &reply, err) < 0)
        return -1;
    if (reply.status == 200)
        return 1;
    if (reply.status != 404)
        return registry_refused(r, &reply, err);
    return registry_mount_from(r) ? mount_blob(r, h, digest, err) : 0;
}

int registry_push_probe(struct registry *r, struct http *h, struct err *err)
{
    _cleanup_http_reply_ struct http_reply reply = {0};

    if (registry_open_upload(r, h, "", registry_request, &reply, err) < 0)
        return -1;
    return reply.status == 202 ? cancel_upload(r, h, &reply, err)
                               : registry_refused(r, &reply, err);
}

/* ---- the manifest ---- */

/* If the registry says the digest that it stored, it must be that of the manifest. */
static int check_digest(const struct http_reply *reply, const struct digest *digest,
                        struct err *err)
{
    size_t len;
    const char *said = http_header(reply, "Docker-Content-Digest", 0, &len);

    if (!said || len < 7 || strncmp(said, "sha256:", 7) != 0 ||
        (len == strlen(digest->text) && strncmp(said, digest->text, len) == 0))
        return 0;
    return err_set(err, ERR_DIGEST, "the registry stored the manifest %s as %.*s", digest->text,
                   (int)len, said);
}

int registry_push_manifest(struct registry *r, struct http *h, const char *version,
                           const char *media_type, const struct digest *digest,
                           const struct http_body *body, struct err *err)
{
    _cleanup_free_ char *url = registry_url(r, "manifests/%s", version);
    _cleanup_free_ char *type = strf("Content-Type: %s", media_type);
    const char *const headers[] = {type, NULL};
    const struct http_request request = {
        .method = "PUT", .url = url, .headers = headers, .body = body};
    _cleanup_http_reply_ struct http_reply reply = {0};

    if (!url || !type)
        return err_nomem(err);
    int rc = registry_request(r, h, &request, &reply, err);
    if (rc == 0 && reply.status != 201 && reply.status != 200)
        rc = registry_refused(r, &reply, err);
    if (rc == 0)
        rc = check_digest(&reply, digest, err);
    return rc < 0 ? err_wrap(err, "the manifest") : 0;
}
