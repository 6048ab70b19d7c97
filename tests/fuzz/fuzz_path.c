/*
 * Paths: a path that path_clean accepts is relative, stays below its root, and does not change when
 * cleaned again. A second path for path_is_beneath follows a first newline.
 */
#include "base/path.h"
#include "fuzz.h"

#include <string.h>

/* Components of a clean path are valid, and parted by single slashes. */
static void check_clean(const char *path, size_t len)
{
    must(strlen(path) == len);
    if (len == 0)
        return;
    for (const char *p = path;;) {
        size_t size = strcspn(p, "/");
        must(path_component_valid(p, size));
        if (p[size] == '\0')
            break;
        p += size + 1;
    }
}

/* Returns the depth of a path with "..", or -1 if it leaves its root on the way. */
static long depth_of(const char *path, size_t len)
{
    long depth = 0;

    for (size_t i = 0; i < len && depth >= 0;) {
        size_t end = i;
        while (end < len && path[end] != '/')
            end++;
        if (end - i == 2 && path[i] == '.' && path[i + 1] == '.')
            depth--;
        else if (end > i && !(end - i == 1 && path[i] == '.'))
            depth++;
        i = end + 1;
    }
    return depth;
}

static long components(const char *clean)
{
    long count = clean[0] != '\0';

    for (; *clean; clean++)
        count += *clean == '/';
    return count;
}

static bool cleaned(const char *path, size_t len, struct buf *out)
{
    struct err err = ERR_INIT;
    long depth = depth_of(path, len);
    bool good = len <= PATH_LIMIT && (len == 0 || !memchr(path, '\0', len)) && depth >= 0;

    if (path_clean(path, len, out, &err) < 0) {
        must(!good && err.kind == ERR_FORMAT);
        return false;
    }
    must(good && out->len <= len);
    check_clean(out->data, out->len);
    must(components(out->data) == depth);
    return true;
}

static void check_again(const struct buf *clean)
{
    _cleanup_buf_ struct buf twice = {0};
    _cleanup_buf_ struct buf absolute = {0};
    struct err err = ERR_INIT;

    must(path_clean(clean->data, clean->len, &twice, &err) == 0);
    must(strcmp(twice.data, clean->data) == 0);
    buf_puts(&absolute, "/");
    must(path_clean(clean->data, clean->len, &absolute, &err) == 0);
    must(path_is_clean_absolute(absolute.data));
    must(strcmp(absolute.data + 1, clean->data) == 0);
    must(path_is_beneath(absolute.data, "/") && path_is_beneath(clean->data, clean->data));
}

static bool beneath(const char *path, const char *dir)
{
    _cleanup_buf_ struct buf p = {0}, d = {0};

    if (!*dir)
        return true;
    buf_printf(&p, "%s/", path);
    buf_printf(&d, "%s/", dir);
    return p.len >= d.len && memcmp(p.data, d.data, d.len) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *newline = size ? memchr(text, '\n', size) : NULL;
    size_t len = newline ? (size_t)(newline - text) : size;
    _cleanup_buf_ struct buf a = {0}, b = {0};

    must(path_is_clean_absolute("/"));
    if (!cleaned(text, len, &a))
        return 0;
    check_again(&a);
    if (newline && cleaned(newline + 1, size - len - 1, &b)) {
        must(path_is_beneath(a.data, b.data) == beneath(a.data, b.data));
        must(path_is_beneath(b.data, a.data) == beneath(b.data, a.data));
    }
    return 0;
}
