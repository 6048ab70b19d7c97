#include "flatten/stream/compress.h"

#include "flatten/stream/cpus.h"

#include <isa-l/igzip_lib.h>
#include <stdbool.h>
#include <string.h>
#include <zstd.h>

/* The piece that a thread of zstd works on. The default, four windows, would take 20 MB a thread.
 */
enum { ZSTD_JOB = 2 * 1024 * 1024 };
enum { COMPRESS_BUFFER = 256 * 1024, DEFAULT_ZSTD = 3, DEFAULT_GZIP = 1 };

struct compressor {
    enum compression kind;
    compress_sink *sink;
    void *ctx;
    ZSTD_CCtx *zstd;
    struct isal_zstream *gzip;
    unsigned char *level_buffer; /* ISA-L's */
    bool in_frame;               /* bytes were written since the last frame ended */
    unsigned char out[COMPRESS_BUFFER];
};

static int parse_level(const char *text, int low, int high, int *level, struct err *err)
{
    char *end;

    errno = 0;
    long value = strtol(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || errno || *end || value < low || value > high)
        return err_set(err, ERR_USAGE, "compression level '%s': expected %d to %d", text, low,
                       high);
    *level = (int)value;
    return 0;
}

int compress_parse(const char *text, struct compress_options *out, struct err *err)
{
    size_t len = strcspn(text, ":");
    const char *level = text[len] ? text + len + 1 : NULL;

    if (len == 4 && memcmp(text, "zstd", len) == 0) {
        out->kind = COMPRESSION_ZSTD;
        out->level = DEFAULT_ZSTD;
        return level ? parse_level(level, 1, 19, &out->level, err) : 0;
    }
    if (len == 4 && memcmp(text, "gzip", len) == 0) {
        out->kind = COMPRESSION_GZIP;
        out->level = DEFAULT_GZIP;
        return level ? parse_level(level, 0, 3, &out->level, err) : 0;
    }
    if (strcmp(text, "none") == 0) {
        out->kind = COMPRESSION_NONE;
        return 0;
    }
    return err_set(err, ERR_USAGE, "--compression=%s: expected zstd[:1-19], gzip[:0-3] or none",
                   text);
}

static int set_zstd(struct compressor *c, ZSTD_cParameter parameter, int value, struct err *err)
{
    size_t rc = ZSTD_CCtx_setParameter(c->zstd, parameter, value);

    return ZSTD_isError(rc) ? err_set(err, ERR_SYSTEM, "zstd: %s", ZSTD_getErrorName(rc)) : 0;
}

static int set_threads(struct compressor *c, unsigned wanted, struct err *err)
{
    unsigned threads = wanted ? wanted : cpus_usable();

    if (threads > COMPRESS_MOST_THREADS)
        threads = COMPRESS_MOST_THREADS;
    if (set_zstd(c, ZSTD_c_nbWorkers, (int)threads, err) < 0 ||
        set_zstd(c, ZSTD_c_jobSize, ZSTD_JOB, err) < 0)
        return -1;
    return set_zstd(c, ZSTD_c_overlapLog, 8, err);
}

static int begin_zstd(struct compressor *c, const struct compress_options *o, struct err *err)
{
    c->zstd = ZSTD_createCCtx();
    if (!c->zstd)
        return err_nomem(err);
    if (set_zstd(c, ZSTD_c_compressionLevel, o->level, err) < 0 ||
        set_zstd(c, ZSTD_c_checksumFlag, 1, err) < 0)
        return -1;
    return o->in_caller ? 0 : set_threads(c, o->threads, err);
}

static int begin_gzip(struct compressor *c, const struct compress_options *o, struct err *err)
{
    static const uint32_t sizes[] = {ISAL_DEF_LVL0_DEFAULT, ISAL_DEF_LVL1_DEFAULT,
                                     ISAL_DEF_LVL2_DEFAULT, ISAL_DEF_LVL3_DEFAULT};

    c->gzip = malloc(sizeof(*c->gzip));
    c->level_buffer = malloc(sizes[o->level] ? sizes[o->level] : 1);
    if (!c->gzip || !c->level_buffer)
        return err_nomem(err);
    isal_deflate_init(c->gzip);
    c->gzip->level = (uint32_t)o->level;
    c->gzip->level_buf = c->level_buffer;
    c->gzip->level_buf_size = sizes[o->level];
    c->gzip->gzip_flag = IGZIP_GZIP;
    c->gzip->flush = NO_FLUSH;
    return 0;
}

