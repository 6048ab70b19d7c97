#include "flatten/command/squash/image_reading.h"

#include "flatten/layer/layer_blob.h"
#include "flatten/layer/unpacker.h"

/* For the progress line an uncompressed layer counts once: only the verifier reads all of it. */
static bool is_read_again(const struct layer *layer)
{
    struct err ignored = ERR_INIT;
    bool packed;

    return layer_is_packed(layer, &packed, &ignored) < 0 || packed;
}

/* With an index, all layers but the kept ones are read twice. */
struct progress *image_progress(bool wanted, struct image *image,
                                const struct merged_options *options, struct err *err)
{
    bool indexed = options->kept || options->semantics != SEMANTICS_OVERLAY;
    uint64_t total = 0;

    for (size_t i = 0; i < image->layer_count; i++) {
        const struct layer *layer = &image->layers[i];
        total += layer->size * (indexed && i >= options->kept && is_read_again(layer) ? 2 : 1);
    }
    struct progress *p = progress_new(wanted, total, err);
    for (size_t i = 0; p && i < image->layer_count; i++)
        image->layers[i].progress = progress_counter(p);
    return p;
}

void image_progress_end(struct image *image)
{
    for (size_t i = 0; i < image->layer_count; i++)
        image->layers[i].progress = NULL;
}

static bool has_compressed_layer(const struct image *image)
{
    for (size_t i = 0; i < image->layer_count; i++)
        if (is_read_again(&image->layers[i]))
            return true;
    return false;
}

size_t image_unpack_files(struct reader *r, const struct image *image, unsigned threads,
                          int files[KEEPER_UNPACK_FILES])
{
    size_t count = 0, wanted = 2 * (size_t)unpacker_threads(threads);
    struct err ignored;

    if (!has_compressed_layer(image))
        return 0;
    while (count < wanted && count < KEEPER_UNPACK_FILES) {
        int fd = reader_temporary_file(r, &ignored);
        if (fd < 0)
            break;
        files[count++] = fd;
    }
    return count;
}
