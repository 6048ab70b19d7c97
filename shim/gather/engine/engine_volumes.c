#include "shim/gather/engine/engine_volumes.h"

#include "base/fdio.h"
#include "base/path.h"
#include "shim/mount/source.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { CONF_BYTES = 1024 * 1024 };

/* ---- the text ---- */

/* True for the header of the table `engine`. */
static bool is_engine(const char *header)
{
    static const char name[] = "engine";

    header += 1 + strspn(header + 1, " \t");
    if (strncmp(header, name, sizeof(name) - 1) != 0)
        return false;
    header += sizeof(name) - 1;
    return header[strspn(header, " \t")] == ']';
}

/* Returns the value in a line `volume_path = "…"` behind its quote, and its length; NULL for other
 * lines. */
static const char *find_value(const char *line, size_t *len)
{
    static const char key[] = "volume_path";

    if (strncmp(line, key, sizeof(key) - 1) != 0)
        return NULL;
    line += sizeof(key) - 1;
    line += strspn(line, " \t");
    if (*line != '=')
        return NULL;
    line += 1 + strspn(line + 1, " \t");
    if (*line != '"' && *line != '\'')
        return NULL;
    const char quote[] = {*line++, '\n', '\0'};
    *len = strcspn(line, quote);
    return line[*len] == quote[0] ? line : NULL;
}

const char *engine_volumes_read(const char *toml, struct arena *arena)
{
    bool engine = false;

    for (const char *line = toml; line && *line; line = strchr(line, '\n')) {
        size_t len;
        line += strspn(line, "\n");
        line += strspn(line, " \t");
        if (*line == '[')
            engine = is_engine(line);
        const char *value = engine ? find_value(line, &len) : NULL;
        if (!value)
            continue;
        const char *path = arena_strndup(arena, value, len);
        return path && path_is_clean_absolute(path) ? path : NULL;
    }
    return NULL;
}

/* ---- the files ---- */

/* Sets *out if the file names a directory. A file that cannot be read is as none. */
static int read_file(const char *path, struct arena *arena, const char **out, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;
    _cleanup_fd_ int fd = path_is_clean_absolute(path) ? source_open_trusted(path) : -1;

    if (fd < 0 || fd_read_all(fd, CONF_BYTES, &text, &ignored) < 0 || !text.data)
        return buf_check(&text, err);
    const char *found = engine_volumes_read(text.data, arena);
    if (found)
        *out = found;
    return 0;
}

static int is_conf(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');

    return dot && dot != entry->d_name && strcmp(dot, ".conf") == 0;
}

/* Reads the files of a directory in the order of their names: a later one overrides. */
static int read_directory(const char *path, struct arena *arena, const char **out, struct err *err)
{
    struct dirent **entries;
    int count = scandir(path, &entries, is_conf, alphasort), rc = 0;

    for (int i = 0; i < count; i++) {
        _cleanup_free_ char *name = strf("%s/%s", path, entries[i]->d_name);
        if (rc == 0)
            rc = name ? read_file(name, arena, out, err) : err_nomem(err);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return rc;
}

int engine_volumes_find(struct arena *arena, const char **out, struct err *err)
{
    static const char etc[] = "/etc/containers/containers.conf";
    const char *chosen = getenv("CONTAINERS_CONF");

    *out = NULL;
    if (chosen && *chosen)
        return read_file(chosen, arena, out, err);
    if (read_file("/usr/share/containers/containers.conf", arena, out, err) < 0 ||
        read_file(etc, arena, out, err) < 0)
        return -1;
    return read_directory("/etc/containers/containers.conf.d", arena, out, err);
}
