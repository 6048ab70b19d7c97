#include "flatten/command/keeper_run.h"

#include "flatten/keeper/keeper.h"
#include "flatten/stream/interrupt.h"
#include "flatten/wire/wire.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

/* Has the kernel kill the reader when the keeper ends, for whatever reason. */
static void die_with_keeper(pid_t keeper)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != keeper)
        raise(SIGKILL);
}

#ifdef FLATBED_COVERAGE
extern void __gcov_dump(void); /* NOLINT(bugprone-reserved-identifier): libgcov's */
#endif

/* Ends the reader without atexit handlers, but saves coverage counters. */
static void end_reader(void)
{
#ifdef FLATBED_COVERAGE
    __gcov_dump();
#endif
    _exit(0);
}

static pid_t start_reader(const struct keeper_task *task, reader_run *run, void *ctx, int *socket,
                          struct err *err)
{
    int pair[2];
    pid_t keeper = getpid(), pid;
    _cleanup_fd_ int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (null < 0)
        return err_sys(err, "/dev/null");
    if (wire_pair(pair, err) < 0)
        return -1;
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        struct reader r = {.socket = pair[1], .null = null, .task = task};
        die_with_keeper(keeper);
        reader_main(&r, run, ctx);
        end_reader();
    }
    close(pair[1]);
    *socket = pair[0];
    if (pid < 0) {
        err_sys(err, "fork");
        cleanup_fd(&pair[0]);
    }
    return pid;
}

/*
 * Waits up to 2 s for the reader to end, then kills it. Returns its wait status, or 0 if it was
 * killed.
 */
static int reap_reader(pid_t pid)
{
    enum { STEPS = 2000, STEP_NS = 1000 * 1000 };
    int status = 0;

    for (int i = 0; i < STEPS; i++) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return status;
        nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
    }
    kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return 0;
}

/* Replaces the error if a signal ended the reader: that says more than a socket that was closed. */
static void explain_reader(int status, struct err *err)
{
    if (WTERMSIG(status) == SIGSYS)
        err_set(err, ERR_SYSTEM,
                "the process that reads images was stopped: it made a system call that its "
                "sandbox forbids");
    else
        err_set(err, ERR_SYSTEM, "the process that reads images died of signal %d (%s)",
                WTERMSIG(status), strsignal(WTERMSIG(status)));
}

/* Appends to a message. */
static void add_text(struct err *err, const char *text)
{
    size_t len = strlen(err->msg);

    snprintf(err->msg + len, sizeof(err->msg) - len, "%s", text);
}

/*
 * Completes the error of a run with a destination: after a signal says whether the image is
 * published, after another error only that it is. `status`: of the reader, from waitpid(2).
 */
static void explain_end(const struct keeper_task *task, int status, enum keeper_published published,
                        struct err *err)
{
    static const char *const texts[] = {"; nothing was published",
                                        "; the new image may have been published",
                                        "; the new image has been published"};
    bool stopped = interrupt_check(err) < 0, died = !stopped && WIFSIGNALED(status);

    if (died)
        explain_reader(status, err);
    if (task->destination && (stopped || died || published == PUBLISHED_YES))
        add_text(err, texts[published]);
}

int keeper_run(const struct keeper_task *task, reader_run *run, void *ctx, struct err *err)
{
    enum keeper_published published;
    int socket = -1;
    pid_t pid = start_reader(task, run, ctx, &socket, err);

    if (pid < 0)
        return -1;
    int rc = keeper_serve(task, socket, &published, err);
    close(socket);
    if (interrupted())
        kill(pid, SIGTERM);
    int status = reap_reader(pid);
    if (rc < 0)
        explain_end(task, status, published, err);
    return rc;
}
