#include "shim/admin/leftovers/gc_sources.h"

#include "base/fdio.h"
#include "base/glob.h"
#include "base/hex.h"
#include "base/path.h"
#include "shim/mount/mounts_of_all.h"
#include "shim/mount/source.h"
#include "shim/policy/template.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { ID_DIGITS = 64, SHORT_DIGITS = 12, MEMORY_LIMIT = 256 * 1024 * 1024 };

struct sweep {
    bool dry;
    time_t now;
    struct arena own;    /* names and paths on the way */
    struct arena *arena; /* of the result */
    const char **mounted;
    size_t mounted_count;
    struct gc_sources *out;
    bool failed; /* without memory */
};

/* ---- names ---- */

/* True for an ID, or a day and the beginning of one, as template values have it. */
static bool is_random_name(const char *name)
{
    return hex_is(name, ID_DIGITS) ||
           (glob_matches("[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]_*", name) &&
            hex_is(name + strlen("YYYY-MM-DD_"), SHORT_DIGITS));
}

/* True for the last component of a source: only the variable, {container} or {container_name}. */
static bool is_containers_part(const char *part)
{
    return strcmp(part, "{container}") == 0 || strcmp(part, "{container_name}") == 0;
}

/* ---- mounts ---- */

static void visit_table(void *context, const struct mount_table *table)
{
    struct sweep *s = context;

    for (size_t i = 0; i < table->count; i++) {
        const char *slash = strrchr(table->list[i].root, '/');
        if (!slash || !is_random_name(slash + 1))
            continue;
        s->mounted = arena_extend(&s->own, s->mounted, s->mounted_count, sizeof(*s->mounted));
        char *name = s->mounted ? arena_strndup(&s->own, slash + 1, strlen(slash + 1)) : NULL;
        if (!name) {
            s->failed = true;
            return;
        }
        s->mounted[s->mounted_count++] = name;
    }
}

static bool is_mounted(const struct sweep *s, const char *name)
{
    for (size_t i = 0; i < s->mounted_count; i++)
        if (strcmp(s->mounted[i], name) == 0)
            return true;
    return false;
}

/* ---- directories ---- */

/* True for an empty directory. */
static bool is_empty(int dirfd, const char *name)
{
    DIR *dir = fd_list_directory(dirfd, name);
    const struct dirent *e;
    bool empty = dir != NULL;

    if (!dir)
        return false;
    while (empty && (e = readdir(dir)))
        empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    closedir(dir);
    return empty;
}

/* Adds a directory that is not empty, for a list of these. NULL: without memory. */
static void keep_full(struct sweep *s, const char *path)
{
    struct gc_sources *out = s->out;

    if (!s->dry)
        return;
    out->full = arena_extend(s->arena, out->full, out->full_count, sizeof(*out->full));
    const char *kept = out->full && path ? arena_strndup(s->arena, path, strlen(path)) : NULL;
    if (kept)
        out->full[out->full_count++] = kept;
    else
        s->failed = true;
}

static void remove_one(struct sweep *s, int dirfd, const char *path, const char *name)
{
    struct stat st;

    if (!is_random_name(name) || is_mounted(s, name) ||
        fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode) ||
        st.st_mtime > s->now - GC_SOURCES_AGE)
        return;
    _cleanup_free_ char *whole = strf("%s/%s", path, name);
    struct gc_sources *out = s->out;
    if (!is_empty(dirfd, name)) {
        keep_full(s, whole);
        return;
    }
    out->paths = arena_extend(s->arena, out->paths, out->count, sizeof(*out->paths));
    const char *kept = out->paths && whole ? arena_strndup(s->arena, whole, strlen(whole)) : NULL;
    if (!kept)
        s->failed = true;
    else if (s->dry || unlinkat(dirfd, name, AT_REMOVEDIR) == 0)
        out->paths[out->count++] = kept;
}

/* Walks the rest of a template, "{user}/{container}", in an open directory. Closes `fd`. */
static void walk(struct sweep *s, int fd, const char *path, const char *rest)
{
    size_t len = strcspn(rest, "/");
    bool last = !rest[len];
    char *glob = template_glob(rest, len, &s->own);
    DIR *dir = fdopendir(fd);
    const struct dirent *e;

    if (!dir)
        close(fd);
    s->failed = s->failed || !glob;
    while (glob && dir && !s->failed && (e = readdir(dir))) {
        if (e->d_name[0] == '.' || !glob_matches_file(glob, e->d_name))
            continue;
        if (last) {
            remove_one(s, dirfd(dir), path, e->d_name);
            continue;
        }
        int below = fd_open_directory(dirfd(dir), e->d_name);
        _cleanup_free_ char *name = strf("%s/%s", path, e->d_name);
        if (below >= 0 && name)
            walk(s, below, name, rest + len + 1);
        else if (below >= 0)
            close(below);
    }
    if (dir)
        closedir(dir);
}

/* Sweeps the sources of a class, from the part of the path that is the same for all containers. */
static void sweep_volume(struct sweep *s, const struct policy_volume *v)
{
    _cleanup_source_ struct source source = SOURCE_INIT;
    const char *text = v->source.text, *brace = strchr(text, '{');
    struct err ignored;

    if (!v->create.wanted || !brace || !is_containers_part(strrchr(text, '/') + 1))
        return;
    while (*brace != '/')
        brace--;
    _cleanup_free_ char *fixed = strndup(text, (size_t)(brace - text));
    s->failed = s->failed || !fixed;
    if (!fixed || source_find(*fixed ? fixed : "/", &source, &ignored) < 0 || source.missing ||
        source.exposed || !source.directory)
        return;
    int fd = openat(source.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        walk(s, fd, fixed, brace + 1);
}

static void sweep_policy(struct sweep *s, const struct policy *policy)
{
    for (size_t i = 0; i < policy->volume_count; i++)
        sweep_volume(s, &policy->volumes[i]);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A dry run finds what two profiles share twice. Returns how many are left, sorted. */
static size_t list_once(const char **list, size_t count)
{
    size_t kept = 0;

    if (count)
        qsort(list, count, sizeof(*list), by_text);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(list[kept - 1], list[i]) != 0)
            list[kept++] = list[i];
    return kept;
}

int gc_sources(const struct policy *policy, bool dry, time_t now, struct arena *arena,
               struct gc_sources *out, struct err *err)
{
    struct sweep s = {
        .dry = dry, .now = now, .own = {.limit = MEMORY_LIMIT}, .arena = arena, .out = out};

    *out = (struct gc_sources){0};
    int rc = mounts_of_all(visit_table, &s, err);
    if (rc == 0 && !s.failed) {
        sweep_policy(&s, policy);
        for (size_t i = 0; i < policy->profile_count; i++)
            sweep_policy(&s, policy->profiles[i].policy);
        out->count = list_once(out->paths, out->count);
        out->full_count = list_once(out->full, out->full_count);
    }
    arena_free(&s.own);
    return rc == 0 && s.failed ? err_nomem(err) : rc;
}
