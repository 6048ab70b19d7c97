#include "flatten/keeper/walk/hard_links.h"
#include "flatten/keeper/walk/walk_internal.h"

#include "base/buf.h"
#include "flatten/wire/wire.h"
#include "flatten/wire/wire_entry.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/xattr.h>

enum { READ_AHEAD = 1024 * 1024 }; /* bytes of each file; beyond it the kernel sees a sequence */

struct name {
    unsigned char type; /* d_type of readdir(3) */
    char text[];
};

/* A directory that is being walked, and is the working directory while its entries are. */
struct level {
    int fd;
    size_t path_len;     /* of its path, with the slash behind it */
    struct name **names; /* sorted */
    size_t count, next;
};

struct walk {
    int socket;
    struct level *levels; /* outermost first */
    size_t depth, cap;
    struct buf path; /* of the entry */
    struct buf message, xattrs, names, value;
    struct hard_links links;
};

static void level_clear(struct level *l)
{
    cleanup_fd(&l->fd);
    for (size_t i = 0; i < l->count; i++)
        free(l->names[i]);
    free(l->names);
}

static void walk_clear(struct walk *w)
{
    while (w->depth > 0)
        level_clear(&w->levels[--w->depth]);
    free(w->levels);
    buf_free(&w->path);
    buf_free(&w->message);
    buf_free(&w->xattrs);
    buf_free(&w->names);
    buf_free(&w->value);
    hard_links_clear(&w->links);
}

/* Puts the entry's path before the error. Returns -1. */
static int wrap_path(const struct walk *w, struct err *err)
{
    _cleanup_buf_ struct buf shown = BUF_INIT;

    buf_put_printable(&shown, w->path.data, w->path.len);
    return err_wrap(err, "/%s", shown.data ? shown.data : "");
}

/* ---- directories ---- */

static int add_name(struct level *l, size_t *cap, const struct dirent *e, struct err *err)
{
    size_t size = strlen(e->d_name) + 1;

    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
        return 0;
    if (l->count == *cap) {
        size_t more = *cap ? *cap * 2 : 32;
        struct name **names = realloc(l->names, more * sizeof(*names));
        if (!names)
            return err_nomem(err);
        l->names = names;
        *cap = more;
    }
    struct name *name = malloc(sizeof(*name) + size);
    if (!name)
        return err_nomem(err);
    name->type = e->d_type;
    memcpy(name->text, e->d_name, size);
    l->names[l->count++] = name;
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(struct name *const *)a)->text, (*(struct name *const *)b)->text);
}

static int read_names(struct level *l, DIR *dir, struct err *err)
{
    size_t cap = 0;
    const struct dirent *e;

    errno = 0;
    while ((e = readdir(dir))) {
        if (add_name(l, &cap, e, err) < 0)
            return -1;
        errno = 0;
    }
    if (errno)
        return err_sys(err, "cannot read the directory");
    if (l->count)
        qsort(l->names, l->count, sizeof(*l->names), compare_names);
    return 0;
}

static int list_names(struct level *l, struct err *err)
{
    int copy = fcntl(l->fd, F_DUPFD_CLOEXEC, 3);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);

    if (!dir) {
        err_sys(err, "cannot read the directory");
        cleanup_fd(&copy);
        return -1;
    }
    int rc = read_names(l, dir, err);
    closedir(dir);
    return rc;
}

/* Enters the directory `name` of the working directory. */
static int enter_directory(struct walk *w, const char *name, struct err *err)
{
    if (w->depth == w->cap) {
        size_t cap = w->cap ? w->cap * 2 : 32;
        struct level *levels = realloc(w->levels, cap * sizeof(*levels));
        if (!levels)
            return err_nomem(err);
        w->levels = levels;
        w->cap = cap;
    }
    struct level *l = &w->levels[w->depth];
    *l = (struct level){.fd = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (l->fd < 0 || fchdir(l->fd) < 0) {
        err_sys(err, "cannot open the directory");
        level_clear(l);
        return -1;
    }
    w->depth++;
    if (w->path.len)
        buf_putc(&w->path, '/');
    l->path_len = w->path.len;
    return list_names(l, err) < 0 ? -1 : buf_check(&w->path, err);
}

/* Leaves the innermost directory; the one that holds it becomes the working directory. */
static int leave_directory(struct walk *w, struct err *err)
{
    level_clear(&w->levels[--w->depth]);
    if (w->depth > 0 && fchdir(w->levels[w->depth - 1].fd) < 0)
        return err_sys(err, "cannot go back to the directory");
    return 0;
}

/* ---- attributes ---- */

static int add_xattr(struct walk *w, const char *file, const char *name, struct err *err)
{
    buf_truncate(&w->value, 0);
    char *room = buf_reserve(&w->value, XATTR_SIZE_MAX);
    if (!room)
        return err_nomem(err);
    ssize_t size = lgetxattr(file, name, room, XATTR_SIZE_MAX);
    if (size < 0)
        return err_sys(err, "the extended attribute %s", name);
    wire_put_xattr(&w->xattrs, name, room, (size_t)size);
    return 0;
}

/* Sets w->xattrs to those of the file in the working directory. */
static int read_xattrs(struct walk *w, const char *file, struct err *err)
{
    buf_truncate(&w->xattrs, 0);
    buf_truncate(&w->names, 0);
    char *room = buf_reserve(&w->names, XATTR_LIST_MAX);
    if (!room)
        return err_nomem(err);
    ssize_t size = llistxattr(file, room, XATTR_LIST_MAX);
    if (size < 0)
        return errno == ENOTSUP ? 0 : err_sys(err, "its extended attributes");
    for (const char *name = room; name < room + size; name += strlen(name) + 1)
        if (!wire_xattr_is_of_host(name) && add_xattr(w, file, name, err) < 0)
            return -1;
    return buf_check(&w->xattrs, err);
}

/* ---- entries ---- */

static int read_target(const char *file, char target[PATH_MAX], struct err *err)
{
    ssize_t len = readlink(file, target, PATH_MAX - 1);

    if (len < 0)
        return err_sys(err, "cannot read the symbolic link");
    target[len] = '\0';
    return 0;
}

/*
 * Opens a file that has content, and asks the kernel to read its beginning; -2 for another. The
 * walk is ahead of the reader by as many entries as the socket holds, so the disk has many requests
 * at once and chooses their order.
 */
static int open_content(const char *file, const struct stat *st, struct err *err)
{
    if (!S_ISREG(st->st_mode) || st->st_size == 0)
        return -2;
    int fd = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, "cannot open the file");
    (void)!posix_fadvise(fd, 0, READ_AHEAD, POSIX_FADV_WILLNEED);
    return fd;
}

