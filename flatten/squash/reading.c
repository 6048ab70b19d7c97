#include "flatten/squash/reading.h"

static void prepare_layers(struct image *image, uint64_t max_size, struct hasher *hasher)
{
    for (size_t i = 0; i < image->layer_count; i++) {
        image->layers[i].max_size = max_size;
        image->layers[i].hasher = hasher;
    }
}

int reading_begin(struct reading *r, struct image *image, const struct squash_options *options,
                  struct err *err)
{
    *r = (struct reading){.image = image, .hasher = hasher_new(err)};
    if (!r->hasher)
        return -1;
    prepare_layers(image, options->merged.max_size, r->hasher);
    if (!(r->verifier = verifier_new(image, err)))
        return -1;
    if (options->files.count == 0)
        return 0;
    r->unpacker = unpacker_new(image, options->merged.kept, &options->files,
                               unpacker_threads(options->compress.threads), err);
    return r->unpacker ? 0 : -1;
}

void reading_end(struct reading *r)
{
    cleanup_unpacker(&r->unpacker);
    cleanup_verifier(&r->verifier);
    for (size_t i = 0; i < r->image->layer_count; i++)
        r->image->layers[i].hasher = NULL;
    cleanup_hasher(&r->hasher);
}
