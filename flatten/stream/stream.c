#include "flatten/stream/stream.h"

#include "flatten/stream/digester.h"
#include "flatten/stream/interrupt.h"

#include <stdbool.h>
#include <string.h>

enum { FILE_BUFFER = 256 * 1024, AFTER_SKIP = 32 * 1024 };

int stream_drain(struct stream *s, struct err *err)
{
    const void *data;
    size_t len;

    do {
        if (stream_peek(s, &data, &len, err) < 0)
            return -1;
        stream_advance(s, len);
    } while (len > 0);
    return 0;
}

int stream_read(struct stream *s, void *to, size_t size, size_t *len, struct err *err)
{
    const void *data;
    size_t there;

    if (s->ops->read)
        return s->ops->read(s, to, size, len, err);
    if (stream_peek(s, &data, &there, err) < 0)
        return -1;
    *len = there < size ? there : size;
    memcpy(to, data, *len);
    stream_advance(s, *len);
    return 0;
}

/* ---- files ---- */

struct file_stream {
    struct stream base;
    int fd;
    bool ranged; /* pread within a range; else read to the end */
    off_t offset;
    uint64_t left;
    stream_await *await; /* for a file that is still written; or NULL */
    void *await_ctx;
    uint64_t length; /* of the range */
    size_t at, len;
    size_t most; /* bytes to read at once: few after a skip, since another may follow */
    size_t size; /* of the buffer */
    unsigned char buffer[];
};

/* A pipe may give a byte at a time; the first peek must show a whole magic number. */
static ssize_t pipe_fill(struct file_stream *f)
{
    enum { MAGIC = 4 };
    size_t len = 0;
    ssize_t n;

    do {
        n = read(f->fd, f->buffer + len, f->size - len);
        len += n > 0 ? (size_t)n : 0;
    } while ((n > 0 && len < MAGIC) || (n < 0 && errno == EINTR && !interrupted()));
    return n < 0 ? -1 : (ssize_t)len;
}

/* Returns how many bytes of the range are read next. */
static size_t next_piece(const struct file_stream *f)
{
    return f->left < f->most ? (size_t)f->left : f->most;
}

static int await_piece(const struct file_stream *f, struct err *err)
{
    size_t want = next_piece(f);

    return f->await && want ? f->await(f->await_ctx, f->length - f->left + want, err) : 0;
}

static ssize_t file_fill(struct file_stream *f)
{
    size_t want = next_piece(f);
    ssize_t n = 0;

    if (!f->ranged)
        return pipe_fill(f);
    f->most = f->most < f->size ? f->most * 2 : f->most;
    if (want)
        do
            n = pread(f->fd, f->buffer, want, f->offset);
        while (n < 0 && errno == EINTR);
    return n;
}

static int file_peek(struct stream *s, const void **data, size_t *len, struct err *err)
{
    struct file_stream *f = (struct file_stream *)s;

    if (f->at == f->len) {
        if (interrupt_check(err) < 0 || await_piece(f, err) < 0)
            return -1;
        ssize_t n = file_fill(f);
        if (n < 0)
            return err_sys(err, "read");
        if (n == 0 && f->ranged && f->left > 0)
            return err_set(err, ERR_FORMAT, "the file ends too early");
        f->at = 0;
        f->len = (size_t)n;
        f->offset += n;
        f->left -= f->ranged ? (uint64_t)n : 0;
    }
    *data = f->buffer + f->at;
    *len = f->len - f->at;
    return 0;
}

static void file_advance(struct stream *s, size_t len)
{
    ((struct file_stream *)s)->at += len;
}

static void file_release(struct stream *s)
{
    free(s);
}

/* The last byte is always read, to find a file that is shorter than its range. */
static uint64_t file_skip(struct stream *s, uint64_t len)
{
    struct file_stream *f = (struct file_stream *)s;

    if (!f->ranged || f->at != f->len || f->left == 0)
        return 0;
    if (len >= f->left)
        len = f->left - 1;
    f->offset += (off_t)len;
    f->left -= len;
    f->most = AFTER_SKIP;
    return len;
}

static const struct stream_ops file_ops = {file_peek, file_advance, file_release, NULL, file_skip};

static struct file_stream *file_new(int fd, size_t size, struct err *err)
{
    struct file_stream *f = malloc(sizeof(*f) + size);

    if (!f) {
        err_nomem(err);
        return NULL;
    }
    *f = (struct file_stream){.size = size, .most = size};
    f->base.ops = &file_ops;
    f->fd = fd;
    return f;
}

