#include "flatten/carve/spool/identity.h"

#include "base/buf.h"

#include <archive.h>
#include <stdlib.h>
#include <string.h>

/* An extended attribute; the header owns the texts. */
struct xattr {
    const char *name;
    const void *value;
    size_t size;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct xattr *)a)->name, ((const struct xattr *)b)->name);
}

static void put_number(struct buf *out, int64_t number)
{
    buf_append(out, &number, sizeof(number));
}

/* Appends name, size and value of each, in the order of the names. */
static int put_xattrs(struct archive_entry *header, struct buf *out, struct err *err)
{
    size_t count = (size_t)archive_entry_xattr_reset(header), found = 0;
    _cleanup_free_ struct xattr *list = calloc(count + 1, sizeof(*list));

    if (!list)
        return err_nomem(err);
    while (found < count && archive_entry_xattr_next(header, &list[found].name, &list[found].value,
                                                     &list[found].size) == ARCHIVE_OK)
        found++;
    qsort(list, found, sizeof(*list), by_name);
    put_number(out, (int64_t)found);
    for (size_t i = 0; i < found; i++) {
        buf_append(out, list[i].name, strlen(list[i].name) + 1);
        put_number(out, (int64_t)list[i].size);
        buf_append(out, list[i].value, list[i].size);
    }
    return 0;
}

int identity_begin(struct sha256_lane *hash, struct archive_entry *header, struct err *err)
{
    const char *target = archive_entry_symlink(header);
    _cleanup_buf_ struct buf text = BUF_INIT;

    put_number(&text, archive_entry_mode(header));
    put_number(&text, archive_entry_uid(header));
    put_number(&text, archive_entry_gid(header));
    put_number(&text, archive_entry_rdevmajor(header));
    put_number(&text, archive_entry_rdevminor(header));
    put_number(&text, archive_entry_filetype(header) == AE_IFREG ? archive_entry_size(header) : 0);
    buf_puts(&text, target ? target : "");
    buf_putc(&text, '\0');
    if (put_xattrs(header, &text, err) < 0 || buf_check(&text, err) < 0)
        return -1;
    return sha256_lane_update(hash, text.data, text.len, err);
}

int identity_add(struct sha256_lane *hash, const void *data, uint64_t len, struct err *err)
{
    return data ? sha256_lane_update(hash, data, (size_t)len, err)
                : sha256_lane_zeros(hash, len, err);
}

int identity_timeless(struct sha256_lane *hash, struct layout_identity *out, struct err *err)
{
    return sha256_lane_finish_bytes(hash, out->part, sizeof(out->part), err);
}

struct identity_stamp identity_stamp_of(const struct layout_identity *timeless,
                                        struct archive_entry *header)
{
    return (struct identity_stamp){.timeless = *timeless,
                                   .seconds = archive_entry_mtime(header),
                                   .nanoseconds = (uint32_t)archive_entry_mtime_nsec(header)};
}

int identity_end(struct sha256_lane *hash, struct archive_entry *header, struct identity_stamp *out,
                 struct err *err)
{
    struct layout_identity timeless;

    if (identity_timeless(hash, &timeless, err) < 0)
        return -1;
    *out = identity_stamp_of(&timeless, header);
    return 0;
}

int identity_of_stamp(struct sha256_lane *hash, const struct identity_stamp *stamp,
                      struct layout_identity *out, struct err *err)
{
    if (sha256_lane_update(hash, &stamp->timeless, sizeof(stamp->timeless), err) < 0 ||
        sha256_lane_update(hash, &stamp->seconds, sizeof(stamp->seconds), err) < 0 ||
        sha256_lane_update(hash, &stamp->nanoseconds, sizeof(stamp->nanoseconds), err) < 0)
        return -1;
    return identity_timeless(hash, out, err);
}
