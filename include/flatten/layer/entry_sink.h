/*
 * A sink receives the entries of a merged tree: directories before their content, targets before
 * links. A layer writer is one, a listing for comparison is another.
 */
#ifndef FLATTEN_ENTRY_SINK_H
#define FLATTEN_ENTRY_SINK_H

#include "base/cleanup.h"
#include "base/digest/sha256_pair.h"
#include "base/err.h"

#include <archive_entry.h>
#include <stdint.h>

struct entry_sink;

/* A piece of content, not empty, and a zstd frame of it in a file. */
struct content_piece {
    const void *data;
    size_t len;
    struct sha256_lane *hashed; /* gets the content, too, as it is in memory; or NULL */
    int fd;                     /* that has the frame, borrowed */
    uint64_t at;
    size_t size; /* of the frame, bytes; 0: there is none */
};

struct entry_sink_ops {
    int (*entry)(struct entry_sink *s, struct archive_entry *header, struct err *err);
    int (*data)(struct entry_sink *s, const void *data, uint64_t len, struct err *err);
    int (*piece)(struct entry_sink *s, const struct content_piece *piece,
                 struct err *err); /* NULL: as data */
};

struct entry_sink {
    const struct entry_sink_ops *ops;
};

/* Starts an entry. The sink may change the header, which is borrowed until the next entry. */
static inline int entry_sink_entry(struct entry_sink *s, struct archive_entry *header,
                                   struct err *err)
{
    return s->ops->entry(s, header, err);
}

/*
 * Gives a piece of the entry's content, `len` bytes; all pieces together have the size in the
 * header. NULL data stands for zeros.
 */
static inline int entry_sink_data(struct entry_sink *s, const void *data, uint64_t len,
                                  struct err *err)
{
    return s->ops->data(s, data, len, err);
}

/*
 * Gives a piece. A sink that compresses may take its frame as it is: that must stay in its file as
 * long as the sink is used.
 */
static inline int entry_sink_piece(struct entry_sink *s, const struct content_piece *piece,
                                   struct err *err)
{
    if (s->ops->piece)
        return s->ops->piece(s, piece, err);
    if (piece->hashed && sha256_lane_update(piece->hashed, piece->data, piece->len, err) < 0)
        return -1;
    return s->ops->data(s, piece->data, piece->len, err);
}

#endif
