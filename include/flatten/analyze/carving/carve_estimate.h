/*
 * An estimate of what `flatten carve` makes of an image by default: the same layout, and the same
 * model of pulls, as `flatten carve --dry-run` prints. No content is read.
 */
#ifndef FLATTEN_CARVE_ESTIMATE_H
#define FLATTEN_CARVE_ESTIMATE_H

#include "flatten/analyze/bytes/layer_stack.h"
#include "flatten/carve/owners/owners.h"
#include "flatten/image/image.h"

enum { CARVE_STREAMS = 3 };

/* Numbers of streams: 1, 3 (Docker's and containerd's) and 10. */
extern const unsigned carve_streams[CARVE_STREAMS];

struct carve_pull {
    uint64_t bytes; /* that are transferred */
    double seconds[CARVE_STREAMS];
    uint64_t largest; /* bytes of the largest layer, unpacked */
};

struct carve_estimate {
    bool pays;      /* carving is worth an advice; else all that follows is zero */
    bool estimated; /* the sizes of the compressed layers are estimates */
    struct carve_pull source, carved;
    size_t layers; /* that carve would make */
    double probes; /* mean layers searched for a path that exists, in these */
};

/* All borrowed. */
struct carve_input {
    const struct image *image;
    const struct layer_stack *stack;
    const struct owners *owners; /* of the files that show, by node */
    const uint64_t *layers;      /* bytes of file content, by layer number - 1 */
    uint64_t payload, live;      /* bytes of file content: of all layers, and that show */
};

/*
 * Carving pays if a pull with three streams takes at most four fifths of the seconds, or if one
 * layer has more than half of the bytes that show and none would have; and only for images of
 * CARVE_LEAST bytes or more, as others are pulled in a moment.
 */
#define CARVE_LEAST ((uint64_t)50 * 1000 * 1000)

/* Fills *out. The layout is made only where the source's pull leaves room for a better one. */
int carve_estimate_make(const struct carve_input *in, struct carve_estimate *out,
                        struct err *err) must_check;

#endif
