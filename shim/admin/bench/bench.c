#include "shim/admin/bench/bench_internal.h"

#include "base/fdio.h"
#include "base/files/tree_remove.h"
#include "shim/host/process/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>

/* ---- the place ---- */

const char *bench_default_dir(void)
{
    static const char *const dirs[] = {"/var/lib/docker", "/var/lib/containerd",
                                       "/var/lib/containers/storage", "/var/lib/flatbed"};

    for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
        if (access(dirs[i], W_OK | X_OK) == 0)
            return dirs[i];
    return "/var/tmp";
}

/* Writes the usual name of the file system (linux/magic.h has the numbers), else the number. */
static void name_filesystem(const char *dir, char *out, size_t size)
{
    static const struct {
        unsigned long magic;
        const char *name;
    } known[] = {{0xef53, "ext4"},      {0x58465342, "xfs"},       {0x9123683e, "btrfs"},
                 {0x01021994, "tmpfs"}, {0x794c7630, "overlayfs"}, {0x2fc12fc1, "zfs"},
                 {0x6969, "nfs"},       {0xf2f52010, "f2fs"},      {0xca451a4e, "bcachefs"}};
    struct statfs st;

    snprintf(out, size, "unknown");
    if (statfs(dir, &st) < 0)
        return;
    snprintf(out, size, "%#lx", (unsigned long)st.f_type);
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if ((unsigned long)st.f_type == known[i].magic)
            snprintf(out, size, "%s", known[i].name);
}

static void describe(const struct bench_options *o, struct bench_result *out)
{
    struct utsname system;

    if (!realpath(o->dir, out->dir))
        snprintf(out->dir, sizeof(out->dir), "%s", o->dir);
    name_filesystem(o->dir, out->filesystem, sizeof(out->filesystem));
    if (uname(&system) == 0)
        snprintf(out->kernel, sizeof(out->kernel), "%s", system.release);
    out->time = time(NULL);
    out->runs = o->runs;
    out->bytes = (uint64_t)o->megabytes << 20;
}

/* ---- the child ---- */

struct message {
    bool failed;
    struct err err;
    struct bench_result result;
};

static int measure(const char *directory, const struct bench_options *o, struct bench_result *out,
                   struct err *err)
{
    if (bench_isolate(err) < 0)
        return -1;
    if (chdir(directory) < 0)
        return err_sys(err, "%s", directory);
    if (bench_make_layers(err) < 0 || bench_make_large(out->bytes, err) < 0)
        return -1;
    if (bench_lookups(o, out, err) < 0)
        return -1;
    return bench_files(o, out, err);
}

static void run_child(const char *directory, const struct bench_options *o, struct message *m,
                      int fd)
{
    struct err ignored = ERR_INIT;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    umask(022);
    m->failed = measure(directory, o, &m->result, &m->err) < 0;
    _exit(fd_write_all(fd, m, sizeof(*m), &ignored) < 0);
}

/* ---- the parent ---- */

/* Waits for the child's result, or for a signal, after which the child is killed. */
static int wait_result(pid_t pid, int fd, struct message *m, struct err *err)
{
    enum { STEP_MS = 100 };
    _cleanup_buf_ struct buf said = BUF_INIT;
    struct pollfd wait = {.fd = fd, .events = POLLIN};

    while (poll(&wait, 1, STEP_MS) == 0)
        if (interrupts_pending()) {
            kill(pid, SIGKILL);
            return err_set(err, ERR_SYSTEM, "interrupted");
        }
    if (fd_read_all(fd, sizeof(*m), &said, err) < 0)
        return -1;
    if (said.len != sizeof(*m))
        return err_set(err, ERR_SYSTEM, "the process that measures died");
    memcpy(m, said.data, sizeof(*m));
    if (!m->failed)
        return 0;
    *err = m->err;
    return -1;
}

static int measure_in_child(const char *directory, const struct bench_options *o, struct message *m,
                            struct err *err)
{
    int pipe[2];
    sigset_t before;

    if (pipe2(pipe, O_CLOEXEC) < 0)
        return err_sys(err, "pipe");
    /* Signals wait until the directory is removed. */
    interrupts_hold(&before);
    pid_t pid = fork();
    if (pid == 0) {
        close(pipe[0]);
        sigprocmask(SIG_SETMASK, &before, NULL);
        run_child(directory, o, m, pipe[1]);
    }
    close(pipe[1]);
    int rc = pid < 0 ? err_sys(err, "fork") : wait_result(pid, pipe[0], m, err);
    close(pipe[0]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    tree_remove(directory);
    sigprocmask(SIG_SETMASK, &before, NULL); /* a pending signal ends us now */
    return rc;
}

int bench_run(const struct bench_options *o, struct bench_result *out, struct err *err)
{
    _cleanup_free_ struct message *m = calloc(1, sizeof(*m));
    char directory[PATH_MAX];

    if (!m)
        return err_nomem(err);
    describe(o, &m->result);
    if (snprintf(directory, sizeof(directory), "%s/flatbed-bench.XXXXXX", m->result.dir) >=
        (int)sizeof(directory))
        return err_set(err, ERR_USAGE, "%s: the name is too long", o->dir);
    if (!mkdtemp(directory))
        return err_sys(err, "%s: a temporary directory", o->dir);
    if (measure_in_child(directory, o, m, err) < 0)
        return err_wrap(err, "%s", o->dir);
    *out = m->result;
    return 0;
}
