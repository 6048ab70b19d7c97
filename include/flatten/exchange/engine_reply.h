/*
 * What a Docker daemon says while it loads an image: JSON objects one after the other, under a
 * status of 200 that was sent before anything was done. An error is an object with "errorDetail" or
 * "error" (moby api/types/jsonmessage), and, with a containerd store, a "stream" text of "Error
 * unpacking image".
 *
 * Nothing is kept but the object that is not complete yet. A zeroed struct is a reply that has not
 * begun.
 */
#ifndef FLATTEN_ENGINE_REPLY_H
#define FLATTEN_ENGINE_REPLY_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct engine_reply {
    struct buf object;
    unsigned depth;
    bool in_string, escaped;
};

enum { ENGINE_REPLY_LIMIT = 1024 * 1024 }; /* bytes of one object */

/* Takes the next bytes, cut anywhere. -1 as soon as they report an error, or are not JSON. */
int engine_reply_feed(struct engine_reply *r, const char *data, size_t len,
                      struct err *err) must_check;

/* The reply has ended: -1 if that was inside an object. */
int engine_reply_end(const struct engine_reply *r, struct err *err) must_check;

void engine_reply_clear(struct engine_reply *r);

#define _cleanup_engine_reply_ _cleanup_(engine_reply_clear)

#endif
