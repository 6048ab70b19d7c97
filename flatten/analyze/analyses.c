#include "flatten/analyze/analysis.h"

/* Reads what is wanted of each image, and sums up. */
static int compare(struct analysis *list, const struct duplicate_image *images, size_t count,
                   uint8_t *const *wanted, struct duplicate_shared *shared, struct err *err)
{
    for (size_t i = 0; i < count; i++)
        if (contents_read(list[i].image, &list[i].stack, wanted[i], &list[i].contents, err) < 0)
            return err_wrap(err, "%s", list[i].source);
    for (size_t i = 0; i < count; i++) {
        if (duplicates_find(&images[i], &list[i].duplicates, &list[i].stale, err) < 0)
            return -1;
        list[i].compared = true;
        if (advice_add_contents(&list[i], &list[i].advice, err) < 0)
            return -1;
    }
    return duplicates_share(images, count, shared, err);
}

int analysis_compare(struct analysis *list, size_t count, struct duplicate_shared *shared,
                     struct err *err)
{
    _cleanup_free_ struct duplicate_image *images = calloc(count, sizeof(*images));
    _cleanup_free_ uint8_t **wanted = calloc(count, sizeof(*wanted));

    if (!images || !wanted)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        images[i] = (struct duplicate_image){&list[i].stack, list[i].image, &list[i].contents};
    int rc = duplicates_want(images, count, wanted, err);
    if (rc == 0)
        rc = compare(list, images, count, wanted, shared, err);
    for (size_t i = 0; i < count; i++)
        free(wanted[i]);
    return rc;
}
