#include "flatten/layer/layer.h"

#include "base/hash.h"
#include "base/path.h"
#include "flatten/layer/layer_blob.h"
#include "flatten/layer/layer_limits.h"
#include "flatten/layer/tar/tar_header.h"
#include "flatten/layer/tar/tar_window.h"
#include "flatten/layer/verifier.h"
#include "flatten/layer/walked_reader.h"

#include <string.h>
#include <sys/sysmacros.h>

static const char whiteout_prefix[] = ".wh.";
static const char opaque_name[] = ".wh..wh..opq";
static const char aufs_prefix[] = ".wh..wh."; /* AUFS's own bookkeeping */

struct layer_reader {
    const struct layer *layer;
    struct walked_reader *walked; /* of a layer without a blob; then these two are NULL: */
    struct archive *archive;
    struct stream *stream;
    size_t shown; /* bytes lent to libarchive by the last read */
    uint32_t ordinal;
    uint64_t due, seen; /* bytes of data of the entry: by its header, and read */
    struct buf path, link;
    struct tar_window window;
    enum compression kind; /* of the blob; set where the stream does not check */
    bool checked;          /* the stream checks the digests */
    struct err stream_error;
};

/* Gets the next block for libarchive. The old one's memory goes back to the stream. */
static int next_block(struct layer_reader *r, const void **data, struct err *err)
{
    if (tar_window_leave(&r->window, err) < 0)
        return -1;
    stream_advance(r->stream, r->shown);
    r->shown = 0;
    if (stream_peek(r->stream, data, &r->shown, err) < 0)
        return -1;
    tar_window_enter(&r->window, *data, r->shown);
    if (!r->checked && r->kind != COMPRESSION_NONE &&
        r->window.block_at + r->shown > LAYER_MAX_SIZE)
        return err_set(err, ERR_LIMIT, "unpacks to more than %llu GiB",
                       (unsigned long long)(LAYER_MAX_SIZE >> 30));
    return 0;
}

static la_ssize_t on_read(struct archive *a, void *ctx, const void **data)
{
    struct layer_reader *r = ctx;

    if (next_block(r, data, &r->stream_error) < 0) {
        archive_set_error(a, EIO, "%s", r->stream_error.msg);
        return ARCHIVE_FATAL;
    }
    return (la_ssize_t)r->shown;
}

/* libarchive calls this when it has used all of the block. */
static la_int64_t on_skip(struct archive *a, void *ctx, la_int64_t request)
{
    struct layer_reader *r = ctx;

    if (tar_window_leave(&r->window, &r->stream_error) < 0) {
        archive_set_error(a, EIO, "%s", r->stream_error.msg);
        return ARCHIVE_FATAL;
    }
    stream_advance(r->stream, r->shown);
    r->shown = 0;
    uint64_t skipped = stream_skip(r->stream, (uint64_t)request);
    tar_window_skip(&r->window, skipped);
    return (la_int64_t)skipped;
}

static int archive_failure(struct layer_reader *r, struct err *err)
{
    if (r->stream_error.kind != ERR_NONE) {
        *err = r->stream_error;
        return -1;
    }
    const char *text = archive_error_string(r->archive);
    return err_set(err, ERR_FORMAT, "bad tar archive: %s", text ? text : "damaged, or cut off");
}

/* Names the layer before an error that does not name it yet. Returns -1. */
static int wrap_layer(const struct layer *layer, struct err *err)
{
    static const char prefix[] = "layer ";

    if (strncmp(err->msg, prefix, sizeof(prefix) - 1) == 0)
        return -1;
    return err_wrap(err, "layer %u", layer->number);
}

/* Opens the archive in the reader's stream. */
static int open_archive(struct layer_reader *r, struct err *err)
{
    if (!(r->archive = archive_read_new()))
        return err_nomem(err);
    if (archive_read_support_format_tar(r->archive) != ARCHIVE_OK ||
        archive_read_support_format_empty(r->archive) != ARCHIVE_OK ||
        archive_read_open2(r->archive, r, NULL, on_read, on_skip, NULL) != ARCHIVE_OK)
        return archive_failure(r, err);
    return 0;
}

/* True if the layer's verifier checks both digests, so that a reader need not. */
static bool is_vouched_for(const struct layer *layer)
{
    return layer->verifier && layer->blob_is_tar;
}

static struct layer_reader *open_reader(const struct layer *layer, bool checked, struct err *err)
{
    _cleanup_layer_reader_ struct layer_reader *r = calloc(1, sizeof(*r));

