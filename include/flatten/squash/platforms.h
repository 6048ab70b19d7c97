/*
 * The images of an image index, one for each platform (image-spec image-index.md), and the image
 * index of the squashed ones.
 */
#ifndef FLATTEN_PLATFORMS_H
#define FLATTEN_PLATFORMS_H

#include "base/buf.h"
#include "flatten/exchange/sink.h"
#include "flatten/image/image.h"

struct platforms {
    struct platform_item {
        char *digest; /* of its manifest: source_image takes it as a platform */
        char *text;   /* "linux/arm64/v8"; NULL if the index does not say */
    } * list;
    size_t count;
    size_t dropped; /* descriptors of no platform, such as attestations about the old images */
};

/* Checks a value of --platform: os/arch[/variant]. ERR_USAGE if it is malformed. NULL is valid. */
int platform_check(const char *text, struct err *err) must_check;

/* Lists the images of an index. The caller clears *out with platforms_clear, also after a failure.
 */
int platforms_list(struct json_doc *index, struct platforms *out, struct err *err) must_check;

/* Frees what it owns, and zeroes it. */
void platforms_clear(struct platforms *p);

#define _cleanup_platforms_ _cleanup_(platforms_clear)

/*
 * Appends the index, in which each image's descriptor now points to its new manifest. `images` are
 * in the order of platforms_list. Other members of descriptors, and annotations, stay.
 */
int platforms_image_index(struct json_doc *index, const struct sink_image *images, size_t count,
                          struct buf *out, struct err *err) must_check;

#endif
