/* The store of a local Docker daemon, where an image can be read without the daemon. */
#ifndef FLATTEN_DAEMON_STORE_H
#define FLATTEN_DAEMON_STORE_H

#include "flatten/exchange/source.h"
#include "flatten/keeper/http/engine_api.h"

/*
 * Starts a walk of the image's layers (walk.h) and reads its configuration. `facts`: the inspected
 * image. Returns 0, or -1 with the reason why that cannot be; `d` is then as it was, but for
 * `place`.
 */
int daemon_store_walk(struct source_daemon *d, struct engine *e, const struct json *facts,
                      struct err *why) must_check;

/* Returns a text with the image's Id and the directories of its layers, for the caller to free; or
 * NULL. */
char *daemon_store_place(const struct json *facts) must_check;

/* ERR_SYSTEM if a directory of that text is gone: something other than the daemon has removed it.
 */
int daemon_store_check(const char *place, struct err *err) must_check;

#endif
