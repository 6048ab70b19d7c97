#include "shim/gather/targets.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_LINKS = 40 };

/* A walk: where it is, without links, and the rest of the path. */
struct walk {
    int root;
    struct buf at; /* "/proc/sys"; "" is the root */
    struct buf rest;
    int links;
};

static int open_in(int root, const char *path, int flags, unsigned resolve)
{
    struct open_how how = {.flags = (unsigned)flags | O_PATH | O_CLOEXEC,
                           .resolve = resolve | RESOLVE_IN_ROOT};

    return (int)syscall(SYS_openat2, root, *path ? path : ".", &how, sizeof(how));
}

static bool has_parents(const char *path)
{
    for (; (path = strstr(path, "..")) != NULL; path += 2)
        if (path[2] == '\0' || path[2] == '/')
            return true;
    return false;
}

/* If the path is a link, walks its target next. */
static void walk_follow_link(struct walk *w, size_t before)
{
    char target[PATH_MAX];
    _cleanup_fd_ int fd = open_in(w->root, w->at.data, O_NOFOLLOW, RESOLVE_NO_MAGICLINKS);
    ssize_t len = fd < 0 ? -1 : readlinkat(fd, "", target, sizeof(target));
    _cleanup_buf_ struct buf rest = BUF_INIT;

    if (len <= 0 || w->links == MOST_LINKS)
        return;
    w->links++;
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
        walk_follow_link(w, before);
    return !w->at.failed && !w->rest.failed;
}

bool targets_lead(int root, const char *destination, struct buf *out)
{
    struct walk w = {.root = root};

    if (!has_parents(destination)) {
        _cleanup_fd_ int fd = open_in(root, destination, 0, RESOLVE_NO_SYMLINKS);
        if (fd >= 0 || errno != ELOOP)
            return false;
    }
    buf_puts(&w.at, "");
    buf_puts(&w.rest, destination);
    while (walk_component(&w))
        continue;
    out->failed = out->failed || w.at.failed || w.rest.failed;
    buf_puts(out, w.at.len ? w.at.data : "/");
    buf_free(&w.at);
    buf_free(&w.rest);
    return true;
}
