#include "flatten/wire/wire_entry.h"

#include <string.h>

enum kind { KIND_ENTRY = 1, KIND_END, KIND_FAILED };

/* The fixed part of a message; the texts follow, each with its NUL, then the attributes. */
struct fixed {
    uint32_t kind, mode, uid, gid, mtime_nsec;
    uint32_t has_target, has_origin; /* 0 or 1 */
    uint32_t unused;                 /* there is no padding */
    int64_t mtime;
    uint64_t size, rdev;
};

void wire_encode_walk(uint32_t layer, struct buf *out)
{
    buf_append(out, &layer, sizeof(layer));
}

int wire_decode_walk(const struct buf *message, uint32_t *layer, struct err *err)
{
    if (message->len != sizeof(*layer))
        return err_set(err, ERR_FORMAT, "a malformed request for a walk");
    memcpy(layer, message->data, sizeof(*layer));
    return 0;
}

void wire_encode_entry(const struct wire_entry *e, struct buf *out)
{
    const struct fixed f = {.kind = KIND_ENTRY,
                            .mode = e->mode,
                            .uid = e->uid,
                            .gid = e->gid,
                            .mtime_nsec = e->mtime_nsec,
                            .has_target = e->target != NULL,
                            .has_origin = e->origin != NULL,
                            .mtime = e->mtime,
                            .size = e->size,
                            .rdev = e->rdev};

    buf_append(out, &f, sizeof(f));
    buf_append(out, e->path, strlen(e->path) + 1);
    if (e->target)
        buf_append(out, e->target, strlen(e->target) + 1);
    if (e->origin)
        buf_append(out, e->origin, strlen(e->origin) + 1);
    if (e->xattrs_size)
        buf_append(out, e->xattrs, e->xattrs_size);
}

void wire_encode_end(const struct err *failure, struct buf *out)
{
    struct fixed f = {.kind = KIND_END};

    if (failure) {
        f.kind = KIND_FAILED;
        f.mode = failure->kind;
        f.size = failure->sys > 0 ? (uint64_t)failure->sys : 0;
    }
    buf_append(out, &f, sizeof(f));
    if (failure)
        buf_append(out, failure->msg, strlen(failure->msg) + 1);
}

/* Takes a text with its NUL off the bytes; NULL if they hold none. */
static const char *take_text(const char **at, size_t *left)
{
    const char *text = *at, *end = *left ? memchr(text, '\0', *left) : NULL;

    if (!end)
        return NULL;
    *left -= (size_t)(end + 1 - text);
    *at = end + 1;
    return text;
}

static int malformed(struct err *err)
{
    return err_set(err, ERR_FORMAT, "a malformed message of a walk");
}

static int decode_failure(const struct fixed *f, const char *text, struct err *err)
{
    if (!text || f->mode == ERR_NONE || f->mode > ERR_POLICY)
        return malformed(err);
    err_set(err, (enum err_kind)f->mode, "%s", text);
    err->sys = f->size <= INT32_MAX ? (int)f->size : 0;
    return -1;
}

int wire_decode_entry(const struct buf *message, struct wire_entry *out, struct err *err)
{
    struct fixed f;

    if (message->len < sizeof(f))
        return malformed(err);
    memcpy(&f, message->data, sizeof(f));
    const char *at = message->data + sizeof(f);
    size_t left = message->len - sizeof(f);
    if (f.kind == KIND_END && left == 0)
        return 0;
    const char *path = take_text(&at, &left);
    if (f.kind == KIND_FAILED)
        return decode_failure(&f, path, err);
    *out = (struct wire_entry){.mode = f.mode,
                               .uid = f.uid,
                               .gid = f.gid,
                               .mtime_nsec = f.mtime_nsec,
                               .mtime = f.mtime,
                               .size = f.size,
                               .rdev = f.rdev,
                               .path = path};
    if (f.has_target)
        out->target = take_text(&at, &left);
    if (f.has_origin)
        out->origin = take_text(&at, &left);
    out->xattrs = at;
    out->xattrs_size = left;
    if (f.kind != KIND_ENTRY || !path || !*path || (f.has_target && !out->target) ||
        (f.has_origin && !out->origin) || f.size > INT64_MAX || f.mtime_nsec > 999999999)
        return malformed(err);
    return 1;
}

void wire_put_xattr(struct buf *xattrs, const char *name, const void *value, size_t size)
{
    uint32_t len = (uint32_t)size;

    buf_append(xattrs, name, strlen(name) + 1);
    buf_append(xattrs, &len, sizeof(len));
    if (size)
        buf_append(xattrs, value, size);
}

bool wire_xattr_is_of_host(const char *name)
{
    return strcmp(name, "security.selinux") == 0;
}

int wire_xattr_next(struct wire_entry *e, const char **name, const void **value, size_t *size,
                    struct err *err)
{
    uint32_t len;

    if (e->xattrs_size == 0)
        return 0;
    *name = take_text(&e->xattrs, &e->xattrs_size);
    if (!*name || e->xattrs_size < sizeof(len))
        return malformed(err);
    memcpy(&len, e->xattrs, sizeof(len));
    if (len > e->xattrs_size - sizeof(len))
        return malformed(err);
    *value = e->xattrs + sizeof(len);
    *size = len;
    e->xattrs += sizeof(len) + len;
    e->xattrs_size -= sizeof(len) + len;
    return 1;
}
