#include "shim/restack/build/restack_merge.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/fdio.h"
#include "base/hash.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

enum { LIST_BYTES = 64 * 1024 };   /* XATTR_LIST_MAX */
enum { LONGEST = PATH_MAX - 512 }; /* leaves room for the cache's path */

/* ---- names of one directory ---- */

struct name {
    const char *text;
    uint16_t *stack; /* of a directory: the layers that it is merged from */
    uint16_t depth;
    bool directory;
    bool closed; /* the layers below do not show */
};

struct names {
    struct arena arena;
    struct name **list;
    size_t count;
    struct name **slots;
    size_t slot_count; /* a power of two, more than twice `count` */
};

static struct name **slot_of(const struct names *n, const char *text)
{
    size_t at = hash_bytes(text, strlen(text), 0) & (n->slot_count - 1);

    while (n->slots[at] && strcmp(n->slots[at]->text, text) != 0)
        at = (at + 1) & (n->slot_count - 1);
    return &n->slots[at];
}

static int make_room(struct names *n, struct err *err)
{
    enum { FIRST = 64 };
    size_t size = n->slot_count ? n->slot_count * 2 : FIRST;

    if (n->count * 2 < n->slot_count)
        return 0;
    struct name **slots = calloc(size, sizeof(struct name *));
    if (!slots)
        return err_nomem(err);
    free(n->slots);
    n->slots = slots;
    n->slot_count = size;
    for (size_t i = 0; i < n->count; i++)
        *slot_of(n, n->list[i]->text) = n->list[i];
    return 0;
}

/* Returns the entry of a name, and sets *fresh if it is new. NULL without memory. */
static struct name *names_get(struct names *n, const char *text, bool *fresh, struct err *err)
{
    if (make_room(n, err) < 0)
        return NULL;
    struct name **slot = slot_of(n, text);
    *fresh = !*slot;
    if (*slot)
        return *slot;
    n->list = arena_extend(&n->arena, n->list, n->count, sizeof(struct name *));
    struct name *name = arena_alloc(&n->arena, sizeof(*name));
    if (!n->list || !name || !(name->text = arena_strndup(&n->arena, text, strlen(text)))) {
        err_nomem(err);
        return NULL;
    }
    n->list[n->count++] = *slot = name;
    return name;
}

static void names_free(struct names *n)
{
    free(n->slots);
    arena_free(&n->arena);
}

/* ---- directories that are still to be looked into ---- */

struct item {
    struct item *next;
    char *path;
    uint16_t *stack;
    size_t depth;
    bool entered; /* the sink was told all that is in it */
};

static void item_free(struct item *item)
{
    free(item->path);
    free(item->stack);
    free(item);
}

static struct item *item_new(const char *parent, const char *name, const uint16_t *stack,
                             size_t depth, struct err *err)
{
    struct item *item = calloc(1, sizeof(*item));
    bool top = !parent || strcmp(parent, ".") == 0;

    if (!item)
        goto fail;
    item->path = top ? strdup(name) : strf("%s/%s", parent, name);
    item->stack = calloc(depth + 1, sizeof(*stack));
    item->depth = depth;
    if (!item->path || !item->stack)
        goto fail;
    memcpy(item->stack, stack, depth * sizeof(*stack));
    return item;
fail:
    if (item)
        item_free(item);
    err_nomem(err);
    return NULL;
}

/* ---- one directory ---- */

struct merge {
    const struct merge_layers *layers;
    const struct merge_sink *sink;
    void *context;
    struct merge_counts *counts;
    struct item *items; /* the next is first */
    char *attributes;   /* LIST_BYTES */
};

const char *merge_prefix(bool users)
{
    return users ? "user.overlay." : "trusted.overlay.";
}

int merge_path(int fd, const char *path, const char *name, char *out, size_t size, struct err *err)
{
    int len =
        snprintf(out, size, "/proc/self/fd/%d/%s%s%s", fd, path, name ? "/" : "", name ? name : "");

    return len < 0 || (size_t)len >= size
               ? err_set(err, ERR_LIMIT, "a path of more than %d bytes", LONGEST)
               : 0;
}

