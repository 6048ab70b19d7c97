/* Opens images for tests, with no sandbox between finding and parsing. */
#ifndef TESTS_IMAGE_UNIT_H
#define TESTS_IMAGE_UNIT_H

#include "flatten/image/image_source.h"
#include "flatten/keeper/files/temporary_file.h"
#include "flatten/keeper/source/source_open.h"

static inline int image_unit_spool(void *ctx, struct err *err)
{
    (void)ctx;
    return temporary_file_open(err);
}

/* Opens the image of a reference to a layout or an archive. `platform` may be NULL. */
static inline struct image *image_unit_open(const struct reference *ref, const char *platform,
                                            struct err *err)
{
    const struct image_choice choice = {.platform = platform};
    _cleanup_source_ struct source *s =
        source_open(ref, &(struct source_choice){.platform = platform}, err);

    if (s && !source_store(s))
        s->archive.spool = image_unit_spool;
    return s ? source_image(s, &choice, err) : NULL;
}

#endif
