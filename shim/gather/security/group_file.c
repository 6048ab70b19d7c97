#include "shim/gather/security/group_file.h"

#include "base/fdio.h"
#include "base/path.h"
#include "shim/account/account.h"
#include "shim/gather/targets.h"
#include "shim/host/fd_path.h"
#include "shim/host/trust.h"
#include "shim/host/users/groups.h"
#include "shim/mount/source.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <unistd.h>

enum { FILE_BYTES = 4 * 1024 * 1024, MOST_LINKS = 40 };

static const char group_path[] = "/etc/group";

/* A walk through the container's root. Each step sets `why` where the file is not known. */
struct walk {
    const struct spec *spec;
    int bundle, root;
    struct targets mounts;
    struct buf at;   /* "/etc", without links; "" is the root */
    struct buf rest; /* of the path */
    int links;
    struct buf text; /* of the file */
    struct err why;
};

enum step { STEP_ON, STEP_END, STEP_FAILED };

static enum step fail_changeable(struct walk *w, const char *path)
{
    err_set(&w->why, ERR_POLICY, "users other than root can change %s", path);
    return STEP_FAILED;
}

/* ---- what is mounted ---- */

/* A generated file has the lines of the image's, which it hides. */
static bool is_generated(const struct spec_mount *mount)
{
    return mount->source && strcmp(mount->source, account_sources[ACCOUNT_GROUP]) == 0 &&
           strcmp(mount->destination, account_targets[ACCOUNT_GROUP]) == 0;
}

/* Returns the last mount on the path or above it, or TARGET_ROOT. */
static size_t find_mount(const struct walk *w, const char *path)
{
    for (size_t i = w->mounts.count; i > 0; i--)
        if (path_is_beneath(path, w->mounts.list[i - 1].path) &&
            !is_generated(&w->spec->list[i - 1]))
            return i - 1;
    return TARGET_ROOT;
}

/* Looks for a file or directory of the host, relative to the bundle. False if it is not known. */
static bool find_on_host(struct walk *w, const char *path, struct source *out)
{
    char directory[PATH_MAX] = "";
    _cleanup_buf_ struct buf clean = BUF_INIT;
    struct err ignored;

    if (!path || !*path || path_has_parents(path) ||
        (*path != '/' && fd_path(w->bundle, directory) < 0))
        return false;
    _cleanup_free_ char *whole = strf("%s/%s", directory, path);
    buf_putc(&clean, '/');
    return whole && path_clean(whole, strlen(whole), &clean, &ignored) == 0 && !clean.failed &&
           source_look(clean.data, out, &ignored) == 0 && !out->missing && !out->exposed;
}

/* Returns true for what only root can write to. */
static bool is_roots(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && trust_closed(&st);
}

static enum step read_file(struct walk *w, int fd, const char *path)
{
    struct stat st;

    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && !trust_closed(&st))
        return fail_changeable(w, path);
    if (fd_read_regular(fd, FILE_BYTES, &w->text, &w->why) == 0)
        return STEP_END;
    (void)err_wrap(&w->why, "%s", path);
    return STEP_FAILED;
}

/* Reads the file that is mounted on the path, which is the last one. */
static enum step read_mounted(struct walk *w, size_t i)
{
    _cleanup_source_ struct source source = SOURCE_INIT;
    const char *path = w->spec->list[i].source;

    return find_on_host(w, path, &source) ? read_file(w, source.fd, path)
                                          : fail_changeable(w, path ? path : group_path);
}

/* ---- the container's root ---- */

static enum step follow_link(struct walk *w, int fd, size_t before)
{
    char target[PATH_MAX];
    _cleanup_buf_ struct buf rest = BUF_INIT;
    ssize_t len = readlinkat(fd, "", target, sizeof(target));

    if (len <= 0 || w->links++ == MOST_LINKS)
        return STEP_END; /* the runtime finds no file, either */
    buf_append(&rest, target, (size_t)len);
    buf_printf(&rest, "/%s", w->rest.data);
    buf_truncate(&w->at, target[0] == '/' ? 0 : before);
    buf_truncate(&w->rest, 0);
    buf_append(&w->rest, rest.data, rest.len);
    return STEP_ON;
}

/* Takes the next component off the rest; NULL at its end, or without memory. */
static char *take_component(struct walk *w)
{
    size_t skip = strspn(w->rest.data, "/"), len = strcspn(w->rest.data + skip, "/");
    char *name = len ? strndup(w->rest.data + skip, len) : NULL;

    memmove(w->rest.data, w->rest.data + skip + len, w->rest.len - skip - len + 1);
    w->rest.len -= skip + len;
    return name;
}

/* True if the component at w->at is the last one. */
static bool is_last(const struct walk *w)
{
    return w->rest.data[strspn(w->rest.data, "/")] == '\0';
}

/* Goes to an entry of the directory at w->at. STEP_ON: nothing is mounted there. */
static enum step name_entry(struct walk *w, const char *name)
{
    buf_printf(&w->at, "/%s", name);
    if (w->at.failed || w->rest.failed)
        return STEP_FAILED;
    size_t mount = find_mount(w, w->at.data);
    if (mount != TARGET_ROOT && is_last(w) && w->spec->list[mount].bind &&
        strcmp(w->mounts.list[mount].path, w->at.data) == 0)
        return read_mounted(w, mount);
    if (mount == TARGET_ROOT)
        return STEP_ON;
    err_set(&w->why, ERR_POLICY, "something is mounted on %s", w->mounts.list[mount].path);
    return STEP_FAILED;
}

