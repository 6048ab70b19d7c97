#include "flatten/keeper/podman/child.h"

#include "base/cleanup.h"
#include "flatten/stream/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAID_KEPT = 4096 }; /* bytes of the end of standard error */

/* The pipes of a child. The sides of the child are closed here once it runs. */
struct pipes {
    int text[2], said[2]; /* text: -1 without a buffer for it */
    int failed[2];        /* gets errno if the program cannot be started; closed by exec */
};

static void side_close(int *fd)
{
    cleanup_fd(fd);
    *fd = -1;
}

static void pair_close(int pair[2])
{
    side_close(&pair[0]);
    side_close(&pair[1]);
}

static void pipes_close(struct pipes *p)
{
    pair_close(p->text);
    pair_close(p->said);
    pair_close(p->failed);
}

/* ---- in the child ---- */

/* Gives the program the defaults for signals that flatten ignores or handles. */
static void reset_signals(void)
{
    static const int signals[] = {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP};

    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        signal(signals[i], SIG_DFL);
}

static int take_descriptors(const struct child *c, const struct pipes *p)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int in = c->in < 0 ? null : c->in;
    int out = p->text[1] >= 0 ? p->text[1] : c->out < 0 ? null : c->out;

    return null < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
                   dup2(p->said[1], STDERR_FILENO) < 0
               ? -1
               : 0;
}

static void become_program(const struct child *c, const struct pipes *p, pid_t keeper)
{
    reset_signals();
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && getppid() == keeper && take_descriptors(c, p) == 0)
        execvp(c->argv[0], c->argv);
    int number = errno;
    (void)!write(p->failed[1], &number, sizeof(number));
    _exit(127);
}

/* ---- in the keeper ---- */

static int start(const struct child *c, struct pipes *p, pid_t *pid, struct err *err)
{
    pid_t keeper = getpid();
    int number;

    if (pipe2(p->said, O_CLOEXEC) < 0 || pipe2(p->failed, O_CLOEXEC) < 0 ||
        (c->text && pipe2(p->text, O_CLOEXEC) < 0))
        return err_sys(err, "pipe");
    *pid = fork();
    if (*pid < 0)
        return err_sys(err, "fork");
    if (*pid == 0)
        become_program(c, p, keeper);
    side_close(&p->text[1]);
    side_close(&p->said[1]);
    side_close(&p->failed[1]);
    if (read(p->failed[0], &number, sizeof(number)) != sizeof(number))
        return 0;
    while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
        ;
    errno = number;
    return err_sys(err, "cannot be started");
}

/* Reads what is there. Returns false at the end. */
static bool take_some(int fd, struct buf *out)
{
    char data[16 * 1024];
    ssize_t n = read(fd, data, sizeof(data));

    if (n > 0)
        buf_append(out, data, (size_t)n);
    return n > 0 || (n < 0 && errno == EINTR);
}

/* Keeps the end alone. */
static void keep_end(struct buf *said)
{
    if (said->len <= SAID_KEPT)
        return;
    memmove(said->data, said->data + said->len - SAID_KEPT, SAID_KEPT);
    buf_truncate(said, SAID_KEPT);
}

/* Reads both pipes until the child has closed them. */
static int listen_to(const struct child *c, struct pipes *p, struct buf *said, struct err *err)
{
    while (p->said[0] >= 0 || p->text[0] >= 0) {
        struct pollfd fds[] = {{.fd = p->said[0], .events = POLLIN},
                               {.fd = p->text[0], .events = POLLIN}};
        int n = poll(fds, 2, -1);
        if (interrupt_check(err) < 0)
            return -1;
        if (n < 0)
            continue;
        if (fds[0].revents && !take_some(p->said[0], said))
            side_close(&p->said[0]);
        if (fds[1].revents && !take_some(p->text[0], c->text))
            side_close(&p->text[0]);
        keep_end(said);
        if (c->text && c->text->len > c->limit)
            return err_set(err, ERR_LIMIT, "says more than %zu bytes", c->limit);
    }
    return 0;
}

static int reap(pid_t pid, int *status, struct err *err)
{
    while (waitpid(pid, status, 0) < 0) {
        if (errno != EINTR)
            return err_sys(err, "waitpid");
        if (interrupted())
            kill(pid, SIGTERM);
    }
    return 0;
}

int child_run(const struct child *c, struct buf *said, struct err *err)
{
    _cleanup_(pipes_close) struct pipes p = {{-1, -1}, {-1, -1}, {-1, -1}};
    struct err ignored = ERR_INIT;
    int status = 0;
    pid_t pid = -1;

    if (start(c, &p, &pid, err) < 0)
        return -1;
    int rc = listen_to(c, &p, said, err);
    if (rc < 0)
        kill(pid, SIGTERM);
    if (reap(pid, &status, rc < 0 ? &ignored : err) < 0 || rc < 0)
        return -1;
    if (WIFSIGNALED(status))
        return err_set(err, ERR_SYSTEM, "died of signal %d (%s)", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
    return WEXITSTATUS(status);
}
