/*
 * The world as it is seen from the sandbox: what the command line named, asked of the keeper
 * (keeper.h). Calls are made by one thread.
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

/* A command's work, in the sandbox. Its exit status, at most WIRE_MOST_STATUS, or -1 with an error.
 */
typedef int reader_run(struct reader *r, void *ctx, struct err *err);

/* Finds task->sources[which]; once for each. */
struct source *reader_source(struct reader *r, size_t which, struct err *err) must_check;

/* What the daemon says the layers of task->sources[which] are: their diff_ids and no more. */
struct image *reader_diff_ids(struct reader *r, size_t which, struct err *err) must_check;

/* Opens the destination. */
struct sink *reader_sink(struct reader *r, struct err *err) must_check;

/* Runs it and tells the keeper how it ended: for keeper_run, in the new process. */
void reader_main(struct reader *r, reader_run *run, void *ctx);

#endif
