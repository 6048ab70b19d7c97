#include "shim/stage/copy/tree_walk.h"

#include "base/buf.h"
#include "base/fdio.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 128, MIB = 1024 * 1024, FULL_BYTES = 2 * MIB, WAITING_BYTES = 256 * MIB };

/* A piece of work: a directory to read, or some of the names in it. */
struct piece {
    struct piece *next;
    char *directory;  /* path from the top; "." for the top */
    struct buf names; /* each with its NUL; empty: the directory itself */
};

struct walk {
    int top;
    const struct user_ids *user;
    const struct tree_visitor *visitor;

    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct piece *waiting; /* the newest first, so that few wait */
    size_t waiting_bytes;
    const struct piece *taken[TREE_THREADS]; /* by thread; NULL: none */
    unsigned busy;                           /* threads with a piece */
    struct err *err;
    bool failed;
};

/* ---- pieces ---- */

static void free_piece(struct piece *piece)
{
    buf_free(&piece->names);
    free(piece->directory);
    free(piece);
}

static void fail(struct walk *w, const struct err *err)
{
    pthread_mutex_lock(&w->mutex);
    if (!w->failed)
        *w->err = *err;
    w->failed = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->mutex);
}

static bool has_failed(struct walk *w)
{
    pthread_mutex_lock(&w->mutex);
    bool failed = w->failed;
    pthread_mutex_unlock(&w->mutex);
    return failed;
}

/* Returns about how much memory a piece takes: directories without names are most of it. */
static size_t bytes_of(const struct piece *piece)
{
    enum { ALLOCATIONS = 3 * 16 };

    return sizeof(*piece) + ALLOCATIONS + strlen(piece->directory) + piece->names.len;
}

/* Adds a piece; takes the content of `names`, which may be NULL. */
static int push(struct walk *w, const char *directory, struct buf *names, struct err *err)
{
    struct piece *piece = calloc(1, sizeof(*piece));

    if (!piece || !(piece->directory = strdup(directory))) {
        free(piece);
        return err_nomem(err);
    }
    if (names) {
        piece->names = *names;
        *names = (struct buf)BUF_INIT;
    }
    pthread_mutex_lock(&w->mutex);
    w->waiting_bytes += bytes_of(piece);
    bool much = w->waiting_bytes > WAITING_BYTES;
    piece->next = w->waiting;
    w->waiting = piece;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->mutex);
    return much ? err_set(err, ERR_LIMIT, "it has too many names") : 0;
}

static bool is_crowded(const struct walk *w, const struct piece *piece)
{
    for (unsigned i = 0; i < TREE_THREADS; i++)
        if (w->taken[i] && strcmp(w->taken[i]->directory, piece->directory) == 0)
            return true;
    return false;
}

/*
 * Returns the link to the piece that is taken next: of a directory in which no other thread is, as
 * file systems lock a directory for each name that is made, and some for each that is looked up.
 */
static struct piece **choose(struct walk *w)
{
    enum { LOOKED_AT = 64 };
    struct piece **at = &w->waiting;

    for (unsigned i = 0; i < LOOKED_AT && *at; i++, at = &(*at)->next)
        if (!is_crowded(w, *at))
            return at;
    return &w->waiting;
}

static bool is_full(struct walk *w)
{
    pthread_mutex_lock(&w->mutex);
    bool full = w->waiting_bytes > FULL_BYTES;
    pthread_mutex_unlock(&w->mutex);
    return full;
}

/* Returns the next piece for a thread, once there is one; NULL at the end of the walk. */
static struct piece *pop(struct walk *w, unsigned thread)
{
    struct piece *piece = NULL;

    pthread_mutex_lock(&w->mutex);
    while (!w->failed && !w->waiting && w->busy)
        pthread_cond_wait(&w->changed, &w->mutex);
    if (!w->failed && w->waiting) {
        struct piece **link = choose(w);
        piece = *link;
        *link = piece->next;
        w->waiting_bytes -= bytes_of(piece);
        w->taken[thread] = piece;
        w->busy++;
    }
    pthread_mutex_unlock(&w->mutex);
    return piece;
}

static void finish(struct walk *w, unsigned thread, struct piece *piece)
{
    pthread_mutex_lock(&w->mutex);
    w->taken[thread] = NULL;
    w->busy--;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->mutex);
    free_piece(piece);
}

/* ---- reading ---- */

int tree_stat(int dirfd, const char *name, struct statx *out)
{
    return statx(dirfd, name, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_STATX_FORCE_SYNC,
                 STATX_BASIC_STATS, out);
}

/* Opens a directory of the tree, and looks at it. */
static int open_directory(const struct walk *w, const struct tree_thread *t, const char *path,
                          struct statx *st, struct err *err)
{
    static const uint64_t resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;

    if (reader_ids_take(&t->ids) < 0)
        return err_sys(err, "cannot read as the user");
    _cleanup_fd_ int fd = fd_open_within(w->top, path, O_RDONLY | O_DIRECTORY, resolve);
    bool looked = fd >= 0 && tree_stat(fd, "", st) == 0;
    reader_ids_leave(&t->ids);
    if (fd < 0 && errno == EXDEV)
        return err_set(err, ERR_UNSUPPORTED, "another file system is mounted on %s in it", path);
    return looked ? steal_fd(&fd) : err_sys(err, "%s", path);
}

static int stat_as_reader(const struct tree_thread *t, int dirfd, const char *name,
                          struct statx *out)
{
    if (reader_ids_take(&t->ids) < 0)
        return -1;
    int rc = tree_stat(dirfd, name, out);
    reader_ids_leave(&t->ids);
    return rc;
}

