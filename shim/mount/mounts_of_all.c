#include "shim/mount/mounts_of_all.h"

#include "shim/host/trust.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

enum { MEMORY_LIMIT = 256 * 1024 * 1024 };
enum { NAMESPACE_LENGTH = 32 }; /* "mnt:[4026531841]" */

struct seen {
    struct arena arena;
    char (*list)[NAMESPACE_LENGTH];
    size_t count;
};

/*
 * Reads the name of the mount namespace of a process: "" if it is not shown, for which root needs
 * CAP_SYS_PTRACE, or if the process has ended.
 */
static void namespace_name(int proc, const char *pid, char name[NAMESPACE_LENGTH])
{
    char path[NAME_MAX + 16];

    snprintf(path, sizeof(path), "%s/ns/mnt", pid);
    ssize_t len = readlinkat(proc, path, name, NAMESPACE_LENGTH - 1);
    name[len > 0 ? len : 0] = '\0';
}

static bool seen_has(const struct seen *seen, const char *name)
{
    for (size_t i = 0; i < seen->count; i++)
        if (strcmp(seen->list[i], name) == 0)
            return true;
    return false;
}

/* Without memory, some namespaces are visited twice. */
static void seen_add(struct seen *seen, const char name[NAMESPACE_LENGTH])
{
    seen->list = arena_extend(&seen->arena, seen->list, seen->count, sizeof(*seen->list));
    if (seen->list)
        memcpy(seen->list[seen->count++], name, NAMESPACE_LENGTH);
    else
        seen->count = 0;
}

/* Returns true for the failure to read the mount table of a process that has ended. */
static bool has_ended(const struct err *why)
{
    return why->kind == ERR_SYSTEM &&
           (why->sys == ENOENT || why->sys == ESRCH || why->sys == EINVAL);
}

static int visit_process(struct seen *seen, int proc, const char *pid,
                         void (*visit)(void *context, const struct mount_table *table),
                         void *context, struct err *err)
{
    _cleanup_arena_ struct arena arena = {.limit = MEMORY_LIMIT};
    char path[NAME_MAX + 16], name[NAMESPACE_LENGTH];
    struct mount_table table;
    struct err why = ERR_INIT;

    namespace_name(proc, pid, name);
    if (seen_has(seen, name))
        return 0;
    snprintf(path, sizeof(path), "%s/mountinfo", pid);
    if (mount_table_read_at(proc, path, &arena, &table, &why) < 0) {
        if (has_ended(&why) || trust_rootless())
            return 0; /* another process of its namespace may come */
        *err = why;
        return -1;
    }
    visit(context, &table);
    if (*name)
        seen_add(seen, name);
    return 0;
}

int mounts_of_all(void (*visit)(void *context, const struct mount_table *table), void *context,
                  struct err *err)
{
    struct seen seen = {0};
    DIR *proc = opendir("/proc");
    const struct dirent *e;
    int rc = 0;

    if (!proc)
        return err_sys(err, "/proc");
    while (rc == 0 && (errno = 0, e = readdir(proc)))
        if (e->d_name[0] >= '0' && e->d_name[0] <= '9')
            rc = visit_process(&seen, dirfd(proc), e->d_name, visit, context, err);
    if (rc == 0 && errno)
        rc = err_sys(err, "/proc");
    closedir(proc);
    arena_free(&seen.arena);
    return rc;
}
