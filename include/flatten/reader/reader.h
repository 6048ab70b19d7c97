/*
 * The process in the sandbox: it asks the keeper (keeper.h) for sources and for the destination,
 * which the command line has named. Calls are made by one thread.
 */
#ifndef FLATTEN_READER_H
#define FLATTEN_READER_H

#include "flatten/exchange/keeper_task.h"
#include "flatten/exchange/sink.h"
#include "flatten/exchange/source.h"

struct image;

struct reader {
    int socket;                     /* owned: the keeper is at its other end */
    int null;                       /* /dev/null, open for reading; closed by reader_main */
    int output;                     /* task->output, owned; or 0 */
    const struct keeper_task *task; /* borrowed */
};

/*
 * The work of a command, in the sandbox. Returns its exit status, at most WIRE_MOST_STATUS, or -1
 * with an error.
 */
typedef int reader_run(struct reader *r, void *ctx, struct err *err);

/* Asks for task->sources[which], once for each. The caller frees it; the reader outlives it. */
struct source *reader_source(struct reader *r, size_t which, struct err *err) must_check;

/* Asks the daemon for the diff_ids of task->sources[which]: an image that has these and no more. */
struct image *reader_diff_ids(struct reader *r, size_t which, struct err *err) must_check;

/* Asks for an empty temporary file without a name. Returns a descriptor, the caller's, or -1. */
int reader_temporary_file(struct reader *r, struct err *err) must_check;

/* Asks for the destination, once. The caller frees it; the reader outlives it. */
struct sink *reader_sink(struct reader *r, struct err *err) must_check;

/*
 * Asks for the directory task->tree, once, before the sources. Returns a pipe for the tree that it
 * will have (wire_tree.h), the caller's, or -1.
 */
int reader_tree(struct reader *r, struct err *err) must_check;

/*
 * Waits until the tree, whose pipe is closed, is written. Sets *left_out to the number of devices
 * and attributes that this user may not make. Returns the socket of a walk of the directory
 * (wire_entry.h), the caller's, or -1.
 */
int reader_tree_end(struct reader *r, uint64_t *left_out, struct err *err) must_check;

/* Has the directory published. */
int reader_tree_publish(struct reader *r, struct err *err) must_check;

/* Enters the sandbox, calls `run` and tells the keeper how it ended: for a new process. */
void reader_main(struct reader *r, reader_run *run, void *ctx);

#endif
