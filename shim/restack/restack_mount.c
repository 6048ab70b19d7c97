#include "shim/restack/restack_mount.h"

#include "base/fdio.h"
#include "shim/mount/overlay.h"
#include "shim/restack/restack_trust.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

enum { OPTION_BYTES = 4095 }; /* of mount(2): a page with its NUL */

/* An attribute of the work directory, which stays with the upper one: the root was restacked
 * before. */
static const char mark[] = "trusted.flatbed.restacked";

static const struct {
    const char *name;
    unsigned long flag;
} mount_flags[] = {
    {"rw", 0},
    {"nosuid", MS_NOSUID},
    {"nodev", MS_NODEV},
    {"noexec", MS_NOEXEC},
    {"noatime", MS_NOATIME},
    {"nodiratime", MS_NODIRATIME},
    {"relatime", MS_RELATIME},
    {"strictatime", MS_STRICTATIME},
    {"nosymfollow", 256}, /* MS_NOSYMFOLLOW, Linux 5.10 */
};

/* Translates "rw,nosuid,relatime" to flags of mount(2). False if an option is not known. */
static bool read_flags(const char *options, unsigned long *out)
{
    *out = 0;
    while (*options) {
        size_t len = strcspn(options, ","), i = 0,
               count = sizeof(mount_flags) / sizeof(*mount_flags);
        while (i < count && (strlen(mount_flags[i].name) != len ||
                             strncmp(mount_flags[i].name, options, len) != 0))
            i++;
        if (i == count)
            return false;
        *out |= mount_flags[i].flag;
        options += len + (options[len] == ',');
    }
    return true;
}

/* ---- checks ---- */

/* True if the overlay module turns the feature on for mounts that do not mention it. */
static bool is_default(enum layers_feature feature)
{
    _cleanup_buf_ struct buf value = BUF_INIT;
    _cleanup_free_ char *path =
        strf("/sys/module/overlay/parameters/%s", layers_feature_names[feature]);
    struct err ignored;

    return path && file_read(AT_FDCWD, path, 16, &value, &ignored) == 0 && value.len &&
           value.data[0] == 'Y';
}

