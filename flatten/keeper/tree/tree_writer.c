#include "flatten/keeper/tree/tree_writer.h"

#include "base/fdio.h"
#include "base/files/tree_remove.h"
#include "base/path.h"
#include "flatten/keeper/tree/tree_attributes.h"
#include "flatten/keeper/tree/tree_dirs.h"
#include "flatten/keeper/tree/tree_input.h"
#include "flatten/wire/wire_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The working directory is that of the entry at hand: all calls name a single component, and follow
 * no symbolic link.
 */
struct tree_writer {
    int root;
    struct tree_input input;
    struct tree_attributes attributes;
    struct tree_dirs dirs;
    struct buf message;
    struct buf here; /* the path of the working directory */
    bool entered;    /* `here` is valid */
};

static void tree_writer_clear(struct tree_writer *w)
{
    tree_input_clear(&w->input);
    tree_dirs_clear(&w->dirs);
    buf_free(&w->message);
    buf_free(&w->here);
}

/* Puts the path before the error. Returns -1. */
static int wrap_path(const char *path, struct err *err)
{
    enum { SHOWN = 300 };
    _cleanup_buf_ struct buf shown = BUF_INIT;

    buf_put_printable(&shown, path, strnlen(path, SHOWN));
    return err_wrap(err, "/%s", shown.data ? shown.data : "");
}

/* ---- paths ---- */

/* The reader makes clean paths: another one is an attack. */
static int check_path(const char *path, struct err *err)
{
    for (const char *at = path;;) {
        size_t len = strcspn(at, "/");
        if (!path_component_valid(at, len))
            return err_set(err, ERR_FORMAT, "a path that is not clean");
        if (!at[len])
            return 0;
        at += len + 1;
    }
}

/* Returns the length of as many components of the path as the kernel takes at once. */
static size_t piece_of(const char *path, size_t len)
{
    enum { MOST = 4000 };
    size_t cut = len < MOST ? len : MOST;

    while (cut < len && cut > 0 && path[cut] != '/')
        cut--;
    return cut;
}

/* Opens the directory of that path, from the root, without a symbolic link on the way. */
static int open_beneath(int root, const char *path, size_t len, struct err *err)
{
    int dir = fcntl(root, F_DUPFD_CLOEXEC, 0);

    while (dir >= 0 && len > 0) {
        size_t cut = piece_of(path, len);
        _cleanup_free_ char *piece = strndup(path, cut);
        int next = piece ? fd_open_within(dir, piece, O_PATH | O_DIRECTORY,
                                          RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV)
                         : -1;
        cleanup_fd(&dir);
        dir = next;
        path += cut + (cut < len);
        len -= cut + (cut < len);
    }
    return dir < 0 ? err_sys(err, "cannot open its directory") : dir;
}

/* Returns the length of the longest directory that holds both or is both: a whole path, or 0. */
static size_t common_length(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t same = 0, i = 0;

    for (; i < a_len && i < b_len && a[i] == b[i]; i++)
        if (a[i] == '/')
            same = i;
    bool a_ends = i == a_len || a[i] == '/', b_ends = i == b_len || b[i] == '/';
    return a_ends && b_ends ? i : same;
}

static size_t count_slashes(const char *text, size_t len)
{
    size_t count = 0;

    for (size_t i = 0; i < len; i++)
        count += text[i] == '/';
    return count;
}

/* Leaves so many directories of the tree, which nobody else can move. */
static int climb(size_t levels, struct err *err)
{
    for (; levels > 0; levels--)
        if (chdir("..") < 0)
            return err_sys(err, "cannot leave a directory");
    return 0;
}

/*
 * Changes to the directory of that path from the working directory, if that is near: deep trees
 * would take a time that grows with the square of their depth. Else from the root.
 */
