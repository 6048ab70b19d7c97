#include "shim/oci/lowlevel.h"

#include "base/buf.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char depth_variable[] = "FLATBED_DEPTH";
enum { MOST_WRAPPERS = 4 };

const char *const lowlevel_defaults[LOWLEVEL_DEFAULTS] = {"runc", "crun"};

static const char *const directories[] = {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
                                          "/usr/bin",        "/sbin",          "/bin"};
enum { DIRECTORIES = sizeof(directories) / sizeof(*directories) };

enum verdict { USABLE, ABSENT, NOT_EXECUTABLE, OURSELVES };

static enum verdict examine_file(const char *path, const struct stat *self)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return ABSENT;
    if (!S_ISREG(st.st_mode) || access(path, X_OK) < 0)
        return NOT_EXECUTABLE;
    if (self->st_ino && st.st_dev == self->st_dev && st.st_ino == self->st_ino)
        return OURSELVES;
    return USABLE;
}

/* Returns the best verdict on a name, and in *out the file that it is about. */
static enum verdict examine_name(const char *name, const struct stat *self, struct lowlevel *out)
{
    enum verdict found = ABSENT;

    if (strchr(name, '/')) {
        snprintf(out->path, sizeof(out->path), "%s", name);
        return name[0] == '/' && strlen(name) < sizeof(out->path) ? examine_file(name, self)
                                                                  : ABSENT;
    }
    for (size_t i = 0; i < DIRECTORIES; i++) {
        int len = snprintf(out->path, sizeof(out->path), "%s/%s", directories[i], name);
        if (len < 0 || (size_t)len >= sizeof(out->path))
            continue;
        enum verdict v = examine_file(out->path, self);
        if (v == USABLE)
            return v;
        if (v != ABSENT)
            found = v;
    }
    return found;
}

int lowlevel_find(const char *const *names, size_t count, struct lowlevel *out, struct err *err)
{
    static const char *const said[] = {"", "not found", "not executable",
                                       "is flatbed-runtime itself"};
    _cleanup_buf_ struct buf tried = BUF_INIT;
    struct stat self;

    if (stat("/proc/self/exe", &self) < 0)
        self.st_ino = 0; /* /proc is not mounted: only the depth counter prevents a circle */
    for (size_t i = 0; i < count; i++) {
        enum verdict v = examine_name(names[i], &self, out);
        if (v == USABLE)
            return 0;
        buf_printf(&tried, "%s%s (%s)", i ? ", " : "", names[i], said[v]);
    }
    return err_set(err, ERR_POLICY, "no low-level runtime: %s; see runtime.paths in the policy",
                   tried.data ? tried.data : "none is named");
}

/* ---- the owner of a container ---- */

static bool has_state(const char *root, const char *id, const char *file)
{
    char path[PATH_MAX];
    int len = snprintf(path, sizeof(path), "%s/%s/%s", root, id, file);

    return len > 0 && (size_t)len < sizeof(path) && access(path, F_OK) == 0;
}

int lowlevel_find_owner(const char *root, int argc, char *const argv[], struct lowlevel *out)
{
    static const struct {
        const char *name, *root, *file;
    } owners[] = {{"runc", "/run/runc", "state.json"}, {"crun", "/run/crun", "status"}};
    struct err ignored;

    for (int i = 0; i < argc; i++) {
        if (argv[i][0] == '-' || argv[i][0] == '.' || strchr(argv[i], '/') || !argv[i][0])
            continue;
        for (size_t o = 0; o < sizeof(owners) / sizeof(*owners); o++)
            if (has_state(root ? root : owners[o].root, argv[i], owners[o].file))
                return lowlevel_find(&owners[o].name, 1, out, &ignored);
    }
    return -1;
}

/* ---- becoming it ---- */

long lowlevel_depth(void)
{
    const char *text = getenv(depth_variable);

    return text ? strtol(text, NULL, 10) : 0;
}

int lowlevel_enter(struct err *err)
{
    long depth = lowlevel_depth();
    char next[24];

    if (depth < 0 || depth >= MOST_WRAPPERS)
        return err_set(err, ERR_POLICY,
                       "flatbed-runtime was started %d times by itself; does the low-level runtime "
                       "lead back here?",
                       MOST_WRAPPERS);
    snprintf(next, sizeof(next), "%ld", depth + 1);
    if (setenv(depth_variable, next, 1) < 0)
        return err_nomem(err);
    return 0;
}

int lowlevel_exec(struct lowlevel *low, int argc, char *const argv[], struct err *err)
{
    _cleanup_free_ char **words = calloc((size_t)argc + 2, sizeof(*words));

    if (!words)
        return err_nomem(err);
    words[0] = low->path;
    for (int i = 0; i < argc; i++)
        words[i + 1] = argv[i];
    execv(low->path, words);
    return err_sys(err, "cannot execute %s", low->path);
}