static int set_why(const char **why, struct arena *arena, struct err *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static int set_why(const char **why, struct arena *arena, struct err *err, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    *why = arena_vprintf(arena, format, args);
    va_end(args);
    return *why ? 0 : err_nomem(err);
}

int restack_mount_check(const struct rootfs_facts *root, struct arena *arena, const char **why,
                        struct err *err)
{
    const struct mount_entry *m = root->mount;
    const struct layers *layers = &root->layers;
    unsigned long flags;

    *why = layers->unfit;
    if (*why)
        return 0;
    for (size_t i = 0; i < LAYERS_FEATURES; i++)
        if (!layers->given[i] && is_default((enum layers_feature)i))
            return set_why(why, arena, err, "the kernel's overlay has %s on",
                           layers_feature_names[i]);
    if (root->stacked || strcmp(m->root, "/") != 0)
        return set_why(why, arena, err, "%s has more than one mount", m->point);
    if (m->slave)
        return set_why(why, arena, err, "%s is a mount that follows another one", m->point);
    if (!read_flags(m->options, &flags))
        return set_why(why, arena, err, "%s is mounted with options that are not known here",
                       m->point);
    return 0;
}

/* True unless the upper directory is known to hold nothing that refers to the layers. */
static bool is_used(const struct chain *chain, const char *work)
{
    return lgetxattr(work, mark, NULL, 0) < 0 && !restack_is_fresh(chain);
}

/* ---- mounting ---- */

struct replacing {
    const struct mount_entry *mount;
    const struct layers *layers;
    const char *work; /* absolute */
    unsigned long flags;
    const char *base;           /* the directory that relative layers start from, or NULL */
    const char *before, *after; /* options of the engine's overlay, and of the new one */
};

/* Mounts an overlay with `base` as working directory: relative layers start from there. */
static int mount_from(const char *base, const struct mount_entry *m, unsigned long flags,
                      const char *options, struct err *err)
{
    _cleanup_fd_ int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (base && (here < 0 || chdir(base) < 0))
        return err_sys(err, "%s", base);
    int rc = mount("overlay", m->point, "overlay", flags, options);
    int saved = errno;
    if (base && fchdir(here) < 0)
        return err_sys(err, "the working directory is gone");
    errno = saved;
    return rc < 0 ? err_sys(err, "cannot mount an overlay at %s", m->point) : 0;
}

static int keep_propagation(const struct mount_entry *m, struct err *err)
{
    if (mount(NULL, m->point, NULL, m->shared ? MS_SHARED : MS_PRIVATE, NULL) < 0)
        return err_sys(err, "cannot set how %s propagates", m->point);
    return 0;
}

/* Removes the mark by which the kernel forbids another mount; the mount that it is for is gone. */
static void forget_volatile(const struct replacing *r)
{
    static const char *const names[] = {"/work/incompat/volatile/dirty", "/work/incompat/volatile",
                                        "/work/incompat"};

    for (size_t i = 0; r->layers->fleeting && i < sizeof(names) / sizeof(*names); i++) {
        _cleanup_free_ char *path = strf("%s%s", r->work, names[i]);
        if (path && unlink(path) < 0)
            rmdir(path);
    }
}

/* True while the file system is mounted anywhere, or held open. */
static bool is_alive(const struct mount_entry *m)
{
#ifdef SYS_ustat
    char answer[64]; /* a struct ustat, which glibc no longer has */

    return syscall(SYS_ustat, makedev(m->major, m->minor), answer) == 0;
#else
    return restack_is_elsewhere(m);
#endif
}

static int mount_again(const struct replacing *r, struct err *err)
{
    forget_volatile(r);
    if (mount_from(r->base, r->mount, r->flags, r->before, err) < 0 ||
        keep_propagation(r->mount, err) < 0)
        return err_wrap(err, "the container's root was unmounted and cannot be mounted again");
    return 0;
}

static int replace_mount(const struct replacing *r, struct arena *arena, const char **why,
                         struct err *err)
{
    struct err failure = ERR_INIT;

    if (restack_is_elsewhere(r->mount))
        return set_why(why, arena, err, "another mount namespace has %s, too", r->mount->point);
    if (umount2(r->mount->point, UMOUNT_NOFOLLOW) < 0)
        return set_why(why, arena, err, "the engine's mount is in use (%s)", strerror(errno));
    if (is_alive(r->mount)) { /* a descriptor holds it, which no mount table shows */
        if (mount_again(r, err) < 0)
            return -1;
        return set_why(why, arena, err, "a process holds %s open", r->mount->point);
    }
    forget_volatile(r);
    if (lsetxattr(r->work, mark, "1", 1, 0) < 0)
        err_sys(&failure, "%s", r->work);
    else if (mount_from(NULL, r->mount, r->flags, r->after, &failure) == 0) {
        if (keep_propagation(r->mount, &failure) == 0)
            return 1;
        if (umount2(r->mount->point, UMOUNT_NOFOLLOW) < 0)
            return set_why(why, arena, err, "%s", failure.msg) < 0 ? -1 : 1;
    }
    if (mount_again(r, err) < 0)
        return -1;
    return set_why(why, arena, err, "%s", failure.msg);
}

/* ---- all of it ---- */

/* Returns the options of an overlay in which `tree` is the lowest layer. NULL without memory. */
static const char *options_after(const struct replacing *r, const struct chain *chain,
                                 const char *tree, struct arena *arena)
{
    const char *lower = overlay_option("", tree, NULL, arena);
    const char *own = chain->own ? overlay_option("", chain->own, NULL, arena) : NULL;
    const char *upper = overlay_option("upperdir", chain->upper, NULL, arena);
    const char *work = overlay_option("workdir", r->work, NULL, arena);

    if (!lower || (chain->own && !own) || !upper || !work)
        return NULL;
    return arena_printf(arena, "lowerdir%s%s%s,%s,%s%s", own ? own : "", own ? ":" : "",
                        own ? lower + 1 : lower, upper, work, r->layers->rest);
}

/* Returns the options of the engine's overlay, shortened if the kernel shows more than it was
 * given. */
static const char *options_before(struct replacing *r, struct arena *arena)
{
    const struct layers *l = r->layers;
    const char *options =
        arena_printf(arena, "%s,%s,%s%s", l->kept[0], l->kept[1], l->kept[2], l->rest);
    const char *lower;

    if (!options || strlen(options) <= OPTION_BYTES || r->base)
        return options;
    lower = layers_shorten(l, arena, &r->base);
    return lower ? arena_printf(arena, "%s,%s,%s%s", lower, l->kept[1], l->kept[2], l->rest)
                 : options;
}

int restack_mount(const struct rootfs_facts *root, const struct chain *chain, const char *tree,
                  struct arena *arena, const char **why, struct err *err)
{
    const struct layers *layers = &root->layers;
    struct replacing r = {.mount = root->mount, .layers = layers, .base = chain->base};

    r.work =
        layers->work[0] == '/' ? layers->work : arena_printf(arena, "%s/%s", r.base, layers->work);
    r.before = options_before(&r, arena);
    r.after = r.work ? options_after(&r, chain, tree, arena) : NULL;
    if (!r.before || !r.after)
        return err_nomem(err);
    if (strlen(r.before) > OPTION_BYTES || strlen(r.after) > OPTION_BYTES)
        return set_why(why, arena, err, "%s could not be mounted again as it is",
                       root->mount->point);
    if (!read_flags(root->mount->options, &r.flags))
        return set_why(why, arena, err, "%s is mounted with options that are not known here",
                       root->mount->point);
    if (is_used(chain, r.work))
        return set_why(why, arena, err, "%s has been written to", chain->upper);
    if (!restack_shows(root->mount->point, tree, chain))
        return set_why(why, arena, err, "it does not show what its layers do");
    return replace_mount(&r, arena, why, err);
}
