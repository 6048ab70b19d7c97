/* The store of containerd below a local Docker daemon, where an image's blobs lie as in a layout.
 */
#ifndef FLATTEN_DAEMON_CONTENT_H
#define FLATTEN_DAEMON_CONTENT_H

#include "base/json/json.h"
#include "flatten/exchange/source.h"

/*
 * Sets d->blobs to the store, and to the manifest or index that the image is. `info`: of the
 * daemon; `facts`: the inspected image. Returns 0, or -1 with the reason why that cannot be.
 */
int daemon_content_find(struct source_daemon *d, const struct json *info, const struct json *facts,
                        struct err *why) must_check;

#endif
