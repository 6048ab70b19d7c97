#include "flatten/unpack/tree_sink.h"

#include "base/fdio.h"
#include "flatten/wire/wire_tree.h"

#include <archive.h>
#include <string.h>
#include <sys/stat.h>

static int flush_out(struct tree_sink *s, struct err *err)
{
    int rc = buf_check(&s->out, err);

    if (rc == 0 && s->pipe >= 0)
        rc = fd_write_all(s->pipe, s->out.data, s->out.len, err);
    buf_truncate(&s->out, 0);
    return rc;
}

/* Appends the length and the message. */
static int put_message(struct tree_sink *s, struct err *err)
{
    uint32_t len = (uint32_t)s->message.len;

    if (buf_check(&s->message, err) < 0)
        return -1;
    if (s->message.len > WIRE_TREE_MOST_MESSAGE)
        return err_set(err, ERR_LIMIT, "its attributes take more than %d bytes",
                       WIRE_TREE_MOST_MESSAGE);
    buf_append(&s->out, &len, sizeof(len));
    buf_append(&s->out, s->message.data, s->message.len);
    return s->out.len < WIRE_TREE_BUFFER ? 0 : flush_out(s, err);
}

/* Sets `out` to the path without slashes at its end; the root is WIRE_TREE_ROOT. */
static const char *clean_path(struct buf *out, const char *path)
{
    size_t len = strlen(path);

    while (len > 0 && path[len - 1] == '/')
        len--;
    buf_truncate(out, 0);
    if (len == 0)
        buf_puts(out, WIRE_TREE_ROOT);
    buf_append(out, path, len);
    return out->data;
}

static int check_owner(struct archive_entry *header, struct err *err)
{
    int64_t uid = archive_entry_uid(header), gid = archive_entry_gid(header);

    /* The greatest number means "leave it" to chown(2). */
    if (uid >= 0 && uid < UINT32_MAX && gid >= 0 && gid < UINT32_MAX)
        return 0;
    return err_set(err, ERR_UNSUPPORTED, "the owner %lld:%lld, which Linux does not have",
                   (long long)uid, (long long)gid);
}

static void put_xattrs(struct tree_sink *s, struct archive_entry *header)
{
    const char *name;
    const void *value;
    size_t size;

    buf_truncate(&s->xattrs, 0);
    archive_entry_xattr_reset(header);
    while (archive_entry_xattr_next(header, &name, &value, &size) == ARCHIVE_OK)
        if (!wire_xattr_is_of_host(name))
            wire_put_xattr(&s->xattrs, name, value, size);
}

static bool is_device(unsigned mode)
{
    return S_ISCHR(mode) || S_ISBLK(mode);
}

static int put_entry(struct entry_sink *base, struct archive_entry *header, struct err *err)
{
    struct tree_sink *s = (struct tree_sink *)base;
    const char *link = archive_entry_hardlink(header);
    unsigned mode = archive_entry_mode(header);

    if (check_owner(header, err) < 0)
        return -1;
    put_xattrs(s, header);
    const struct wire_entry e = {
        .mode = mode,
        .uid = (uint32_t)archive_entry_uid(header),
        .gid = (uint32_t)archive_entry_gid(header),
        .mtime = archive_entry_mtime(header),
        .mtime_nsec = (uint32_t)archive_entry_mtime_nsec(header),
        .size = S_ISREG(mode) && !link ? (uint64_t)archive_entry_size(header) : 0,
        .rdev = is_device(mode) ? archive_entry_rdev(header) : 0,
        .path = clean_path(&s->path, archive_entry_pathname(header)),
        .target = S_ISLNK(mode) && !link ? archive_entry_symlink(header) : NULL,
        .origin = link ? clean_path(&s->origin, link) : NULL,
        .xattrs = s->xattrs.data,
        .xattrs_size = s->xattrs.len};
    if (buf_check(&s->xattrs, err) < 0 || buf_check(&s->path, err) < 0 ||
        buf_check(&s->origin, err) < 0)
        return -1;
    buf_truncate(&s->message, 0);
    wire_encode_entry(&e, &s->message);
    return put_message(s, err);
}

static int put_data(struct entry_sink *base, const void *data, uint64_t len, struct err *err)
{
    enum { LITTLE = 1 << 15 }; /* bytes: fewer are copied, to be sent with what follows */
    struct tree_sink *s = (struct tree_sink *)base;
    uint64_t piece = data ? len : len | WIRE_TREE_HOLE;

    if (len == 0)
        return 0;
    buf_append(&s->out, &piece, sizeof(piece));
    if (data && len < LITTLE)
        buf_append(&s->out, data, (size_t)len);
    if (s->out.len < WIRE_TREE_BUFFER && (!data || len < LITTLE))
        return 0;
    if (flush_out(s, err) < 0)
        return -1;
    return s->pipe >= 0 && data && len >= LITTLE ? fd_write_all(s->pipe, data, (size_t)len, err)
                                                 : 0;
}

void tree_sink_init(struct tree_sink *s, int pipe)
{
    static const struct entry_sink_ops ops = {.entry = put_entry, .data = put_data};

    *s = (struct tree_sink){.base = {&ops}, .pipe = pipe};
}

void tree_sink_clear(struct tree_sink *s)
{
    buf_free(&s->out);
    buf_free(&s->message);
    buf_free(&s->xattrs);
    buf_free(&s->path);
    buf_free(&s->origin);
}

int tree_sink_restart(struct tree_sink *s, struct err *err)
{
    const uint32_t none = 0;

    buf_append(&s->out, &none, sizeof(none));
    return flush_out(s, err);
}

int tree_sink_end(struct tree_sink *s, struct err *err)
{
    buf_truncate(&s->message, 0);
    wire_encode_end(NULL, &s->message);
    return put_message(s, err) < 0 ? -1 : flush_out(s, err);
}
