#include "flatten/carve/spool/piece_reader.h"

#include "base/fdio.h"

#include <stdlib.h>
#include <zstd.h>

struct piece_reader {
    int fd;
    ZSTD_DCtx *zstd;
    uint64_t held; /* the offset of the piece that is in `data`, from 1; 0: none */
    char frame[ZSTD_COMPRESSBOUND(PIECE_SIZE)];
    char data[PIECE_SIZE];
};

struct piece_reader *piece_reader_new(int fd, struct err *err)
{
    struct piece_reader *r = malloc(sizeof(*r));
    ZSTD_DCtx *zstd = ZSTD_createDCtx();

    if (!r || !zstd) {
        free(r);
        ZSTD_freeDCtx(zstd);
        err_nomem(err);
        return NULL;
    }
    r->fd = fd;
    r->zstd = zstd;
    r->held = 0;
    return r;
}

void piece_reader_free(struct piece_reader *r)
{
    ZSTD_freeDCtx(r->zstd);
    free(r);
}

const char *piece_read(struct piece_reader *r, const struct piece *piece, struct err *err)
{
    if (r->held == piece->at + 1)
        return r->data;
    r->held = 0;
    if (fd_pread_exact(r->fd, r->frame, piece->size, (off_t)piece->at, err) < 0)
        return NULL;
    size_t len = ZSTD_decompressDCtx(r->zstd, r->data, sizeof(r->data), r->frame, piece->size);
    if (ZSTD_isError(len) || len != piece->len) {
        err_set(err, ERR_SYSTEM, "the temporary file does not hold what was written to it");
        return NULL;
    }
    r->held = piece->at + 1;
    return r->data;
}
