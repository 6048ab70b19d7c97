#include "shim/admin/watch/place.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void place_up(struct buf *path)
{
    if (path->failed || !path->data || path->data[0] != '/')
        return;
    while (path->len > 1 && path->data[path->len - 1] != '/')
        buf_truncate(path, path->len - 1);
    if (path->len > 1)
        buf_truncate(path, path->len - 1);
}

/* Adds a component to a clean absolute path. */
static void add_part(struct buf *path, const char *part, size_t len)
{
    if (len == 0 || (len == 1 && part[0] == '.'))
        return;
    if (len == 2 && memcmp(part, "..", 2) == 0) {
        place_up(path);
        return;
    }
    if (path->len > 1)
        buf_putc(path, '/');
    buf_append(path, part, len);
}

static void add_path(struct buf *path, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "/");
        add_part(path, text, len);
        text += len + (text[len] == '/');
    }
}

void place_join(const char *base, const char *name, struct buf *out)
{
    buf_truncate(out, 0);
    if (*name != '/' && !base) {
        buf_puts(out, PLACE_UNKNOWN);
        return;
    }
    buf_putc(out, '/');
    if (*name != '/')
        add_path(out, base);
    add_path(out, name);
    if (!out->failed && out->len < PATH_MAX)
        return;
    buf_truncate(out, 0);
    buf_puts(out, PLACE_UNKNOWN);
}

const char *place_within(const char *path, const char *prefix)
{
    size_t len = strlen(prefix);

    if (path[0] != '/' || strncmp(path, prefix, len) != 0)
        return NULL;
    return path[len] == '/' ? path + len : path[len] == '\0' ? "/" : NULL;
}

static uint32_t pid_of(const struct watch_record *r)
{
    return (uint32_t)(r->task >> 32);
}

static struct place_kept *slot_of(struct places *places, uint32_t pid, int32_t fd)
{
    return &places->kept[(pid * 31U + (uint32_t)fd) % PLACES_KEPT];
}

/* Keeps the path of a descriptor; NULL or unknown: forgets it. */
static void keep(struct places *places, uint32_t pid, int32_t fd, const char *path)
{
    struct place_kept *kept = slot_of(places, pid, fd);
    char *copy = path && path[0] == '/' ? strdup(path) : NULL;

    free(kept->path);
    *kept = (struct place_kept){pid, fd, copy};
}

/* Reads the link of a descriptor or working directory in /proc. */
static bool read_link(const struct watch_record *r, char out[PATH_MAX])
{
    char path[64];
    ssize_t len;

    if (r->dirfd == AT_FDCWD)
        snprintf(path, sizeof(path), "/proc/%u/cwd", (unsigned)r->task);
    else
        snprintf(path, sizeof(path), "/proc/%u/fd/%d", (unsigned)r->task, (int)r->dirfd);
    len = readlink(path, out, PATH_MAX - 1);
    out[len > 0 ? len : 0] = '\0';
    return len > 0;
}

/* Returns the path of the record's descriptor, or NULL. */
static const char *find_base(struct places *places, const struct watch_record *r)
{
    const struct place_kept *kept = slot_of(places, pid_of(r), r->dirfd);
    char path[PATH_MAX];

    if (kept->path && kept->pid == pid_of(r) && kept->fd == r->dirfd)
        return kept->path;
    if (!read_link(r, path))
        return NULL;
    keep(places, pid_of(r), r->dirfd, place_within(path, places->prefix));
    return kept->path;
}

void place_of(struct places *places, const struct watch_record *record, struct buf *out)
{
    place_join(record->name[0] == '/' ? "/" : find_base(places, record), record->name, out);
}

void place_follow(struct places *places, const struct watch_record *r, const char *path)
{
    if (r->result < 0)
        return;
    if (r->call == WATCH_OPEN)
        keep(places, pid_of(r), (int32_t)r->result, path);
    else if (r->call == WATCH_DUP)
        keep(places, pid_of(r), (int32_t)r->result, find_base(places, r));
    else if (r->call == WATCH_CHDIR)
        keep(places, pid_of(r), AT_FDCWD, path);
    else if (r->call == WATCH_FCHDIR)
        keep(places, pid_of(r), AT_FDCWD, find_base(places, r));
}

void places_free(struct places *places)
{
    for (size_t i = 0; i < PLACES_KEPT; i++)
        free(places->kept[i].path);
}
