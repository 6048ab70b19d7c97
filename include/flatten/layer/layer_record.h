/*
 * What the headers of a layer say, kept without its content: enough to index it (index.h) when the
 * layer itself has gone by. About 70 bytes an entry; directories and hard links bring their
 * attributes with them.
 */
#ifndef FLATTEN_LAYER_RECORD_H
#define FLATTEN_LAYER_RECORD_H

#include "flatten/layer/layer.h"

struct layer_record {
    struct buf entries;
    struct buf path; /* of the entry added last */
};

/* A zeroed record is empty. */
int layer_record_add(struct layer_record *r, const struct layer_entry *e,
                     struct err *err) must_check;
/* No more is added: gives back what was only needed for that. */
void layer_record_close(struct layer_record *r);
void layer_record_clear(struct layer_record *r);

/* Bytes of memory. */
size_t layer_record_size(const struct layer_record *r);

/* Reading it again. Zeroed but for `record`, which is borrowed. */
struct layer_replay {
    const struct layer_record *record;
    size_t at;
    struct buf path;
    struct archive_entry *header;
};

/*
 * The next entry: 1, 0 at the end, -1 without memory. As layer_reader_next has it; but the hash of
 * the attributes is 0, and headers of what is neither directory nor hard link have only kind, size
 * and time.
 */
int layer_replay_next(struct layer_replay *r, struct layer_entry *out, struct err *err) must_check;
void layer_replay_clear(struct layer_replay *r);

#endif