static int change_directory(struct tree_writer *w, const char *path, size_t len, struct err *err)
{
    size_t same = w->entered ? common_length(w->here.data, w->here.len, path, len) : 0;
    size_t up = same > 0 ? count_slashes(w->here.data + same, w->here.len - same) : 0;
    bool near = same > 0 && up <= count_slashes(path, same);
    size_t from = near ? same + (same < len) : 0;

    w->entered = false;
    if (near && climb(up, err) < 0)
        return -1;
    if (near && from == len)
        return 0;
    _cleanup_fd_ int here = near ? open(".", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (near && here < 0)
        return err_sys(err, "cannot open a directory");
    _cleanup_fd_ int dir = open_beneath(near ? here : w->root, path + from, len - from, err);
    if (dir < 0)
        return -1;
    return fchdir(dir) < 0 ? err_sys(err, "cannot enter its directory") : 0;
}

/* Makes the directory that holds `path` the working directory. *name points into the path. */
static int enter_parent(struct tree_writer *w, const char *path, const char **name, struct err *err)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) : 0;

    *name = slash ? slash + 1 : path;
    if (w->entered && w->here.len == len && memcmp(w->here.data, path, len) == 0)
        return 0;
    if (change_directory(w, path, len, err) < 0)
        return -1;
    buf_truncate(&w->here, 0);
    buf_append(&w->here, path, len);
    w->entered = true;
    return buf_check(&w->here, err);
}

/* ---- kinds of entries ---- */

/* Reads the pieces of the content. Holes stay holes. */
static int write_content(struct tree_writer *w, int fd, uint64_t size, struct err *err)
{
    uint64_t at = 0, piece, len = 0;
    bool hole = false;

    while (at < size) {
        if (tree_input_read(&w->input, &piece, sizeof(piece), err) < 0)
            return -1;
        hole = piece & WIRE_TREE_HOLE;
        len = piece & ~WIRE_TREE_HOLE;
        if (len == 0 || len > size - at)
            return err_set(err, ERR_FORMAT, "content beyond the entry's size");
        if (!hole && tree_input_copy(&w->input, fd, at, len, err) < 0)
            return -1;
        at += len;
    }
    return hole && ftruncate(fd, (off_t)size) < 0 ? err_sys(err, "cannot set its size") : 0;
}

