/* Sends the entries of a merged tree to the process that writes it (wire_tree.h). */
#ifndef FLATTEN_TREE_SINK_H
#define FLATTEN_TREE_SINK_H

#include "base/buf.h"
#include "flatten/layer/entry_sink.h"

struct tree_sink {
    struct entry_sink base;
    int pipe;       /* borrowed; -1: nothing is sent */
    struct buf out; /* what is not sent yet */
    struct buf message, xattrs, path, origin;
};

/* The caller clears it with tree_sink_clear. */
void tree_sink_init(struct tree_sink *s, int pipe);
void tree_sink_clear(struct tree_sink *s);

#define _cleanup_tree_sink_ _cleanup_(tree_sink_clear)

/* Takes back all entries. */
int tree_sink_restart(struct tree_sink *s, struct err *err) must_check;

/* Sends what is left, and the end of the tree. */
int tree_sink_end(struct tree_sink *s, struct err *err) must_check;

#endif
