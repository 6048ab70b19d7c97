/* The second look at what the user mounts, by which it is held. */
#include "base/path.h"
#include "shim/gather/bind_name.h"
#include "shim/mount/pin.h"
#include "shim/plan/plan.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

static bool stays(const struct plan_op *op)
{
    return op->kind == PLAN_BIND && (op->verdict == PLAN_KEPT || op->verdict == PLAN_DOWNGRADED) &&
           op->bind->path && (op->bind->exposed || op->bind->pin);
}

bool binds_exposed(const struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (stays(&plan->ops[i]))
            return true;
    return false;
}

/* PIN_FOLDER/bind:NUMBER, with a number that no other mount has, and where it was found. */
static const char *pin_path(const struct plan *plan, const struct plan_op *op, size_t *number,
                            struct arena *arena)
{
    _cleanup_buf_ struct buf path = BUF_INIT;
    size_t i = 0;

    if (op->bind->pin)
        return op->bind->pin;
    while (i < plan->count) {
        const struct bind_source *other = plan->ops[i].kind == PLAN_BIND ? plan->ops[i].bind : NULL;
        buf_truncate(&path, 0);
        buf_printf(&path, PIN_FOLDER "/bind:%zu/", *number);
        bool taken =
            !path.failed && other && other->pin && strncmp(other->pin, path.data, path.len) == 0;
        *number += taken;
        i = taken ? 0 : i + 1;
    }
    buf_truncate(&path, 0);
    buf_printf(&path, PIN_FOLDER "/bind:%zu%s", (*number)++, op->bind->found);
    return path.failed ? NULL : arena_strndup(arena, path.data, path.len);
}

/* The folders above a path in PIN_FOLDER, whatever the umask. */
static int make_parents(const char *path, struct err *err)
{
    _cleanup_free_ char *part = strdup(path);

    if (!part)
        return err_nomem(err);
    for (char *slash = strchr(part + sizeof(PIN_FOLDER), '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0755) < 0 && errno != EEXIST)
            return err_sys(err, "cannot make %s", part);
        if (chmod(part, 0755) < 0)
            return err_sys(err, "cannot make %s", part);
        *slash = '/';
    }
    return 0;
}

static bool is_chosen(const struct plan_op *op, const char *name)
{
    for (size_t i = 0; i < op->below_count; i++)
        if (strcmp(op->below[i], name) == 0)
            return true;
    return false;
}

/* One look at what is mounted beneath the pin: what was not judged to be allowed goes. */
static int sift_once(const struct plan_op *op, const char *pin, struct arena *arena, size_t *gone,
                     struct err *err)
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
        if (is_chosen(op, name.data))
            continue;
        *gone += 1;
        if (umount2(m->point, MNT_DETACH | UMOUNT_NOFOLLOW) < 0 && errno != EINVAL)
            return err_sys(err, "cannot take %s out", m->point);
    }
    return 0;
}

/* Nothing can come to be mounted there any more: the second look finds nothing. */
static int sift(const struct plan_op *op, const char *pin, struct arena *arena, struct err *err)
{
    size_t gone;

    for (int tries = 0; tries < 3; tries++) {
        if (sift_once(op, pin, arena, &gone, err) < 0)
            return -1;
        if (!gone)
            return 0;
    }
    return err_set(err, ERR_POLICY, "what is mounted below %s cannot be taken out", pin);
}

static int hold(struct plan_op *op, const struct mount_table *table, const char *pin,
                struct arena *arena, struct err *err)
{
    _cleanup_source_ struct source source = SOURCE_INIT;
    struct bind_name now;
    struct stat st;

    source.fd = bind_open(AT_FDCWD, op->bind->found);
    if (source.fd < 0 || fstat(source.fd, &st) < 0)
        return err_sys(err, "%s", op->bind->found);
    if (bind_name_find(source.fd, NULL, table, arena, &now, err) < 0)
        return -1;
    if (strcmp(now.name, op->bind->path) != 0 || strcmp(now.found, op->bind->found) != 0)
        return err_set(err, ERR_POLICY, "%s was replaced while it was looked at", op->bind->found);
    source.directory = S_ISDIR(st.st_mode);
    struct pin_options options = {.read_only = op->access == ACCESS_RO,
                                  .alone = op->bind->unsteady && !op->below_count,
                                  .closed = op->bind->unsteady};
    if (make_parents(pin, err) < 0 || pin_add(&source, pin, &options, err) < 0)
        return -1;
    if (op->below_count && sift(op, pin, arena, err) < 0)
        return -1;
    if (!op->bind->pin)
        op->hold = pin;
    return 0;
}

int binds_hold(struct plan *plan, struct arena *arena, struct err *err)
{
    struct mount_table table;
    size_t number = 0;

    if (!binds_exposed(plan))
        return 0;
    if (mount_table_read(arena, &table, err) < 0)
        return -1;
    for (size_t i = 0; i < plan->count; i++) {
        struct plan_op *op = &plan->ops[i];
        if (!stays(op))
            continue;
        const char *pin = pin_path(plan, op, &number, arena);
        if (!pin)
            return err_nomem(err);
        if (hold(op, &table, pin, arena, err) < 0)
            return err_wrap(err, "%s", op->asked_by);
    }
    return 0;
}
