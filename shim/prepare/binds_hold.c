#include "shim/prepare/binds_hold.h"

#include "base/fdio.h"
#include "base/path.h"
#include "shim/gather/bind_name.h"
#include "shim/mount/pin.h"
#include "shim/plan/plan.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

/* True for a mount that stays, and whose source must be held. */
static bool is_to_be_held(const struct plan *plan, const struct outcome *o)
{
    if (o->op->kind != PLAN_BIND || (o->verdict != PLAN_KEPT && o->verdict != PLAN_DOWNGRADED))
        return false;
    const struct bind_source *source = o->op->bind.source;
    bool closed = plan->loose && o->op->bind.access == ACCESS_RO;
    return source->path && (source->exposed || source->pin || closed);
}

bool binds_exposed(const struct decision *decision)
{
    for (size_t i = 0; i < decision->count; i++)
        if (is_to_be_held(decision->plan, &decision->list[i]))
            return true;
    return false;
}

/*
 * Returns PIN_DIRECTORY/bind:NUMBER, and where the source was found. Each mount has a number of its
 * own, also one that names a pin: a user may have written that name, to have one mount held beneath
 * another, in a directory of the user's. A document that was edited before gets the same names.
 */
static const char *hold_path(const struct bind_source *source, size_t number, struct arena *arena)
{
    return arena_printf(arena, PIN_DIRECTORY "/bind:%zu/%s", number,
                        source->found + strspn(source->found, "/"));
}

/* Makes a directory in `parent` and opens it. One that is another file system is an error: EXDEV.
 */
static int make_part(int parent, const char *name)
{
    struct stat above, st;
    bool made = mkdirat(parent, name, 0755) == 0;

    if (!made && errno != EEXIST)
        return -1;
    _cleanup_fd_ int fd = fd_open_directory(parent, name);
    if (fd < 0 || fstat(parent, &above) < 0 || fstat(fd, &st) < 0)
        return -1;
    if (st.st_dev != above.st_dev) {
        errno = EXDEV;
        return -1;
    }
    /* The umask of the engine does not count. */
    return made && fchmod(fd, 0755) < 0 ? -1 : steal_fd(&fd);
}

/* Makes the directories above a path in PIN_DIRECTORY. */
static int make_parents(const char *path, struct err *err)
{
    _cleanup_free_ char *parts = strdup(path + sizeof(PIN_DIRECTORY));
    _cleanup_fd_ int at = open(PIN_DIRECTORY, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    char *part = parts, *slash;

    if (!parts)
        return err_nomem(err);
    while (at >= 0 && (slash = strchr(part, '/'))) {
        *slash = '\0';
        int next = make_part(at, part);
        cleanup_fd(&at);
        at = next;
        part = slash + 1;
    }
    return at < 0 ? err_sys(err, "cannot make the directories above %s", path) : 0;
}

static bool is_chosen(const struct plan_bind *b, const char *name)
{
    for (size_t i = 0; i < b->below_count; i++)
        if (strcmp(b->below[i], name) == 0)
            return true;
    return false;
}

/* Unmounts what is mounted beneath the pin and was not judged to be allowed; *gone counts it. */
static int unmount_others_once(const struct plan_bind *b, const char *pin, struct arena *arena,
                               size_t *gone, struct err *err)
{
    struct mount_table table;

    if (mount_table_read(arena, &table, err) < 0)
        return -1;
    *gone = 0;
    for (size_t i = 0; i < table.count; i++) {
        const struct mount_entry *m = &table.list[i];
        _cleanup_buf_ struct buf name = BUF_INIT;
        if (strcmp(m->point, pin) == 0 || !path_is_beneath(m->point, pin))
            continue;
        if (!mount_table_name(&table, m->id, m->point, &name))
            return err_nomem(err);
        if (is_chosen(b, name.data))
            continue;
        *gone += 1;
        if (umount2(m->point, MNT_DETACH | UMOUNT_NOFOLLOW) < 0 && errno != EINVAL)
            return err_sys(err, "cannot take %s out", m->point);
    }
    return 0;
}

/* Nothing new can be mounted beneath the pin, so the second look should find nothing. */
static int unmount_others(const struct plan_bind *b, const char *pin, struct arena *arena,
                          struct err *err)
{
    size_t gone;

    for (int tries = 0; tries < 3; tries++) {
        if (unmount_others_once(b, pin, arena, &gone, err) < 0)
            return -1;
        if (!gone)
            return 0;
    }
    return err_set(err, ERR_POLICY, "what is mounted below %s cannot be taken out", pin);
}

static int hold_bind(const struct plan_bind *b, const struct mount_table *table, const char *pin,
                     struct arena *arena, struct err *err)
{
    const struct bind_source *judged = b->source;
    _cleanup_source_ struct source source = SOURCE_INIT;
    struct bind_name now;
    struct stat st;

    source.fd = bind_open(AT_FDCWD, judged->found);
    if (source.fd < 0 || fstat(source.fd, &st) < 0)
        return err_sys(err, "%s", judged->found);
    if (bind_name_find(source.fd, NULL, table, arena, &now, err) < 0)
        return -1;
    if (strcmp(now.name, judged->path) != 0 || strcmp(now.found, judged->found) != 0)
        return err_set(err, ERR_POLICY, "%s was replaced while it was looked at", judged->found);
    source.directory = S_ISDIR(st.st_mode);
    struct pin_options options = {.read_only = b->access == ACCESS_RO,
                                  .alone = judged->unsteady && !b->below_count,
                                  .closed = judged->unsteady};
    if (make_parents(pin, err) < 0 || pin_add(&source, pin, &options, err) < 0)
        return -1;
    return b->below_count ? unmount_others(b, pin, arena, err) : 0;
}

int binds_hold(struct decision *decision, struct arena *arena, struct err *err)
{
    struct mount_table table;
    size_t number = 0;

    if (!binds_exposed(decision))
        return 0;
    if (mount_table_read(arena, &table, err) < 0)
        return -1;
    for (size_t i = 0; i < decision->count; i++) {
        struct outcome *o = &decision->list[i];
        if (!is_to_be_held(decision->plan, o))
            continue;
        const struct plan_bind *b = &o->op->bind;
        const char *pin = hold_path(b->source, number++, arena);
        if (!pin)
            return err_nomem(err);
        if (hold_bind(b, &table, pin, arena, err) < 0)
            return err_wrap(err, "%s", o->op->asked_by);
        if (!b->source->pin || strcmp(b->source->pin, pin) != 0)
            o->hold = pin;
    }
    return 0;
}
