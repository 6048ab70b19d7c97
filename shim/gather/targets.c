#include "shim/gather/targets.h"

#include "base/fdio.h"
#include "base/path.h"
#include "shim/gather/target_index.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <unistd.h>

/* Links, as for the kernel; bytes of their targets on one way: each byte costs time of root's. */
enum { MOST_LINKS = 40, MOST_BYTES = 4 * PATH_MAX };

/* A walk: where it is, without links, and the rest of the path. */
struct walk {
    int root;
    const struct target *list; /* of the earlier mounts */
    const struct target_index *earlier;
    struct buf at; /* "/proc/sys"; "" is the root */
    struct buf rest;
    int links;
    size_t bytes; /* of the targets of these links */
    bool foreign; /* it was in a mount with foreign content */
    bool lost;    /* it was given up: a runtime could go on */
};

static int open_in(int root, const char *path, int flags, unsigned resolve)
{
    return fd_open_within(root, *path ? path : ".", (unsigned)flags | O_PATH,
                          resolve | RESOLVE_IN_ROOT);
}

/* ---- the walk ---- */

/* If the path is a link, walks its target next. */
static void walk_follow_link(struct walk *w, size_t before)
{
    char target[PATH_MAX];
    _cleanup_fd_ int fd = open_in(w->root, w->at.data, O_NOFOLLOW, RESOLVE_NO_MAGICLINKS);
    _cleanup_buf_ struct buf rest = BUF_INIT;

    if (fd < 0) {
        w->lost = errno != ENOENT && errno != ENOTDIR;
        return;
    }
    ssize_t len = readlinkat(fd, "", target, sizeof(target));
    if (len <= 0) /* no link */
        return;
    w->bytes += (size_t)len;
    w->lost = w->links++ == MOST_LINKS || len == sizeof(target) || w->bytes > MOST_BYTES;
    buf_append(&rest, target, (size_t)len);
    buf_printf(&rest, "/%s", w->rest.data);
    buf_truncate(&w->at, target[0] == '/' ? 0 : before);
    buf_truncate(&w->rest, 0);
    buf_append(&w->rest, rest.data, rest.len);
    w->rest.failed = w->rest.failed || rest.failed;
}

static size_t parent_of(const struct buf *at)
{
    const char *slash = at->len ? strrchr(at->data, '/') : NULL;

    return slash ? (size_t)(slash - at->data) : 0;
}

/* True for a path in the directory of a process, such as /proc/self/root. */
static bool is_in_process(const struct target *list, size_t within, const char *path)
{
    if (within == TARGET_ROOT || !list[within].proc)
        return false;
    const char *rest = path + strlen(list[within].path);
    rest += strspn(rest, "/");
    size_t len = strcspn(rest, "/");
    return rest[len] == '/' &&
           (strspn(rest, "0123456789") == len || strncmp(rest, "self/", 5) == 0 ||
            strncmp(rest, "thread-self/", 12) == 0);
}

/* Looks at the component that the walk came to. */
static void walk_look(struct walk *w, size_t before)
{
    const struct target_above above = target_index_above(w->earlier, w->at.data);

    w->foreign = w->foreign || above.foreign;
    w->lost = is_in_process(w->list, above.within, w->at.data);
    if (!w->lost && !above.hidden)
        walk_follow_link(w, before);
}

/* Walks one component. False at the end, or without memory. */
static bool walk_component(struct walk *w)
{
    size_t skip = strspn(w->rest.data, "/"), before = w->at.len;
    size_t len = strcspn(w->rest.data + skip, "/");
    _cleanup_free_ char *name = strndup(w->rest.data + skip, len);
    _cleanup_free_ char *rest = strdup(w->rest.data + skip + len);

    if (!name || !rest)
        w->rest.failed = true;
    if (w->rest.failed || !*name)
        return false;
    buf_truncate(&w->rest, 0);
    buf_puts(&w->rest, rest);
    if (strcmp(name, "..") == 0)
        buf_truncate(&w->at, parent_of(&w->at));
    else if (strcmp(name, ".") != 0)
        buf_printf(&w->at, "/%s", name);
    if (w->at.len > before && !w->at.failed && !w->rest.failed)
        walk_look(w, before);
    return !w->at.failed && !w->rest.failed && !w->lost;
}

/* Returns true if the root has no link on the way, so that the path leads where it says. */
static bool leads_straight(int root, const char *path)
{
    if (path_has_parents(path))
        return false;
    _cleanup_fd_ int fd = root < 0 ? -1 : open_in(root, path, 0, RESOLVE_NO_SYMLINKS);
    return fd >= 0 || root < 0 || errno == ENOENT || errno == ENOTDIR;
}

