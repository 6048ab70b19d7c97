/*
 * The Docker Engine API (docs.docker.com/reference/api/engine), for images: HTTP over the socket of
 * the daemon. DOCKER_HOST is its address: unix:///PATH or tcp://HOST[:PORT] (plain HTTP), by
 * default unix:///var/run/docker.sock. Docker's contexts and TLS are not supported.
 *
 * Requests name no API version, so the daemon answers in its newest. Sizes of replies are bounded,
 * except for an image, which goes straight to a file. No proxy is used, no redirect followed.
 *
 * A refusal of the daemon is an error with its own words: ERR_USAGE for a name that it does not
 * know or does not accept (404, 400), else ERR_SYSTEM.
 */
#ifndef FLATTEN_ENGINE_API_H
#define FLATTEN_ENGINE_API_H

#include "base/cleanup.h"
#include "base/digest/sha256.h"
#include "base/err.h"
#include "base/json/json.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct engine;

/*
 * Reads DOCKER_HOST; no connection is made yet. ERR_USAGE or ERR_UNSUPPORTED for an address that
 * cannot be used.
 */
struct engine *engine_open(struct err *err) must_check;
/* The same, for another thread: requests fail once *stop, which is borrowed, is true. */
struct engine *engine_open_until(const atomic_bool *stop, struct err *err) must_check;
/* Closes the connection. */
void engine_free(struct engine *e);

DEFINE_CLEANUP(engine, struct engine, engine_free)
#define _cleanup_engine_ _cleanup_(cleanup_engine)

/*
 * Returns 1 for dockerd with a graph driver (overlay2, vfs …), 0 for one with containerd's store
 * and for any other program, or -1.
 */
int engine_has_graph_driver(struct engine *e, struct err *err) must_check;

/*
 * True if the daemon of this /info keeps its images in the store of containerd: one of the pairs of
 * DriverStatus is "driver-type", "io.containerd.snapshotter.v1".
 */
bool engine_has_snapshotter(const struct json *info);

/* Returns 1 if the daemon speaks at least API 1.`minor`, 0 if not, or -1. */
int engine_speaks(struct engine *e, unsigned minor, struct err *err) must_check;

/*
 * GET /images/NAME/json. Returns the document, for the caller to free, or NULL. *missing, if not
 * NULL, is true if the error is only that the daemon has no such image.
 */
struct json_doc *engine_inspect(struct engine *e, const char *name, bool *missing,
                                struct err *err) must_check;

/* GET /info. Returns the document, for the caller to free, or NULL. */
struct json_doc *engine_info(struct engine *e, struct err *err) must_check;

/*
 * GET /images/NAME/get: writes the image, as docker save does, at the position of fd. `platform` is
 * JSON, for daemons that speak 1.48; or NULL. A daemon that fails on the way ends the archive
 * early, with an error as JSON behind it: this returns 0 all the same, and the reader of the
 * archive finds it.
 */
int engine_save(struct engine *e, const char *name, const char *platform, int fd,
                struct err *err) must_check;

/*
 * POST /images/load with the first `size` bytes of fd. Fails if any part of the reply is an error.
 */
int engine_load(struct engine *e, int fd, uint64_t size, struct err *err) must_check;

struct engine_import {
    const char *message; /* becomes the comment of the image */
    const char *label;   /* KEY=VALUE without blanks, quotes and backslashes */
    /* Gives the layer, as struct http_body says. */
    ssize_t (*read)(void *ctx, char *data, size_t room, struct err *err);
    void *ctx;
};

/*
 * POST /images/create?fromSrc=-: makes an image of one layer, without a name, while the layer is
 * read; *id is its Id. If `read` fails, the daemon discards the layer.
 */
int engine_import(struct engine *e, const struct engine_import *import, struct digest *id,
                  struct err *err) must_check;

/*
 * GET /images/json: images without a name that have the label `label`, which needs no escaping in
 * JSON. Returns the document, an array, for the caller to free; or NULL. Signals do not end this
 * request and engine_remove, which clean up.
 */
struct json_doc *engine_list_labelled(struct engine *e, const char *label,
                                      struct err *err) must_check;

/* DELETE /images/ID: fails for an image that has a container. */
int engine_remove(struct engine *e, const char *id, struct err *err) must_check;

#endif