/* Judges an attribute of the overlay; `own` is its name behind the prefix. */
static int judge_attribute(const char *path, const char *attribute, const char *own, bool *opaque,
                           struct err *err)
{
    static const char *const idle[] = {"origin", "impure", "nlink", "uuid", "upper"};
    char value = 0;

    for (size_t i = 0; i < sizeof(idle) / sizeof(*idle); i++)
        if (strcmp(own, idle[i]) == 0)
            return 0;
    if (strcmp(own, "opaque") == 0) {
        ssize_t len = lgetxattr(path, attribute, &value, 1);
        if (len == 1 && value == 'y') {
            *opaque = true;
            return 0;
        }
    }
    return err_set(err, ERR_UNSUPPORTED, "a layer has the attribute %s, which is not followed here",
                   attribute);
}

/* Judges the overlay's attributes of a directory or file. */
static int judge_attributes(struct merge *m, const char *path, bool *opaque, struct err *err)
{
    const char *prefix = merge_prefix(m->layers->users);
    ssize_t len = llistxattr(path, m->attributes, LIST_BYTES);

    *opaque = false;
    if (len < 0)
        return errno == ENOTSUP ? 0 : err_sys(err, "the attributes of a layer's file");
    for (const char *a = m->attributes; a < m->attributes + len; a += strlen(a) + 1)
        if (strncmp(a, prefix, strlen(prefix)) == 0 &&
            judge_attribute(path, a, a + strlen(prefix), opaque, err) < 0)
            return -1;
    return 0;
}

struct seen {
    const struct item *dir;
    struct names *names;
    size_t position; /* in the directory's stack */
    size_t layer;
    const char *name;
    unsigned char type; /* DT_ */
    bool whiteout;
};