/* ---- all targets ---- */

/* proc has links that lead back to the root: /proc/self/root, /proc/self/cwd. */
static enum target_content content_of(const struct spec_mount *mount)
{
    static const char *const empty[] = {"sysfs",  "tmpfs",  "ramfs",  "devpts",
                                        "mqueue", "cgroup", "cgroup2"};

    if (spec_has_option(mount->options, "remount"))
        return TARGET_OF_ROOT;
    for (size_t i = 0; !mount->bind && mount->type && i < sizeof(empty) / sizeof(*empty); i++)
        if (strcmp(mount->type, empty[i]) == 0)
            return spec_has_option(mount->options, "tmpcopyup") ? TARGET_OF_ROOT : TARGET_EMPTY;
    return TARGET_FOREIGN;
}

/* Sets what is on and above the target's path. */
static void set_above(const struct target_index *earlier, struct target *out)
{
    const struct target_above above = target_index_above(earlier, out->path);

    out->covers = above.covers;
    out->within = above.within;
    out->foreign = out->foreign || above.foreign;
}

static int lose(const char *written, struct err *err)
{
    return err_set(
        err, ERR_FORMAT,
        "where %.200s leads cannot be told: more than %d symbolic links, a path or links "
        "that are too long, or a directory of a process",
        written, MOST_LINKS);
}

/* Finds where `written` leads, of which `clean` is the clean form. */
static int find_lead(const char *written, const char *clean, int root, const struct target *list,
                     const struct target_index *earlier, struct arena *arena, struct target *out,
                     struct err *err)
{
    struct walk w = {.root = root, .list = list, .earlier = earlier};

    out->path = clean;
    if (leads_straight(root, written)) {
        set_above(earlier, out);
        return is_in_process(list, out->within, clean) ? lose(written, err) : 0;
    }
    buf_puts(&w.at, "");
    buf_puts(&w.rest, written);
    while (walk_component(&w))
        continue;
    bool failed = w.at.failed || w.rest.failed;
    out->path =
        failed ? NULL : arena_strndup(arena, w.at.len ? w.at.data : "/", w.at.len + !w.at.len);
    buf_free(&w.at);
    buf_free(&w.rest);
    if (w.lost)
        return lose(written, err);
    if (!out->path)
        return err_nomem(err);
    set_above(earlier, out);
    out->foreign = w.foreign;
    return 0;
}

static int find_target(const struct spec_mount *mount, int root, const struct target *list,
                       const struct target_index *earlier, struct arena *arena, struct target *out,
                       struct err *err)
{
    const char *written = json_text(json_get(mount->entry, "destination"));

    *out = (struct target){.content = content_of(mount),
                           .proc = mount->type && strcmp(mount->type, "proc") == 0};
    if (find_lead(written, mount->destination, root, list, earlier, arena, out, err) == 0)
        return 0;
    if (err->kind == ERR_FORMAT)
        err->kind = ERR_POLICY;
    return err_wrap(err, "mounts");
}

int targets_lead(const struct targets *mounts, int root, const char *path, struct arena *arena,
                 struct target *out, struct err *err)
{
    _cleanup_buf_ struct buf clean = BUF_INIT;
    struct target_index index;

    *out = (struct target){.content = TARGET_OF_ROOT};
    if (target_index_init(&index, mounts->count, arena, err) < 0)
        return -1;
    for (size_t i = 0; i < mounts->count; i++)
        target_index_add(&index, &mounts->list[i], i);
    buf_putc(&clean, '/');
    if (path_clean(path, strlen(path), &clean, err) < 0)
        return -1;
    const char *copy = arena_strndup(arena, clean.data, clean.len);
    return copy ? find_lead(path, copy, root, mounts->list, &index, arena, out, err)
                : err_nomem(err);
}

int targets_root(const struct spec *spec, int bundle)
{
    const char *path = json_text(json_path(spec->root, "root", "path", NULL));

    return path && *path ? openat(bundle, path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
}

int targets_find(const struct spec *spec, int root, struct arena *arena, struct targets *out,
                 struct err *err)
{
    struct target_index index;

    *out =
        (struct targets){.list = arena_alloc(arena, (spec->mount_count + 1) * sizeof(*out->list))};
    if (!out->list)
        return err_nomem(err);
    if (target_index_init(&index, spec->mount_count, arena, err) < 0)
        return -1;
    for (; out->count < spec->mount_count; out->count++) {
        struct target *target = &out->list[out->count];
        if (find_target(&spec->list[out->count], root, out->list, &index, arena, target, err) < 0)
            return -1;
        target_index_add(&index, target, out->count);
    }
    return 0;
}
