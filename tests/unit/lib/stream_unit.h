/* Streams over memory for tests, with a chosen number of bytes a peek. */
#ifndef TESTS_STREAM_UNIT_H
#define TESTS_STREAM_UNIT_H

#include "flatten/stream/compress.h"
#include "flatten/stream/stream.h"
#include "tests/unit/lib/unit.h"

#include "base/buf.h"

struct memory_stream {
    struct stream base;
    const char *data;
    size_t left, step; /* at most `step` bytes a peek */
    char shown[1];     /* a single byte is copied here, so that reading beyond it is seen */
};

static inline int memory_peek(struct stream *s, const void **data, size_t *len, struct err *err)
{
    struct memory_stream *m = (struct memory_stream *)s;

    (void)err;
    *len = m->left < m->step ? m->left : m->step;
    *data = m->data;
    if (*len == 1) {
        m->shown[0] = m->data[0];
        *data = m->shown;
    }
    return 0;
}

static inline void memory_advance(struct stream *s, size_t len)
{
    struct memory_stream *m = (struct memory_stream *)s;

    assert_true(len <= m->left && len <= m->step);
    m->data += len;
    m->left -= len;
}

static inline void memory_release(struct stream *s)
{
    free(s);
}

static inline struct stream *memory_stream(const void *data, size_t len, size_t step)
{
    static const struct stream_ops ops = {memory_peek, memory_advance, memory_release, NULL, NULL};
    struct memory_stream *m = malloc(sizeof(*m));

    assert_non_null(m);
    *m = (struct memory_stream){.base = {&ops}, .data = data, .left = len, .step = step};
    return &m->base;
}

/* Reads the whole stream, `step` bytes at a time, and frees it. */
static inline int read_stream(struct stream *s, size_t step, struct buf *out, struct err *err)
{
    const void *data;
    size_t len;
    int rc;

    while ((rc = stream_peek(s, &data, &len, err)) == 0 && len > 0) {
        len = len < step ? len : step;
        buf_append(out, data, len);
        stream_advance(s, len);
    }
    stream_free(s);
    return rc;
}

/* The same by stream_read, mixed with single bytes by stream_peek. */
static inline int read_stream_into(struct stream *s, size_t step, struct buf *out, struct err *err)
{
    char *to = malloc(step);
    const void *data;
    size_t len;
    int rc;

    assert_non_null(to);
    while ((rc = stream_read(s, to, step, &len, err)) == 0 && len > 0) {
        assert_true(len <= step);
        buf_append(out, to, len);
        if (out->len % 3 == 0) {
            if ((rc = stream_peek(s, &data, &len, err)) < 0 || len == 0)
                break;
            buf_append(out, data, 1);
            stream_advance(s, 1);
        }
    }
    free(to);
    stream_free(s);
    return rc;
}

static inline int append_to_buf(void *ctx, const void *data, size_t len, struct err *err)
{
    (void)err;
    buf_append(ctx, data, len);
    return 0;
}

/* Compresses `len` bytes, `step` at a time, and appends them to `out`. */
static inline void compress_to(struct buf *out, const struct compress_options *options,
                               const void *data, size_t len, size_t step)
{
    struct err err = ERR_INIT;
    _cleanup_compressor_ struct compressor *c = compressor_new(options, append_to_buf, out, &err);

    assert_non_null(c);
    for (size_t at = 0; at < len; at += step)
        assert_works(
            compressor_write(c, (const char *)data + at, len - at < step ? len - at : step, &err),
            err);
    assert_works(compressor_finish(c, &err), err);
}

/* Fills in reproducible bytes that compress to about half. */
static inline void fill_mixed(struct buf *out, size_t len)
{
    uint32_t x = 12345;

    while (out->len < len) {
        x = x * 1664525u + 1013904223u;
        if (x >> 31)
            buf_printf(out, "the same words again %u", x >> 28);
        else
            buf_append(out, &x, sizeof(x));
    }
    buf_truncate(out, len);
}

#endif
