#include "shim/admin/zfs/program.h"

#include "base/clock.h"
#include "shim/admin/engine/runtime_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

enum { OUTPUT_MOST = 16 * 1024 * 1024, CHUNK = 64 * 1024, COMPLAINT = 300, WORDS_MOST = 72 };
enum { KILLED_MS = 100 };

struct run {
    pid_t pid;
    int64_t start; /* clock_ms */
    int out;       /* the reading end of its standard output */
    int complaint; /* a memfd, its standard error */
};

static int start(char *const argv[], int out, struct run *run, struct err *err)
{
    static char locale[] = "LC_ALL=C", path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
    static char *const environment[] = {locale, path, NULL};
    posix_spawn_file_actions_t actions;
    int why = posix_spawn_file_actions_init(&actions);

    if (why) {
        errno = why;
        return err_sys(err, "cannot start %s", argv[0]);
    }
    why = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    why = why ? why : posix_spawn_file_actions_adddup2(&actions, out, 1);
    why = why ? why : posix_spawn_file_actions_adddup2(&actions, run->complaint, 2);
    why = why ? why : posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    why = why ? why : posix_spawn(&run->pid, argv[0], &actions, NULL, argv, environment);
    posix_spawn_file_actions_destroy(&actions);
    errno = why;
    return why ? err_sys(err, "cannot start %s", argv[0]) : 0;
}

/* Reads to the end. Returns -1 with ERR_LIMIT, or ERR_SYSTEM after the time. */
static int read_output(const struct run *run, const char *name, struct buf *out, struct err *err)
{
    for (;;) {
        long left = run->start + ZFS_PATIENCE_MS - clock_ms();
        struct pollfd p = {.fd = run->out, .events = POLLIN};
        int ready = poll(&p, 1, left > 0 ? (int)left : 0);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return err_set(err, ERR_SYSTEM, "%s does not answer within %d s", name,
                           ZFS_PATIENCE_MS / 1000);
        char *to = buf_reserve(out, CHUNK);
        ssize_t n = to ? read(run->out, to, CHUNK) : -1;
        if (n <= 0)
            return n == 0 ? buf_check(out, err) : err_sys(err, "%s", name);
        out->len += (size_t)n;
        if (out->len > OUTPUT_MOST)
            return err_set(err, ERR_LIMIT, "%s prints more than 16 MiB", name);
    }
}

/* Waits for the end, at most `until` ms since the start. Returns true if it came. */
static bool wait_end(const struct run *run, long until, int *status)
{
    static const struct timespec moment = {.tv_nsec = 1000000};
    pid_t ended;

    while ((ended = waitpid(run->pid, status, WNOHANG)) == 0 && clock_ms() - run->start < until)
        nanosleep(&moment, NULL);
    return ended == run->pid;
}

/* Sets the error from the first line that the program wrote to its standard error. */
static int fail(const struct run *run, const char *name, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    char line[COMPLAINT];
    ssize_t len = pread(run->complaint, line, sizeof(line) - 1, 0);

    line[len > 0 ? len : 0] = '\0';
    buf_put_printable(&text, line, strcspn(line, "\n"));
    return err_set(err, ERR_SYSTEM, "%s: %s", name,
                   text.len ? text.data : "it failed, and does not say why");
}

static int finish(const struct run *run, const char *name, struct buf *out, struct err *err)
{
    int status = 0;

    if (read_output(run, name, out, err) == 0 && wait_end(run, ZFS_PATIENCE_MS, &status))
        return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : fail(run, name, err);
    if (err->kind == ERR_NONE)
        err_set(err, ERR_SYSTEM, "%s does not end within %d s", name, ZFS_PATIENCE_MS / 1000);
    kill(run->pid, SIGKILL);
    wait_end(run, clock_ms() - run->start + KILLED_MS, &status);
    return -1;
}

static int run_program(char *const argv[], const char *name, struct buf *out, struct err *err)
{
    _cleanup_fd_ int complaint = memfd_create("zfs", MFD_CLOEXEC);
    int ends[2];

    if (complaint < 0 || pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(err, "pipe");
    struct run run = {.out = ends[0], .complaint = complaint};
    run.start = clock_ms();
    int rc = start(argv, ends[1], &run, err);
    close(ends[1]);
    if (rc == 0)
        rc = finish(&run, name, out, err);
    close(ends[0]);
    return rc;
}

int zfs_program(const char *const *words, struct buf *out, struct err *err)
{
    _cleanup_buf_ struct buf unwanted = BUF_INIT;
    struct runtime_program program;
    char *argv[WORDS_MOST];
    size_t count = 1;

    *err = (struct err)ERR_INIT;
    runtime_program_find(words[0], &program);
    if (!program.found)
        return err_set(err, ERR_UNSUPPORTED, "there is no program %s: install zfsutils-linux",
                       words[0]);
    argv[0] = program.path;
    for (; words[count]; count++) {
        if (count + 1 >= WORDS_MOST)
            return err_set(err, ERR_LIMIT, "too many words for %s", words[0]);
        argv[count] = (char *)(uintptr_t)words[count];
    }
    argv[count] = NULL;
    return run_program(argv, words[0], out ? out : &unwanted, err);
}
