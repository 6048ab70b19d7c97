/*
 * The cost of a pull, by a model with stated rates: to compare layerings of an image, not to
 * predict one host.
 *
 * Layers are downloaded in their order, as many at a time as there are streams; each is unpacked
 * when it is whole, and after those below it. So do Docker's graph drivers and containerd before
 * 2.2. A host reuses the layers at the bottom that are the same as those it has; what lies above
 * the first other layer is transferred and unpacked, as Docker does (podman and containerd also
 * reuse layers above it).
 */
#ifndef FLATTEN_PULL_COST_H
#define FLATTEN_PULL_COST_H

#include <stddef.h>
#include <stdint.h>

enum { PULL_MOST_STREAMS = 16 };

/* Bytes of a layer: as it is transferred, and unpacked. */
struct pull_layer {
    uint64_t packed, unpacked;
};

/* Bytes a second. */
struct pull_rates {
    double stream; /* of one download */
    double unpack; /* of unpacked content, on its way to the disk */
};

/* 40 MB/s a stream, as hack/bench-carve holds them, and 200 MB/s of unpacked content. */
extern const struct pull_rates pull_default_rates;

/* The share of its unpacked bytes that a layer takes when compressed, where that is not known. */
#define PULL_ASSUMED_RATIO 0.4

/*
 * Returns the seconds of a pull of the layers, oldest first, that the host does not have. From 1 to
 * PULL_MOST_STREAMS streams; more count as these.
 */
double pull_seconds(const struct pull_layer *layers, size_t count, unsigned streams,
                    const struct pull_rates *rates);

/* Returns the bytes that are transferred. */
uint64_t pull_bytes(const struct pull_layer *layers, size_t count);

#endif