static int visit_name(struct walk *w, struct tree_thread *t, const char *directory, int fd,
                      const char *name, struct err *err)
{
    struct tree_entry entry = {.fd = fd, .name = name};
    bool top = strcmp(directory, ".") == 0;
    _cleanup_free_ char *path = top ? strdup(name) : strf("%s/%s", directory, name);

    if (!path)
        return err_nomem(err);
    if (strlen(path) >= PATH_MAX)
        return err_set(err, ERR_UNSUPPORTED, "a path in it has more than %d bytes", PATH_MAX);
    if (stat_as_reader(t, fd, name, &entry.st) < 0)
        return err_sys(err, "%s", path);
    if (S_ISDIR(entry.st.stx_mode))
        return push(w, path, NULL, err);
    entry.path = path;
    return w->visitor->entry(w->visitor->context, t, &entry, err);
}

static int visit_names(struct walk *w, struct tree_thread *t, const struct piece *piece,
                       struct err *err)
{
    struct statx st;
    _cleanup_fd_ int fd = open_directory(w, t, piece->directory, &st, err);

    if (fd < 0)
        return -1;
    for (size_t at = 0; at < piece->names.len; at += strlen(piece->names.data + at) + 1) {
        if (has_failed(w))
            return 0;
        if (visit_name(w, t, piece->directory, fd, piece->names.data + at, err) < 0)
            return -1;
    }
    return 0;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/*
 * Lets some thread visit these names, which it takes. A directory with no end of names must not
 * fill the memory: while many names wait, the thread that reads it visits them itself.
 */
static int hand_out(struct walk *w, struct tree_thread *t, char *path, struct buf *names,
                    struct err *err)
{
    if (buf_check(names, err) < 0)
        return -1;
    if (!is_full(w))
        return push(w, path, names, err);
    const struct piece own = {.directory = path, .names = *names};
    int rc = visit_names(w, t, &own, err);
    buf_truncate(names, 0);
    return rc;
}

/* Hands out the names in a directory. Closes `fd`. */
static int read_names(struct walk *w, struct tree_thread *t, char *path, int fd, struct err *err)
{
    _cleanup_buf_ struct buf names = BUF_INIT;
    DIR *dir = fdopendir(fd);
    const struct dirent *e;
    unsigned count = 0;
    int rc = 0;

    if (!dir) {
        close(fd);
        return err_sys(err, "%s", path);
    }
    errno = 0;
    while (rc == 0 && !has_failed(w) && (e = readdir(dir))) {
        if (is_dots(e->d_name))
            continue;
        buf_append(&names, e->d_name, strlen(e->d_name) + 1);
        if (++count % BATCH == 0)
            rc = hand_out(w, t, path, &names, err);
        errno = 0;
    }
    if (rc == 0 && errno)
        rc = err_sys(err, "%s", path);
    closedir(dir);
    if (rc == 0 && names.len)
        rc = hand_out(w, t, path, &names, err);
    return rc;
}

static int visit_directory(struct walk *w, struct tree_thread *t, char *path, struct err *err)
{
    struct tree_entry entry = {.name = "", .path = path};
    _cleanup_fd_ int fd = open_directory(w, t, path, &entry.st, err);

    entry.fd = fd;
    if (fd < 0 || w->visitor->directory(w->visitor->context, t, &entry, err) < 0)
        return -1;
    return read_names(w, t, path, steal_fd(&fd), err);
}

/* ---- threads ---- */

struct walker {
    struct walk *walk;
    unsigned number;
    pthread_t thread;
};

static void *run_thread(void *argument)
{
    const struct walker *walker = argument;
    struct walk *w = walker->walk;
    struct tree_thread t = {.buffer = malloc(TREE_BUFFER), .kept = -1};
    struct err err = ERR_INIT;
    struct piece *piece;
    int rc = 0;

    if (!t.buffer)
        rc = err_nomem(&err);
    else if (reader_ids_begin(&t.ids, w->user) < 0)
        rc = err_sys(&err, "cannot read as the user %u", (unsigned)w->user->uid);
    while (rc == 0 && (piece = pop(w, walker->number))) {
        rc = piece->names.len ? visit_names(w, &t, piece, &err)
                              : visit_directory(w, &t, piece->directory, &err);
        if (rc < 0)
            fail(w, &err);
        finish(w, walker->number, piece);
    }
    if (rc < 0)
        fail(w, &err);
    cleanup_fd(&t.kept);
    free(t.kept_path);
    free(t.buffer);
    return NULL;
}

int tree_walk(int top, const struct user_ids *user, const struct tree_visitor *visitor,
              struct err *err)
{
    struct walk w = {.top = top, .user = user, .visitor = visitor, .err = err};
    struct walker walkers[TREE_THREADS];
    unsigned started = 0;

    pthread_mutex_init(&w.mutex, NULL);
    pthread_cond_init(&w.changed, NULL);
    int rc = push(&w, ".", NULL, err);
    for (; rc == 0 && started < TREE_THREADS; started++) {
        struct walker *walker = &walkers[started];
        *walker = (struct walker){.walk = &w, .number = started};
        if (pthread_create(&walker->thread, NULL, run_thread, walker) != 0)
            break;
    }
    if (rc == 0 && started == 0)
        rc = err_set(err, ERR_SYSTEM, "no thread can be started");
    for (unsigned i = 0; i < started; i++)
        pthread_join(walkers[i].thread, NULL);
    while (w.waiting) {
        struct piece *next = w.waiting->next;
        free_piece(w.waiting);
        w.waiting = next;
    }
    pthread_cond_destroy(&w.changed);
    pthread_mutex_destroy(&w.mutex);
    return rc < 0 || w.failed ? -1 : 0;
}
