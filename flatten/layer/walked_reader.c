#include "flatten/layer/walked_reader.h"

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

struct walked_reader {
    struct image_tree *tree;
    unsigned layer; /* its number; 0: the merged tree */
    struct archive_entry *header;
    struct buf message;
    const char *path;  /* of the entry, in the message */
    struct buf marker; /* the path of the opaque marker that comes next; empty: none */
    bool dropped;      /* of the entry: it lost attributes */
    int fd;            /* with its content; -1: it has none */
    uint64_t size;     /* of that, bytes */
    uint64_t at, hole; /* in the content: what comes next, and the end of the data there */
    char *block;
};

/* Sets the error of a walk whose process has ended. Returns -1. */
static int fail_gone(struct err *err)
{
    return err_set(err, ERR_SYSTEM, "the process that reads the layers is gone");
}

/* Receives a message of the walk. Returns 1 with an entry, 0 at the end, or -1. */
static int receive_entry(struct walked_reader *w, struct wire_entry *e, struct err *err)
{
    cleanup_fd(&w->fd);
    w->fd = -1;
    buf_truncate(&w->message, 0);
    int rc = wire_receive(w->tree->fd, &w->message, &w->fd, err);
    if (rc == 0)
        rc = fail_gone(err);
    else if (rc > 0)
        rc = wire_decode_entry(&w->message, e, err);
    w->tree->walking = rc > 0;
    return rc;
}

/* Asks for the walk, behind the rest of one that was given up. */
static int request_walk(struct walked_reader *w, struct err *err)
{
    _cleanup_buf_ struct buf request = BUF_INIT;
    struct err ignored = ERR_INIT;
    struct wire_entry e;

    while (w->tree->walking)
        (void)!receive_entry(w, &e, &ignored);
    wire_encode_walk(w->layer, &request);
    if (wire_send(w->tree->fd, &request, -1, err) < 0)
        return err->sys == EPIPE ? fail_gone(err) : -1;
    w->tree->walking = true;
    return 0;
}

struct walked_reader *walked_reader_open(struct image_tree *tree, unsigned layer, struct err *err)
{
    _cleanup_walked_reader_ struct walked_reader *w = calloc(1, sizeof(*w));

    if (!w) {
        err_nomem(err);
        return NULL;
    }
    *w = (struct walked_reader){.tree = tree, .layer = layer, .fd = -1};
    if (!(w->header = archive_entry_new()) || !(w->block = malloc(BLOCK))) {
        err_nomem(err);
        return NULL;
    }
    return request_walk(w, err) < 0 ? NULL : steal_ptr(&w);
}

void walked_reader_free(struct walked_reader *w)
{
    cleanup_fd(&w->fd);
    cleanup_entry(&w->header);
    buf_free(&w->message);
    buf_free(&w->marker);
    free(w->block);
    free(w);
}

/* ---- overlayfs's attributes ---- */

static bool is_text(const void *value, size_t size, const char *text)
{
    return size == strlen(text) && memcmp(value, text, size) == 0;
}

/* Takes a mark of a layer's entry: opaque, or of no meaning outside of a mount, or an error. */
static int take_mark(struct walked_reader *w, const char *path, const char *name, const void *value,
                     size_t size, struct err *err)
{
    static const char *const partial[] = {"redirect", "metacopy", "whiteout", "opaque"};
    static const char prefix[] = "trusted.overlay.";
    const char *mark = name + sizeof(prefix) - 1;

    if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
        return 0;
    if (strcmp(mark, "opaque") == 0 && is_text(value, size, "y")) {
        buf_printf(&w->marker, "%s/.wh..wh..opq", path);
        return buf_check(&w->marker, err);
    }
    for (size_t i = 0; i < sizeof(partial) / sizeof(*partial); i++)
        if (strcmp(mark, partial[i]) == 0)
            return err_set(err, ERR_UNSUPPORTED,
                           "the attribute %s, by which a part of it is in other layers: save the "
                           "image, and analyze the archive",
                           name);
    return 0;
}

static int set_xattrs(struct walked_reader *w, struct wire_entry *e, struct err *err)
{
    const char *name;
    const void *value;
    size_t size, count = 0;
    int rc;

    while ((rc = wire_xattr_next(e, &name, &value, &size, err)) > 0) {
        if (!layer_xattr_is_overlay(name)) {
            if (++count > LAYER_MOST_XATTRS)
                return err_set(err, ERR_LIMIT, "more than %d extended attributes",
                               LAYER_MOST_XATTRS);
            archive_entry_xattr_add_entry(w->header, name, value, size);
        } else if (w->layer == 0) {
            w->dropped = true;
        } else if (take_mark(w, e->path, name, value, size, err) < 0) {
            return -1;
        }
    }
    return rc;
}

/* ---- headers ---- */

static void set_marker(struct walked_reader *w, const char *path)
{
    struct archive_entry *h = archive_entry_clear(w->header);

    archive_entry_set_pathname(h, path);
    archive_entry_set_filetype(h, AE_IFREG);
    archive_entry_set_size(h, 0);
}

