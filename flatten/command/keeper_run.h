/*
 * A command in two processes. The child, the reader, does the work in the sandbox (reader.h): it
 * parses what images hold. The parent, the keeper, does what a sandbox cannot (keeper.h).
 */
#ifndef FLATTEN_KEEPER_RUN_H
#define FLATTEN_KEEPER_RUN_H

#include "flatten/exchange/keeper_task.h"
#include "flatten/reader/reader.h"

/*
 * Starts a reader, which runs `run` with `ctx` (a copy of it: its changes stay in the reader), and
 * serves it until it ends. Returns the exit status that `run` returned, or -1 with its error;
 * ERR_SYSTEM for a reader that a signal ended.
 */
int keeper_run(const struct keeper_task *task, reader_run *run, void *ctx,
               struct err *err) must_check;

#endif
