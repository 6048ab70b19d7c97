#include "flatten/unpack/unpack.h"

/* Nobody else can reach the directory: it is there until the end of the walk. */
static int always_there(void *ctx, size_t number, struct err *err)
{
    (void)ctx, (void)number, (void)err;
    return 0;
}

int unpack_verify(const struct image *image, const struct merged_options *options, int walk,
                  listing_difference *report, void *ctx, size_t *differing, struct err *err)
{
    const struct merged_options of_image = {.semantics = options->semantics}, of_directory = {0};
    _cleanup_fd_ int owned = walk;
    struct image_tree tree = {.fd = walk, .still = always_there};
    const struct image written = {.tree = &tree};
    _cleanup_listing_ struct listing *before = listing_new_unlabelled(image, &of_image, NULL, err);
    _cleanup_listing_ struct listing *after =
        before ? listing_new_unlabelled(&written, &of_directory, before, err) : NULL;

    if (!after)
        return err_wrap(err, "--verify");
    /* The first of two decides about a root that only one has: an image may have none. */
    *differing = listing_compare(after, before, report, ctx);
    return 0;
}