static int make_file(struct tree_writer *w, const char *name, struct wire_entry *e, struct err *err)
{
    _cleanup_fd_ int fd =
        openat(AT_FDCWD, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_sys(err, "cannot make the file");
    if (write_content(w, fd, e->size, err) < 0)
        return -1;
    return tree_attributes_set(&w->attributes, name, fd, e, err);
}

static int make_directory(struct tree_writer *w, const char *name, const struct wire_entry *e,
                          struct err *err)
{
    if (mkdirat(AT_FDCWD, name, 0700) < 0)
        return err_sys(err, "cannot make the directory");
    return tree_dirs_add(&w->dirs, e, err);
}

static int make_link(struct tree_writer *w, const char *name, struct wire_entry *e, struct err *err)
{
    const char *slash = strrchr(e->origin, '/');
    size_t len = slash ? (size_t)(slash - e->origin) : 0;

    if (check_path(e->origin, err) < 0)
        return -1;
    _cleanup_fd_ int dir = open_beneath(w->root, e->origin, len, err);
    if (dir < 0)
        return -1;
    if (linkat(dir, slash ? slash + 1 : e->origin, AT_FDCWD, name, 0) < 0) {
        /* The origin may be a device that was left out. */
        if (errno == ENOENT && w->attributes.left_out > 0)
            return 0;
        return err_sys(err, "cannot make the hard link");
    }
    return tree_attributes_update(&w->attributes, name, e, err);
}

static int make_special(struct tree_writer *w, const char *name, struct wire_entry *e,
                        struct err *err)
{
    int rc = S_ISLNK(e->mode) ? symlinkat(e->target ? e->target : "", AT_FDCWD, name)
                              : mknodat(AT_FDCWD, name, (e->mode & S_IFMT) | 0600, e->rdev);

    if (rc < 0 && !S_ISLNK(e->mode) && tree_attributes_leave_out(&w->attributes))
        return 0;
    if (rc < 0)
        return err_sys(err, "cannot make the %s", S_ISLNK(e->mode) ? "symbolic link" : "device");
    return tree_attributes_set(&w->attributes, name, -1, e, err);
}

static int make_entry(struct tree_writer *w, struct wire_entry *e, struct err *err)
{
    const char *name;

    if (check_path(e->path, err) < 0 || enter_parent(w, e->path, &name, err) < 0)
        return -1;
    if (e->origin)
        return make_link(w, name, e, err);
    switch (e->mode & S_IFMT) {
    case S_IFREG:
        return make_file(w, name, e, err);
    case S_IFDIR:
        return make_directory(w, name, e, err);
    case S_IFLNK:
    case S_IFCHR:
    case S_IFBLK:
    case S_IFIFO:
        return make_special(w, name, e, err);
    default:
        return err_set(err, ERR_FORMAT, "a file of an unknown kind");
    }
}

static int take_entry(struct tree_writer *w, struct wire_entry *e, struct err *err)
{
    int rc = strcmp(e->path, WIRE_TREE_ROOT) == 0 && S_ISDIR(e->mode) && !e->origin
                 ? tree_dirs_add(&w->dirs, e, err)
                 : make_entry(w, e, err);

    return rc < 0 ? wrap_path(e->path, err) : 0;
}

/* ---- the end ---- */

static int finish_directory(struct tree_writer *w, struct wire_entry *e, struct err *err)
{
    const char *name;

    if (strcmp(e->path, WIRE_TREE_ROOT) == 0) {
        w->entered = false;
        if (fchdir(w->root) < 0)
            return err_sys(err, "fchdir");
        return tree_attributes_set(&w->attributes, WIRE_TREE_ROOT, -1, e, err);
    }
    if (enter_parent(w, e->path, &name, err) < 0)
        return -1;
    return tree_attributes_set(&w->attributes, name, -1, e, err);
}

/* Directories that no entry describes have an entry of their own; only the root may lack one. */
static int finish_root(const struct tree_writer *w, struct err *err)
{
    return fchmod(w->root, 0755) < 0 ? err_sys(err, "the mode of the directory") : 0;
}

/* Sets attributes of inner directories before those of outer ones; the root comes last. */
static int finish_directories(struct tree_writer *w, struct err *err)
{
    struct wire_entry *root = NULL;

    for (size_t i = w->dirs.count; i-- > 0;) {
        struct wire_entry *e = &w->dirs.list[i];
        if (strcmp(e->path, WIRE_TREE_ROOT) == 0)
            root = e;
        else if (finish_directory(w, e, err) < 0)
            return wrap_path(e->path, err);
    }
    return root ? finish_directory(w, root, err) : finish_root(w, err);
}

/* Forgets all that came before. */
static int start_again(struct tree_writer *w, struct err *err)
{
    w->entered = false;
    w->attributes.left_out = 0;
    tree_dirs_clear(&w->dirs);
    tree_remove_content(w->root, NULL);
    return fchdir(w->root) < 0 ? err_sys(err, "fchdir") : 0;
}

/* Returns 1 after an entry, 0 at the end, or -1. */
static int take_message(struct tree_writer *w, struct err *err)
{
    struct wire_entry e;
    uint32_t len;

    if (tree_input_read(&w->input, &len, sizeof(len), err) < 0)
        return -1;
    if (len == 0)
        return start_again(w, err) < 0 ? -1 : 1;
    if (len > WIRE_TREE_MOST_MESSAGE)
        return err_set(err, ERR_LIMIT, "an entry of %u bytes", len);
    buf_truncate(&w->message, 0);
    char *room = buf_reserve(&w->message, len);
    if (!room)
        return err_nomem(err);
    if (tree_input_read(&w->input, room, len, err) < 0)
        return -1;
    w->message.len = len;
    int rc = wire_decode_entry(&w->message, &e, err);
    return rc > 0 && take_entry(w, &e, err) < 0 ? -1 : rc;
}

int tree_write(int root, int pipe, bool owners, uint64_t *left_out, struct err *err)
{
    _cleanup_(tree_writer_clear) struct tree_writer w = {.root = root,
                                                         .attributes = {.owners = owners}};
    int rc;

    if (tree_input_init(&w.input, pipe, err) < 0)
        return -1;
    while ((rc = take_message(&w, err)) > 0)
        ;
    if (rc < 0 || finish_directories(&w, err) < 0)
        return -1;
    *left_out = w.attributes.left_out;
    return syncfs(root) < 0 ? err_sys(err, "the files cannot be brought to the disk") : 0;
}
