#include "base/path.h"

#include <stdlib.h>
#include <string.h>

static void drop_last_component(struct buf *out, size_t start)
{
    size_t len = out->len;

    while (len > start && out->data[len - 1] != '/')
        len--;
    if (len > start)
        len--;
    buf_truncate(out, len);
}

int path_clean(const char *path, size_t len, struct buf *out, struct err *err)
{
    size_t start = out->len, i = 0;

    if (len > PATH_LIMIT)
        return err_set(err, ERR_FORMAT, "path of %zu bytes is too long", len);
    if (memchr(path, '\0', len))
        return err_set(err, ERR_FORMAT, "path contains a NUL byte");
    while (i < len) {
        const char *slash = memchr(path + i, '/', len - i);
        size_t end = slash ? (size_t)(slash - path) : len;
        size_t size = end - i;

        if (size == 2 && memcmp(path + i, "..", 2) == 0) {
            if (out->len == start)
                return err_set(err, ERR_FORMAT, "path leaves its root through '..'");
            drop_last_component(out, start);
        } else if (size > 0 && !(size == 1 && path[i] == '.')) {
            if (out->len > start)
                buf_putc(out, '/');
            buf_append(out, path + i, size);
        }
        i = end + 1;
    }
    buf_append(out, "", 0);
    return buf_check(out, err);
}

bool path_component_valid(const char *name, size_t len)
{
    if (len == 0 || memchr(name, '/', len) || memchr(name, '\0', len))
        return false;
    return !(name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.')));
}

bool path_is_clean_absolute(const char *path)
{
    if (path[0] != '/')
        return false;
    if (path[1] == '\0')
        return true;
    for (const char *p = path + 1;;) {
        size_t len = strcspn(p, "/");
        if (!path_component_valid(p, len))
            return false;
        if (p[len] == '\0')
            return true;
        p += len + 1;
    }
}

bool path_has_parents(const char *path)
{
    for (; (path = strstr(path, "..")) != NULL; path += 2)
        if (path[2] == '\0' || path[2] == '/')
            return true;
    return false;
}

char *path_parent(const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');

    *name = slash ? slash + 1 : path;
    if (!slash)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

size_t path_depth(const char *path)
{
    size_t depth = *path != '\0';

    for (; *path; path++)
        depth += *path == '/';
    return depth;
}

bool path_is_beneath(const char *path, const char *dir)
{
    size_t len = strlen(dir);

    if (len == 0 || (len == 1 && dir[0] == '/'))
        return true;
    return strncmp(path, dir, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

const char *temporary_dir(void)
{
    const char *dir = getenv("TMPDIR");

    return dir && dir[0] == '/' ? dir : "/var/tmp";
}