    if (!r) {
        err_nomem(err);
        return NULL;
    }
    r->layer = layer;
    if (layer->walk)
        return (r->walked = walked_reader_open(layer->walk, layer->number, err)) ? steal_ptr(&r)
                                                                                 : NULL;
    r->checked = checked && !is_vouched_for(layer);
    if (layer->verifier && verifier_check(layer->verifier, layer, err) < 0)
        return NULL;
    r->stream = r->checked ? layer_tar(layer, err) : layer_tar_unchecked(layer, &r->kind, err);
    if (!r->stream)
        return NULL;
    if (open_archive(r, err) < 0) {
        wrap_layer(layer, err);
        return NULL;
    }
    return steal_ptr(&r);
}

struct layer_reader *layer_reader_open(const struct layer *layer, struct err *err)
{
    return open_reader(layer, true, err);
}

struct layer_reader *layer_reader_open_unchecked(const struct layer *layer, struct err *err)
{
    return open_reader(layer, false, err);
}

bool layer_reader_skips(const struct layer_reader *r)
{
    return r->walked || (!r->checked && r->kind == COMPRESSION_NONE);
}

void layer_reader_free(struct layer_reader *r)
{
    if (r->archive)
        archive_read_free(r->archive);
    cleanup_walked_reader(&r->walked);
    cleanup_stream(&r->stream);
    buf_free(&r->path);
    buf_free(&r->link);
    tar_window_clear(&r->window);
    free(r);
}

static int wrap_name(const struct layer *layer, const char *name, struct err *err)
{
    enum { SHOWN = 300 };
    _cleanup_buf_ struct buf shown = BUF_INIT;

    buf_put_printable(&shown, name, strnlen(name, SHOWN));
    return err_wrap(err, "layer %u: %s", layer->number, shown.data ? shown.data : "");
}

int layer_entry_wrap(const struct layer *layer, const struct layer_entry *entry, struct err *err)
{
    return wrap_name(layer, entry->info.path, err);
}

/* An entry below a whiteout is an error; entries below AUFS's bookkeeping are ignored. */
static int check_ancestors(const struct layer_reader *r, bool *ignored, struct err *err)
{
    const char *p = r->path.data, *slash;

    for (; (slash = strchr(p, '/')); p = slash + 1) {
        if (strncmp(p, aufs_prefix, sizeof(aufs_prefix) - 1) == 0)
            *ignored = true;
        else if (strncmp(p, whiteout_prefix, sizeof(whiteout_prefix) - 1) == 0)
            return err_set(err, ERR_FORMAT, "an entry below a whiteout");
    }
    return 0;
}

/* ".wh.NAME" hides NAME: checks NAME, and cuts the prefix out of the path. */
static int classify_name(struct layer_reader *r, struct entry_info *in, bool *ignored,
                         struct err *err)
{
    char *slash = memrchr(r->path.data, '/', r->path.len);
    char *base = slash ? slash + 1 : r->path.data;
    size_t prefix = sizeof(whiteout_prefix) - 1;

    if (strncmp(base, whiteout_prefix, prefix) != 0)
        return 0;
    if (strcmp(base, opaque_name) == 0) {
        in->kind = ENTRY_OPAQUE;
        buf_truncate(&r->path, slash ? (size_t)(slash - r->path.data) : 0);
        return 0;
    }
    if (strncmp(base, aufs_prefix, sizeof(aufs_prefix) - 1) == 0) {
        *ignored = true;
        return 0;
    }
    if (!path_component_valid(base + prefix, strlen(base + prefix)))
        return err_set(err, ERR_FORMAT, "a whiteout that names nothing");
    in->kind = ENTRY_WHITEOUT;
    memmove(base, base + prefix, strlen(base + prefix) + 1);
    r->path.len -= prefix;
    return 0;
}

static int classify_type(struct layer_reader *r, struct archive_entry *header,
                         struct entry_info *in, struct err *err)
{
    const char *hard = archive_entry_hardlink(header), *soft = archive_entry_symlink(header);

