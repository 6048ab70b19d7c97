#include "flatten/merge/merged_tree.h"

#include "base/path.h"
#include "flatten/layer/emit.h"
#include "flatten/layer/layer.h"
#include "flatten/wire/wire.h"
#include "flatten/wire/wire_entry.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { BLOCK = 512 * 1024 }; /* bytes read at once */

struct tree_merge {
    const struct image_tree *tree;
    struct entry_sink *sink;
    struct merged_report *report;
    struct archive_entry *header;
    struct buf message;
    char *block;
};

static void tree_merge_clear(struct tree_merge *t)
{
    cleanup_entry(&t->header);
    buf_free(&t->message);
    free(t->block);
}

/* ---- headers ---- */

/* Adds the attributes, but not those of overlayfs, on which a mount of the new layer would act. */
static int set_xattrs(struct tree_merge *t, struct wire_entry *e, struct err *err)
{
    const char *name;
    const void *value;
    size_t size, count = 0;
    bool dropped = false;
    int rc;

    while ((rc = wire_xattr_next(e, &name, &value, &size, err)) > 0) {
        if (layer_xattr_is_overlay(name))
            dropped = true;
        else if (++count <= LAYER_MOST_XATTRS)
            archive_entry_xattr_add_entry(t->header, name, value, size);
        else
            return err_set(err, ERR_LIMIT, "more than %d extended attributes", LAYER_MOST_XATTRS);
    }
    t->report->dropped += dropped;
    return rc;
}

static int set_header(struct tree_merge *t, struct wire_entry *e, struct err *err)
{
    struct archive_entry *h = archive_entry_clear(t->header);

    archive_entry_set_pathname(h, e->path);
    archive_entry_set_mode(h, (mode_t)e->mode);
    archive_entry_set_uid(h, e->uid);
    archive_entry_set_gid(h, e->gid);
    archive_entry_set_mtime(h, e->mtime, e->mtime_nsec);
    archive_entry_set_size(h, 0);
    if (S_ISREG(e->mode) && !e->origin)
        archive_entry_set_size(h, (int64_t)e->size);
    if (S_ISCHR(e->mode) || S_ISBLK(e->mode))
        archive_entry_set_rdev(h, (dev_t)e->rdev);
    if (e->target)
        archive_entry_set_symlink(h, e->target);
    if (e->origin)
        archive_entry_set_hardlink(h, e->origin);
    return set_xattrs(t, e, err);
}

/* ---- content ---- */

static int put_range(struct tree_merge *t, int fd, uint64_t at, uint64_t end, struct err *err)
{
    while (at < end) {
        size_t want = end - at < BLOCK ? (size_t)(end - at) : BLOCK;
        ssize_t n = pread(fd, t->block, want, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(err, "cannot read the file");
        if (n == 0)
            return err_set(err, ERR_FORMAT, "its size changed while it was read");
        if (entry_sink_data(t->sink, t->block, (uint64_t)n, err) < 0)
            return -1;
        if (t->tree->progress)
            atomic_fetch_add(t->tree->progress, (uint64_t)n);
        at += (uint64_t)n;
    }
    return 0;
}

/* Returns where the data at or behind `at` begins; `size` if there is only a hole. */
static uint64_t next_data(int fd, uint64_t at, uint64_t size)
{
    off_t data = lseek(fd, (off_t)at, SEEK_DATA);

    if (data < 0)
        return errno == ENXIO ? size : at; /* a file system without holes */
    return (uint64_t)data < size ? (uint64_t)data : size;
}

static uint64_t next_hole(int fd, uint64_t at, uint64_t size)
{
    off_t hole = lseek(fd, (off_t)at, SEEK_HOLE);

    return hole > (off_t)at && (uint64_t)hole < size ? (uint64_t)hole : size;
}

static int put_content(struct tree_merge *t, int fd, uint64_t size, struct err *err)
{
    for (uint64_t at = 0; at < size;) {
        uint64_t data = next_data(fd, at, size), hole = next_hole(fd, data, size);
        if (entry_sink_data(t->sink, NULL, data - at, err) < 0 ||
            put_range(t, fd, data, hole, err) < 0)
            return -1;
        at = hole;
    }
    /* Behind the end of a file there is a hole as well. */
    return lseek(fd, 0, SEEK_END) == (off_t)size
               ? 0
               : err_set(err, ERR_FORMAT, "its size changed while it was read");
}

/* ---- the walk ---- */

static int put_entry(struct tree_merge *t, struct wire_entry *e, int fd, struct err *err)
{
    bool has_content = S_ISREG(e->mode) && !e->origin && e->size;

    if (has_content != (fd >= 0))
        return err_set(err, ERR_FORMAT, "the walk sends a file without its content");
    if (set_header(t, e, err) < 0 || entry_sink_entry(t->sink, t->header, err) < 0)
        return -1;
    t->report->entries_in++;
    t->report->entries_out++;
    if (!has_content)
        return 0;
    t->report->payload_out += e->size;
    return put_content(t, fd, e->size, err);
}

/* Puts the entry's path before the error. Returns -1. */
static int wrap_path(const char *path, struct err *err)
{
    enum { SHOWN = 300 };
    _cleanup_buf_ struct buf shown = BUF_INIT;

    buf_put_printable(&shown, path, strnlen(path, SHOWN));
    return err_wrap(err, "/%s", shown.data ? shown.data : "");
}

/* Returns 1 after an entry, 0 at the end, or -1. */
static int take_entry(struct tree_merge *t, struct err *err)
{
    _cleanup_fd_ int fd = -1;
    struct wire_entry e;

    buf_truncate(&t->message, 0);
    int rc = wire_receive(t->tree->fd, &t->message, &fd, err);
    if (rc == 0)
        return err_set(err, ERR_SYSTEM, "the process that reads the layers is gone");
    if (rc < 0 || (rc = wire_decode_entry(&t->message, &e, err)) <= 0)
        return rc;
    return put_entry(t, &e, fd, err) < 0 ? wrap_path(e.path, err) : 1;
}

static int walk_tree(struct tree_merge *t, struct err *err)
{
    const struct buf request = BUF_INIT;
    int rc;

    if (!(t->header = archive_entry_new()) || !(t->block = malloc(BLOCK)))
        return err_nomem(err);
    if (wire_send(t->tree->fd, &request, -1, err) < 0)
        return -1;
    while ((rc = take_entry(t, err)) > 0)
        ;
    return rc;
}

int merged_tree(const struct image *image, struct entry_sink *sink, struct merged_report *report,
                struct err *err)
{
    const struct image_tree *tree = image->tree;
    _cleanup_(tree_merge_clear) struct tree_merge t = {
        .tree = tree, .sink = sink, .report = report};
    struct err gone = ERR_INIT;

    int rc = walk_tree(&t, err);
    report->payload_in = tree->size > report->payload_out ? tree->size : report->payload_out;
    /* Files of an image are removed one by one: the walk may have seen only some of them. */
    if (tree->still(tree->ctx, tree->number, &gone) < 0) {
        *err = gone;
        return -1;
    }
    return rc;
}
