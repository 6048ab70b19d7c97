/*
 * Layers that the Docker daemon has already. They are not sent; images without a name, one for each
 * layer with those below it, hold them until the new image is loaded.
 *
 * A daemon with a graph driver takes a layer from its store by the digests of the layer and those
 * below (chain ID), and refuses an image if it lacks one. A daemon with containerd's store takes
 * the blobs of an archive and looks for the others in its store; it is asked only for a blob that
 * is there as a file (containerd_store.h), as it may load an image without one that it has
 * unpacked.
 */
#ifndef FLATTEN_DAEMON_PIN_H
#define FLATTEN_DAEMON_PIN_H

#include "flatten/exchange/written_layer.h"
#include "flatten/keeper/http/engine_api.h"
#include "flatten/keeper/sink/digest_list.h"

struct daemon_pins {
    struct engine *engine;       /* borrowed */
    const char *label;           /* as in struct engine_import; borrowed */
    const char *docker_root;     /* of a daemon with containerd's store, borrowed; or NULL */
    struct written_layer *chain; /* the layers that the daemon has, oldest first */
    size_t count;
    struct digest_list ids; /* of the images */
};

/*
 * Returns 1 if the daemon has the layer at that position of an image, 0 counting from the oldest,
 * on top of the layers that were asked for just before, and holds it now; 0 if not; -1 without
 * memory.
 */
int daemon_pins_hold(struct daemon_pins *p, size_t position, const struct written_layer *layer,
                     struct err *err) must_check;

/* Removes the images, and frees what belongs to the pins. They can be used again. */
void daemon_pins_clear(struct daemon_pins *p);

#endif
