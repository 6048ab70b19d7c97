#include "shim/gather/engine/engine_joined.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { ID_DIGITS = 64, GROUPS_BYTES = 64 * 1024 };

/* Returns the process of "/proc/PID/ns/…", or 0. */
static unsigned read_process(const char *path)
{
    unsigned pid;
    int used = 0;

    return path && sscanf(path, "/proc/%9u/ns/%n", &pid, &used) == 1 && used ? pid : 0;
}

static const char *namespace_path(const struct spec *spec, const char *type)
{
    const struct json *list = json_path(spec->root, "linux", "namespaces", NULL);

    for (size_t i = 0; i < json_count(list); i++) {
        const char *text = json_text(json_get(json_at(list, i), "type"));
        if (text && strcmp(text, type) == 0)
            return json_text(json_get(json_at(list, i), "path"));
    }
    return NULL;
}

bool engine_joins(const struct spec *spec, const char *type)
{
    return read_process(namespace_path(spec, type)) != 0;
}

/* Returns the only ID in the text, however often it is there; NULL if there is none, or another. */
static const char *only_id(const char *text)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = NULL;

    for (text += strcspn(text, digits); *text; text += strcspn(text, digits)) {
        size_t len = strspn(text, digits);
        if (len == ID_DIGITS && found && memcmp(found, text, ID_DIGITS) != 0)
            return NULL;
        if (len == ID_DIGITS)
            found = text;
        text += len;
    }
    return found;
}

int engine_joined_find(const struct spec *spec, const char *type, struct arena *arena,
                       const char **id, struct err *err)
{
    unsigned pid = read_process(namespace_path(spec, type));
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;
    char path[64];

    *id = NULL;
    if (!pid)
        return 0;
    snprintf(path, sizeof(path), "/proc/%u/cgroup", pid);
    if (file_read(AT_FDCWD, path, GROUPS_BYTES, &text, &ignored) < 0 || !text.data)
        return 0;
    const char *found = only_id(text.data);
    if (!found)
        return 0;
    *id = arena_strndup(arena, found, ID_DIGITS);
    return *id ? 0 : err_nomem(err);
}
