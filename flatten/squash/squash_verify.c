#include "flatten/squash/squash_verify.h"

int squash_verify(const struct image *source, const struct squashed *squashed,
                  const struct merged_options *options, uint64_t retimed,
                  listing_difference *report, void *ctx, size_t *differing, struct err *err)
{
    const struct merged_options all = {.semantics = options->semantics};
    _cleanup_listing_ struct listing *before = listing_new(source, &all, NULL, err);
    _cleanup_listing_ struct listing *after =
        before ? listing_new(squashed->result, &all, before, err) : NULL;

    if (!after)
        return err_wrap(err, "--verify");
    *differing = listing_compare_retimed(before, after, retimed, report, ctx);
    return 0;
}