struct compressor *compressor_new(const struct compress_options *options, compress_sink *sink,
                                  void *ctx, struct err *err)
{
    _cleanup_compressor_ struct compressor *c = malloc(sizeof(*c));
    int rc = 0;

    if (!c) {
        err_nomem(err);
        return NULL;
    }
    memset(c, 0, offsetof(struct compressor, out));
    c->kind = options->kind;
    c->sink = sink;
    c->ctx = ctx;
    if (c->kind == COMPRESSION_ZSTD)
        rc = begin_zstd(c, options, err);
    else if (c->kind == COMPRESSION_GZIP)
        rc = begin_gzip(c, options, err);
    return rc < 0 ? NULL : steal_ptr(&c);
}

void compressor_free(struct compressor *c)
{
    ZSTD_freeCCtx(c->zstd);
    free(c->gzip);
    free(c->level_buffer);
    free(c);
}

static int compress_zstd(struct compressor *c, const void *data, size_t len, bool last,
                         struct err *err)
{
    ZSTD_inBuffer in = {.src = data, .size = len};

    for (;;) {
        ZSTD_outBuffer out = {.dst = c->out, .size = sizeof(c->out)};
        size_t left = ZSTD_compressStream2(c->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return err_set(err, ERR_SYSTEM, "zstd: %s", ZSTD_getErrorName(left));
        if (out.pos && c->sink(c->ctx, c->out, out.pos, err) < 0)
            return -1;
        if (last ? left == 0 : in.pos == in.size)
            return 0;
    }
}

static int compress_gzip_piece(struct compressor *c, const void *data, uint32_t len, bool last,
                               struct err *err)
{
    c->gzip->next_in = (uint8_t *)(uintptr_t)data;
    c->gzip->avail_in = len;
    c->gzip->end_of_stream = last;
    do {
        c->gzip->next_out = c->out;
        c->gzip->avail_out = sizeof(c->out);
        if (isal_deflate(c->gzip) != COMP_OK)
            return err_set(err, ERR_SYSTEM, "ISA-L failed to compress");
        size_t made = sizeof(c->out) - c->gzip->avail_out;
        if (made && c->sink(c->ctx, c->out, made, err) < 0)
            return -1;
    } while (c->gzip->avail_out == 0 || c->gzip->avail_in > 0);
    return 0;
}

static int compress_gzip(struct compressor *c, const void *data, size_t len, bool last,
                         struct err *err)
{
    enum { PIECE = 1 << 30 }; /* ISA-L counts in 32 bits */
    const char *p = data;

    while (len > PIECE) {
        if (compress_gzip_piece(c, p, PIECE, false, err) < 0)
            return -1;
        p += PIECE;
        len -= PIECE;
    }
    return compress_gzip_piece(c, p, (uint32_t)len, last, err);
}

static int compress_piece(struct compressor *c, const void *data, size_t len, bool last,
                          struct err *err)
{
    switch (c->kind) {
    case COMPRESSION_ZSTD:
        return compress_zstd(c, data, len, last, err);
    case COMPRESSION_GZIP:
        return compress_gzip(c, data, len, last, err);
    case COMPRESSION_NONE:
        break;
    }
    return len ? c->sink(c->ctx, data, len, err) : 0;
}

int compressor_write(struct compressor *c, const void *data, size_t len, struct err *err)
{
    c->in_frame |= len > 0;
    return compress_piece(c, data, len, false, err);
}

int compressor_end_frame(struct compressor *c, struct err *err)
{
    if (!c->in_frame)
        return 0;
    c->in_frame = false;
    return compress_piece(c, NULL, 0, true, err);
}

int compressor_finish(struct compressor *c, struct err *err)
{
    return compress_piece(c, NULL, 0, true, err);
}
