#include "flatten/reader/reader_internal.h"

#include "base/digest/sha256.h"
#include "flatten/reader/sandbox.h"

#include <fcntl.h>
#include <iconv.h>
#include <langinfo.h>
#include <malloc.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* ---- questions ---- */

void answer_clear(struct answer *a)
{
    buf_free(&a->message);
    cleanup_fd(&a->fd);
    a->fd = -1;
}

int reader_next(struct reader *r, struct answer *out, struct err *err)
{
    answer_clear(out);
    int rc = wire_receive(r->socket, &out->message, &out->fd, err);

    if (rc == 0)
        return err_set(err, ERR_SYSTEM, "flatten's main process is gone");
    if (rc < 0 || wire_decode_reply(&out->message, &out->reply, err) < 0)
        return -1;
    if (!out->reply.failed)
        return 0;
    *err = out->reply.err;
    return -1;
}

int reader_ask(struct reader *r, const struct wire_request *request, struct answer *out,
               struct err *err)
{
    _cleanup_buf_ struct buf message = BUF_INIT;

    wire_encode_request(request, &message);
    if (wire_send(r->socket, &message, -1, err) < 0)
        return -1;
    return reader_next(r, out, err);
}

int answer_fd(struct answer *a, struct err *err)
{
    if (a->fd < 0)
        return err_set(err, ERR_FORMAT, "an answer without a descriptor");
    return steal_fd(&a->fd);
}

/* ---- the process ---- */

/* By number where the kernel, before 5.9, cannot do it at once. */
static void close_from(int first)
{
    enum { MOST = 1 << 16 };
    struct rlimit limit;

    if (syscall(SYS_close_range, first, ~0U, 0) == 0 || getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    for (int fd = first; (rlim_t)fd < limit.rlim_cur && fd < MOST; fd++)
        close(fd);
}

/* Only socket and output, and the standard descriptors but for input, which the keeper reads. */
static int keep_descriptors(struct reader *r, struct err *err)
{
    enum { SOCKET = 3, OUTPUT };
    int output = r->task->output ? fcntl(r->task->output, F_DUPFD_CLOEXEC, OUTPUT + 1) : 0;

    if (dup2(r->null, STDIN_FILENO) < 0 || output < 0)
        return err_sys(err, "dup");
    if (r->socket != SOCKET) {
        if (dup3(r->socket, SOCKET, O_CLOEXEC) < 0)
            return err_sys(err, "dup");
        r->socket = SOCKET;
    }
    if (output && dup3(output, OUTPUT, O_CLOEXEC) < 0)
        return err_sys(err, "dup");
    r->output = output ? OUTPUT : 0;
    close_from(output ? OUTPUT + 1 : OUTPUT);
    return 0;
}

/* libarchive turns the UTF-8 of pax headers into the locale's characters, and drops the result. */
static int warm_charset(const char *to, const char *from, struct err *err)
{
    iconv_t conversion = iconv_open(to, from);

    if (conversion == (iconv_t)-1) /* NOLINT(performance-no-int-to-ptr): POSIX has it so */
        return err_sys(err, "iconv from %s to %s", from, to);
    iconv_close(conversion);
    return 0;
}

/* What libraries do at their first use, and need files for. */
static int warm_up(struct err *err)
{
    enum { LARGE = 1024 * 1024 }; /* bytes */
    const char *charset = nl_langinfo(CODESET);
    struct digest unused;

    if (warm_charset(charset, "UTF-8", err) < 0 || warm_charset("UTF-8", charset, err) < 0)
        return -1;

    /* More arenas than one come with looks into /proc when they shrink. */
    mallopt(M_ARENA_MAX, 1);
    /* Left to itself, glibc soon has large lists in its heap, where growing and freeing them leaves
     * holes: a quarter of what comparing two trees takes. */
    mallopt(M_MMAP_THRESHOLD, LARGE);
    setvbuf(stdout, NULL, _IOFBF, BUFSIZ); /* or its first use asks for the file's kind */
    return sha256_digest("", 0, &unused, err);
}

static void tell_end(struct reader *r, int status, const struct err *verdict)
{
    const struct wire_request done = {.op = WIRE_DONE, .status = status, .err = *verdict};
    _cleanup_buf_ struct buf message = BUF_INIT;
    struct err ignored = ERR_INIT;

    wire_encode_request(&done, &message);
    if (wire_send(r->socket, &message, -1, &ignored) < 0)
        return; /* nobody is there to be told */
}

void reader_main(struct reader *r, reader_run *run, void *ctx)
{
    struct err err = ERR_INIT;
    int status = -1;

    if (keep_descriptors(r, &err) == 0 && warm_up(&err) == 0 && sandbox_enter(&err) == 0)
        status = run(r, ctx, &err);
    fflush(stdout);
    tell_end(r, status, &err);
}