struct stream *stream_range(int fd, off_t offset, uint64_t length, struct err *err)
{
    struct file_stream *f = file_new(fd, length < FILE_BUFFER ? (size_t)length : FILE_BUFFER, err);

    if (!f)
        return NULL;
    f->ranged = true;
    f->offset = offset;
    f->left = f->length = length;
    return &f->base;
}

void stream_range_await(struct stream *range, stream_await *await, void *ctx)
{
    struct file_stream *f = (struct file_stream *)range;

    f->await = await;
    f->await_ctx = ctx;
}

uint64_t stream_skip(struct stream *s, uint64_t len)
{
    return s->ops->skip ? s->ops->skip(s, len) : 0;
}

struct stream *stream_fd(int fd, struct err *err)
{
    struct file_stream *f = file_new(fd, FILE_BUFFER, err);

    return f ? &f->base : NULL;
}

/* ---- verification ---- */

struct verify_stream {
    struct stream base;
    struct stream *inner;
    struct digester *digester;
    struct digest expected;
    const char *data;   /* the bytes of the last peek that are not used yet */
    struct err failure; /* of hashing; the next peek reports it */
    bool done;
    char *what;
};

static int verify_end(struct verify_stream *v, struct err *err)
{
    struct digest actual;

    if (v->done)
        return 0;
    v->done = true;
    if (digester_finish(v->digester, &actual, err) < 0)
        return -1;
    if (!digest_equal(&actual, &v->expected))
        return err_set(err, ERR_DIGEST, "%s: content is %s, not %s as the image says", v->what,
                       actual.text, v->expected.text);
    return 0;
}

static int verify_peek(struct stream *s, const void **data, size_t *len, struct err *err)
{
    struct verify_stream *v = (struct verify_stream *)s;

    if (v->failure.kind != ERR_NONE) {
        *err = v->failure;
        return -1;
    }
    if (stream_peek(v->inner, data, len, err) < 0)
        return -1;
    v->data = *data;
    return *len == 0 ? verify_end(v, err) : 0;
}

/* Hashes here, not in the peek: a reader may use fewer bytes than it was shown. */
static void verify_advance(struct stream *s, size_t len)
{
    struct verify_stream *v = (struct verify_stream *)s;
    struct err err;

    if (len == 0)
        return;
    if (digester_update(v->digester, v->data, len, &err) < 0)
        v->failure = err;
    v->data += len;
    stream_advance(v->inner, len);
}

static void verify_release(struct stream *s)
{
    struct verify_stream *v = (struct verify_stream *)s;

    stream_free(v->inner);
    cleanup_digester(&v->digester);
    free(v->what);
    free(v);
}

struct stream *stream_verify(struct stream *inner, const struct digest *expected, const char *what,
                             struct hasher *hasher, struct err *err)
{
    static const struct stream_ops ops = {verify_peek, verify_advance, verify_release, NULL, NULL};
    _cleanup_stream_ struct stream *owned = inner;
    _cleanup_free_ struct verify_stream *v = calloc(1, sizeof(*v));
    _cleanup_free_ char *label = strdup(what);
    _cleanup_digester_ struct digester *digester = digester_new(hasher, err);

    if (!digester)
        return NULL;
    if (!v || !label) {
        err_nomem(err);
        return NULL;
    }
    v->base.ops = &ops;
    v->inner = steal_ptr(&owned);
    v->digester = steal_ptr(&digester);
    v->expected = *expected;
    v->what = steal_ptr(&label);
    return &steal_ptr(&v)->base;
}

/* ---- counting ---- */

struct count_stream {
    struct stream base;
    struct stream *inner;
    _Atomic uint64_t *count;
};

static int count_peek(struct stream *s, const void **data, size_t *len, struct err *err)
{
    return stream_peek(((struct count_stream *)s)->inner, data, len, err);
}

static void count_advance(struct stream *s, size_t len)
{
    struct count_stream *c = (struct count_stream *)s;

    atomic_fetch_add(c->count, len);
    stream_advance(c->inner, len);
}

static void count_release(struct stream *s)
{
    stream_free(((struct count_stream *)s)->inner);
    free(s);
}

struct stream *stream_count(struct stream *inner, _Atomic uint64_t *count, struct err *err)
{
    static const struct stream_ops ops = {count_peek, count_advance, count_release, NULL, NULL};
    struct count_stream *c = malloc(sizeof(*c));

    if (!c) {
        stream_free(inner);
        err_nomem(err);
        return NULL;
    }
    *c = (struct count_stream){{&ops}, inner, count};
    return &c->base;
}
