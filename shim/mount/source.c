#include "shim/mount/source.h"

#include "base/buf.h"
#include "shim/host/kernel.h"
#include "shim/host/trust.h"
#include "shim/mount/source_make.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_LINKS = 40 }; /* as path_resolution(7) has it */

struct walk {
    const char *path; /* for messages */
    const struct user_ids *user;
    const struct source_directory *directory; /* the start, while out->fd is -1; or NULL */
    struct source *out;
    struct stat dir; /* of the directory that the walk has reached */
    bool at_root;    /* `dir` is "/" */
    struct buf rest; /* the part of the path still to be walked, from `at` */
    size_t at;
    int links;
    struct err *err;
};

void source_close(struct source *source)
{
    cleanup_fd(&source->fd);
    free(source->rest);
    *source = (struct source)SOURCE_INIT;
}

static int walk_fd(const struct walk *w)
{
    return w->out->fd < 0 && w->directory ? w->directory->fd : w->out->fd;
}

static void walk_enter(struct walk *w, int fd, const struct stat *st)
{
    cleanup_fd(&w->out->fd);
    w->out->fd = fd;
    w->dir = *st;
    w->at_root = false;
}

static int walk_enter_root(struct walk *w)
{
    struct stat st;
    _cleanup_fd_ int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(w->err, "/");
    walk_enter(w, steal_fd(&fd), &st);
    w->at_root = true;
    return 0;
}

/* Returns the next component, NUL-terminated in place; NULL at the end. */
static char *next_component(struct walk *w)
{
    char *text = w->rest.data + w->at;

    text += strspn(text, "/");
    if (!*text)
        return NULL;
    size_t len = strcspn(text, "/");
    w->at = (size_t)(text - w->rest.data) + len + (text[len] ? 1 : 0);
    text[len] = '\0';
    return text;
}

static bool may_follow(const struct walk *w, const struct stat *st)
{
    if (w->out->exposed)
        return false;
    return trust_owner_known(st->st_uid) || (w->at_root && trust_owner(st->st_uid));
}

static int walk_follow_link(struct walk *w, int fd, const struct stat *st, const char *name)
{
    char target[PATH_MAX];
    struct buf rest = BUF_INIT;

    if (!may_follow(w, st))
        return err_set(w->err, ERR_POLICY,
                       "%s: '%s' on the way is a symbolic link that not only root could have made; "
                       "it is not followed: name the directory that it leads to",
                       w->path, name);
    w->out->linked = true;
    if (++w->links > MOST_LINKS)
        return err_set(w->err, ERR_POLICY, "%s: too many symbolic links", w->path);
    ssize_t len = readlinkat(fd, "", target, sizeof(target));
    if (len < 0)
        return err_sys(w->err, "%s: '%s'", w->path, name);
    buf_append(&rest, target, (size_t)len);
    buf_printf(&rest, "/%s", w->rest.data + w->at);
    buf_free(&w->rest);
    w->rest = rest;
    w->at = 0;
    if (buf_check(&rest, w->err) < 0)
        return -1;
    return rest.data[0] == '/' ? walk_enter_root(w) : 0;
}

static int walk_missing(struct walk *w, const char *name)
{
    const char *behind = w->rest.data + w->at;

    behind += strspn(behind, "/");
    w->out->missing = true;
    if (w->out->fd < 0)
        w->out->fd = fcntl(walk_fd(w), F_DUPFD_CLOEXEC, 0);
    if (w->out->fd < 0)
        return err_sys(w->err, "%s", w->path);
    w->out->rest = *behind ? strf("%s/%s", name, behind) : strdup(name);
    return w->out->rest ? 0 : err_nomem(w->err);
}

/* Opens a component with O_PATH: as root or, if root is squashed, as the user. -1 and errno. */
static int open_component(struct walk *w, const char *name)
{
    int fd = openat(walk_fd(w), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0 || errno != EACCES || !w->user || w->user->uid == geteuid())
        return fd;
    w->out->searched_as_user = true;
    return as_user_open(w->user, walk_fd(w), name);
}

/*
 * Returns true if only root can replace the entry `fd` of the directory that the walk has reached.
 * A mount on an entry of root may belong to anybody: podman mounts the root of a container with
 * mapped ids in /var/tmp.
 */
static bool is_roots_entry(const struct walk *w, int fd, const char *name, const struct stat *st)
{
    struct stat point;
    int above, here;

    if (trust_entry(&w->dir, st))
        return true;
    return kernel_mount_id(walk_fd(w), &above) == 0 && kernel_mount_id(fd, &here) == 0 &&
           above != here && kernel_stat_mount_point(walk_fd(w), name, &point) == 0 &&
           trust_entry(&w->dir, &point);
}

