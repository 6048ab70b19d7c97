/*
 * The images of an index, one a platform (image-spec image-index.md), and the index of what became
 * of them.
 */
#ifndef FLATTEN_PLATFORMS_H
#define FLATTEN_PLATFORMS_H

#include "base/buf.h"
#include "flatten/exchange/sink.h"
#include "flatten/image/image.h"

struct platforms {
    struct platform_item {
        char *digest; /* of its manifest: image_open takes it for a platform */
        char *text;   /* "linux/arm64/v8"; NULL where the index does not say */
    } * list;
    size_t count;
    size_t dropped; /* attestations, which would lie about new images, and the like */
};

/* Cleared with platforms_clear, also after a failure. */
/* An error for what is not os/arch[/variant], as --platform has it. NULL is good. */
int platform_check(const char *text, struct err *err) must_check;

int platforms_list(struct json_doc *index, struct platforms *out, struct err *err) must_check;
void platforms_clear(struct platforms *p);

#define _cleanup_platforms_ _cleanup_(platforms_clear)

/*
 * Appends the index with each image's descriptor pointing to its new manifest; `images` are in the
 * order of platforms_list. What else the index says stays.
 */
int platforms_index(struct json_doc *index, const struct sink_image *images, size_t count,
                    struct buf *out, struct err *err) must_check;

#endif
