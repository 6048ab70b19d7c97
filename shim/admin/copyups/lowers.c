#include "shim/admin/copyups/lowers.h"

#include "base/path.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

static const char *const mark_names[2][MARKS] = {
    {"trusted.overlay.opaque", "trusted.overlay.origin", "trusted.overlay.impure",
     "trusted.overlay.redirect", "trusted.overlay.metacopy"},
    {"user.overlay.opaque", "user.overlay.origin", "user.overlay.impure", "user.overlay.redirect",
     "user.overlay.metacopy"},
};

size_t overlay_mark_of(int fd, bool users, enum overlay_mark mark, char *value, size_t size)
{
    ssize_t len = fgetxattr(fd, mark_names[users][mark], value, size);

    return len > 0 ? (size_t)len : 0;
}

bool overlay_mark_at(int dirfd, const char *name, bool users, enum overlay_mark mark)
{
    char path[NAME_MAX + 32];

    /* The first part is a link of the kernel to the open directory; the last is not followed. */
    snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dirfd, name);
    return lgetxattr(path, mark_names[users][mark], NULL, 0) >= 0;
}

bool overlay_whiteout(const struct stat *st)
{
    return S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0);
}

bool lowers_find(const struct lowers *lowers, const char *name, struct stat *st, size_t *layer)
{
    for (size_t i = 0; i < lowers->count; i++) {
        if (fstatat(lowers->list[i].fd, name, st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
            continue;
        *layer = lowers->list[i].layer;
        return !overlay_whiteout(st);
    }
    return false;
}

static bool is_opaque(int fd, bool users)
{
    char value[1];

    return overlay_mark_of(fd, users, MARK_OPAQUE, value, sizeof(value)) == 1 && value[0] == 'y';
}

/* Returns true if layers below this one are still merged: nothing there has the name. */
static bool goes_on(int dirfd, const char *name)
{
    struct stat st;

    return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0;
}

int lowers_enter(const struct lowers *lowers, const char *name, bool users, struct lowers *out,
                 bool *limited, struct err *err)
{
    *out = (struct lowers){0};
    if (lowers->count == 0)
        return 0;
    out->list = calloc(lowers->count, sizeof(*out->list));
    if (!out->list)
        return err_nomem(err);
    for (size_t i = 0; i < lowers->count; i++) {
        int fd = openat(lowers->list[i].fd, name,
                        O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NOATIME);
        if (fd < 0 && errno == EPERM)
            fd = openat(lowers->list[i].fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0) {
            *limited = *limited || errno == EMFILE || errno == ENFILE || errno == EACCES;
            if (errno != ENOENT && !goes_on(lowers->list[i].fd, name))
                break; /* a whiteout or a file ends the merge */
            continue;
        }
        out->list[out->count++] = (struct lower){fd, lowers->list[i].layer};
        if (i + 1 < lowers->count && is_opaque(fd, users))
            break;
    }
    return 0;
}

int lowers_enter_path(const struct lowers *lowers, const char *path, bool users, struct lowers *out,
                      bool *limited, struct err *err)
{
    _cleanup_lowers_ struct lowers here = {0};
    const struct lowers *from = lowers;

    for (;;) {
        char name[NAME_MAX + 1];
        size_t len = strcspn(path, "/");
        struct lowers next;

        *out = (struct lowers){0};
        if (len >= sizeof(name) || !path_component_valid(path, len))
            return 0;
        memcpy(name, path, len);
        name[len] = '\0';
        if (lowers_enter(from, name, users, &next, limited, err) < 0)
            return -1;
        lowers_close(&here);
        here = next;
        from = &here;
        path += len + (path[len] == '/');
        if (!*path) {
            *out = here;
            here = (struct lowers){0};
            return 0;
        }
    }
}

void lowers_close(struct lowers *lowers)
{
    int saved = errno;

    for (size_t i = 0; i < lowers->count; i++)
        close(lowers->list[i].fd);
    free(lowers->list);
    *lowers = (struct lowers){0};
    errno = saved;
}
