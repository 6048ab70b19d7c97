#include "shim/stage/copy/unpack_run.h"

#include "base/clock.h"
#include "base/fdio.h"
#include "base/json/json.h"
#include "shim/host/flatten_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_BYTES = 64 * 1024, WORDS = 12, VARIABLES = 16, NOT_STARTED = 127 };
enum { WATCH_MS = 1000, WATCH_SHARE = 20, LAST_MS = 5000 };

/* ---- its command line ---- */

/* The variables that lead to a registry; HOME has root's credentials. */
static int make_environment(const struct unpack_order *order, const char *list[VARIABLES],
                            struct arena *arena, struct err *err)
{
    static const char *const kept[] = {"HTTPS_PROXY", "https_proxy",   "ALL_PROXY",   "all_proxy",
                                       "NO_PROXY",    "no_proxy",      "HTTP_PROXY",  "http_proxy",
                                       "TZ",          "SSL_CERT_FILE", "SSL_CERT_DIR"};
    size_t count = 0;

    list[count++] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    list[count++] = "HOME=/root";
    list[count++] = arena_printf(arena, "TMPDIR=%s", order->temporary);
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
        const char *value = getenv(kept[i]);
        if (value)
            list[count++] = arena_printf(arena, "%s=%s", kept[i], value);
    }
    list[count] = NULL;
    for (size_t i = 0; i < count; i++)
        if (!list[i])
            return err_nomem(err);
    return 0;
}

static int make_words(const struct unpack_order *order, const char *program,
                      const char *list[WORDS], struct arena *arena, struct err *err)
{
    enum { MOST_GIB = 1 << 20, GIB = 30 };
    uint64_t gib = (order->max_size >> GIB) + 1;
    size_t count = 0;

    list[count++] = program;
    list[count++] = "unpack";
    list[count++] = "--json";
    list[count++] = "--quiet";
    if (order->resolve) {
        list[count++] = "--resolve";
        list[count++] = "--retries=1"; /* launches wait for the answer */
    }
    if (order->verify)
        list[count++] = "--verify";
    list[count++] = arena_printf(arena, "--max-size=%u",
                                 order->max_size && gib < MOST_GIB ? (unsigned)gib : MOST_GIB);
    list[count++] = order->source;
    list[count++] = order->directory;
    list[count] = NULL;
    return list[count - 3] ? 0 : err_nomem(err);
}

/* ---- running it ---- */

struct run {
    pid_t pid;
    int out, said; /* standard output and error, in memory */
    int pidfd;
};

#define RUN_INIT                                                                                   \
    {                                                                                              \
        .out = -1, .said = -1, .pidfd = -1                                                         \
    }

static void run_close(struct run *r)
{
    cleanup_fd(&r->out);
    cleanup_fd(&r->said);
    cleanup_fd(&r->pidfd);
}

/* The descriptors that this program has open are CLOEXEC. */
static void become_program(const struct run *r, pid_t parent, const char *const *words,
                           const char *const *environment)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(r->out, STDOUT_FILENO) >= 0 &&
        dup2(r->said, STDERR_FILENO) >= 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
        getppid() == parent)
        execve(words[0], (char *const *)(uintptr_t)words, (char *const *)(uintptr_t)environment);
    _exit(NOT_STARTED);
}

static int run_begin(struct run *r, const char *const *words, const char *const *environment,
                     struct err *err)
{
    pid_t self = getpid();

    r->out = memfd_create("output", MFD_CLOEXEC);
    r->said = memfd_create("messages", MFD_CLOEXEC);
    if (r->out < 0 || r->said < 0)
        return err_sys(err, "memfd_create");
    r->pid = fork();
    if (r->pid == 0)
        become_program(r, self, words, environment);
    if (r->pid < 0)
        return err_sys(err, "cannot start %s", words[0]);
    r->pidfd = (int)syscall(SYS_pidfd_open, r->pid, 0);
    if (r->pidfd >= 0)
        return 0;
    err_sys(err, "pidfd_open");
    kill(r->pid, SIGKILL);
    waitpid(r->pid, NULL, 0);
    return -1;
}

