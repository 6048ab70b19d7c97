#include "shim/stage/copy/tree_copy.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/hash.h"
#include "shim/stage/copy/file_copy.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MEMORY_LIMIT = 512 * 1024 * 1024, FIRST_SLOTS = 1024 };

/* A directory whose attributes are set at the end, when nothing is made in it any more. */
struct made_directory {
    const char *path;
    struct statx st;
    const char *xattrs; /* as xattrs_read appends them: a default ACL would show in what is made */
    size_t xattrs_len;
};

/* A name of a file that has another name already. */
struct later_link {
    const char *path, *first;
};

/* A slot of the table of files with several names, by inode. */
struct several_names {
    uint64_t inode;
    const char *first; /* NULL: free */
};

struct copy {
    int from, to;
    const struct copy_options *options;
    struct survey survey;

    pthread_mutex_t mutex; /* of all below */
    struct arena arena;
    struct made_directory *directories;
    size_t directory_count;
    struct later_link *links;
    size_t link_count;
    struct several_names *slots;
    size_t slot_count, slots_used;

    uint64_t bytes, files;
    int64_t start, told; /* clock_ms */
};

/* ---- progress and bandwidth ---- */

/* Returns the seconds that this thread must wait to stay within the bandwidth. */
static double tell(struct copy *c, uint64_t bytes, uint64_t files)
{
    enum { TELL_MS = 200 };
    const struct copy_options *o = c->options;
    int64_t now = clock_ms();
    double ahead = 0;

    pthread_mutex_lock(&c->mutex);
    c->bytes += bytes;
    c->files += files;
    if (o->progress && now - c->told >= TELL_MS) {
        c->told = now;
        o->progress(o->context, c->bytes, c->files);
    }
    if (o->bandwidth)
        ahead = (double)c->bytes / (double)o->bandwidth - (double)(now - c->start) / 1000;
    pthread_mutex_unlock(&c->mutex);
    return ahead;
}

static void count_bytes(void *context, uint64_t bytes)
{
    double ahead = tell(context, bytes, 0);

    if (ahead <= 0)
        return;
    struct timespec pause = {.tv_sec = (time_t)ahead};
    pause.tv_nsec = (long)((ahead - (double)pause.tv_sec) * 1e9);
    nanosleep(&pause, NULL);
}

/* ---- what waits for the end ---- */

static int remember_directory(struct copy *c, const struct tree_entry *e, const struct buf *xattrs,
                              struct err *err)
{
    struct made_directory made = {.st = e->st, .xattrs_len = xattrs->len};

    pthread_mutex_lock(&c->mutex);
    made.path = arena_strndup(&c->arena, e->path, strlen(e->path));
    made.xattrs = arena_strndup(&c->arena, xattrs->data ? xattrs->data : "", xattrs->len);
    struct made_directory *list =
        arena_extend(&c->arena, c->directories, c->directory_count, sizeof(*list));
    if (list)
        c->directories = list;
    bool kept = list && made.path && made.xattrs;
    if (kept)
        list[c->directory_count++] = made;
    pthread_mutex_unlock(&c->mutex);
    return kept ? 0 : err_set(err, ERR_LIMIT, "it has too many directories");
}

/* Returns the slot of an inode: the one that has it, or a free one. */
static struct several_names *find_slot(struct several_names *slots, size_t count, uint64_t inode)
{
    size_t i = hash_bytes(&inode, sizeof(inode), 0) & (count - 1);

    while (slots[i].first && slots[i].inode != inode)
        i = (i + 1) & (count - 1);
    return &slots[i];
}

static bool grow_slots(struct copy *c)
{
    size_t count = c->slot_count ? 2 * c->slot_count : FIRST_SLOTS;
    struct several_names *slots;

    if (c->slots_used * 2 < c->slot_count)
        return true;
    slots = arena_alloc(&c->arena, count * sizeof(*slots));
    if (!slots)
        return false;
    for (size_t i = 0; i < c->slot_count; i++)
        if (c->slots[i].first)
            *find_slot(slots, count, c->slots[i].inode) = c->slots[i];
    c->slots = slots;
    c->slot_count = count;
    return true;
}

