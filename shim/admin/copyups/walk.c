#include "shim/admin/copyups/walk.h"

#include "base/buf.h"
#include "base/path.h"
#include "shim/admin/copyups/extents.h"
#include "shim/admin/copyups/links.h"
#include "shim/admin/copyups/lowers.h"
#include "shim/admin/copyups/names.h"
#include "shim/host/process/patience.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>

/*
 * Paths of containers are no longer than PATH_MAX. A directory with more entries than MANY asks the
 * set of the layers' names first.
 */
enum { DEPTH_MOST = PATH_MAX / 2, BUFFER = 32 * 1024, BUFFER_DEEP = 4096, DEEP = 64, MANY = 512 };
enum { DESCRIPTORS_MOST = 1024 * 1024 };

struct walk {
    const struct walk_input *input;
    struct tally *out;
    struct lowers root; /* the layers; borrowed */
    struct links links;
    struct buf path; /* of the entry, in the container */
    size_t depth;
    bool shares; /* files there can share blocks */
};

/* A directory on the way. */
struct level {
    int fd;
    struct lowers lowers;
    struct names names;
    size_t entries;
    struct tally_directory sum;
};

static int walk_directory(struct walk *w, struct level *level, struct err *err);

/* ---- files ---- */

/* Looks a name up in the layers. */
static bool find_below(struct level *level, const char *name, struct stat *st, size_t *layer)
{
    if (level->lowers.count && level->entries == MANY)
        names_read(&level->names, &level->lowers);
    return names_may_have(&level->names, name) && lowers_find(&level->lowers, name, st, layer);
}

/*
 * Tells a copy from a file that was put in place of another. The kernel marks copies, but not of
 * files with several names (ovl_do_copy_up in fs/overlayfs/copy_up.c), and "user." attributes are
 * for regular files alone.
 */
static enum change change_of(const struct walk *w, const struct level *level, const char *name,
                             const struct stat *st, const struct stat *below)
{
    bool users = w->input->users;

    if ((st->st_mode & S_IFMT) != (below->st_mode & S_IFMT))
        return CHANGE_REPLACED;
    if (below->st_nlink == 1 && !(users && !S_ISREG(st->st_mode)) &&
        !overlay_mark_at(level->fd, name, users, MARK_ORIGIN))
        return CHANGE_REPLACED;
    if (S_ISREG(st->st_mode) && st->st_blocks * 512 < st->st_size &&
        overlay_mark_at(level->fd, name, users, MARK_METACOPY))
        return CHANGE_METADATA;
    return CHANGE_COPIED;
}

static void count_file(struct walk *w, struct level *level, const char *name, const struct stat *st)
{
    struct tally_file file = {.path = w->path.data, .change = CHANGE_NEW};
    struct stat below;

    if (overlay_whiteout(st)) {
        w->out->whiteouts++;
        return;
    }
    if (find_below(level, name, &below, &file.layer))
        file.change = change_of(w, level, name, st, &below);
    if (st->st_nlink == 1 || links_first(&w->links, st->st_dev, st->st_ino)) {
        file.size = S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0;
        file.disk = (uint64_t)st->st_blocks * 512;
        if (w->shares && file.change == CHANGE_COPIED && file.disk)
            file.shared = extents_shared(level->fd, name);
        if (file.shared > file.disk)
            file.shared = file.disk;
    }
    tally_add(w->out, &file);
    tally_directory_add_file(&level->sum, &file);
}

/* ---- directories ---- */

/*
 * Enters the layers' directories that are merged with this one: none for an opaque directory, those
 * of its old name for a renamed one.
 */
static int enter_below(struct walk *w, const struct level *from, const char *name,
                       struct level *level, bool *limited, struct err *err)
{
    bool users = w->input->users;
    char old[PATH_MAX], opaque[1];
    struct stat hidden;
    size_t layer;

    if (overlay_mark_of(level->fd, users, MARK_OPAQUE, opaque, sizeof(opaque)) == 1 &&
        opaque[0] == 'y') {
        /* With some options all new directories have the mark. */
        w->out->opaque += lowers_find(&from->lowers, name, &hidden, &layer);
        return 0;
    }
    size_t len = overlay_mark_of(level->fd, users, MARK_REDIRECT, old, sizeof(old) - 1);
    old[len] = '\0';
    if (old[0] == '/')
        return lowers_enter_path(&w->root, old + 1, users, &level->lowers, limited, err);
    return lowers_enter(&from->lowers, len && path_component_valid(old, len) ? old : name, users,
                        &level->lowers, limited, err);
}

