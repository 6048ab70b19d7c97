/*
 * A sink receives the entries of a merged tree: directories before their content, targets before
 * links. A layer writer is one, a listing for comparison is another.
 */
#ifndef FLATTEN_ENTRY_SINK_H
#define FLATTEN_ENTRY_SINK_H

#include "base/cleanup.h"
#include "base/err.h"

#include <archive_entry.h>
#include <stdint.h>

struct entry_sink;

/* A zstd frame in a file. */
struct frame_place {
    int fd; /* borrowed */
    uint64_t at;
    size_t size; /* bytes */
};

struct entry_sink_ops {
    int (*entry)(struct entry_sink *s, struct archive_entry *header, struct err *err);
    int (*data)(struct entry_sink *s, const void *data, uint64_t len, struct err *err);
    int (*framed)(struct entry_sink *s, const void *data, size_t len,
                  const struct frame_place *frame, struct err *err); /* NULL: as data */
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
 * Gives a piece, not empty, and a zstd frame of it, which a sink that compresses may take as it is.
 * The frame must stay in its file as long as the sink is used.
 */
static inline int entry_sink_framed(struct entry_sink *s, const void *data, size_t len,
                                    const struct frame_place *frame, struct err *err)
{
    return s->ops->framed ? s->ops->framed(s, data, len, frame, err)
                          : s->ops->data(s, data, len, err);
}

#endif
