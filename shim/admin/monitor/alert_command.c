/* The command of an alert. */
#include "shim/admin/monitor/alert_send.h"

#include "shim/host/trust.h"
#include "shim/mount/source.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000, FACTS = 9 };

struct environment {
    struct arena arena;        /* owns the texts */
    char *list[1 + FACTS + 1]; /* PATH, the facts, NULL */
};

static void environment_free(struct environment *e)
{
    arena_free(&e->arena);
}

static bool put_fact(struct environment *e, size_t at, const char *name, const char *text)
{
    _cleanup_buf_ struct buf printable = BUF_INIT;

    buf_put_printable(&printable, text, strlen(text));
    e->list[at] = printable.failed ? NULL
                                   : arena_printf(&e->arena, "FLATBED_%s=%s", name,
                                                  printable.data ? printable.data : "");
    return e->list[at] != NULL;
}

static int fill_environment(const struct alert *alert, struct environment *e, struct err *err)
{
    static char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    _cleanup_buf_ struct buf say = BUF_INIT;
    char value[24], limit[24];

    alert_describe(alert, &say);
    if (buf_check(&say, err) < 0)
        return -1;
    snprintf(value, sizeof(value), "%llu", (unsigned long long)alert->value);
    snprintf(limit, sizeof(limit), "%llu", (unsigned long long)alert->limit);
    const struct {
        const char *name, *text;
    } facts[FACTS] = {{"VERDICT", alert_change_names[alert->change]},
                      {"ALERT", alert_kind_names[alert->kind]},
                      {"ENGINE", alert->engine},
                      {"CONTAINER", alert->id},
                      {"NAME", alert->name},
                      {"STORE", alert->store},
                      {"VALUE", value},
                      {"LIMIT", limit},
                      {"SAY", say.data}};
    e->list[0] = path;
    for (size_t i = 0; i < FACTS; i++)
        if (!put_fact(e, i + 1, facts[i].name, facts[i].text))
            return err_nomem(err);
    return 0;
}

/* Fails for a program that a user other than root could have written or replaced. */
static int check_program(const char *path, struct err *err)
{
    _cleanup_source_ struct source program = SOURCE_INIT;
    struct stat st;

    if (source_find(path, &program, err) < 0)
        return -1;
    if (program.missing || !program.regular)
        return err_set(err, ERR_SYSTEM, "%s: there is no such program", path);
    if (fstat(program.fd, &st) < 0)
        return err_sys(err, "%s", path);
    if (program.exposed || !trust_closed(&st))
        return err_set(err, ERR_POLICY, "%s: it is not run, as users other than root may write it",
                       path);
    return 0;
}

/* Opens a pipe that holds the line, which is no longer than a pipe takes at once. */
static int open_input(const struct buf *line, struct err *err)
{
    _cleanup_fd_ int in = -1, out = -1;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(err, "pipe");
    in = ends[0];
    out = ends[1];
    if (write(out, line->data, line->len) != (ssize_t)line->len)
        return err_sys(err, "write");
    return steal_fd(&in);
}

/* Prepares a process group of its own, without signals that the caller ignores or blocks. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, usual;

    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGCHLD);
    int why = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                       POSIX_SPAWN_SETSIGDEF);
    if (why == 0)
        why = posix_spawnattr_setsigmask(attributes, &none);
    return why ? why : posix_spawnattr_setsigdefault(attributes, &usual);
}

static int set_descriptors(posix_spawn_file_actions_t *actions, int input)
{
    int why = posix_spawn_file_actions_adddup2(actions, input, STDIN_FILENO);

    if (why == 0)
        why = posix_spawn_file_actions_adddup2(actions, STDERR_FILENO, STDOUT_FILENO);
    return why ? why : posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
}

static int start(char *const argv[], char *const environment[], int input, pid_t *pid,
                 struct err *err)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;

    errno = posix_spawn_file_actions_init(&actions);
    if (errno)
        return err_sys(err, "posix_spawn");
    int why = posix_spawnattr_init(&attributes);
    if (why == 0) {
        why = set_descriptors(&actions, input);
        if (why == 0)
            why = set_attributes(&attributes);
        if (why == 0)
            why = posix_spawn(pid, argv[0], &actions, &attributes, argv, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    errno = why;
    return why == 0 ? 0 : err_sys(err, "%s", argv[0]);
}

/* Waits for the end, at most PATIENCE_MS; then the group is killed. */
static int await_end(pid_t pid, const char *name, struct err *err)
{
    _cleanup_fd_ int fd = pidfd_open(pid, 0);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    bool late = fd < 0 || poll(&p, 1, PATIENCE_MS) <= 0;
    int status = 0;

    if (late)
        kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_sys(err, "%s: waitpid", name);
    if (late)
        return err_set(err, ERR_LIMIT, "%s: killed, as it ran for more than %d seconds", name,
                       PATIENCE_MS / 1000);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    return WIFEXITED(status)
               ? err_set(err, ERR_SYSTEM, "%s: exit status %d", name, WEXITSTATUS(status))
               : err_set(err, ERR_SYSTEM, "%s: ended by signal %d", name, WTERMSIG(status));
}

int alert_command_run(const struct policy_list *command, const struct alert *alert,
                      const struct buf *line, struct err *err)
{
    _cleanup_(environment_free) struct environment e = {0};
    _cleanup_fd_ int input = -1;
    pid_t pid;

    if (check_program(command->items[0], err) < 0 || fill_environment(alert, &e, err) < 0)
        return -1;
    char **argv = arena_alloc(&e.arena, (command->count + 1) * sizeof(*argv));
    if (!argv)
        return err_nomem(err);
    for (size_t i = 0; i < command->count; i++) {
        argv[i] = arena_strndup(&e.arena, command->items[i], strlen(command->items[i]));
        if (!argv[i])
            return err_nomem(err);
    }
    input = open_input(line, err);
    if (input < 0 || start(argv, e.list, input, &pid, err) < 0)
        return -1;
    return await_end(pid, command->items[0], err);
}