static int open_directory(int dirfd, const char *name)
{
    int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NOATIME);

    if (fd < 0 && errno == EPERM) /* O_NOATIME is for the owner and root */
        fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd;
}

static void level_close(struct level *level)
{
    cleanup_fd(&level->fd);
    lowers_close(&level->lowers);
    names_free(&level->names);
}

/* Returns true if the entry was removed, or replaced by something else, while it was read. */
static bool is_gone(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ELOOP;
}

static int count_directory(struct walk *w, struct level *from, const char *name,
                           const struct stat *st, struct err *err)
{
    _cleanup_(level_close) struct level level = {
        .fd = w->depth < DEPTH_MOST ? open_directory(from->fd, name) : -1};
    bool limited = false;

    if (level.fd < 0) {
        w->out->unread += w->depth >= DEPTH_MOST || !is_gone(errno);
        return 0;
    }
    if (enter_below(w, from, name, &level, &limited, err) < 0)
        return -1;
    w->out->directories++;
    w->out->own += level.lowers.count == 0;
    w->out->disk += (uint64_t)st->st_blocks * 512;
    if (limited) {
        w->out->unread++;
        return 0;
    }
    w->depth++;
    int rc = walk_directory(w, &level, err);
    w->depth--;
    level.sum.path = w->path.data;
    tally_directory_end(w->out, &level.sum);
    tally_directory_add(&from->sum, &level.sum);
    return rc;
}

static int count_entry(struct walk *w, struct level *level, const char *name, struct err *err)
{
    size_t len = w->path.len;
    struct stat st;
    int rc = 0;

    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
        fstatat(level->fd, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
        return 0; /* it vanished */
    w->out->entries++;
    level->entries++;
    buf_putc(&w->path, '/');
    buf_puts(&w->path, name);
    if (buf_check(&w->path, err) < 0)
        return -1;
    if (S_ISDIR(st.st_mode))
        rc = count_directory(w, level, name, &st, err);
    else
        count_file(w, level, name, &st);
    buf_truncate(&w->path, len);
    return rc;
}

static int walk_directory(struct walk *w, struct level *level, struct err *err)
{
    size_t size = w->depth < DEEP ? BUFFER : BUFFER_DEEP;
    _cleanup_free_ char *buffer = malloc(size);
    ssize_t len;

    if (!buffer)
        return err_nomem(err);
    patience_step(w->path.len ? w->path.data : "/");
    while ((len = getdents64(level->fd, buffer, size)) > 0)
        for (ssize_t at = 0; at < len;) {
            const struct dirent64 *e = (const void *)(buffer + at);
            if (count_entry(w, level, e->d_name, err) < 0)
                return -1;
            at += e->d_reclen;
        }
    w->out->unread += len < 0 && !is_gone(errno); /* a removed directory cannot be read */
    return 0;
}

/* ---- the whole ---- */

int walk_upper(const struct walk_input *input, struct tally *out, struct err *err)
{
    char root[] = "/";
    _cleanup_free_ struct lower *layers = calloc(input->layer_count + 1, sizeof(*layers));
    struct walk w = {.input = input, .out = out, .shares = extents_may_share(input->upper)};
    struct level level = {.fd = open_directory(input->upper, "."), .sum = {.path = root}};
    int rc = level.fd < 0 ? err_sys(err, "the upper directory") : 0;

    if (!layers)
        rc = err_nomem(err);
    for (size_t i = 0; layers && i < input->layer_count; i++)
        layers[i] = (struct lower){input->layers[i], i};
    w.root = level.lowers = (struct lowers){layers, input->layer_count};
    patience_begin(input->name, PATIENCE_USUAL);
    if (rc == 0)
        rc = walk_directory(&w, &level, err);
    patience_end();
    if (rc == 0)
        tally_directory_end(out, &level.sum);
    if (rc == 0 && out->failed)
        rc = err_nomem(err);
    cleanup_fd(&level.fd);
    names_free(&level.names);
    links_free(&w.links);
    buf_free(&w.path);
    return rc;
}

void walk_raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max < DESCRIPTORS_MOST ? limit.rlim_max : DESCRIPTORS_MOST;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}