/* Returns 1 if the file has another name already, to which a link is made at the end. */
static int remember_name(struct copy *c, const char *path, uint64_t inode)
{
    const char *kept = grow_slots(c) ? arena_strndup(&c->arena, path, strlen(path)) : NULL;

    if (!kept)
        return -1;
    struct several_names *slot = find_slot(c->slots, c->slot_count, inode);
    if (!slot->first) {
        *slot = (struct several_names){inode, kept};
        c->slots_used++;
        return 0;
    }
    struct later_link *list = arena_extend(&c->arena, c->links, c->link_count, sizeof(*list));
    if (!list)
        return -1;
    c->links = list;
    list[c->link_count++] = (struct later_link){kept, slot->first};
    return 1;
}

static int is_later_link(struct copy *c, const struct tree_entry *e, struct err *err)
{
    if (e->st.stx_nlink < 2)
        return 0;
    pthread_mutex_lock(&c->mutex);
    int rc = remember_name(c, e->path, e->st.stx_ino);
    pthread_mutex_unlock(&c->mutex);
    return rc < 0 ? err_set(err, ERR_LIMIT, "it has too many hard links") : rc;
}

/* ---- directories ---- */

/*
 * Opens a directory of the copy. No path of several components is used otherwise: a source that
 * shows a directory where it showed a symbolic link would lead out of the copy.
 */