/* True for AUFS's own bookkeeping and what is below it, which are no part of an image. */
static bool is_aufs(const char *path)
{
    return strncmp(path, ".wh..wh.", 8) == 0 || strstr(path, "/.wh..wh.");
}

/* True for a name that hides another one in a layer, whatever file has it. */
static bool is_whiteout_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return strncmp(slash ? slash + 1 : path, ".wh.", 4) == 0;
}

static int set_whiteout(struct walked_reader *w, const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    int dir = slash ? (int)(slash + 1 - path) : 0;
    _cleanup_free_ char *marker = strf("%.*s.wh.%s", dir, path, path + dir);

    if (!marker)
        return err_nomem(err);
    set_marker(w, marker);
    return 0;
}

static int set_header(struct walked_reader *w, struct wire_entry *e, struct err *err)
{
    struct archive_entry *h = archive_entry_clear(w->header);

    archive_entry_set_pathname(h, e->path);
    archive_entry_set_mode(h, (mode_t)e->mode);
    archive_entry_set_uid(h, e->uid);
    archive_entry_set_gid(h, e->gid);
    archive_entry_set_mtime(h, e->mtime, e->mtime_nsec);
    archive_entry_set_size(h, (int64_t)w->size);
    if (S_ISCHR(e->mode) || S_ISBLK(e->mode))
        archive_entry_set_rdev(h, (dev_t)e->rdev);
    if (e->target)
        archive_entry_set_symlink(h, e->target);
    if (e->origin)
        archive_entry_set_hardlink(h, e->origin);
    return set_xattrs(w, e, err);
}

static int take_entry(struct walked_reader *w, struct wire_entry *e, struct err *err)
{
    w->path = e->path;
    w->dropped = false;
    w->size = S_ISREG(e->mode) && !e->origin ? e->size : 0;
    w->at = w->hole = 0;
    if ((w->size > 0) != (w->fd >= 0))
        return err_set(err, ERR_FORMAT, "the walk sends a file without its content");
    if (w->layer == 0 && (is_whiteout_name(e->path) || (e->origin && is_aufs(e->origin))))
        return err_set(err, ERR_UNSUPPORTED,
                       "a file of this name cannot be in a layer, where it is a whiteout");
    if (w->layer && S_ISCHR(e->mode) && e->rdev == 0)
        return set_whiteout(w, e->path, err);
    return set_header(w, e, err);
}

int walked_reader_next(struct walked_reader *w, struct archive_entry **header, bool *dropped,
                       struct err *err)
{
    struct wire_entry e;

    *header = w->header;
    if (dropped)
        *dropped = false;
    if (w->marker.len) {
        set_marker(w, w->marker.data);
        buf_truncate(&w->marker, 0);
        return 1;
    }
    int rc;
    do
        rc = receive_entry(w, &e, err);
    while (rc > 0 && w->layer == 0 && is_aufs(e.path));
    if (rc <= 0)
        return rc;
    if (take_entry(w, &e, err) < 0)
        return walked_reader_wrap(w, err);
    if (dropped)
        *dropped = w->dropped;
    return 1;
}

int walked_reader_wrap(const struct walked_reader *w, struct err *err)
{
    enum { SHOWN = 300 };
    _cleanup_buf_ struct buf shown = BUF_INIT;

    buf_put_printable(&shown, w->path, strnlen(w->path, SHOWN));
    return err_wrap(err, "/%s", shown.data ? shown.data : "");
}

/* ---- content ---- */

/* Moves to the next data in the file: w->at, up to w->hole. Both are its size if none is left. */
static void find_data(struct walked_reader *w)
{
    off_t data = lseek(w->fd, (off_t)w->at, SEEK_DATA);

    if (data >= 0)
        w->at = (uint64_t)data < w->size ? (uint64_t)data : w->size;
    else if (errno == ENXIO)
        w->at = w->size;
    off_t hole = lseek(w->fd, (off_t)w->at, SEEK_HOLE); /* no error that says there are none */
    w->hole = hole > (off_t)w->at && (uint64_t)hole < w->size ? (uint64_t)hole : w->size;
}

/* Behind the end of a file there is a hole as well. */
static int check_size(const struct walked_reader *w, struct err *err)
{
    return w->fd < 0 || lseek(w->fd, 0, SEEK_END) == (off_t)w->size
               ? 0
               : err_set(err, ERR_FORMAT, "its size changed while it was read");
}

int walked_reader_data(struct walked_reader *w, const void **data, size_t *len, uint64_t *offset,
                       struct err *err)
{
    ssize_t n;

    if (w->at < w->size && w->at == w->hole)
        find_data(w);
    if (w->at == w->size)
        return check_size(w, err);
    size_t want = w->hole - w->at < BLOCK ? (size_t)(w->hole - w->at) : BLOCK;
    do
        n = pread(w->fd, w->block, want, (off_t)w->at);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_sys(err, "cannot read the file");
    if (n == 0)
        return err_set(err, ERR_FORMAT, "its size changed while it was read");
    *data = w->block;
    *len = (size_t)n;
    *offset = w->at;
    w->at += (uint64_t)n;
    if (w->tree->progress)
        atomic_fetch_add(w->tree->progress, (uint64_t)n);
    return 1;
}
