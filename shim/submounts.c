#include "shim/submounts.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <string.h>

enum { MOUNTINFO_BYTES = 256 * 1024 * 1024, MOUNT_POINT_FIELD = 4 };

/* The next byte of a field, in which white space and backslash are octal (proc(5)). */
static char next_byte(const char **field)
{
    const char *f = *field;

    if (f[0] == '\\' && f[1] >= '0' && f[1] <= '3' && f[2] >= '0' && f[2] <= '7' && f[3] >= '0' &&
        f[3] <= '7') {
        *field += 4;
        return (char)((f[1] - '0') * 64 + (f[2] - '0') * 8 + (f[3] - '0'));
    }
    *field += 1;
    return *f;
}

static bool is_below(const char *field, const char *path)
{
    size_t len = strcmp(path, "/") == 0 ? 0 : strlen(path);

    for (size_t i = 0; i < len; i++)
        if (next_byte(&field) != path[i])
            return false;
    return field[0] == '/' && field[1] != ' ' && field[1] != '\n' && field[1] != '\0';
}

/* The mount point in a line; NULL if there is none. */
static const char *mount_point(const char *line)
{
    for (int i = 0; i < MOUNT_POINT_FIELD; i++) {
        line += strcspn(line, " \n");
        if (*line != ' ')
            return NULL;
        line++;
    }
    return line;
}

bool submounts_listed(const char *mountinfo, const char *path)
{
    for (const char *line = mountinfo; line && *line;) {
        const char *field = mount_point(line);
        if (field && is_below(field, path))
            return true;
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return false;
}

int submounts_find(const struct source *source, bool *out, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    char self[32], path[PATH_MAX];

    *out = false;
    if (!source->directory)
        return 0;
    snprintf(self, sizeof(self), "/proc/self/fd/%d", source->fd);
    ssize_t len = readlink(self, path, sizeof(path));
    if (len < 0)
        return err_sys(err, "%s", self);
    if ((size_t)len == sizeof(path))
        return err_set(err, ERR_LIMIT, "its path is too long");
    path[len] = '\0';
    if (file_read(AT_FDCWD, "/proc/self/mountinfo", MOUNTINFO_BYTES, &text, err) < 0)
        return -1;
    *out = submounts_listed(text.data, path);
    return 0;
}