/* Walks one component. Returns 1 if it does not exist, which ends the walk. */
static int walk_component(struct walk *w, const char *name)
{
    struct stat st;
    _cleanup_fd_ int fd = open_component(w, name);

    if (fd < 0 && errno == ENOENT)
        return walk_missing(w, name) < 0 ? -1 : 1;
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(w->err, "%s: '%s'", w->path, name);
    if (!is_roots_entry(w, fd, name, &st))
        w->out->exposed = true;
    if (S_ISLNK(st.st_mode))
        return walk_follow_link(w, fd, &st, name);
    walk_enter(w, steal_fd(&fd), &st);
    return 0;
}

static int walk_begin(struct walk *w)
{
    if (!w->directory)
        return walk_enter_root(w);
    w->dir = w->directory->st;
    w->out->linked = w->directory->linked;
    return 0;
}

/* Walks `rest`, which is not empty, from `directory`, or from "/" if that is NULL. */
static int walk(const char *path, const struct source_directory *directory, const char *rest,
                const struct user_ids *user, struct source *out, struct err *err)
{
    struct walk w = {.path = path, .user = user, .directory = directory, .out = out, .err = err};
    char *name;
    int rc;

    *out = (struct source)SOURCE_INIT;
    buf_puts(&w.rest, rest);
    rc = buf_check(&w.rest, err);
    if (rc == 0)
        rc = walk_begin(&w);
    while (rc == 0 && (name = next_component(&w)))
        rc = walk_component(&w, name);
    buf_free(&w.rest);
    out->dev = w.dir.st_dev;
    out->ino = w.dir.st_ino;
    out->directory = S_ISDIR(w.dir.st_mode);
    out->regular = S_ISREG(w.dir.st_mode);
    out->character = S_ISCHR(w.dir.st_mode) ? w.dir.st_rdev : 0;
    if (rc < 0)
        source_close(out);
    return rc < 0 ? -1 : 0;
}

int source_look(const char *path, struct source *out, struct err *err)
{
    return walk(path, NULL, path, NULL, out, err);
}

void source_directory_close(struct source_directory *directory)
{
    cleanup_fd(&directory->fd);
    free(directory->path);
    *directory = (struct source_directory)SOURCE_DIRECTORY_INIT;
}

/* Returns true if that directory is open now. One that users could replace is only remembered. */
static bool directory_turn_to(struct source_directory *directory, const char *path, size_t len)
{
    _cleanup_source_ struct source found = SOURCE_INIT;
    struct err ignored;

    if (directory->path && strncmp(directory->path, path, len) == 0 && directory->path[len] == '\0')
        return directory->fd >= 0;
    source_directory_close(directory);
    directory->path = strndup(path, len);
    if (directory->path && source_look(directory->path, &found, &ignored) == 0 && !found.missing &&
        found.directory && !found.exposed && fstat(found.fd, &directory->st) == 0)
        directory->fd = steal_fd(&found.fd);
    directory->linked = found.linked;
    return directory->fd >= 0;
}

static int walk_in(struct source_directory *directory, const char *path,
                   const struct user_ids *user, struct source *out, struct err *err)
{
    const char *slash = directory ? strrchr(path, '/') : NULL;

    if (slash && slash > path && slash[1] &&
        directory_turn_to(directory, path, (size_t)(slash - path)))
        return walk(path, directory, slash + 1, user, out, err);
    return walk(path, NULL, path, user, out, err);
}

int source_look_in(struct source_directory *directory, const char *path, struct source *out,
                   struct err *err)
{
    return walk_in(directory, path, NULL, out, err);
}

int source_find(const char *path, struct source *out, struct err *err)
{
    return source_find_for(path, NULL, out, err);
}

int source_find_for(const char *path, const struct user_ids *user, struct source *out,
                    struct err *err)
{
    return source_find_in(NULL, path, user, out, err);
}

int source_find_in(struct source_directory *directory, const char *path,
                   const struct user_ids *user, struct source *out, struct err *err)
{
    if (walk_in(directory, path, user, out, err) < 0)
        return -1;
    if (out->missing || out->directory || out->regular)
        return 0;
    source_close(out);
    return err_set(err, ERR_POLICY, "%s: neither a directory nor a regular file", path);
}

int source_open_trusted(const char *path)
{
    _cleanup_source_ struct source source = SOURCE_INIT;
    struct err ignored;
    struct stat st;
    char name[64];

    if (source_find(path, &source, &ignored) < 0 || source.missing || source.exposed ||
        !source.regular || fstat(source.fd, &st) < 0 || !trust_closed(&st))
        return -1;
    snprintf(name, sizeof(name), "/proc/self/fd/%d", source.fd);
    return open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

int source_find_or_make(const char *path, const struct source_make *make, struct source *out,
                        struct err *err)
{
    for (int tries = 0; tries < PATH_MAX / 2; tries++) {
        if (source_find_for(path, &make->who, out, err) < 0)
            return -1;
        if (!out->missing)
            return 0;
        int rc = source_make_next(out, make, err);
        source_close(out);
        if (rc < 0)
            return err_wrap(err, "%s", path);
    }
    return err_set(err, ERR_POLICY, "%s: it vanishes as soon as it is made", path);
}