    if (hard) {
        in->kind = ENTRY_HARDLINK;
        return path_clean(hard, strlen(hard), &r->link, err);
    }
    switch (archive_entry_filetype(header)) {
    case AE_IFDIR:
        in->kind = ENTRY_DIR;
        return 0;
    case AE_IFREG:
        in->kind = ENTRY_FILE;
        return 0;
    case AE_IFLNK:
        in->kind = ENTRY_SYMLINK;
        if (!soft || !*soft)
            return err_set(err, ERR_FORMAT, "a symbolic link to nothing");
        buf_puts(&r->link, soft);
        return buf_check(&r->link, err);
    case AE_IFCHR:
        in->kind = ENTRY_OTHER;
        if (archive_entry_rdevmajor(header) == 0 && archive_entry_rdevminor(header) == 0)
            return err_set(err, ERR_UNSUPPORTED,
                           "a 0:0 device, which overlayfs takes for a "
                           "whiteout");
        return 0;
    case AE_IFBLK:
    case AE_IFIFO:
        in->kind = ENTRY_OTHER;
        return 0;
    default:
        return err_set(err, ERR_FORMAT, "neither a file, a directory, a link nor a device");
    }
}

bool layer_xattr_is_overlay(const char *name)
{
    return strncmp(name, "trusted.overlay.", 16) == 0 || strncmp(name, "user.overlay.", 13) == 0;
}

static bool has_overlay_xattr(struct archive_entry *header)
{
    const char *name;
    const void *value;
    size_t size;

    archive_entry_xattr_reset(header);
    while (archive_entry_xattr_next(header, &name, &value, &size) == ARCHIVE_OK)
        if (layer_xattr_is_overlay(name))
            return true;
    return false;
}

/* Overlayfs would act on its own xattrs when the tree is mounted, so they are removed. */
static int strip_overlay_xattrs(struct archive_entry *header, struct layer_entry *out,
                                struct err *err)
{
    const char *name;
    const void *value;
    size_t size;

    if (!has_overlay_xattr(header))
        return 0;
    struct archive_entry *copy = archive_entry_clone(header);
    if (!copy)
        return err_nomem(err);
    archive_entry_xattr_clear(header);
    archive_entry_xattr_reset(copy);
    while (archive_entry_xattr_next(copy, &name, &value, &size) == ARCHIVE_OK)
        if (!layer_xattr_is_overlay(name))
            archive_entry_xattr_add_entry(header, name, value, size);
    archive_entry_free(copy);
    out->dropped = "extended attributes of overlayfs itself are left out";
    return 0;
}

/* Adds up the hashes of xattrs, so that their order does not matter. */
static uint32_t hash_attributes(struct archive_entry *header)
{
    const int64_t numbers[] = {
        archive_entry_perm(header),  archive_entry_uid(header),        archive_entry_gid(header),
        archive_entry_mtime(header), archive_entry_mtime_nsec(header),
    };
    uint64_t sum = 0;
    const char *name;
    const void *value;
    size_t size;

    archive_entry_xattr_reset(header);
    while (archive_entry_xattr_next(header, &name, &value, &size) == ARCHIVE_OK)
        sum += hash_bytes(value, size, hash_bytes(name, strlen(name), 0));
    return (uint32_t)hash_bytes(numbers, sizeof(numbers), sum);
}

/* Engines take no file for whole that ends before its data. Returns -1. */
static int missing_data(uint64_t stated, uint64_t stored, struct err *err)
{
    return err_set(err, ERR_FORMAT,
                   "its header states %llu bytes of data, but the archive has %llu of them",
                   (unsigned long long)stated, (unsigned long long)stored);
}

/* Checks the entry, corrects it by its header's bytes, and releases those up to its content's end.
 */
static int check_header(struct layer_reader *r, struct archive_entry *header,
                        struct layer_entry *out, struct err *err)
{
    enum { BLOCK = 512 };
    struct unpack_budget *unpack = r->layer->unpack;

    if (r->walked)
        return layer_limits_check(&r->path, header, NULL, unpack, err);
    const struct layer_map map = layer_map_of(header);
    uint64_t from = (uint64_t)archive_read_header_position(r->archive);
    uint64_t to = (uint64_t)archive_filter_bytes(r->archive, 0);
    uint64_t size = map.sparse ? 0 : (uint64_t)archive_entry_size(header);
    struct tar_facts facts;

    if (layer_limits_check(&r->path, header, &map, unpack, err) < 0)
        return -1;
    const unsigned char *bytes = tar_window_get(&r->window, from, to, err);

    if (!bytes || tar_header_correct(bytes, (size_t)(to - from), header, &facts, err) < 0)
        return -1;
    if (archive_entry_filetype(header) == AE_IFREG && !archive_entry_hardlink(header))
        r->due = map.data;
    if (r->due > facts.stored)
        return missing_data(r->due, facts.stored, err);
    if (facts.acl)
        out->dropped = "an ACL in a record of tar, which engines do not read, is left out";
    tar_window_release(&r->window, to + (size + BLOCK - 1) / BLOCK * BLOCK);
    return 0;
}

