#include "shim/admin/leftovers/stale_unfinished.h"

#include "base/fdio.h"
#include "base/files/atomic_file.h"
#include "base/files/unfinished.h"
#include "shim/admin/engine/engine_stores.h"
#include "shim/host/process/channel.h"
#include "shim/host/trust.h"
#include "shim/host/users/as_user.h"
#include "shim/mount/source_wait.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct search {
    const char *path;
    const struct stale_limits *limits;
    struct stale_list *out;
    bool failed; /* without memory */
};

/* ---- one ---- */

static struct stale_item *add_item(struct search *s, int parent, const char *name,
                                   const struct stat *st)
{
    struct stale_item *item = stale_add(s->out);

    if (!item)
        return NULL;
    item->engine = STALE_FLATBED;
    item->kind = STALE_UNFINISHED;
    item->parent = arena_strndup(&s->out->arena, s->path, strlen(s->path));
    item->name = arena_strndup(&s->out->arena, name, strlen(name));
    item->why = "the run that wrote it is gone";
    item->changed = st->st_mtime;
    if (!item->parent || !item->name)
        return NULL;
    if (S_ISDIR(st->st_mode))
        stale_measure(parent, item);
    else
        item->bytes = (uint64_t)st->st_blocks * 512;
    return item;
}

/* Its owner may change what is in it meanwhile, so it is removed with that user's ids. */
static void remove_as_owner(int parent, const char *name, int fd, const struct stat *st)
{
    const struct user_ids ids = {.uid = st->st_uid, .gid = st->st_gid};
    struct channel channel;

    if (st->st_uid == geteuid()) {
        unfinished_remove(NULL, parent, name, fd, st);
        return;
    }
    pid_t pid = as_user_fork(&ids, &channel);
    if (pid == 0) {
        unfinished_remove(NULL, parent, name, fd, st);
        _exit(0);
    }
    if (pid > 0)
        channel_end(&channel);
}

/* Takes what has the lock `fd`, or, with -1, the temporary file of a single result. */
static void visit(void *ctx, int parent, const char *name, int fd, const struct stat *st)
{
    struct search *s = ctx;
    struct stat now;

    if (s->limits->now - st->st_mtime < s->limits->older)
        return;
    struct stale_item *item = add_item(s, parent, name, st);
    if (!item) {
        s->failed = true;
        return;
    }
    if (!s->limits->remove)
        return;
    if (s->limits->log)
        s->limits->log(item);
    if (fd < 0)
        atomic_file_sweep_one(parent, name, false);
    else
        remove_as_owner(parent, name, fd, st);
    item->removed = fstatat(parent, name, &now, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
    if (!item->removed)
        item->kept = "it has files of others, or its owner cannot remove it";
}

static void visit_temporary_files(struct search *s, int parent)
{
    DIR *dir = fd_list_directory(parent, ".");
    struct stat st;

    if (!dir)
        return;
    for (const struct dirent *e; (e = readdir(dir));)
        if (atomic_file_sweep_one(parent, e->d_name, true) &&
            fstatat(parent, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            visit(s, parent, e->d_name, -1, &st);
    closedir(dir);
}

/* ---- all ---- */

int stale_unfinished(const char *path, bool asked, const struct stale_limits *limits,
                     struct stale_list *out, struct err *err)
{
    struct search search = {.path = path, .limits = limits, .out = out};

    if (!source_answers(path, ENGINE_STORE_WAIT))
        return stale_problem(out, path, "it does not answer", err);
    _cleanup_fd_ int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return asked || errno != ENOENT ? stale_problem(out, path, strerror(errno), err) : 0;
    if (!unfinished_is_told(dir))
        return stale_problem(out, path, "other hosts may write to this file system", err);
    unfinished_each(dir, visit, &search);
    visit_temporary_files(&search, dir);
    return search.failed ? err_nomem(err) : 0;
}

int stale_usual_unfinished(const struct stale_limits *limits, struct stale_list *out,
                           struct err *err)
{
    static const char *const usual[] = {
        "/var/lib/flatbed",
        "/etc/flatbed",
        "/etc/docker",
        "/etc/containerd",
        "/etc/containers/containers.conf.d",
        "/etc/crio/crio.conf.d",
        "/etc/nvidia-container-runtime",
    };

    if (trust_rootless())
        return 0;
    for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
        if (stale_unfinished(usual[i], false, limits, out, err) < 0)
            return -1;
    return 0;
}