static int send_entry(struct walk *w, const char *file, const struct stat *st, struct err *err)
{
    char target[PATH_MAX];
    struct wire_entry e = {.mode = st->st_mode,
                           .uid = st->st_uid,
                           .gid = st->st_gid,
                           .mtime_nsec = (uint32_t)st->st_mtim.tv_nsec,
                           .mtime = st->st_mtim.tv_sec,
                           .size = S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0,
                           .rdev = st->st_rdev,
                           .path = w->path.data};

    if (!S_ISDIR(st->st_mode) && st->st_nlink > 1 &&
        hard_links_find(&w->links, st, w->path.data, &e.origin, err) < 0)
        return -1;
    if (S_ISLNK(st->st_mode)) {
        if (read_target(file, target, err) < 0)
            return -1;
        e.target = target;
    }
    if (read_xattrs(w, file, err) < 0)
        return -1;
    e.xattrs = w->xattrs.data;
    e.xattrs_size = w->xattrs.len;
    _cleanup_fd_ int fd = e.origin ? -2 : open_content(file, st, err);
    if (fd == -1)
        return -1;
    buf_truncate(&w->message, 0);
    wire_encode_entry(&e, &w->message);
    return wire_send(w->socket, &w->message, fd, err);
}

/*
 * overlayfs lists whiteouts in a directory that only one layer has, but does not find them. Any
 * other name that is listed and not there belongs to a layer that is being removed.
 */
static bool is_whiteout(const struct name *name)
{
    return errno == ENOENT && name->type == DT_CHR;
}

static int walk_entry(struct walk *w, const struct name *name, struct err *err)
{
    const char *file = name->text;
    struct stat st;

    buf_truncate(&w->path, w->levels[w->depth - 1].path_len);
    buf_puts(&w->path, file);
    if (buf_check(&w->path, err) < 0)
        return -1;
    if (lstat(file, &st) < 0)
        return is_whiteout(name) ? 0 : err_sys(err, "cannot read its attributes");
    if (S_ISSOCK(st.st_mode))
        return 0;
    if (send_entry(w, file, &st, err) < 0)
        return -1;
    return S_ISDIR(st.st_mode) ? enter_directory(w, file, err) : 0;
}

static int walk_all(struct walk *w, const char *root, struct err *err)
{
    if (enter_directory(w, root, err) < 0)
        return -1;
    while (w->depth > 0) {
        struct level *l = &w->levels[w->depth - 1];
        int rc =
            l->next < l->count ? walk_entry(w, l->names[l->next++], err) : leave_directory(w, err);
        if (rc < 0)
            return wrap_path(w, err);
    }
    return 0;
}

int walk_tree(int socket, const char *root, struct err *err)
{
    _cleanup_(walk_clear) struct walk w = {.socket = socket};

    return walk_all(&w, root, err);
}

int walk_whole(int socket, struct err *err)
{
    _cleanup_(walk_clear) struct walk w = {.socket = socket};
    struct stat st;

    buf_puts(&w.path, ".");
    if (buf_check(&w.path, err) < 0)
        return -1;
    if (lstat(".", &st) < 0)
        return err_sys(err, "cannot read the attributes of the directory");
    if (send_entry(&w, ".", &st, err) < 0)
        return wrap_path(&w, err);
    buf_truncate(&w.path, 0);
    return walk_all(&w, ".", err);
}
