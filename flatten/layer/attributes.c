#include "flatten/layer/attributes.h"

#include "base/buf.h"

#include <archive.h>
#include <stdint.h>
#include <string.h>

/* `text` has user, group and xattr names, NUL-terminated; behind an xattr's name its size and
 * value. */
struct attributes {
    int64_t uid, gid, mtime;
    uint32_t nanoseconds, mode, major, minor;
    uint32_t len; /* of text, bytes */
    char text[];
};

static void pack_xattrs(struct archive_entry *entry, struct buf *out)
{
    const char *name;
    const void *value;
    size_t size;

    archive_entry_xattr_reset(entry);
    while (archive_entry_xattr_next(entry, &name, &value, &size) == ARCHIVE_OK) {
        uint32_t len = (uint32_t)size;
        buf_append(out, name, strlen(name) + 1);
        buf_append(out, &len, sizeof(len));
        buf_append(out, value, len);
    }
}

static void pack_name(const char *name, struct buf *out)
{
    buf_append(out, name ? name : "", name ? strlen(name) + 1 : 1);
}

/* Packs the attributes of an entry, with these packed xattrs. */
static struct attributes *pack_attributes(struct archive_entry *entry, const struct buf *xattrs,
                                          struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    pack_name(archive_entry_uname(entry), &text);
    pack_name(archive_entry_gname(entry), &text);
    buf_append(&text, xattrs->data, xattrs->len);
    text.failed = text.failed || xattrs->failed;
    struct attributes *a = text.failed ? NULL : malloc(sizeof(*a) + text.len);
    if (!a) {
        err_nomem(err);
        return NULL;
    }
    *a = (struct attributes){
        .uid = archive_entry_uid(entry),
        .gid = archive_entry_gid(entry),
        .mtime = archive_entry_mtime(entry),
        .nanoseconds = (uint32_t)archive_entry_mtime_nsec(entry),
        .mode = archive_entry_mode(entry),
        .major = (uint32_t)archive_entry_rdevmajor(entry),
        .minor = (uint32_t)archive_entry_rdevminor(entry),
        .len = (uint32_t)text.len,
    };
    memcpy(a->text, text.data, text.len);
    return a;
}

struct attributes *attributes_of(struct archive_entry *entry, struct err *err)
{
    _cleanup_buf_ struct buf xattrs = BUF_INIT;

    pack_xattrs(entry, &xattrs);
    return pack_attributes(entry, &xattrs, err);
}

static const char *xattrs_of(const struct attributes *a)
{
    const char *gname = a->text + strlen(a->text) + 1;

    return gname + strlen(gname) + 1;
}

struct attributes *attributes_with_xattrs(struct archive_entry *entry, const struct attributes *of,
                                          struct err *err)
{
    const char *xattrs = xattrs_of(of);
    _cleanup_buf_ struct buf copy = BUF_INIT;

    buf_append(&copy, xattrs, (size_t)(of->text + of->len - xattrs));
    return pack_attributes(entry, &copy, err);
}

void attributes_set_time(struct attributes *a, int64_t seconds, uint32_t nanoseconds)
{
    a->mtime = seconds;
    a->nanoseconds = nanoseconds;
}

size_t attributes_size(const struct attributes *a)
{
    return sizeof(*a) + a->len;
}

void attributes_free(struct attributes *a)
{
    free(a);
}

static void unpack_xattrs(const char *at, const char *end, struct archive_entry *entry)
{
    while (at < end) {
        const char *name = at;
        uint32_t size;
        at += strlen(name) + 1;
        memcpy(&size, at, sizeof(size));
        at += sizeof(size);
        archive_entry_xattr_add_entry(entry, name, at, size);
        at += size;
    }
}

struct archive_entry *attributes_entry(const struct attributes *a, struct err *err)
{
    struct archive_entry *entry = archive_entry_new();
    const char *gname = a->text + strlen(a->text) + 1;

    if (!entry) {
        err_nomem(err);
        return NULL;
    }
    archive_entry_set_mode(entry, a->mode);
    archive_entry_set_uid(entry, a->uid);
    archive_entry_set_gid(entry, a->gid);
    archive_entry_set_mtime(entry, a->mtime, a->nanoseconds);
    archive_entry_set_rdevmajor(entry, a->major);
    archive_entry_set_rdevminor(entry, a->minor);
    if (a->text[0])
        archive_entry_set_uname(entry, a->text);
    if (gname[0])
        archive_entry_set_gname(entry, gname);
    unpack_xattrs(xattrs_of(a), a->text + a->len, entry);
    return entry;
}