/* Fills in the type if the file system did not, and finds out whether a device is a whiteout. */
static int find_type(struct seen *s, int dirfd, struct err *err)
{
    struct stat st;

    s->whiteout = false;
    if (s->type != DT_UNKNOWN && s->type != DT_CHR)
        return 0;
    if (fstatat(dirfd, s->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return err_sys(err, "a layer's '%s'", s->name);
    s->type = (unsigned char)IFTODT(st.st_mode);
    s->whiteout = S_ISCHR(st.st_mode) && st.st_rdev == 0;
    return 0;
}

static int take_directory(struct merge *m, const struct seen *s, struct name *name, bool opaque,
                          struct err *err)
{
    if (!name->stack) {
        size_t most = s->dir->depth - s->position;
        name->stack = arena_alloc(&s->names->arena, most * sizeof(*name->stack));
        if (!name->stack)
            return err_nomem(err);
        m->counts->directories++;
    }
    name->directory = true;
    name->stack[name->depth++] = (uint16_t)s->layer;
    name->closed = opaque;
    return 0;
}

static int take_file(struct merge *m, const struct seen *s, struct err *err)
{
    m->counts->files++;
    m->counts->lookups += s->position + 1;
    return m->sink ? m->sink->file(m->context, s->dir->path, s->name, s->layer, err) : 0;
}

/* Takes an entry of one layer; the layers above it are done. */
static int take_entry(struct merge *m, const struct seen *s, struct err *err)
{
    char path[PATH_MAX];
    bool fresh, opaque = false;
    struct name *name = names_get(s->names, s->name, &fresh, err);

    if (!name)
        return -1;
    if (name->closed)
        return 0;
    if (s->type == DT_DIR || (fresh && s->type == DT_REG)) {
        int fd = m->layers->fds[s->layer];
        if (merge_path(fd, s->dir->path, s->name, path, sizeof(path), err) < 0 ||
            judge_attributes(m, path, &opaque, err) < 0)
            return -1;
    }
    if (s->type == DT_DIR)
        return take_directory(m, s, name, opaque, err);
    name->closed = true; /* it ends a directory above it, and shows only if nothing is above */
    return fresh && !s->whiteout ? take_file(m, s, err) : 0;
}

static int read_layer(struct merge *m, struct seen *s, struct err *err)
{
    DIR *dir = fd_list_directory(m->layers->fds[s->layer], s->dir->path);
    const struct dirent *e;
    int rc = 0;

    if (!dir)
        return err_sys(err, "a layer's '%s'", s->dir->path);
    errno = 0;
    while (rc == 0 && (e = readdir(dir))) {
        s->name = e->d_name;
        s->type = e->d_type;
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            rc = find_type(s, dirfd(dir), err) < 0 || take_entry(m, s, err) < 0 ? -1 : 0;
        errno = 0;
    }
    if (rc == 0 && errno)
        rc = err_sys(err, "a layer's '%s'", s->dir->path);
    closedir(dir);
    return rc;
}

/* Queues the directories in it. */
static int push_directories(struct merge *m, const struct item *dir, const struct names *names,
                            struct err *err)
{
    for (size_t i = 0; i < names->count; i++) {
        const struct name *name = names->list[i];
        if (!name->directory)
            continue;
        if (strlen(dir->path) + strlen(name->text) > LONGEST)
            return err_set(err, ERR_LIMIT, "a path of more than %d bytes", LONGEST);
        struct item *item = item_new(dir->path, name->text, name->stack, name->depth, err);
        if (!item)
            return -1;
        item->next = m->items;
        m->items = item;
    }
    return 0;
}

static int enter_directory(struct merge *m, struct item *dir, struct err *err)
{
    struct names names = {0};
    struct seen seen = {.dir = dir, .names = &names};
    int rc = m->sink ? m->sink->enter(m->context, dir->path, err) : 0;

    dir->entered = true;
    for (size_t i = 0; rc == 0 && i < dir->depth; i++) {
        seen.position = i;
        seen.layer = dir->stack[i];
        rc = read_layer(m, &seen, err);
    }
    if (rc == 0)
        rc = push_directories(m, dir, &names, err);
    names_free(&names);
    return rc;
}

/* ---- all of it ---- */

/* Queues the root, merged from all layers. */
static int push_root(struct merge *m, struct err *err)
{
    uint16_t stack[sizeof(m->layers->fds) / sizeof(*m->layers->fds)];
    char path[PATH_MAX];
    size_t depth = 0;
    bool opaque = false;

    /* An opaque root hides nothing: the kernel takes all layers that it was given. */
    for (; depth < m->layers->count; depth++) {
        stack[depth] = (uint16_t)depth;
        if (merge_path(m->layers->fds[depth], ".", NULL, path, sizeof(path), err) < 0 ||
            judge_attributes(m, path, &opaque, err) < 0)
            return -1;
    }
    m->items = item_new(NULL, ".", stack, depth, err);
    return m->items ? 0 : -1;
}

static int merge_next(struct merge *m, struct err *err)
{
    struct item *dir = m->items;

    if (!dir->entered)
        return enter_directory(m, dir, err); /* it stays queued behind its directories */
    int rc = m->sink ? m->sink->leave(m->context, dir->path, dir->stack[0], err) : 0;
    m->items = dir->next;
    item_free(dir);
    return rc;
}

int restack_merge(const struct merge_layers *layers, const struct merge_sink *sink, void *context,
                  struct merge_counts *counts, struct err *err)
{
    struct merge m = {.layers = layers, .sink = sink, .context = context, .counts = counts};
    int rc = -1;

    *counts = (struct merge_counts){0};
    m.attributes = malloc(LIST_BYTES);
    if (!m.attributes)
        return err_nomem(err);
    if (push_root(&m, err) == 0)
        for (rc = 0; rc == 0 && m.items;)
            rc = merge_next(&m, err);
    while (m.items) {
        struct item *item = m.items;
        m.items = item->next;
        item_free(item);
    }
    free(m.attributes);
    return rc;
}
