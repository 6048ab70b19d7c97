/*
 * The Docker Engine API (docs.docker.com/reference/api/engine), as far as images go in and out:
 * HTTP over the daemon's socket. DOCKER_HOST says where: unix:///PATH or tcp://HOST[:PORT] (plain
 * HTTP); without it /var/run/docker.sock. Docker's contexts and TLS are not supported.
 *
 * Requests name no API version: the daemon answers in its newest. Sizes of replies are bounded, but
 * for an image, which goes straight to a file. No proxy is used, no redirect followed.
 *
 * What the daemon refuses is ERR_USAGE with its own words for a name it does not know or does not
 * like (404, 400), ERR_SYSTEM for everything else.
 */
#ifndef FLATTEN_ENGINE_API_H
#define FLATTEN_ENGINE_API_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/json/json.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

/* Reads DOCKER_HOST; nothing is connected yet. */
struct engine *engine_open(struct err *err) must_check;
void engine_free(struct engine *e);

DEFINE_CLEANUP(engine, struct engine, engine_free)
#define _cleanup_engine_ _cleanup_(cleanup_engine)

/* True if the daemon speaks at least API 1.`minor`: 1, 0 or -1. */
int engine_speaks(struct engine *e, unsigned minor, struct err *err) must_check;

/*
 * GET /images/NAME/json. NULL with an error; *missing, if not NULL, tells that it is just that the
 * daemon has no such image.
 */
struct json_doc *engine_inspect(struct engine *e, const char *name, bool *missing,
                                struct err *err) must_check;

/*
 * GET /images/NAME/get: writes the image, as docker save does, at fd's position. `platform` is
 * JSON, for daemons that speak 1.48; or NULL. A daemon that fails on the way ends the archive
 * early, with an error as JSON behind it: it is for the reader of the archive to find.
 */
int engine_save(struct engine *e, const char *name, const char *platform, int fd,
                struct err *err) must_check;

/* POST /images/load with the first `size` bytes of fd. 0: no part of the reply was an error. */
int engine_load(struct engine *e, int fd, uint64_t size, struct err *err) must_check;

#endif
