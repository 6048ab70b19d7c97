#include "shim/restack/cache/chain.h"

#include "base/buf.h"
#include "base/hash.h"
#include "shim/host/fd_path.h"
#include "shim/host/kernel.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static const char heading[] = "flatbed chain 1 ";

/* ---- directories ---- */

/* Returns the path of a directory without symbolic links, in the arena; NULL and errno. */
static const char *resolve_directory(const char *base, const char *path, struct arena *arena)
{
    char real[PATH_MAX];
    _cleanup_fd_ int from = path[0] == '/' ? -1 : open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
    _cleanup_fd_ int fd = openat(from, path, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || fd_path(fd, real) < 0)
        return NULL;
    const char *found = arena_strndup(arena, real, strlen(real));
    if (!found)
        errno = ENOMEM;
    return found;
}

/* Returns the directory two above a clean absolute path; NULL if there is none. */
static const char *two_above(const char *path, struct arena *arena)
{
    size_t len = strlen(path);

    for (int i = 0; i < 2; i++) {
        while (len > 0 && path[len - 1] != '/')
            len--;
        len -= len > 0;
    }
    return len ? arena_strndup(arena, path, len) : NULL;
}

static bool is_relative(const char *path)
{
    return path && path[0] != '/';
}

/* Finds all layers, relative ones from `base`. False if one is not there. */
static bool resolve_layers(const struct layers *layers, const char *base, struct arena *arena,
                           struct chain *out)
{
    out->upper = layers->upper ? resolve_directory(base, layers->upper, arena) : NULL;
    if (layers->upper && !out->upper)
        return false;
    for (size_t i = 0; i < layers->count; i++) {
        out->paths[i] = resolve_directory(base, layers->lower[i], arena);
        if (!out->paths[i])
            return false;
    }
    return true;
}

/*
 * Finds the directory that relative layers start from: Docker and podman have STORE/l/NAME and
 * STORE/ID/diff below STORE/ID/merged; containerd has STORE/N/fs, and an absolute upper directory.
 */
static bool find_base(const struct layers *layers, const char *point, struct arena *arena,
                      struct chain *out)
{
    const char *bases[] = {
        layers->upper && !is_relative(layers->upper) ? two_above(layers->upper, arena) : NULL,
        two_above(point, arena),
    };
    bool needed = is_relative(layers->upper) || is_relative(layers->work);

    for (size_t i = 0; i < layers->count; i++)
        needed |= is_relative(layers->lower[i]);
    if (!needed)
        return resolve_layers(layers, "/", arena, out);
    for (size_t i = 0; i < sizeof(bases) / sizeof(*bases); i++)
        if (bases[i] && resolve_layers(layers, bases[i], arena, out)) {
            out->base = bases[i];
            return true;
        }
    return false;
}

/* ---- what it is known by ---- */

static int describe_layer(const char *path, struct buf *out, struct err *err)
{
    struct timespec born;
    struct stat st;

    if (strchr(path, '\n'))
        return err_set(err, ERR_UNSUPPORTED, "a layer's path has a line break");
    if (lstat(path, &st) < 0 || kernel_birth(path, &born) < 0)
        return err_sys(err, "%s", path);
    if (!S_ISDIR(st.st_mode))
        return err_set(err, ERR_UNSUPPORTED, "%s is not a directory", path);
    buf_printf(out, "%llu %lld.%09ld %lld.%09ld %s\n", (unsigned long long)st.st_ino,
               (long long)born.tv_sec, born.tv_nsec, (long long)st.st_ctim.tv_sec,
               st.st_ctim.tv_nsec, path);
    return 0;
}

int chain_describe(const struct chain *chain, struct arena *arena, const char **record,
                   struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    buf_printf(&text, "%s%s\n", heading, chain->users ? "user" : "trusted");
    for (size_t i = 0; i < chain->count; i++)
        if (describe_layer(chain->paths[i], &text, err) < 0)
            return -1;
    *record = text.failed ? NULL : arena_strndup(arena, text.data, text.len);
    return *record ? 0 : err_nomem(err);
}

