/*
 * The store of a local Docker daemon with the graph driver overlay2, where an image can be read
 * without the daemon.
 */
#ifndef FLATTEN_DAEMON_STORE_H
#define FLATTEN_DAEMON_STORE_H

#include "base/json/json.h"
#include "flatten/exchange/keeper_task.h"
#include "flatten/exchange/source.h"

/*
 * Starts a walk of the image's layers (walk.h), of a `kind` but WALK_NONE, and reads its
 * configuration. `info`: of the daemon; `facts`: the inspected image. Returns 0, or -1 with the
 * reason why that cannot be; `d` is then as it was, but for `place`.
 */
int daemon_store_walk(struct source_daemon *d, const struct json *info, const struct json *facts,
                      enum walk_kind kind, struct err *why) must_check;

#endif
