#include "flatten/carve/pull/pull_image.h"

/* An archive of Docker does not tell digests, nor compress. */
static bool is_compressed(const struct layer *layer)
{
    return !layer->walk && layer->digest.text[0] && !digest_equal(&layer->digest, &layer->diff_id);
}

bool pull_image_is_packed(const struct image *image)
{
    for (size_t i = 0; i < image->layer_count; i++)
        if (!is_compressed(&image->layers[i]))
            return false;
    return true;
}

/* Counts the layers without the oldest `kept`. */
static uint64_t sum_blobs(const struct image *image, size_t kept)
{
    uint64_t sum = 0;

    for (size_t i = kept; i < image->layer_count; i++)
        sum += image->layers[i].walk ? 0 : image->layers[i].size;
    return sum;
}

double pull_image_share(const struct image *image, size_t kept, uint64_t payload)
{
    uint64_t packed = pull_image_is_packed(image) ? sum_blobs(image, kept) : 0;

    if (packed == 0 || payload == 0)
        return PULL_ASSUMED_RATIO;
    return packed < payload ? (double)packed / (double)payload : 1;
}

bool pull_image_list(const struct image *image, size_t kept, uint64_t payload,
                     struct pull_layer *out)
{
    uint64_t sum = sum_blobs(image, kept);
    bool packed = pull_image_is_packed(image);

    if (sum_blobs(image, 0) == 0)
        return false;
    for (size_t i = 0; i < image->layer_count; i++) {
        double size = (double)image->layers[i].size;
        out[i].packed = (uint64_t)(packed ? size : size * PULL_ASSUMED_RATIO);
        out[i].unpacked = (uint64_t)(i >= kept && sum ? size / (double)sum * (double)payload
                                     : packed         ? size / PULL_ASSUMED_RATIO
                                                      : size);
    }
    return true;
}
