#include "shim/admin/install/config_diff.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define DIFF "/usr/bin/diff"

enum { SAME = 0, DIFFERENT = 1 }; /* exit statuses of diff; 2 is a failure */

/* A side of the diff: a descriptor for diff to read, and the name to print. */
struct side {
    int fd;
    const char *label;
};

static int open_side(struct side *side, const char *path, const struct buf *text, struct err *err)
{
    side->label = text ? path : "/dev/null";
    side->fd = text ? memfd_create("config", MFD_CLOEXEC) : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (side->fd < 0)
        return err_sys(err, "cannot hold the text to compare");
    return text ? fd_write_all(side->fd, text->data, text->len, err) : 0;
}

/* Starts diff with both descriptors left open: a dup2 onto itself takes CLOEXEC away. Returns 0 or
 * an errno. */
static int spawn_diff(const struct side sides[2], pid_t *pid)
{
    char name[2][32];
    posix_spawn_file_actions_t actions;
    int why = posix_spawn_file_actions_init(&actions);

    if (why != 0)
        return why;
    for (int i = 0; i < 2 && why == 0; i++) {
        snprintf(name[i], sizeof(name[i]), "/dev/fd/%d", sides[i].fd);
        why = posix_spawn_file_actions_adddup2(&actions, sides[i].fd, sides[i].fd);
    }
    const char *argv[] = {"diff",    "--text",       "-u",    "--label", sides[0].label,
                          "--label", sides[1].label, name[0], name[1],   NULL};
    char *environment[] = {NULL};
    if (why == 0)
        why = posix_spawn(pid, DIFF, &actions, NULL, (char *const *)(uintptr_t)argv, environment);
    posix_spawn_file_actions_destroy(&actions);
    return why;
}

static int run_diff(const struct side sides[2], struct err *err)
{
    int status;
    pid_t pid;

    signal(SIGCHLD, SIG_DFL); /* an ignored one would lose the status */
    int why = spawn_diff(sides, &pid);
    if (why != 0) {
        errno = why;
        return err_sys(err, "cannot start " DIFF " (package diffutils)");
    }
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_sys(err, "waitpid");
    if (WIFSIGNALED(status))
        return err_set(err, ERR_SYSTEM, DIFF " was killed by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) != SAME && WEXITSTATUS(status) != DIFFERENT)
        return err_set(err, ERR_SYSTEM, DIFF " failed with exit status %d", WEXITSTATUS(status));
    return 0;
}

int config_diff_print(const char *path, const struct buf *before, const struct buf *after,
                      struct err *err)
{
    struct side sides[2] = {{.fd = -1}, {.fd = -1}};
    int rc = -1;

    if (open_side(&sides[0], path, before, err) == 0 && open_side(&sides[1], path, after, err) == 0)
        rc = run_diff(sides, err);
    cleanup_fd(&sides[0].fd);
    cleanup_fd(&sides[1].fd);
    return rc;
}