/* Fills `out` for the header just read. Returns 1, 0 where the entry is ignored, or -1. */
static int fill_entry(struct layer_reader *r, struct archive_entry *header, struct layer_entry *out,
                      struct err *err)
{
    const char *name = archive_entry_pathname(header);
    bool ignored = false;

    *out = (struct layer_entry){.header = header};
    buf_truncate(&r->path, 0);
    buf_truncate(&r->link, 0);
    if (!name)
        return err_set(err, ERR_FORMAT, "layer %u: an entry has no name", r->layer->number);
    if (path_clean(name, strlen(name), &r->path, err) < 0 ||
        check_header(r, header, out, err) < 0 || check_ancestors(r, &ignored, err) < 0 ||
        classify_type(r, header, &out->info, err) < 0 ||
        classify_name(r, &out->info, &ignored, err) < 0 ||
        strip_overlay_xattrs(header, out, err) < 0)
        return wrap_name(r->layer, name, err);
    if (ignored)
        return 0;
    out->info.path = r->path.data;
    out->info.path_len = r->path.len;
    out->info.link = r->link.data;
    out->info.link_len = r->link.len;
    out->info.ordinal = r->ordinal;
    out->info.attributes = hash_attributes(header);
    return 1;
}

/* libarchive warns of names that are not UTF-8; they are kept unchanged. */
static bool is_charset_warning(struct archive *a)
{
    const char *text = archive_error_string(a);

    return text && strstr(text, "can't be converted");
}

/* The digest covers all bytes, also those behind the archive's end. */
static int finish_archive(struct layer_reader *r, struct err *err)
{
    stream_advance(r->stream, r->shown);
    r->shown = 0;
    return is_vouched_for(r->layer) ? 0 : stream_drain(r->stream, err);
}

/*
 * Reports a header that libarchive refuses. It may not have got as far as the name: then the entry
 * before it tells the place. Returns -1.
 */
static int refuse_header(struct layer_reader *r, struct archive_entry *header, struct err *err)
{
    const char *name = archive_entry_pathname(header);

    archive_failure(r, err);
    if (r->stream_error.kind != ERR_NONE)
        return wrap_layer(r->layer, err);
    if (name && *name)
        return wrap_name(r->layer, name, err);
    if (r->ordinal == 0)
        return err_wrap(err, "layer %u: the first entry", r->layer->number);
    _cleanup_buf_ struct buf place = BUF_INIT;
    buf_puts(&place, "the entry after ");
    buf_append(&place, r->path.data, r->path.len);
    return buf_check(&place, err) < 0 ? -1 : wrap_name(r->layer, place.data, err);
}

/* Returns 1, 0 at the end, or -1. */
static int next_tar_header(struct layer_reader *r, struct archive_entry **header, struct err *err)
{
    if (r->layer->verifier && verifier_check(r->layer->verifier, r->layer, err) < 0)
        return -1;
    int rc = archive_read_next_header(r->archive, header);
    if (rc == ARCHIVE_EOF)
        return finish_archive(r, err);
    if (rc != ARCHIVE_OK && !(rc == ARCHIVE_WARN && is_charset_warning(r->archive)))
        return refuse_header(r, *header, err);
    return 1;
}

static int next_walked(struct layer_reader *r, struct archive_entry **header, struct err *err)
{
    int rc = walked_reader_next(r->walked, header, NULL, err);

    return rc < 0 ? wrap_layer(r->layer, err) : rc;
}

int layer_reader_next(struct layer_reader *r, struct layer_entry *out, struct err *err)
{
    for (;;) {
        struct archive_entry *header;
        int rc = r->walked ? next_walked(r, &header, err) : next_tar_header(r, &header, err);
        if (rc <= 0)
            return rc;
        r->ordinal++;
        r->due = r->seen = 0;
        rc = fill_entry(r, header, out, err);
        if (rc != 0)
            return rc;
    }
}

int layer_reader_data(struct layer_reader *r, const void **data, size_t *len, uint64_t *offset,
                      struct err *err)
{
    la_int64_t at;

    if (r->walked)
        return walked_reader_data(r->walked, data, len, offset, err);
    int rc = archive_read_data_block(r->archive, data, len, &at);

    if (rc == ARCHIVE_EOF)
        return r->seen < r->due ? missing_data(r->due, r->seen, err) : 0;
    if (rc != ARCHIVE_OK || at < 0)
        return archive_failure(r, err);
    r->seen += *len;
    *offset = (uint64_t)at;
    return 1;
}
