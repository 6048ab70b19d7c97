#include "flatten/keeper/registry/credentials.h"

#include "base/fdio.h"
#include "flatten/stream/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

enum { ANSWER_LIMIT = 1024 * 1024, LONGEST_NAME = 64 };

extern char **environ;

struct helper {
    pid_t pid;
    int in, out; /* this side of its standard input and output */
};

/* Gives the helper the default for signals that flatten ignores. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t defaults;

    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGXFSZ);
    int rc = posix_spawnattr_setsigdefault(attributes, &defaults);
    return rc ? rc : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF);
}

static int helper_spawn(struct helper *h, const char *program, int in, int out)
{
    char get[] = "get";
    char *const argv[] = {(char *)(uintptr_t)program, get, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int rc = posix_spawn_file_actions_init(&actions);

    if (rc)
        return rc;
    rc = posix_spawnattr_init(&attributes);
    if (rc == 0) {
        rc = set_attributes(&attributes);
        if (rc == 0)
            rc = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
        if (rc == 0)
            rc = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
        if (rc == 0)
            rc = posix_spawnp(&h->pid, program, &actions, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

static int helper_start(struct helper *h, const char *program, struct err *err)
{
    int in[2], out[2];

    if (pipe2(in, O_CLOEXEC) < 0)
        return err_sys(err, "pipe");
    _cleanup_fd_ int in_read = in[0], in_write = in[1];
    if (pipe2(out, O_CLOEXEC) < 0)
        return err_sys(err, "pipe");
    _cleanup_fd_ int out_read = out[0], out_write = out[1];
    int rc = helper_spawn(h, program, in_read, out_write);
    if (rc) {
        errno = rc;
        return err_sys(err, "the credential helper %s cannot be started", program);
    }
    h->in = steal_fd(&in_write);
    h->out = steal_fd(&out_read);
    return 0;
}

/* Reads what is there. Returns 1, 0 at the end, or -1. */
static int take_some(int fd, struct buf *answer, struct err *err)
{
    char data[4096];
    ssize_t n = read(fd, data, sizeof(data));

    if (n < 0)
        return errno == EINTR ? 1 : err_sys(err, "read");
    buf_append(answer, data, (size_t)n);
    if (answer->len > ANSWER_LIMIT)
        return err_set(err, ERR_LIMIT, "larger than %d bytes", ANSWER_LIMIT);
    return n > 0;
}

/* Reads to the end of the answer. Another thread may get the signal, so this wakes up to look. */
static int read_answer(int fd, struct buf *answer, struct err *err)
{
    enum { STEP_MS = 100 };
    int rc = 1;

    while (rc > 0) {
        struct pollfd readable = {.fd = fd, .events = POLLIN};
        int n = poll(&readable, 1, STEP_MS);
        if (interrupt_check(err) < 0)
            return -1;
        rc = n > 0 ? take_some(fd, answer, err) : 1;
    }
    return rc < 0 ? -1 : buf_check(answer, err);
}

static void helper_kill(pid_t pid)
{
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* Waits for the end of the helper. A signal for flatten kills it. */
static int await_end(pid_t pid, int *status, struct err *err)
{
    enum { STEP_MS = 5 };
    pid_t ended;

    while ((ended = waitpid(pid, status, WNOHANG)) == 0 && interrupt_check(err) == 0)
        poll(NULL, 0, STEP_MS);
    if (ended < 0)
        return err_sys(err, "waitpid");
    if (ended == 0)
        helper_kill(pid);
    return ended == 0 ? -1 : 0;
}

/*
 * Sends the name of the server, reads the answer, waits for the end. Returns the exit status, or
 * -1.
 */
static int helper_ask(struct helper *h, const char *server, struct buf *answer, struct err *err)
{
    _cleanup_free_ char *line = strf("%s\n", server);
    struct err ignored = ERR_INIT;
    int status;

    /* A helper need not read its input. */
    (void)!(line && fd_write_all(h->in, line, strlen(line), &ignored) == 0);
    cleanup_fd(&h->in);
    int rc = read_answer(h->out, answer, err);
    cleanup_fd(&h->out);
    if (rc < 0)
        helper_kill(h->pid);
    if (rc < 0 || await_end(h->pid, &status, err) < 0)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int take_answer(const struct buf *answer, struct credentials *out, struct err *err)
{
    _cleanup_json_ struct json_doc *doc =
        json_parse(answer->len ? answer->data : "", answer->len, NULL, err);

    if (!doc)
        return -1;
    const char *user = json_text(json_get(json_root(doc), "Username"));
    const char *secret = json_text(json_get(json_root(doc), "Secret"));
    if (!user || !secret)
        return err_set(err, ERR_FORMAT, "it gave no Username and Secret");
    if (strcmp(user, "<token>") == 0)
        return (out->identity_token = strdup(secret)) ? 1 : err_nomem(err);
    out->username = strdup(user);
    out->password = strdup(secret);
    return out->username && out->password ? 1 : err_nomem(err);
}

static bool name_valid(const char *helper)
{
    size_t len = strspn(helper, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "._-");

    return len > 0 && !helper[len] && len <= LONGEST_NAME;
}

int credential_helper_get(const char *helper, const char *server, struct credentials *out,
                          struct err *err)
{
    char program[sizeof("docker-credential-") + LONGEST_NAME];
    _cleanup_buf_ struct buf answer = BUF_INIT;
    struct helper h = {.pid = -1, .in = -1, .out = -1};

    if (!name_valid(helper))
        return err_set(err, ERR_FORMAT, "'%.100s' is not the name of a credential helper", helper);
    snprintf(program, sizeof(program), "docker-credential-%s", helper);
    if (helper_start(&h, program, err) < 0)
        return -1;
    int status = helper_ask(&h, server, &answer, err);
    if (status > 0) {
        const char *said = answer.data ? answer.data : "";
        if (strstr(said, "credentials not found"))
            return 0;
        err_set(err, ERR_SYSTEM, "exit status %d: %.*s", status, (int)strcspn(said, "\r\n"), said);
        status = -1;
    }
    int rc = status < 0 ? -1 : take_answer(&answer, out, err);
    return rc < 0 ? err_wrap(err, "%s", program) : rc;
}
