#include "flatten/layer/tar/pax.h"

#include "base/utf8.h"
#include "flatten/stream/ustar.h"

#include <archive.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* A header while it is filled: its block, and the records that precede it. */
struct header {
    struct ustar block;
    struct buf records;
    bool binary; /* a record is not UTF-8 */
};

static size_t count_digits(size_t n)
{
    size_t count = 1;

    while (n >= 10) {
        n /= 10;
        count++;
    }
    return count;
}

/* "LEN KEY=VALUE\n", where LEN counts itself. */
static void put_record(struct buf *out, const char *prefix, const char *key, const void *value,
                       size_t value_len)
{
    size_t rest = strlen(prefix) + strlen(key) + value_len + 3, len = rest + count_digits(rest);

    if (count_digits(len) > count_digits(rest))
        len++;
    buf_printf(out, "%zu %s%s=", len, prefix, key);
    buf_append(out, value, value_len);
    buf_putc(out, '\n');
}

static bool is_ascii(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] >= 0x80)
            return false;
    return true;
}

/* Text that the field cannot hold goes to a record; the field then holds its start. */
static void put_text(struct header *h, char *field, size_t width, const char *key, const char *text)
{
    size_t len = text ? strlen(text) : 0;

    memcpy(field, text ? text : "", len < width ? len : width);
    if (len <= width && is_ascii(text, len))
        return;
    put_record(&h->records, "", key, text, len);
    h->binary = h->binary || !utf8_valid(text, len);
}

/* A number beyond the field goes to a record. */
static void put_number(struct header *h, char *field, size_t width, const char *key, int64_t value)
{
    char text[24];

    if (ustar_put_octal(field, width, value < 0 ? 0 : (uint64_t)value))
        return;
    int len = snprintf(text, sizeof(text), "%" PRId64, value);
    put_record(&h->records, "", key, text, (size_t)len);
}

/* libarchive adds nanoseconds to the seconds; in a record a negative time is -SECONDS.FRACTION. */
static void put_mtime(struct header *h, struct archive_entry *entry)
{
    int64_t seconds = archive_entry_mtime(entry);
    long fraction = archive_entry_mtime_nsec(entry);
    bool before = seconds < 0;
    char text[40];

    if (ustar_put_octal(h->block.mtime, sizeof(h->block.mtime), before ? 0 : (uint64_t)seconds) &&
        !before && fraction == 0)
        return;
    if (before && fraction) {
        seconds++;
        fraction = 1000000000 - fraction;
    }
    int len = snprintf(text, sizeof(text), "%s%" PRIu64 ".%09ld", before ? "-" : "",
                       before ? -(uint64_t)seconds : (uint64_t)seconds, fraction);
    while (text[len - 1] == '0')
        len--;
    len -= text[len - 1] == '.';
    put_record(&h->records, "", "mtime", text, (size_t)len);
}

static void put_xattrs(struct header *h, struct archive_entry *entry)
{
    const char *name;
    const void *value;
    size_t size;

    archive_entry_xattr_reset(entry);
    while (archive_entry_xattr_next(entry, &name, &value, &size) == ARCHIVE_OK)
        put_record(&h->records, "SCHILY.xattr.", name, value, size);
}

static int put_type(struct header *h, struct archive_entry *entry, struct err *err)
{
    struct ustar *b = &h->block;

    if (archive_entry_hardlink(entry)) {
        b->type[0] = '1';
        return 0;
    }
    switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
        b->type[0] = '0';
        return 0;
    case AE_IFLNK:
        b->type[0] = '2';
        return 0;
    case AE_IFCHR:
    case AE_IFBLK:
        b->type[0] = archive_entry_filetype(entry) == AE_IFCHR ? '3' : '4';
        if (!ustar_put_octal(b->devmajor, 8, (uint64_t)archive_entry_rdevmajor(entry)) ||
            !ustar_put_octal(b->devminor, 8, (uint64_t)archive_entry_rdevminor(entry)))
            return err_set(err, ERR_FORMAT, "a device number that does not fit into a tar header");
        return 0;
    case AE_IFDIR:
        b->type[0] = '5';
        return 0;
    case AE_IFIFO:
        b->type[0] = '6';
        return 0;
    default:
        return err_set(err, ERR_FORMAT, "an entry of a kind that tar has no type for");
    }
}

