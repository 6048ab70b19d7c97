#include "flatten/layer/emit.h"

#include <string.h>

static int put_header(struct entry_sink *to, const char *path, struct archive_entry *header,
                      struct err *err)
{
    /* The root is "" among clean paths, and "./" in archives. */
    archive_entry_set_pathname(header, *path ? path : "./");
    return entry_sink_entry(to, header, err);
}

struct archive_entry *emit_implied_header(struct archive_entry *like, struct err *err)
{
    struct archive_entry *header = archive_entry_new();

    if (!header) {
        err_nomem(err);
        return NULL;
    }
    archive_entry_set_filetype(header, AE_IFDIR);
    archive_entry_set_perm(header, 0755);
    archive_entry_set_mtime(header, archive_entry_mtime(like), archive_entry_mtime_nsec(like));
    return header;
}

int emit_implied(struct entry_sink *to, const char *path, struct archive_entry *like,
                 struct err *err)
{
    _cleanup_entry_ struct archive_entry *header = emit_implied_header(like, err);

    return header ? put_header(to, path, header, err) : -1;
}

static int put_marker(struct entry_sink *to, const struct buf *path, struct err *err)
{
    _cleanup_entry_ struct archive_entry *header = archive_entry_new();

    if (!header || path->failed)
        return err_nomem(err);
    archive_entry_set_filetype(header, AE_IFREG);
    archive_entry_set_size(header, 0);
    archive_entry_set_mtime(header, 0, 0);
    return put_header(to, path->data, header, err);
}

int emit_whiteout(struct entry_sink *to, const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    size_t dir = slash ? (size_t)(slash - path) + 1 : 0;
    _cleanup_buf_ struct buf name = BUF_INIT;

    buf_append(&name, path, dir);
    buf_puts(&name, ".wh.");
    buf_puts(&name, path + dir);
    return put_marker(to, &name, err);
}

int emit_opaque(struct entry_sink *to, const char *dir, struct err *err)
{
    _cleanup_buf_ struct buf name = BUF_INIT;

    buf_puts(&name, dir);
    buf_puts(&name, "/.wh..wh..opq");
    return put_marker(to, &name, err);
}

static int copy_content(struct entry_sink *to, struct layer_reader *content, uint64_t size,
                        struct err *err)
{
    uint64_t at = 0, offset;
    const void *data;
    size_t len;
    int rc;

    while ((rc = layer_reader_data(content, &data, &len, &offset, err)) > 0) {
        if (offset < at || offset > size || len > size - offset)
            return err_set(err, ERR_FORMAT, "content beyond the entry's size");
        if (entry_sink_data(to, NULL, offset - at, err) < 0 ||
            entry_sink_data(to, data, len, err) < 0)
            return -1;
        at = offset + len;
    }
    return rc < 0 ? -1 : entry_sink_data(to, NULL, size - at, err);
}

int emit_entry(struct entry_sink *to, const char *path, struct archive_entry *header,
               struct layer_reader *content, uint64_t *payload, struct err *err)
{
    bool regular = archive_entry_filetype(header) == AE_IFREG;
    uint64_t size = regular ? (uint64_t)archive_entry_size(header) : 0;

    if (!regular)
        archive_entry_set_size(header, 0);
    if (put_header(to, path, header, err) < 0)
        return -1;
    if (payload)
        *payload += size;
    return size ? copy_content(to, content, size, err) : 0;
}

int emit_link(struct entry_sink *to, const char *path, const char *target,
              struct archive_entry *header, struct err *err)
{
    archive_entry_set_hardlink(header, target);
    archive_entry_set_size(header, 0);
    return put_header(to, path, header, err);
}

/* The names of its xattrs, which stay where they are when more are added. NULL without memory. */
static const char **xattr_names(struct archive_entry *header, size_t *count)
{
    size_t most = (size_t)archive_entry_xattr_reset(header), size;
    const char **names = calloc(most + 1, sizeof(*names));
    const void *value;

    *count = 0;
    while (names && *count < most &&
           archive_entry_xattr_next(header, &names[*count], &value, &size) == ARCHIVE_OK)
        ++*count;
    return names;
}

static bool is_among(const char *name, const char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

int emit_adopt(struct archive_entry *link, struct archive_entry *origin, struct err *err)
{
    size_t own, size, total;
    _cleanup_free_ const char **names = xattr_names(link, &own);
    const char *name;
    const void *value;

    if (!names)
        return err_nomem(err);
    total = own;
    archive_entry_xattr_reset(origin);
    while (archive_entry_xattr_next(origin, &name, &value, &size) == ARCHIVE_OK) {
        if (is_among(name, names, own))
            continue;
        if (++total > LAYER_MOST_XATTRS)
            return err_set(err, ERR_LIMIT,
                           "more than %d extended attributes, with those of its "
                           "other names",
                           LAYER_MOST_XATTRS);
        archive_entry_xattr_add_entry(link, name, value, size);
    }
    return 0;
}

/* What the origin is, with the attributes of the link. */
static struct archive_entry *origin_as(struct archive_entry *link, struct archive_entry *origin,
                                       struct err *err)
{
    struct archive_entry *header = archive_entry_clone(link);

    if (!header)
        err_nomem(err);
    if (!header || emit_adopt(header, origin, err) < 0) {
        archive_entry_free(header);
        return NULL;
    }
    archive_entry_set_hardlink(header, NULL);
    archive_entry_set_filetype(header, archive_entry_filetype(origin));
    archive_entry_set_size(header, archive_entry_size(origin));
    archive_entry_set_rdev(header, archive_entry_rdev(origin));
    if (archive_entry_symlink(origin))
        archive_entry_set_symlink(header, archive_entry_symlink(origin));
    return header;
}

int emit_materialised(struct entry_sink *to, const char *path, struct archive_entry *link,
                      struct archive_entry *origin, struct layer_reader *content, uint64_t *payload,
                      struct err *err)
{
    _cleanup_entry_ struct archive_entry *header = origin_as(link, origin, err);

    if (!header)
        return -1;
    return emit_entry(to, path, header, content, payload, err);
}