/*
 * Goes on from what the image does not have: the runtime makes directories for mounts and the
 * working directory, and what is mounted there.
 */
static enum step walk_missing(struct walk *w)
{
    enum step step = STEP_ON;

    if (path_has_parents(w->rest.data)) {
        err_set(&w->why, ERR_POLICY, "its way leads back from %s, which is missing", w->at.data);
        return STEP_FAILED;
    }
    while (step == STEP_ON && !is_last(w)) {
        _cleanup_free_ char *name = take_component(w);
        if (!name)
            return STEP_FAILED;
        step = strcmp(name, ".") == 0 ? STEP_ON : name_entry(w, name);
    }
    return step == STEP_ON ? STEP_END : step;
}

/* Goes from the directory `dir`, which is at w->at, to an entry of it. */
static enum step enter(struct walk *w, int dir, const char *name)
{
    size_t before = w->at.len;
    struct stat st;
    enum step step = name_entry(w, name);

    if (step != STEP_ON)
        return step;
    _cleanup_fd_ int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return walk_missing(w);
    if (fd < 0 || fstat(fd, &st) < 0) {
        (void)err_sys(&w->why, "%s", w->at.data);
        return STEP_FAILED;
    }
    if (S_ISLNK(st.st_mode))
        return follow_link(w, fd, before);
    return is_last(w) ? read_file(w, fd, group_path) : STEP_ON;
}

static enum step walk_on(struct walk *w)
{
    const char *at = w->at.len ? w->at.data : "/";
    _cleanup_fd_ int dir =
        fd_open_within(w->root, at, O_PATH | O_DIRECTORY, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);

    if (dir < 0 && errno == ENOTDIR)
        return STEP_END;
    if (dir < 0 || !is_roots(dir))
        return fail_changeable(w, at);
    _cleanup_free_ char *name = take_component(w);
    if (!name) {
        err_set(&w->why, ERR_FORMAT, "%s: not a regular file", group_path);
        return STEP_FAILED;
    }
    if (strcmp(name, "..") == 0) {
        const char *slash = w->at.len ? strrchr(w->at.data, '/') : NULL;
        buf_truncate(&w->at, slash ? (size_t)(slash - w->at.data) : 0);
        return STEP_ON;
    }
    return strcmp(name, ".") == 0 ? STEP_ON : enter(w, dir, name);
}

/* Finds the text of the file. False if it is not known, with w->why. */
static bool find_text(struct walk *w)
{
    const char *path = json_text(json_path(w->spec->root, "root", "path", NULL));
    _cleanup_source_ struct source root = SOURCE_INIT;
    enum step step = STEP_ON;

    if (!path || !*path) /* runc refuses it, and crun looks up no names */
        return true;
    if (!find_on_host(w, path, &root)) {
        fail_changeable(w, "the container's root, or the way to it");
        return false;
    }
    if (find_mount(w, "/") != TARGET_ROOT) {
        err_set(&w->why, ERR_POLICY, "something is mounted on /");
        return false;
    }
    w->root = root.fd;
    while (step == STEP_ON)
        step = walk_on(w);
    return step == STEP_END;
}

/* ---- all of it ---- */

static bool is_movable(const struct targets *mounts)
{
    for (size_t i = 0; i < mounts->count; i++)
        if (mounts->list[i].foreign && mounts->list[i].content == TARGET_FOREIGN)
            return true;
    return false;
}

static int keep(const struct walk *w, bool found, struct arena *arena, struct group_file *out,
                struct err *err)
{
    if (w->at.failed || w->rest.failed || w->text.failed)
        return err_nomem(err);
    out->movable = is_movable(&w->mounts);
    if (found) {
        group_names_read(w->text.data ? w->text.data : "", w->text.len, &out->names);
        return 0;
    }
    out->problem = arena_strndup(arena, w->why.msg, strlen(w->why.msg));
    return out->problem ? 0 : err_nomem(err);
}

int group_file_gather(const struct spec *spec, int bundle, struct arena *arena,
                      struct group_file *out, struct err *err)
{
    struct walk w = {.spec = spec, .bundle = bundle, .root = -1};
    _cleanup_fd_ int root = targets_root(spec, bundle);

    *out = (struct group_file){0};
    if (targets_find(spec, root, arena, &w.mounts, err) < 0)
        return -1;
    buf_puts(&w.at, "");
    buf_puts(&w.rest, group_path);
    bool found = !w.rest.failed && !w.at.failed && find_text(&w);
    int rc = keep(&w, found, arena, out, err);
    buf_free(&w.at);
    buf_free(&w.rest);
    buf_free(&w.text);
    return rc;
}

bool group_file_allows(const struct group_file *file, uint32_t gid, struct buf *why)
{
    bool named = !file->problem && group_names_have(&file->names, gid);

    if (!file->problem && !named)
        return true;
    buf_puts(why, "the group ");
    group_print(gid, why);
    if (named)
        buf_printf(why,
                   ": the container's %s has another group with the name %u, which the process "
                   "would get instead: take that line out of the file",
                   group_path, (unsigned)gid);
    else
        buf_printf(why,
                   ": it is looked up by name in the container's %s, where it may become another "
                   "group: %s: leave out that group, or what is mounted there",
                   group_path, file->problem);
    return false;
}