/* A directory's name ends in a slash. */
static int put_name(struct header *h, struct archive_entry *entry, struct err *err)
{
    const char *path = archive_entry_pathname(entry);
    size_t len = path ? strlen(path) : 0;
    _cleanup_buf_ struct buf name = BUF_INIT;

    if (len == 0)
        return err_set(err, ERR_FORMAT, "an entry without a name");
    buf_append(&name, path, len);
    if (h->block.type[0] == '5' && path[len - 1] != '/')
        buf_putc(&name, '/');
    if (buf_check(&name, err) < 0)
        return -1;
    put_text(h, h->block.name, sizeof(h->block.name), "path", name.data);
    return 0;
}

static void put_link(struct header *h, struct archive_entry *entry)
{
    const char *target = NULL;

    if (h->block.type[0] == '1')
        target = archive_entry_hardlink(entry);
    else if (h->block.type[0] == '2')
        target = archive_entry_symlink(entry);
    put_text(h, h->block.linkname, sizeof(h->block.linkname), "linkpath", target);
}

static void append_block(struct ustar *b, struct buf *out)
{
    memcpy(b->magic, "ustar", 6);
    memcpy(b->version, "00", 2);
    ustar_put_checksum(b);
    buf_append(out, b, sizeof(*b));
}

static void append_records(const struct header *h, struct buf *out)
{
    static const char charset[] = "21 hdrcharset=BINARY\n", zeros[USTAR_BLOCK];
    size_t extra = h->binary ? sizeof(charset) - 1 : 0, len = h->records.len + extra;
    struct ustar b = {.name = "././@PaxHeader", .type = {'x'}};

    ustar_put_octal(b.mode, 8, 0644);
    ustar_put_octal(b.uid, 8, 0);
    ustar_put_octal(b.gid, 8, 0);
    ustar_put_octal(b.size, 12, len);
    ustar_put_octal(b.mtime, 12, 0);
    append_block(&b, out);
    buf_append(out, charset, extra);
    buf_append(out, h->records.data, h->records.len);
    buf_append(out, zeros, ustar_padding(len));
}

static int fill_header(struct header *h, struct archive_entry *entry, struct err *err)
{
    struct ustar *b = &h->block;

    if (put_type(h, entry, err) < 0 || put_name(h, entry, err) < 0)
        return -1;
    put_link(h, entry);
    ustar_put_octal(b->mode, sizeof(b->mode), (uint64_t)archive_entry_perm(entry) & 07777);
    put_number(h, b->uid, sizeof(b->uid), "uid", archive_entry_uid(entry));
    put_number(h, b->gid, sizeof(b->gid), "gid", archive_entry_gid(entry));
    put_number(h, b->size, sizeof(b->size), "size",
               b->type[0] == '0' ? archive_entry_size(entry) : 0);
    put_mtime(h, entry);
    /* One byte less than the field: both end in a NUL. */
    put_text(h, b->uname, sizeof(b->uname) - 1, "uname", archive_entry_uname(entry));
    put_text(h, b->gname, sizeof(b->gname) - 1, "gname", archive_entry_gname(entry));
    put_xattrs(h, entry);
    return buf_check(&h->records, err);
}

int pax_header(struct archive_entry *entry, struct buf *out, struct err *err)
{
    struct header h = {0};
    int rc = fill_header(&h, entry, err);

    if (rc == 0) {
        if (h.records.len)
            append_records(&h, out);
        append_block(&h.block, out);
        rc = buf_check(out, err);
    }
    buf_free(&h.records);
    return rc;
}
