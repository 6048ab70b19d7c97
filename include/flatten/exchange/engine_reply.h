/*
 * The reply of a Docker daemon that loads, imports or saves an image: JSON objects one after the
 * other, under a status of 200 that was sent before the work. An error is an object with
 * "errorDetail" or "error" (moby api/types/jsonmessage), and, with a containerd store, a "stream"
 * text of "Error unpacking image".
 *
 * A zeroed struct is a reply that has not begun. Only the object that is not complete yet is kept.
 */
#ifndef FLATTEN_ENGINE_REPLY_H
#define FLATTEN_ENGINE_REPLY_H

#include "base/buf.h"
#include "base/digest/sha256.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct engine_reply {
    struct buf object;
    struct digest id; /* the last "status" that is one, as after an import; else "" */
    unsigned depth;
    bool in_string, escaped;
};

enum { ENGINE_REPLY_LIMIT = 1024 * 1024 }; /* bytes of one object */

/*
 * Takes the next bytes, cut anywhere. Returns -1 with ERR_SYSTEM for an error of the daemon,
 * ERR_FORMAT for what is not JSON.
 */
int engine_reply_feed(struct engine_reply *r, const char *data, size_t len,
                      struct err *err) must_check;

/* Ends the reply: ERR_FORMAT inside an object. */
int engine_reply_end(const struct engine_reply *r, struct err *err) must_check;

/* Frees the object that is not complete. */
void engine_reply_clear(struct engine_reply *r);

#define _cleanup_engine_reply_ _cleanup_(engine_reply_clear)

#endif
