#include "shim/warm/warm_session.h"

#include "base/clock.h"
#include "base/fdio.h"
#include "base/hash.h"
#include "base/path.h"
#include "shim/host/opens.h"
#include "shim/warm/read/residency.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

enum {
    TABLE = 65536, /* a power of 2, more than WARM_FILES */
    MEMORY = 64 * 1024 * 1024,
    LOOKED_AT = 64 * 1024 * 1024, /* bytes of a file */
    LARGE = 16 * 1024 * 1024,
};

int warm_session_begin(struct warm_session *s, const char *root, bool within,
                       struct warm_part *parts, struct err *err)
{
    *s = (struct warm_session){
        .out = within ? "" : root, .parts = parts, .first = -1, .arena = {.limit = MEMORY}};
    s->fd = opens_begin(false, err);
    if (s->fd < 0)
        return -1;
    s->list = arena_alloc(&s->arena, WARM_FILES * sizeof(*s->list));
    s->table = arena_alloc(&s->arena, TABLE * sizeof(*s->table));
    if (!s->list || !s->table)
        return err_nomem(err);
    if (stat(root, &s->root) < 0)
        return err_sys(err, "%s", root);
    return opens_mark(s->fd, root, OPENS_FILE_SYSTEM, false, err);
}

void warm_session_end(struct warm_session *s)
{
    cleanup_fd(&s->fd);
    cleanup_fd(&s->first);
    arena_free(&s->arena);
    s->fd = s->first = -1;
}

/* ---- the container's processes and volumes ---- */

/* Returns the root directory of a process, if it is the container's; else -1. */
static int open_root_of(const struct warm_session *s, pid_t pid)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
    _cleanup_fd_ int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0 || fstat(root, &st) < 0 || st.st_dev != s->root.st_dev ||
        st.st_ino != s->root.st_ino)
        return -1;
    return steal_fd(&root);
}

/* Returns true if the directory is the volume's, or an overlay, as volumes with a pool are. */
static bool is_volume(int fd, const struct warm_part *part)
{
    struct stat here, there;
    struct statfs fs;

    if (fstat(fd, &here) < 0 || fstatfs(fd, &fs) < 0)
        return false;
    return fs.f_type == OVERLAYFS_SUPER_MAGIC ||
           (stat(part->directory, &there) == 0 && here.st_dev == there.st_dev &&
            here.st_ino == there.st_ino);
}

static void mark_volumes(struct warm_session *s, int root)
{
    struct err ignored;
    char link[64];

    for (size_t i = 1; i < s->part_count; i++) {
        struct warm_part *part = &s->parts[i];
        _cleanup_fd_ int fd = part->marked
                                  ? -1
                                  : fd_open_within(root, part->target, O_PATH | O_DIRECTORY,
                                                   RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
        if (fd < 0 || !is_volume(fd, part))
            continue;
        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        part->marked = opens_mark(s->fd, link, OPENS_MOUNT, false, &ignored) == 0;
    }
}

void warm_session_enter(struct warm_session *s, pid_t pid)
{
    if (s->first >= 0)
        return;
    _cleanup_fd_ int root = open_root_of(s, pid);
    if (root < 0)
        return;
    mark_volumes(s, root);
    s->first = (int)syscall(SYS_pidfd_open, pid, 0);
}

bool warm_session_over(const struct warm_session *s)
{
    struct pollfd end = {.fd = s->first, .events = POLLIN};

    return s->first >= 0 && poll(&end, 1, 0) > 0;
}

/* ---- opens ---- */

const char *warm_session_place(const char *path, const char *out, const struct warm_part *parts,
                               size_t count, uint32_t *part)
{
    size_t skip = *out && path_is_beneath(path, out) ? strlen(out) : 0, longest = 0;

    path += skip;
    *part = 0;
    for (uint32_t i = 1; i < count; i++) {
        size_t len = strlen(parts[i].target);
        if (len > longest && path[0] == '/' && path_is_beneath(path, parts[i].target)) {
            longest = len;
            *part = i;
        }
    }
    path += longest;
    return path[0] == '/' && path[1] && !strchr(path, '\n') ? path + 1 : NULL;
}

/* Returns the place in the table where a path is, or belongs. */
static uint32_t *slot_of(const struct warm_session *s, uint32_t part, const char *path)
{
    uint32_t at = (uint32_t)hash_bytes(path, strlen(path), part) & (TABLE - 1);

    for (; s->table[at]; at = (at + 1) & (TABLE - 1)) {
        const struct warm_seen *seen = &s->list[s->table[at] - 1];
        if (seen->part == part && strcmp(seen->path, path) == 0)
            break;
    }
    return &s->table[at];
}

const struct warm_seen *warm_session_find(const struct warm_session *s, uint32_t part,
                                          const char *path)
{
    uint32_t found = *slot_of(s, part, path);

    return found ? &s->list[found - 1] : NULL;
}

static void look_at(int fd, struct warm_seen *out)
{
    struct stat st;

    out->at = clock_ns();
    if (fstat(fd, &st) < 0 || st.st_size <= 0)
        return;
    uint64_t len = st.st_size < LOOKED_AT ? (uint64_t)st.st_size : LOOKED_AT;
    out->early = residency_bytes(fd, 0, len);
    out->blind = st.st_size >= LARGE && out->early >= len / 2;
}

static void take_opened(const struct opened *o, void *ctx)
{
    struct warm_session *s = ctx;
    uint32_t part;
    const char *path = warm_session_place(o->path, s->out, s->parts, s->part_count, &part);

    warm_session_enter(s, o->pid);
    uint32_t *slot = path ? slot_of(s, part, path) : NULL;
    if (!slot || *slot)
        return;
    struct warm_seen *seen = &s->list[s->count];
    const char *copy = s->count < WARM_FILES ? arena_strndup(&s->arena, path, strlen(path)) : NULL;
    if (!copy) {
        s->lost++;
        return;
    }
    *seen = (struct warm_seen){.path = copy, .part = part};
    look_at(o->fd, seen);
    *slot = (uint32_t)++s->count;
}

void warm_session_wait(struct warm_session *s, int also, int ms)
{
    struct pollfd fds[] = {{.fd = s->fd, .events = POLLIN},
                           {.fd = s->first, .events = POLLIN},
                           {.fd = also, .events = POLLIN}};

    if (poll(fds, sizeof(fds) / sizeof(*fds), ms) > 0 && fds[0].revents)
        opens_read(s->fd, take_opened, s, &s->lost);
}
