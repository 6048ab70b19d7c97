/*
 * Takes the entries of a merged tree: parents before what is in them, targets before links. A layer
 * writer is one, a listing for comparison is another.
 */
#ifndef FLATTEN_ENTRY_SINK_H
#define FLATTEN_ENTRY_SINK_H

#include "base/cleanup.h"
#include "base/err.h"

#include <archive_entry.h>
#include <stdint.h>

struct entry_sink;

struct entry_sink_ops {
    int (*entry)(struct entry_sink *s, struct archive_entry *header, struct err *err);
    int (*data)(struct entry_sink *s, const void *data, uint64_t len, struct err *err);
};

struct entry_sink {
    const struct entry_sink_ops *ops;
};

/* Starts an entry. The header is the sink's to change, until the next entry. */
static inline int entry_sink_entry(struct entry_sink *s, struct archive_entry *header,
                                   struct err *err)
{
    return s->ops->entry(s, header, err);
}

/* A piece of its content; in all as many bytes as the header says. NULL data stands for zeros. */
static inline int entry_sink_data(struct entry_sink *s, const void *data, uint64_t len,
                                  struct err *err)
{
    return s->ops->data(s, data, len, err);
}

#endif
