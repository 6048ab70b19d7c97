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

/* Closes descriptors from `first` on. A kernel before 5.9 closes them only one by one. */
static void close_from(int first)
{
    enum { MOST = 1 << 16 };
    struct rlimit limit;

    if (syscall(SYS_close_range, first, ~0U, 0) == 0 || getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    for (int fd = first; (rlim_t)fd < limit.rlim_cur && fd < MOST; fd++)
        close(fd);
}

/*
 * Keeps the socket, the output and the standard descriptors; standard input, which the keeper
 * reads, becomes /dev/null.
 */
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

/*
 * libarchive converts the UTF-8 of pax headers to the charset of the locale: iconv reads its tables
 * now.
 */
static int warm_charset(const char *to, const char *from, struct err *err)
{
    iconv_t conversion = iconv_open(to, from);

    if (conversion == (iconv_t)-1) /* NOLINT(performance-no-int-to-ptr): POSIX has it so */
        return err_sys(err, "iconv from %s to %s", from, to);
    iconv_close(conversion);
    return 0;
}

/* Has libraries do now what they do at their first use, and need files for. */
static int warm_up(struct err *err)
{
    enum { LARGE = 1024 * 1024, KEPT = 16 * LARGE }; /* bytes */
    const char *charset = nl_langinfo(CODESET);
    struct digest unused;

    if (warm_charset(charset, "UTF-8", err) < 0 || warm_charset("UTF-8", charset, err) < 0)
        return -1;

    /* malloc reads /proc when it shrinks an arena other than the first. */
    mallopt(M_ARENA_MAX, 1);
    /*
     * By default glibc would move large lists to its heap, where growing and freeing them leaves
     * holes: a quarter of the memory for comparing two trees.
     */
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_TRIM_THRESHOLD, KEPT);       /* each layer takes the memory of the one before */
    setvbuf(stdout, NULL, _IOFBF, BUFSIZ); /* its first use would ask for the kind of the file */
    return sha256_digest("", 0, &unused, err);
}

static void tell_end(struct reader *r, int status, const struct err *verdict)
{
    const struct wire_request done = {.op = WIRE_DONE, .status = status, .err = *verdict};
    _cleanup_buf_ struct buf message = BUF_INIT;
    struct err ignored = ERR_INIT;

    wire_encode_request(&done, &message);
    if (wire_send(r->socket, &message, -1, &ignored) < 0)
        return; /* the keeper is gone */
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
