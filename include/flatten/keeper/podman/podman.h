/*
 * Images in a store of containers/storage, by the program podman: it finds the store, as root or
 * rootless, knows its drivers and takes its locks. A reference (TRANSPORT_STORAGE) tells the store.
 *
 * podman is looked up in PATH. Its error is the last line that it writes to standard error: kind
 * ERR_SYSTEM, or ERR_USAGE for an image that is not there.
 */
#ifndef FLATTEN_PODMAN_H
#define FLATTEN_PODMAN_H

#include "base/err.h"
#include "base/json/json.h"
#include "flatten/name/reference.h"

#include <stdbool.h>

/*
 * True if a bare name means an image of podman: DOCKER_HOST is not set, nobody listens at the
 * Docker daemon's usual socket, and podman is in PATH.
 */
bool podman_is_default(void) must_check;

/*
 * Returns what `podman image inspect` says of the image, an object; the caller frees *doc. NULL
 * after an error, with *missing (may be NULL) true if there is no such image.
 */
const struct json *podman_inspect(const struct reference *store, const char *name,
                                  struct json_doc **doc, bool *missing, struct err *err) must_check;

/* Returns what `podman info` says of the host and the store, for the caller to free; or NULL. */
struct json_doc *podman_info(const struct reference *store, struct err *err) must_check;

/*
 * Writes an archive of the image to an empty regular file. `oci`: an oci-archive, else a
 * docker-archive; either without compression.
 */
int podman_save(const struct reference *store, const char *id, bool oci, int fd,
                struct err *err) must_check;

/* Loads all images of an archive in a regular file, which podman opens itself. */
int podman_load(const struct reference *store, int fd, struct err *err) must_check;

#endif