/* The key names a directory that other processes look for. Records are compared in any case. */
void chain_key(const char *record, char out[CHAIN_KEY])
{
    size_t len = strlen(record);

    snprintf(out, CHAIN_KEY, "%016llx%016llx",
             (unsigned long long)hash_bytes_by(&hash_key_shared, record, len, 0),
             (unsigned long long)hash_bytes_by(&hash_key_shared, record, len, 1));
}

static int set_identity(struct chain *chain, struct arena *arena, struct err *err)
{
    if (chain_describe(chain, arena, &chain->record, err) < 0)
        return -1;
    chain_key(chain->record, chain->key);
    return 0;
}

/* ---- making ---- */

/* True for STORE/ID-init/diff, which Docker puts above the image for the container at
 * STORE/ID/diff. */
static bool is_containers_layer(const char *lower, const char *upper)
{
    static const char tail[] = "-init/diff";
    size_t len = upper ? strlen(upper) : 0, stem = len > 5 ? len - 5 : 0; /* "/diff" */

    return stem && strcmp(upper + stem, "/diff") == 0 && strncmp(lower, upper, stem) == 0 &&
           strcmp(lower + stem, tail) == 0;
}

int chain_find(const struct layers *layers, const char *point, struct arena *arena,
               struct chain *out, struct err *err)
{
    *out = (struct chain){.users = layers->users};
    out->paths = arena_alloc(arena, (layers->count + 1) * sizeof(*out->paths));
    if (!out->paths)
        return err_nomem(err);
    if (!find_base(layers, point, arena, out))
        return err_set(err, ERR_UNSUPPORTED, "its layers are not found where it names them");
    out->count = layers->count;
    if (out->count && is_containers_layer(out->paths[0], out->upper)) {
        out->own = *out->paths++;
        out->count--;
    }
    if (!out->count)
        return err_set(err, ERR_UNSUPPORTED, "it has no layers");
    return set_identity(out, arena, err);
}

int chain_of_paths(const char *const *paths, size_t count, bool users, struct arena *arena,
                   struct chain *out, struct err *err)
{
    *out = (struct chain){.users = users, .count = count};
    out->paths = arena_alloc(arena, (count + 1) * sizeof(*out->paths));
    if (!out->paths)
        return err_nomem(err);
    if (!count)
        return err_set(err, ERR_USAGE, "no layers");
    for (size_t i = 0; i < count; i++) {
        out->paths[i] = resolve_directory(".", paths[i], arena);
        if (!out->paths[i])
            return err_sys(err, "%s", paths[i]);
    }
    return set_identity(out, arena, err);
}

/* ---- reading ---- */

static size_t count_lines(const char *text)
{
    size_t count = 0;

    for (; (text = strchr(text, '\n')) != NULL; text++)
        count++;
    return count;
}

/* Returns the path that a line of a record ends with; NULL for any other line. */
static const char *line_path(const char *line, struct arena *arena)
{
    size_t len = strcspn(line, "\n"), skip = 0;

    for (int field = 0; field < 3; field++) {
        skip += strspn(line + skip, "-.0123456789");
        if (line[skip] != ' ')
            return NULL;
        skip++;
    }
    return line[skip] == '/' ? arena_strndup(arena, line + skip, len - skip) : NULL;
}

int chain_parse(const char *record, struct arena *arena, struct chain *out, struct err *err)
{
    size_t lines = count_lines(record);
    const char *line = record + strcspn(record, "\n");

    *out = (struct chain){.record = record};
    if (strncmp(record, heading, sizeof(heading) - 1) != 0 || lines < 2 ||
        record[strlen(record) - 1] != '\n')
        return err_set(err, ERR_FORMAT, "not a chain of layers");
    out->users = strncmp(record + sizeof(heading) - 1, "user\n", 5) == 0;
    out->paths = arena_alloc(arena, lines * sizeof(*out->paths));
    if (!out->paths)
        return err_nomem(err);
    for (line++; *line; line += strcspn(line, "\n") + 1) {
        out->paths[out->count] = line_path(line, arena);
        if (!out->paths[out->count++])
            return err_set(err, ERR_FORMAT, "not a chain of layers");
    }
    chain_key(out->record, out->key);
    return 0;
}