/* Returns true if it ended in time. */
static bool has_ended(const struct run *r, long milliseconds)
{
    struct pollfd end = {.fd = r->pidfd, .events = POLLIN};

    return poll(&end, 1, (int)milliseconds) > 0;
}

/* Looks now and then, for one part in twenty of the time at most, until it ends or the watch ends
 * it. */
static int run_watch(const struct run *r, unpack_watch *watch, void *context, struct err *err)
{
    long pause = WATCH_MS;

    while (!has_ended(r, pause)) {
        long begin = clock_ms();
        if (!watch || watch(context, err) == 0) {
            pause = (clock_ms() - begin) * WATCH_SHARE;
            pause = pause > WATCH_MS ? pause : WATCH_MS;
            continue;
        }
        kill(r->pid, SIGTERM); /* it removes what it has written */
        if (!has_ended(r, LAST_MS))
            kill(r->pid, SIGKILL);
        return -1;
    }
    return 0;
}

static int run_end(const struct run *r)
{
    int status = 0;

    while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

/* ---- what it says ---- */

/* Takes the last message as the reason. */
static int fail_as_said(const struct run *r, int status, struct err *err)
{
    static const char start[] = "flatten: error: ";
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    if (WIFSIGNALED(status))
        return err_set(err, ERR_SYSTEM, "flatten was ended by signal %d", WTERMSIG(status));
    if (lseek(r->said, 0, SEEK_SET) < 0 ||
        fd_read_all(r->said, OUTPUT_BYTES, &text, &ignored) < 0 || !text.len)
        return err_set(err, ERR_SYSTEM, "flatten ended with status %d", WEXITSTATUS(status));
    while (text.len && text.data[text.len - 1] == '\n')
        buf_truncate(&text, text.len - 1);
    const char *line = strrchr(text.data, '\n');
    line = line ? line + 1 : text.data;
    if (strncmp(line, start, strlen(start)) == 0)
        line += strlen(start);
    return err_set(err, ERR_FORMAT, "%s", line);
}

static int read_result(const struct run *r, struct arena *arena, struct unpack_result *out,
                       struct err *err)
{
    static const struct json_options options = {.max_bytes = OUTPUT_BYTES};
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (lseek(r->out, 0, SEEK_SET) < 0)
        return err_sys(err, "lseek");
    if (fd_read_all(r->out, OUTPUT_BYTES, &text, err) < 0)
        return -1;
    _cleanup_json_ struct json_doc *doc = json_parse_buf(&text, &options, err);
    if (!doc)
        return err_wrap(err, "flatten unpack --json");
    const char *digest = json_text(json_get(json_root(doc), "digest"));
    if (!digest || !json_u64(json_get(json_root(doc), "packed"), &out->packed))
        return err_set(err, ERR_UNSUPPORTED,
                       "flatten and flatbed are not of the same version: install both anew");
    out->digest = arena_strndup(arena, digest, strlen(digest));
    return out->digest ? 0 : err_nomem(err);
}

int unpack_run(const struct unpack_order *order, unpack_watch *watch, void *context,
               struct arena *arena, struct unpack_result *out, struct err *err)
{
    _cleanup_(run_close) struct run r = RUN_INIT;
    const char *words[WORDS], *environment[VARIABLES];
    const char *program = flatten_program(arena, err);

    *out = (struct unpack_result){0};
    if (!program || make_words(order, program, words, arena, err) < 0 ||
        make_environment(order, environment, arena, err) < 0 ||
        run_begin(&r, words, environment, err) < 0)
        return -1;
    int rc = run_watch(&r, watch, context, err);
    int status = run_end(&r);
    if (rc < 0)
        return -1;
    return status ? fail_as_said(&r, status, err) : read_result(&r, arena, out, err);
}