static int open_copy(const struct copy *c, const char *path)
{
    return fd_open_within(c->to, path, O_RDONLY | O_DIRECTORY,
                          RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/* Opens the parent of a path in the copy; sets *name to its last component. */
static int open_parent(const struct copy *c, const char *path, const char **name)
{
    char parent[PATH_MAX];
    const char *slash = strrchr(path, '/');

    *name = slash ? slash + 1 : path;
    if (!slash)
        return open_copy(c, ".");
    snprintf(parent, sizeof(parent), "%.*s", (int)(slash - path), path);
    return open_copy(c, parent);
}

static int read_xattrs_as_reader(const struct tree_thread *t, int fd, struct buf *out,
                                 struct err *err)
{
    if (reader_ids_take(&t->ids) < 0)
        return err_sys(err, "cannot read as the user");
    int rc = xattrs_read(fd, out, err);
    reader_ids_leave(&t->ids);
    return rc;
}

static int make_directory(void *context, struct tree_thread *thread, const struct tree_entry *e,
                          struct err *err)
{
    _cleanup_buf_ struct buf xattrs = BUF_INIT;
    struct copy *c = context;
    const char *name;
    _cleanup_fd_ int parent = open_parent(c, e->path, &name);

    if (parent < 0 || (mkdirat(parent, name, 0700) < 0 && errno != EEXIST))
        return err_sys(err, "%s", e->path);
    if (read_xattrs_as_reader(thread, e->fd, &xattrs, err) < 0)
        return err_wrap(err, "%s", e->path);
    survey_add(&c->survey, e->path, &e->st);
    return remember_directory(c, e, &xattrs, err);
}

/* ---- files ---- */

static bool same_version(const struct statx *a, const struct statx *b)
{
    return a->stx_size == b->stx_size && a->stx_mtime.tv_sec == b->stx_mtime.tv_sec &&
           a->stx_mtime.tv_nsec == b->stx_mtime.tv_nsec &&
           a->stx_ctime.tv_sec == b->stx_ctime.tv_sec &&
           a->stx_ctime.tv_nsec == b->stx_ctime.tv_nsec && a->stx_mode == b->stx_mode;
}

/* True for a file that an interrupted copy had finished: its time is set last. */
static bool is_finished(const struct copy *c, int parent, const char *name, const struct statx *st)
{
    struct statx made;

    return !c->options->fresh && tree_stat(parent, name, &made) == 0 &&
           made.stx_mode == st->stx_mode && made.stx_size == st->stx_size &&
           made.stx_mtime.tv_sec == st->stx_mtime.tv_sec &&
           made.stx_mtime.tv_nsec == st->stx_mtime.tv_nsec;
}

/* Opens the file of the source, and looks at it again: the server tells its state at an open. */
static int open_source(const struct tree_thread *t, const struct tree_entry *e, struct statx *st,
                       struct err *err)
{
    if (reader_ids_take(&t->ids) < 0)
        return err_sys(err, "cannot read as the user");
    _cleanup_fd_ int fd =
        openat(e->fd, e->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool looked = fd >= 0 && tree_stat(fd, "", st) == 0;
    reader_ids_leave(&t->ids);
    if (!looked)
        return err_sys(err, "%s", e->path);
    if (!S_ISREG(st->stx_mode) || !same_version(st, &e->st))
        return err_set(err, ERR_UNSUPPORTED, "%s changed while it was copied", e->path);
    return steal_fd(&fd);
}

/* Makes the file, in place of what an interrupted copy left. */
static int make_file(const struct copy *c, const struct tree_entry *e, int parent)
{
    if (!c->options->fresh && unlinkat(parent, e->name, 0) < 0 && errno != ENOENT)
        return -1;
    return openat(parent, e->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static int copy_regular(struct copy *c, const struct tree_thread *t, const struct tree_entry *e,
                        int parent, struct err *err)
{
    enum { SECTOR = 512 };
    const struct copy_meter meter = {count_bytes, c};
    _cleanup_buf_ struct buf xattrs = BUF_INIT;
    struct statx st, after;
    _cleanup_fd_ int from = open_source(t, e, &st, err);

    if (from < 0)
        return -1;
    _cleanup_fd_ int to = make_file(c, e, parent);
    if (to < 0)
        return err_sys(err, "%s", e->path);
    bool sparse = st.stx_blocks * SECTOR < st.stx_size;
    if (content_copy(from, st.stx_size, sparse, to, t->buffer, TREE_BUFFER, &meter, err) < 0 ||
        read_xattrs_as_reader(t, from, &xattrs, err) < 0 ||
        xattrs_write(to, xattrs.data, xattrs.len, err) < 0)
        return err_wrap(err, "%s", e->path);
    if (tree_stat(from, "", &after) < 0)
        return err_sys(err, "%s", e->path);
    if (!same_version(&st, &after))
        return err_set(err, ERR_UNSUPPORTED, "%s changed while it was copied", e->path);
    return attributes_set(to, &st, err) < 0 ? err_wrap(err, "%s", e->path) : 0;
}

static int copy_symlink(const struct tree_thread *t, const struct tree_entry *e, int parent,
                        struct err *err)
{
    const struct timespec times[2] = {
        {.tv_nsec = UTIME_OMIT},
        {.tv_sec = e->st.stx_mtime.tv_sec, .tv_nsec = e->st.stx_mtime.tv_nsec},
    };
    char target[PATH_MAX];

    if (reader_ids_take(&t->ids) < 0)
        return err_sys(err, "cannot read as the user");
    ssize_t len = readlinkat(e->fd, e->name, target, sizeof(target) - 1);
    reader_ids_leave(&t->ids);
    if (len < 0)
        return err_sys(err, "%s", e->path);
    target[len] = '\0';
    if ((unlinkat(parent, e->name, 0) < 0 && errno != ENOENT) ||
        symlinkat(target, parent, e->name) < 0 ||
        fchownat(parent, e->name, e->st.stx_uid, e->st.stx_gid, AT_SYMLINK_NOFOLLOW) < 0 ||
        utimensat(parent, e->name, times, AT_SYMLINK_NOFOLLOW) < 0)
        return err_sys(err, "%s", e->path);
    return 0;
}

static int copy_fifo(const struct tree_entry *e, int parent, struct err *err)
{
    if ((unlinkat(parent, e->name, 0) < 0 && errno != ENOENT) ||
        mkfifoat(parent, e->name, 0600) < 0)
        return err_sys(err, "%s", e->path);
    _cleanup_fd_ int made = openat(parent, e->name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (made < 0)
        return err_sys(err, "%s", e->path);
    return attributes_set(made, &e->st, err) < 0 ? err_wrap(err, "%s", e->path) : 0;
}

/* Returns the directory in the copy, which the thread keeps for the next entry. */
static int keep_parent(const struct copy *c, struct tree_thread *t, const char *path)
{
    const char *slash = strrchr(path, '/'), *name;
    size_t len = slash ? (size_t)(slash - path) : 0;

    if (t->kept >= 0 && strlen(t->kept_path) == len && memcmp(t->kept_path, path, len) == 0)
        return t->kept;
    cleanup_fd(&t->kept);
    free(t->kept_path);
    t->kept_path = strndup(path, len);
    t->kept = t->kept_path ? open_parent(c, path, &name) : -1;
    return t->kept;
}

static int copy_entry(struct copy *c, struct tree_thread *t, const struct tree_entry *e,
                      struct err *err)
{
    int later = is_later_link(c, e, err);

    if (later > 0)
        tell(c, e->st.stx_size, 0);
    if (later)
        return later < 0 ? -1 : 0;
    int parent = keep_parent(c, t, e->path);
    if (parent < 0)
        return err_sys(err, "%s", e->path);
    switch (e->st.stx_mode & S_IFMT) {
    case S_IFREG:
        if (!is_finished(c, parent, e->name, &e->st))
            return copy_regular(c, t, e, parent, err);
        tell(c, e->st.stx_size, 0);
        return 0;
    case S_IFLNK:
        return copy_symlink(t, e, parent, err);
    case S_IFIFO:
        return copy_fifo(e, parent, err);
    default:
        return 0; /* left out */
    }
}

static int visit_entry(void *context, struct tree_thread *thread, const struct tree_entry *entry,
                       struct err *err)
{
    struct copy *c = context;

    if (copy_entry(c, thread, entry, err) < 0)
        return -1;
    survey_add(&c->survey, entry->path, &entry->st);
    tell(c, 0, 1);
    return 0;
}

/* ---- the end ---- */

static int make_link(const struct copy *c, const struct later_link *link, struct err *err)
{
    const char *name, *first_name;
    _cleanup_fd_ int parent = open_parent(c, link->path, &name);
    _cleanup_fd_ int first = parent < 0 ? -1 : open_parent(c, link->first, &first_name);

    if (first < 0 || (unlinkat(parent, name, 0) < 0 && errno != ENOENT) ||
        linkat(first, first_name, parent, name, 0) < 0)
        return err_sys(err, "%s", link->path);
    return 0;
}

static int make_links(const struct copy *c, struct err *err)
{
    for (size_t i = 0; i < c->link_count; i++)
        if (make_link(c, &c->links[i], err) < 0)
            return -1;
    return 0;
}

static int finish_directories(const struct copy *c, struct err *err)
{
    for (size_t i = 0; i < c->directory_count; i++) {
        const struct made_directory *d = &c->directories[i];
        _cleanup_fd_ int fd = open_copy(c, d->path);
        if (fd < 0)
            return err_sys(err, "%s", d->path);
        if (xattrs_write(fd, d->xattrs, d->xattrs_len, err) < 0 ||
            attributes_set(fd, &d->st, err) < 0)
            return err_wrap(err, "%s", d->path);
    }
    return 0;
}

int tree_copy(int from, int to, const struct copy_options *options, struct stage_totals *out,
              struct err *err)
{
    struct copy c = {.from = from, .to = to, .options = options, .arena = {.limit = MEMORY_LIMIT}};
    const struct tree_visitor visitor = {make_directory, visit_entry, &c};

    c.start = clock_ms();
    pthread_mutex_init(&c.mutex, NULL);
    survey_begin(&c.survey);
    int rc = tree_walk(from, options->user, &visitor, err);
    survey_end(&c.survey, out);
    if (rc == 0 && (make_links(&c, err) < 0 || finish_directories(&c, err) < 0))
        rc = -1;
    pthread_mutex_destroy(&c.mutex);
    arena_free(&c.arena);
    return rc;
}
